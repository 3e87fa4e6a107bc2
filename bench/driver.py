"""driver.py - the processes that bench/compare starts, and talks to."""
import os
import select
import subprocess
import sys

ANSWER_S = 60
SLOW_ANSWER_S = 600
FEW = 20  # operations, of which a ratio would be rounding
STRETCH = 10  # so much longer is measured where there were fewer


class Failure(Exception):
    pass


class Driver:
    """A process that answers questions, one line each."""

    def __init__(self, name, argv, hosts):
        self.name = name
        self.process = subprocess.Popen(
            argv + [hosts], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, question, answer_s):
        try:
            self.process.stdin.write(question + "\n")
        except BrokenPipeError:
            raise Failure("%s has ended" % self.name)
        if not select.select([self.process.stdout], [], [], answer_s)[0]:
            raise Failure("%s does not answer: %s" % (self.name, question))
        line = self.process.stdout.readline()
        if not line.startswith("ops="):
            raise Failure("%s: %s: %s" % (self.name, question, line.strip()))
        return {name: float(value) for name, value in
                (pair.split("=") for pair in line.split())}

    def ask(self, question, ms, answer_s=ANSWER_S):
        """Return its figures; question(ms) is new each time."""
        figures = self.answer(question(ms), answer_s)
        if figures["ops"] < FEW:
            figures = self.answer(question(ms * STRETCH), answer_s)
        if figures["ops"] < 1:
            raise Failure("%s has done nothing: %s" % (
                self.name, question(ms * STRETCH)))
        figures["us"] /= figures["ops"]
        return figures

    def end(self):
        # It has given back all that it had, unless it failed anyway.
        self.process.kill()
        self.process.wait()


class Server:
    """A throw-away server, which goes when its standard input is closed."""

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
