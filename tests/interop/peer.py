"""peer.py - a process that locks with kazoo, as peer.h says.

With the word "stock" after its other arguments it uses kazoo's own names.
"""
import logging
import sys
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock

from kustos_lock import KustosLock, KustosReadLock, KustosWriteLock

NAME = "a-kazoo"


class Peer:
    def __init__(self, client, kind):
        self.client = client
        self.kind = kind
        self.locks = {}

    def lock(self, path, side=None):
        kind = SIDES[side] if side else self.kind
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

    def use(self, counter, only_read):
        old, _ = self.client.get(counter)
        if not only_read:
            self.client.set(counter, b"%d" % (int(old) + 1))

    def count(self, path, n, counter, file, ms, percent=None):
        asks = int(ms) >= 0
        spans = []
        side = None
        for i in range(int(n)):
            if percent:
                side = "read" if i * 37 % 100 < int(percent) else "write"
            if asks and self.acquire(path, ms, side) == "timeout":
                continue
            start = time.monotonic_ns()
            self.use(counter, side == "read")
            end = time.monotonic_ns()
            if asks:
                self.release(path, side)
            spans.append("%d %d%s\n" % (
                start, end, " r" if side == "read" else ""))
        with open(file, "w") as out:
            out.writelines(spans)
        return "counted %d" % len(spans)


SIDES = dict(read=KustosReadLock, write=KustosWriteLock)
COMMANDS = ("acquire", "release", "participants", "count")


def answer(peer, line):
    word, *args = line.split()
    if word not in COMMANDS:
        return "error what is " + word
    try:
        return getattr(peer, word)(*args)
    except Exception as e:
        return "error %r" % e


def main():
    logging.basicConfig(level=logging.CRITICAL)
    hosts, session_ms = sys.argv[1:3]
    client = KazooClient(hosts, timeout=int(session_ms) / 1000)
    client.start()
    peer = Peer(client, Lock if "stock" in sys.argv[3:] else KustosLock)
    print("ready %x" % client.client_id[0], flush=True)
    for line in sys.stdin:
        if line.strip() == "exit":
            break
        print(answer(peer, line), flush=True)
    client.stop()


main()
