"""peer.py - a process that uses kazoo's recipes, as peer.h describes.

With the word "stock" after its other arguments it uses kazoo's own names.
"""
import logging
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout, NodeExistsError
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

from kustos_lock import KustosLock, KustosReadLock, KustosWriteLock

NAME = "a-kazoo"


class Chief:
    """Takes part in an election, until it is told to return."""

    def __init__(self, client, kind, path, name=None):
        self.election = client.Election(path, name)
        if kind is not Lock:  # which it has of its own
            self.election.lock = kind(client, path, name)
        self.leading = threading.Event()
        self.told = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            self.election.run(self.lead)
        except KazooException:
            pass  # the client was stopped

    def lead(self):
        self.leading.set()
        self.told.wait()

    def resign(self):
        self.told.set()
        self.election.cancel()
        self.thread.join()
        # kazoo's lock ignores that its node could not be deleted.
        if self.election.lock._find_node():
            raise RuntimeError("its node is left")


class Bare:
    """One ephemeral node that all compete for, without any recipe."""

    def __init__(self, client, path, name):
        self.client = client
        self.path = path
        self.name = name

    def make(self):
        try:
            self.client.create(self.path, self.name.encode(), ephemeral=True)
        except NodeExistsError:
            return False
        return True

    def acquire(self, timeout):
        end = time.monotonic() + timeout
        while not self.make():
            news = threading.Event()
            if self.client.exists(self.path, lambda _, n=news: n.set()) and \
                    not news.wait(end - time.monotonic()):
                return False
        return True

    def release(self):
        self.client.delete(self.path)
        return True


class Worker:
    """Consumes items of a queue, each of which takes a while."""

    def __init__(self, client, path, pause):
        self.queue = client.LockingQueue(path)
        self.pause = pause
        self.items = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                item = self.queue.get(timeout=1)
                if item is not None:
                    self.items.append(item.decode())
                    time.sleep(self.pause)
                    self.queue.consume()
            except KazooException:
                pass  # the connection; or the client was stopped


class Peer:
    def __init__(self, client, stock):
        self.client = client
        self.kind = Lock if stock else KustosLock
        self.sides = dict(
            read=ReadLock if stock else KustosReadLock,
            write=WriteLock if stock else KustosWriteLock, bare=Bare)
        self.locks = {}
        self.chiefs = {}
        self.steps = {}
        self.workers = {}

    def lock(self, path, side=None):
        kind = self.sides[side] if side else self.kind
        if (path, side) not in self.locks:
            self.locks[path, side] = kind(self.client, path, NAME)
        return self.locks[path, side]

    def acquire(self, path, ms, side=None):
        try:
            if self.lock(path, side).acquire(timeout=int(ms) / 1000):
                return "acquired %d" % time.monotonic_ns()
        except LockTimeout:
            pass
        return "timeout"

    def release(self, path, side=None):
        return "released" if self.lock(path, side).release() \
            else "error not held"

    def participants(self, path):
        names = self.lock(path).contenders()
        return " ".join([str(len(names))] + ["=" + name for name in names])

    def elect(self, path, name, how):
        chief = Chief(self.client, self.kind, path, name)
        self.chiefs[path] = chief
        chief.thread.start()
        return "ok"

    def leads(self, path, ms):
        if self.chiefs[path].leading.wait(int(ms) / 1000):
            return "leads %d" % time.monotonic_ns()
        return "no"

    def resign(self, path):
        self.chiefs.pop(path).resign()
        return "resigned"

    def candidates(self, path):
        names = self.kind(self.client, path).contenders()
        return " ".join([str(len(names))] + names[:1] + names)

    def close(self, path):
        self.client.Barrier(path).create()
        return "ok"

    def open(self, path):
        self.client.Barrier(path).remove()
        return "ok"

    # Python reserves the word "pass".
    def pass_(self, path, ms):
        passed = self.client.Barrier(path).wait(int(ms) / 1000)
        return "passed" if passed else "timeout"

    # kazoo's double barrier has no deadlines.
    def enter(self, path, n, ms):
        if path not in self.steps:
            self.steps[path] = self.client.DoubleBarrier(path, int(n))
        self.steps[path].enter()
        return "entered %d" % time.monotonic_ns()

    def leave(self, path, ms):
        self.steps[path].leave()
        return "left %d" % time.monotonic_ns()

    def put(self, _, path, text, key):
        self.client.Queue(path).put(text.encode(), int(key))
        return "ok"

    def take(self, _, path, ms):
        deadline = time.monotonic() + int(ms) / 1000
        while True:
            item = self.client.Queue(path).get()
            if item is not None:
                return "took " + item.decode()
            if time.monotonic() >= deadline:
                return "took"
            time.sleep(0.01)

    def size(self, kind, path):
        make = self.client.LockingQueue if kind == "locking" \
            else self.client.Queue
        return "size %d" % len(make(path))

    def feed(self, path, start, stop, _):
        self.client.LockingQueue(path).put_all(
            [b"%d" % i for i in range(int(start), int(stop))])
        return "ok"

    def consume(self, path, ms, _):
        self.workers[path] = Worker(self.client, path, int(ms) / 1000)
        return "ok"

    def consumed(self, path):
        items = list(self.workers[path].items)
        return " ".join(["consumed", str(len(items))] + items)

    def use(self, counter, only_read):
        old, _ = self.client.get(counter)
        if not only_read:
            self.client.set(counter, b"%d" % (int(old) + 1))

    def count(self, path, n, counter, file, ms, percent=None):
        asks = int(ms) >= 0
        spans = []
        side = None
        for i in range(int(n)):
            if percent and not percent.isdigit():
                side = percent
            elif percent:
                side = "read" if i * 37 % 100 < int(percent) else "write"
            if asks and self.acquire(path, ms, side) == "timeout":
                continue
            start = time.monotonic_ns()
            self.use(counter, side == "read")
            end = time.monotonic_ns()
            if asks:
                self.release(path, side)
            if side == "bare":
                time.sleep(0.002)
            spans.append("%d %d%s\n" % (
                start, end, " r" if side == "read" else ""))
        with open(file, "w") as out:
            out.writelines(spans)
        return "counted %d" % len(spans)

    def reign(self, path, n, counter, file):
        spans = []

        def lead():
            start = time.monotonic_ns()
            self.use(counter, False)
            spans.append("%d %d\n" % (start, time.monotonic_ns()))

        for _ in range(int(n)):
            Chief(self.client, self.kind, path).election.run(lead)
        with open(file, "w") as out:
            out.writelines(spans)
        return "counted %d" % len(spans)


COMMANDS = ("acquire", "release", "participants", "elect", "leads", "resign",
            "candidates", "count", "reign", "close", "open", "pass", "enter",
            "leave", "feed", "consume", "consumed",
            "put", "take", "size")
METHODS = {"pass": "pass_"}


def answer(peer, line):
    word, *args = line.split()
    if word not in COMMANDS:
        return "error what is " + word
    try:
        return getattr(peer, METHODS.get(word, word))(*args)
    except Exception as e:
        return "error %r" % e


def main():
    logging.basicConfig(level=logging.CRITICAL)
    hosts, session_ms = sys.argv[1:3]
    client = KazooClient(hosts, timeout=int(session_ms) / 1000)
    client.start()
    peer = Peer(client, "stock" in sys.argv[3:])
    print("ready %x" % client.client_id[0], flush=True)
    for line in sys.stdin:
        if line.strip() == "exit":
            break
        print(answer(peer, line), flush=True)
    client.stop()


main()
