"""driver.py - the processes that bench/compare starts, and talks to."""
import math
import os
import select
import subprocess
import sys
import time

ANSWER_S = 60
SLOW_ANSWER_S = 600
FEW = 20  # operations; of fewer a ratio would be mostly rounding
STRETCH = 10  # so many times longer is measured if there were fewer
MOST = 4096  # characters of an answer


class Failure(Exception):
    pass


def figures(line):
    """Return the figures of an answer; raise ValueError if it is malformed."""
    if not line.startswith("ops=") or line.find("\n") != len(line) - 1:
        raise ValueError(line)
    found = {name: float(value) for name, value in
             (pair.split("=") for pair in line.split())}
    if not found.get("us", 0) > 0 or \
            not all(map(math.isfinite, found.values())):
        raise ValueError(line)
    return found


class Driver:
    """A process that answers questions, one line each."""

    def __init__(self, name, argv, hosts):
        self.name = name
        self.process = subprocess.Popen(
            argv + [hosts], bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self, answer_s):
        """Read one line, or what there is when the process ends; return None if that
        takes too long."""
        end = time.monotonic() + answer_s
        said = b""
        while not said.endswith(b"\n") and len(said) < MOST:
            left = max(end - time.monotonic(), 0)
            if not select.select([self.process.stdout], [], [], left)[0]:
                return None
            some = os.read(self.process.stdout.fileno(), MOST)
            if not some:
                break
            said += some
        return said.decode(errors="replace")

    def answer(self, question, answer_s):
        try:
            self.process.stdin.write(question.encode() + b"\n")
        except BrokenPipeError:
            raise Failure("%s has ended" % self.name)
        line = self.line(answer_s)
        if line is None:
            raise Failure("%s does not answer: %s" % (self.name, question))
        try:
            return figures(line)
        except ValueError:
            raise Failure("%s: %s: %s" % (
                self.name, question, line.strip()[:200] or "it has ended"))

    def ask(self, question, ms, answer_s=ANSWER_S):
        """Return the figures for a question; question(ms) makes a new one each time."""
        found = self.answer(question(ms), answer_s)
        if found["ops"] < FEW:
            found = self.answer(question(ms * STRETCH), answer_s)
        if found["ops"] < 1:
            raise Failure("%s has done nothing: %s" % (
                self.name, question(ms * STRETCH)))
        found["us"] /= found["ops"]
        return found

    def end(self):
        # It has given back all that it had, unless it failed anyway.
        self.process.kill()
        self.process.wait()


class Server:
    """A throw-away server, which ends when its standard input is closed."""

    def __init__(self, build):
        self.process = subprocess.Popen(
            [os.path.join(build, "bench", "serve")], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.hosts = self.process.stdout.readline().strip()
        if not self.hosts:
            sys.exit(self.process.wait())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
