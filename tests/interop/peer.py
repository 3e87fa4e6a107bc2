"""peer.py - a process that locks with kazoo, as peer.h says.

With the word "stock" after its other arguments it uses kazoo's own names.
"""
import logging
import sys
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock

from kustos_lock import KustosLock

NAME = "a-kazoo"


class Peer:
    def __init__(self, client, kind):
        self.client = client
        self.kind = kind
        self.locks = {}

    def lock(self, path):
        if path not in self.locks:
            self.locks[path] = self.kind(self.client, path, NAME)
        return self.locks[path]

    def acquire(self, path, ms):
        try:
            if self.lock(path).acquire(timeout=int(ms) / 1000):
                return "acquired %d" % time.monotonic_ns()
        except LockTimeout:
            pass
        return "timeout"

    def release(self, path):
        return "released" if self.lock(path).release() else "error not held"

    def participants(self, path):
        names = self.lock(path).contenders()
        return " ".join([str(len(names))] + ["=" + name for name in names])

    def add(self, counter):
        old, _ = self.client.get(counter)
        self.client.set(counter, b"%d" % (int(old) + 1))

    def count(self, path, n, counter, file, ms):
        asks = int(ms) >= 0
        spans = []
        for _ in range(int(n)):
            if asks and self.acquire(path, ms) == "timeout":
                continue
            start = time.monotonic_ns()
            self.add(counter)
            end = time.monotonic_ns()
            if asks:
                self.release(path)
            spans.append("%d %d\n" % (start, end))
        with open(file, "w") as out:
            out.writelines(spans)
        return "counted %d" % len(spans)


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
