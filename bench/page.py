"""page.py - write doc/performance.md, its plots, and the table of README, from the
figures of bench/compare.

gnuplot draws the plots, beside the page: PAGE-NAME.svg.  The description of the
machine is collected here when the figures are measured, and is kept with them in
PAGE.json, beside the page as well.
"""
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time

NAMES = dict(kustos="Kustos", curator="Curator", kazoo="kazoo",
             library="libzookeeper_mt", raw="the wire")
COLOURS = dict(kustos="#2a6f97", curator="#d98e32", kazoo="#7a9e5a",
               library="#8d7aa8", raw="#b8b8b8")
EVERYONE = tuple(NAMES)

# What README shows.
SHORT = ("alone", "write", "lease", "lead", "clients", "threads", "turn",
         "drain", "step")

# Of each plot: its name, title, axis, who is in it, whether its axis is
# logarithmic, and its bars: workload and label.
BARS = [
    ("alone", "Uncontended: acquire and release",
     EVERYONE, False,
     [("alone", "lock"), ("read", "read lock"), ("write", "write lock"),
      ("lease", "semaphore"), ("simple", "simple lock"),
      ("pair", "two locks"), ("lead", "latch")]),
    ("together", "Contended: from one holder to the next",
     EVERYONE, False,
     [("clients", "lock, 8 clients"), ("leaders", "latch, 8 clients"),
      ("leases", "semaphore, 16"), ("threads", "lock, 8 threads")]),
    ("queues", "Queues: for each item", ("kustos", "curator", "kazoo", "raw"), True,
     [("turn", "put and take in turn"), ("drain", "drain 1000"),
      ("framed", "framed, both"), ("claim", "claim and ack"),
      ("crowd-8", "4 put, 4 take")]),
    ("others", "Leading, and barriers",
     ("kustos", "curator", "kazoo", "raw"), False,
     [("select", "selector"), ("gate", "barrier"),
      ("step", "double barrier, 8"), ("count", "count-down, 8")]),
]

# All that there may be, which are distributed with the page.
PLOTS = [name for name, *_ in BARS] + ["line"]

# The numbers of waiters of the plot "line".
WAITING = [2, 10, 100, 1000, 2000]

PACKAGES = ("zookeeper", "libzookeeper-java", "libzookeeper-st-dev",
            "libzookeeper-mt2",
            "libcurator-recipes-java", "python3-kazoo",
            "openjdk-17-jre-headless", "gcc")

INTRO = """\
# Performance

<!-- Written by "make performance"; not by hand. -->

Every program does the same work against the same server, one after the other, in each
of several rounds. The order changes from round to round, and one uncounted round,
without the slow rows, warms everything up first. The server is configured as shipped:
it writes its log to disk before it answers.

The programs are:

- **Kustos**, with the C client that it embeds, libzookeeper_st;
- **Curator** 5.4, in Java, and **kazoo** 2.8, in Python;
- **libzookeeper_mt**: a bare program that sends a minimal recipe's requests through the
  asynchronous calls of the C client with threads, and handles no faults
  (`bench/mt_floor.c`). If there is no contention it does not list the line, whereas the
  wire does. It shows about what that client costs any library built on it: Kustos, too,
  if it is configured with `--disable-embedding`;
- **the wire**: a bare socket program that sends the requests of a perfect recipe in as
  few flights as possible, and does nothing else (`bench/raw_*.c` say what it sends, and
  what it leaves out).

`bench/driver.h` and the drivers beside it define each workload exactly. A cell is empty
if there is no such program, for a reason given below the full table, or if it was not
measured.

Figures are microseconds for each operation, the median of the rounds; lower is better.
For queues and claims an operation is one item; for a double barrier or a count-down
latch it is one use by all eight members. A ratio is the median of the ratios of each
round, whose two figures were taken within seconds of each other.

The number of round trips to wait for, once the parent nodes exist, is the same on any
machine:

| | Kustos | Curator 5.4 | kazoo 2.8 |
|---|---|---|---|
| lock, write lock or leadership, uncontended | 1 | 2 | 3 |
| release | 0 | 1 | 1 |
| hand-over, once the predecessor is gone | 0 | 1 | 1 |
| lease of a semaphore that has room | 1 | 5 | 8 |
"""

TARGETS = """\
## Targets

The column libzookeeper_mt has the same ratio for that bare client.
"""

SEVERAL = """\
The rows come from several runs. Where they differ, each row names its run and the number
of its rounds. Figures from different runs are not compared.
"""


def in_us(us):
    if us < 1:
        return "%.3f" % us
    return "%.0f" % us if us >= 100 else "%.1f" % us


def output(*argv):
    """Return what a program printed, or "" if it cannot be run."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def field(file, name):
    """Return the value of "name" in a file such as /proc/cpuinfo."""
    try:
        with open(file) as lines:
            for line in lines:
                if line.startswith(name):
                    return line.split(name, 1)[1].strip(" \t:=\"\n")
    except OSError:
        pass
    return "unknown"


def about(build, command, rounds):
    """Return the facts that one needs to repeat a run."""
    memory = re.sub("[^0-9]", "", field("/proc/meminfo", "MemTotal")) or 0
    versions = [line for line in output(
        "dpkg-query", "-W", "-f", "${Package} ${Version}\n",
        *PACKAGES).splitlines() if " " in line]
    return dict(
        command=command, rounds=rounds,
        day=time.strftime("%Y-%m-%d", time.gmtime()),
        load="%.2f" % os.getloadavg()[0],
        machine="%d processors, %s; %d GB of memory" % (
            os.cpu_count(), field("/proc/cpuinfo", "model name"),
            round(int(memory) / 1e6)),
        system="%s, Linux %s" % (field("/etc/os-release", "PRETTY_NAME"),
                                 platform.release().split("-")[0]),
        versions=[output(os.path.join(build, "kustos"), "--version")] +
        versions + ["Python " + platform.python_version()])


def command(options):
    """Return the make command that repeats a run."""
    flags = []
    if options.quick:
        flags.append("--quick")
    if options.rounds != (1 if options.quick else 5):
        flags.append("--rounds %d" % options.rounds)
    flags += ["--workload " + key for key in options.workload or []]
    return "make performance" + (
        " BENCH_FLAGS=" + shlex.quote(" ".join(flags)) if flags else "")


def kept(file):
    """Return the file that has the figures of a page."""
    return os.path.splitext(file)[0] + ".json"


class Page:
    def __init__(self, record, workloads, absent, targets, units):
        self.record = record
        self.workloads = workloads
        self.absent = absent
        self.targets = targets
        self.units = units
        self.names = [name for name in NAMES if name in record.names()]

    def ratio(self, key):
        ratio = self.record.check(key, "us", (key, "curator"))
        if ratio is None:
            return ""
        return "%.3f" % ratio if ratio < 0.1 else "%.2f" % ratio

    def run(self, facts):
        """Return the letter of a run, or "" if there is only one."""
        if len(self.record.runs) == 1:
            return ""
        return chr(ord("a") + self.record.runs.index(facts))

    def rounds(self, key):
        """Return the number of rounds of a row, and its run."""
        row = self.record.rows[key]
        run = self.run(row.run)
        return "%d" % row.rounds() + (" of " + run if run else "")

    def grid(self, head, rule, rows):
        """Return the lines of a table.  A row is a workload and its cells.  If the rows
        differ in their rounds or runs, each row names its own."""
        mixed = len({self.rounds(key) for key, _ in rows}) > 1
        yield "|" + "|".join(" %s " % title if title else " "
                             for title in head + ["rounds"] * mixed) + "|"
        yield "|" + "|".join(rule + ["---"] * mixed) + "|"
        for key, cells in rows:
            yield "| " + " | ".join(
                cells + [self.rounds(key)] * mixed) + " |"

    def table(self, keys):
        """Return the lines of a table of these workloads."""
        rows = []
        for key, title, *_ in self.workloads:
            cells = [self.record.median(key, name) for name in self.names]
            if key in keys and any(cells):
                rows.append((key, [title.replace("  ", "… ", 1)] + [
                    "" if us is None else in_us(us) for us in cells] + [
                    self.ratio(key)]))
        return self.grid(
            [""] + [NAMES[name] for name in self.names] + ["Kustos / Curator"],
            ["---"] + ["---:"] * (len(self.names) + 1), rows)

    def short(self):
        """Return what README shows as well: a table, and a warning if it is not a
        real measurement."""
        lines = list(self.table(SHORT))
        runs = [self.record.rows[key].run for key in SHORT
                if key in self.record.rows]
        if any("--quick" in run["command"] or float(run["load"]) > 1
               for run in runs):
            lines += ["", "**A first impression, not a measurement:** one short "
                      "round, or a machine that had", "something else to do."]
        return lines

    def reasons(self):
        """Return the lines that say which cells are empty, and why, for the rows
        that are on the page."""
        titles = {key: title.strip() for key, title, *_ in self.workloads
                  if key in self.record.rows}
        yield "Why cells are empty:\n"
        for names, keys, why in self.absent:
            there = [titles[key] for key in keys.split() if key in titles]
            if there:
                yield "- %s (%s): %s." % (
                    ", ".join(NAMES[name] for name in names.split()),
                    "; ".join(there), why)

    def more(self):
        rows = []
        for key, title, *_ in self.workloads:
            for unit, text in self.units.items():
                figure = self.record.median(key, "kustos", unit)
                if figure is not None:
                    rows.append((key, [title.strip(), "%.2f" % figure, text]))
        return self.grid(["Kustos", "", ""], ["---", "---:", "---"], rows)

    def held(self):
        rows = [(check["workload"], [
            check["workload"], check["base"] or check["unit"],
            "%.3f" % check["figure"], "at most %g" % check["target"],
            "" if check["least"] is None else "%.3f" % check["least"],
            "met" if check["held"] else "missed"])
            for check in self.record.checks(self.targets)]
        return self.grid(
            ["Kustos", "of", "measured", "target", NAMES["library"], ""],
            ["---", "---", "---:", "---:", "---:", "---"], rows)

    def bars(self, title, names, log, bars):
        """Return the gnuplot commands of a bar plot, or None if it would be empty."""
        names = [name for name in names
                 if any(self.record.median(key, name) for key, _ in bars)]
        rows = []
        for key, label in bars:
            cells = [self.record.median(key, name) for name in names]
            if any(cells):
                rows.append('"%s" %s' % (label, " ".join(
                    "NaN" if us is None else "%.3f" % us for us in cells)))
        if not rows:
            return None
        plots = ", ".join(
            "$data using %d%s title '%s' linecolor rgb '%s'" % (
                i + 2, ":xtic(1)" if i == 0 else "", NAMES[name],
                COLOURS[name]) for i, name in enumerate(names))
        return "\n".join(
            ["set title '%s'" % title, "$data << EOD"] + rows + ["EOD",
             "set logscale y; set yrange [1:*]" if log else
             "set yrange [0:*]",
             "set xtics scale 0", "set style data histograms",
             "set style histogram clustered gap 1",
             "set style fill solid noborder", "set boxwidth 0.9",
             "plot " + plots, ""])

    def growth(self):
        lines, data = [], []
        for name in ("kustos", "curator", "kazoo"):
            points = [(n, self.record.median("line-%d" % n, name)) for n in WAITING]
            points = ["%d %.3f" % point for point in points if point[1]]
            if points:
                data += ["$%s << EOD" % name] + points + ["EOD"]
                lines.append(
                    "$%s with linespoints linewidth 2 pointtype 7 "
                    "linecolor rgb '%s' title '%s'" % (
                        name, COLOURS[name], NAMES[name]))
        if not lines:
            return None
        return "\n".join(
            ["set title 'A hand-over, by the number of waiters'"] + data +
            ["set logscale x; set xrange [1:*]", "set xlabel 'waiters'",
             "set yrange [0:*]",
             "plot " + ", ".join(lines), ""])

    def plots(self):
        """Return the name and the commands of each plot."""
        made = [(name, self.bars(*rest)) for name, *rest in BARS]
        made.append(("line", self.growth()))
        return [plot for plot in made if plot[1]]

    def draw(self, file):
        """Draw the plots beside "file", and return the names of their files.  A plot
        of rows that were not measured is left as it is distributed."""
        if not shutil.which("gnuplot"):
            print("note: no plots: gnuplot is missing (gnuplot-nox)")
            return []
        stem = os.path.splitext(file)[0]
        drawn = []
        for name, commands in self.plots():
            to = "%s-%s.svg" % (stem, name)
            svg = subprocess.run(
                ["gnuplot"], check=True, text=True, stdout=subprocess.PIPE,
                input="set terminal svg size 720,320 font 'sans,12' "
                      "background '#ffffff'\nset ylabel 'microseconds'\n"
                      "set grid ytics\nset border 3\nset tics nomirror\n"
                      "set key outside right center reverse Left samplen 1\n"
                      "set format y '%.0f'\n"
                      + commands).stdout
            with open(to, "w") as out:
                out.write(svg)
            drawn.append(os.path.basename(to))
        return drawn

    def measured(self):
        """Return the lines that say where the figures come from."""
        for facts in self.record.runs:
            run = self.run(facts)
            yield "%s on %s, %d round%s, by:\n" % (
                "Run %s, measured" % run if run else "Measured",
                facts["day"], facts["rounds"],
                "" if facts["rounds"] == 1 else "s")
            yield "```\n%s\n```\n" % facts["command"]
            yield "On: %s; %s; load before it began: %s. With: %s.\n" % (
                facts["machine"], facts["system"], facts["load"],
                ", ".join(facts["versions"]))
        if len(self.record.runs) > 1:
            yield SEVERAL

    def lines(self, drawn):
        yield INTRO
        yield from self.measured()
        yield "## In short\n"
        yield "\n".join(self.short()) + "\n"
        for svg in drawn:
            yield "![%s](%s)\n" % (
                os.path.splitext(svg)[0].replace("-", ": "), svg)
        yield "## All of it\n"
        yield "\n".join(self.table([w[0] for w in self.workloads])) + "\n"
        yield "\n".join(self.reasons()) + "\n"
        yield "## More of Kustos\n"
        yield "\n".join(self.more()) + "\n"
        yield TARGETS
        yield "\n".join(self.held())

    def write(self, file):
        drawn = self.draw(file)
        with open(file, "w") as out:
            out.write("\n".join(self.lines(drawn)) + "\n")


def split(readme):
    """Return the text before the table of a README, and the text after it."""
    begin, end = "<!-- performance -->\n", "<!-- end -->\n"
    try:
        with open(readme) as file:
            before, rest = file.read().split(begin, 1)
        return before + begin, end + rest.split(end, 1)[1]
    except (OSError, ValueError, IndexError):
        sys.exit("compare: no table of performance in " + readme)


def put_into(readme, table):
    """Replace the table between the marks of a README."""
    before, behind = split(readme)
    with open(readme, "w") as file:
        file.write(before + "\n".join(table) + "\n" + behind)
