"""kazoo_other.py - what kazoo has besides locks, under bench/compare: its Barrier
and DoubleBarrier with the styles "gate" and "step" of bench_together.c, its Election
with "select", its Queue and LockingQueue with the styles "turn", "drain" and "claim"
of bench_queue.c."""
import logging
import sys
import threading
import time

from kazoo.client import KazooClient

SESSION_S = 30
PATIENCE_S = 30
AT_ONCE = 10
ITEMS = 1000
CLAIMS = 200


class Run:
    def __init__(self, hosts, path, workers, ms):
        self.hosts = hosts
        self.path = path
        self.workers = workers
        self.ms = ms
        self.clients = []
        self.election = None
        self.failure = None
        self.ops = 0
        self.us = 0

    def open(self):
        client = KazooClient(hosts=self.hosts, timeout=SESSION_S)
        client.start(PATIENCE_S)
        self.clients.append(client)

    def gate(self):
        barrier = self.clients[0].Barrier(self.path)
        barrier.create()
        if barrier.wait(0):
            raise RuntimeError("it is open")
        barrier.remove()
        if not barrier.wait(PATIENCE_S):
            raise RuntimeError("it is shut")
        return 1

    def step_on(self, client, all_in):
        """A barrier for each round, and all in before one leaves, as with
        Curator."""
        try:
            for i in range(AT_ONCE):
                barrier = client.DoubleBarrier(
                    "%s/%d" % (self.path, self.ops + i), self.workers)
                barrier.enter()
                all_in.wait(PATIENCE_S)
                barrier.leave()
        except Exception as e:
            self.failure = e

    def step(self):
        all_in = threading.Barrier(len(self.clients))
        threads = [
            threading.Thread(target=self.step_on, daemon=True,
                             args=(client, all_in))
            for client in self.clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
            if thread.is_alive():
                raise TimeoutError("a step takes too long")
        return AT_ONCE

    def select(self):
        """One that leads again and again."""
        self.election = self.election or self.clients[0].Election(self.path)
        led = []
        self.election.run(led.append, True)
        return len(led)

    def turn(self):
        queue = self.clients[0].Queue(self.path)
        queue.put(b"x")
        queue.get()
        return 1

    def drain(self):
        queue = self.clients[0].Queue(self.path)
        for _ in range(ITEMS):
            queue.put(b"0123456789")
        start = time.monotonic()
        for _ in range(ITEMS):
            if queue.get() is None:
                raise RuntimeError("an item is missing")
        # Putting them is not counted.
        self.us += (time.monotonic() - start) * 1e6
        return ITEMS

    def claim(self):
        queue = self.clients[0].LockingQueue(self.path)
        queue.put_all([b"0123456789"] * CLAIMS)
        start = time.monotonic()
        for _ in range(CLAIMS):
            queue.get(PATIENCE_S)
            queue.consume()
        # Putting them is not counted.
        self.us += (time.monotonic() - start) * 1e6
        return CLAIMS

    def run(self, style):
        todo = dict(gate=self.gate, step=self.step, select=self.select,
                    turn=self.turn, drain=self.drain, claim=self.claim)[style]
        try:
            for _ in range(self.workers):
                self.open()
            start = time.monotonic()
            while not self.ops or time.monotonic() < start + self.ms / 1000:
                self.ops += todo()
                if self.failure:
                    raise self.failure
            us = self.us or (time.monotonic() - start) * 1e6
            return "ops=%d us=%d" % (self.ops, us)
        finally:
            for client in self.clients:
                client.stop()
                client.close()


def answer(hosts, question):
    style, path, _, workers, _, ms = question.split()
    try:
        return Run(hosts, path, int(workers), int(ms)).run(style)
    except Exception as e:
        return "error %r" % e


def main():
    logging.disable(logging.CRITICAL)
    for question in sys.stdin:
        print(answer(sys.argv[1], question), flush=True)


main()
