"""kazoo_mutex.py - kazoo's locks for bench/compare, as driver.h describes: the Lock
and, in styles that work like "own", the sides of its read/write lock ("read", "write"),
its Semaphore ("lease") and its Election ("lead")."""
import logging
import sys
import threading
import time

from kazoo.client import KazooClient

SESSION_S = 30
PATIENCE_S = 30
LEASES = 5  # that a semaphore has


class Candidate:
    """Leadership with the calls of a lock; each time has an Election of its own."""

    def __init__(self, client, path):
        self.client = client
        self.path = path

    def acquire(self):
        self.election = self.client.Election(self.path)
        self.election.lock.acquire()

    def release(self):
        self.election.lock.release()


class Run:
    def __init__(self, hosts, style, path):
        if style not in ("own", "shared", "read", "write", "lease", "lead"):
            raise ValueError("no such style")
        self.style = style
        self.hosts = hosts
        self.path = path
        self.shared = style == "shared"
        self.leases = style == "lease"
        self.clients = []
        self.threads = []
        self.counts = []
        self.stopping = False
        self.failure = None

    def open(self):
        client = KazooClient(hosts=self.hosts, timeout=SESSION_S)
        client.start(PATIENCE_S)
        self.clients.append(client)
        return client

    def lock(self, client):
        if self.leases:
            return client.Semaphore(self.path, max_leases=LEASES)
        kind = dict(lead=lambda path: Candidate(client, path),
                    read=client.ReadLock, write=client.WriteLock)
        return kind.get(self.style, client.Lock)(self.path)

    def loop(self, lock, place):
        try:
            while not self.stopping:
                lock.acquire()
                self.counts[place] += 1
                lock.release()
        except Exception as e:
            self.failure = e

    def start(self, clients, workers):
        one = self.lock(clients[0])
        self.counts = [0] * workers
        for i in range(workers):
            lock = one if self.shared else \
                self.lock(clients[i % len(clients)])
            thread = threading.Thread(
                target=self.loop, args=(lock, i), daemon=True)
            thread.start()
            self.threads.append(thread)

    def await_line(self, client, workers):
        """Wait until all workers are in line behind a lock of ours, or, if they want
        leases, in the semaphore's line of waiters."""
        line = self.path + "-__lock__" if self.leases else self.path
        length = workers if self.leases else workers + 1
        end = time.monotonic() + PATIENCE_S
        while True:
            stat = client.exists(line)
            if stat and stat.children_count >= length:
                return
            if self.failure:
                raise self.failure
            if time.monotonic() > end:
                raise TimeoutError("no full line")
            time.sleep(0.001)

    def gather(self, clients, workers):
        """Have everyone line up behind a lock of ours."""
        gate = self.open()
        locks = [self.lock(gate) for _ in range(LEASES if self.leases else 1)]
        for lock in locks:
            lock.acquire()
        self.start(clients, workers)
        self.await_line(gate, workers)
        for lock in locks:
            lock.release()

    def measure(self, lead_ms, ms):
        time.sleep(lead_ms / 1000)
        start = time.monotonic()
        done = sum(self.counts)
        time.sleep(ms / 1000)
        done = sum(self.counts) - done
        us = (time.monotonic() - start) * 1e6
        if self.failure:
            raise self.failure
        return "ops=%d us=%d" % (done, us)

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join(PATIENCE_S)
        for client in self.clients:
            client.stop()
            client.close()

    def run(self, sessions, workers, lead_ms, ms):
        try:
            clients = [self.open() for _ in range(sessions)]
            if self.shared:
                self.start(clients, workers)
            else:
                self.gather(clients, workers)
            return self.measure(lead_ms, ms)
        finally:
            self.stop()


def answer(hosts, question):
    style, path, *numbers = question.split()
    try:
        return Run(hosts, style, path).run(*map(int, numbers))
    except Exception as e:
        return "error %r" % e


def main():
    logging.disable(logging.CRITICAL)
    for question in sys.stdin:
        print(answer(sys.argv[1], question), flush=True)


main()
