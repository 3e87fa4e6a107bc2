"""record.py - the figures of bench/compare, of one run or more, kept in a file.

A row is what one run tells of a workload.  Rows of a later run take the place of
older ones as a whole: what is compared was measured within seconds.
"""
import json
import statistics
import sys


class Row:
    def __init__(self, run, figures=None):
        self.run = run  # the facts of the run: page.about()
        self.figures = figures or {}  # by driver: one for each round

    def rounds(self):
        """Return the number of rounds with figures, of the driver with the fewest."""
        return min([len([f for f in rounds if f])
                    for rounds in self.figures.values() if any(rounds)] or [0])


class Record:
    def __init__(self):
        self.runs = []  # the oldest first
        self.rows = {}  # by workload

    def add(self, run, key, name, figures):
        """Add a driver's figures of one round: a dict, empty if the driver failed.
        They are rounded here, so that a page made now and one made later from the
        file are the same."""
        figures = {unit: float("%.6g" % value)
                   for unit, value in figures.items()}
        if run not in self.runs:
            self.runs.append(run)
        row = self.rows.setdefault(key, Row(run))
        row.figures.setdefault(name, []).append(figures)

    def take(self, other, keys):
        """Replace our rows of these keys by those of another record."""
        for key in keys:
            if key in other.rows:
                self.rows[key] = other.rows[key]
        runs = self.runs + [run for run in other.runs if run not in self.runs]
        self.runs = [run for run in runs if any(
            row.run == run for row in self.rows.values())]

    def write(self, file):
        """Write the file, one line for each row."""
        def line(key, row):
            return json.dumps(key) + ": " + json.dumps(dict(
                run=self.runs.index(row.run), figures=row.figures))

        rows = [line(key, row) for key, row in self.rows.items()]
        with open(file, "w") as out:
            out.write('{\n"runs": [\n%s\n],\n"rows": {\n%s\n}\n}\n' % (
                ",\n".join(json.dumps(run) for run in self.runs), ",\n".join(rows)))

    @classmethod
    def read(cls, file):
        record = cls()
        try:
            with open(file) as saved:
                saved = json.load(saved)
            record.runs = saved["runs"]
            for key, row in saved["rows"].items():
                record.rows[key] = Row(record.runs[row["run"]],
                                       row["figures"])
        except OSError as error:
            sys.exit("compare: %s" % error)
        except (ValueError, LookupError, TypeError, AttributeError):
            sys.exit("compare: %s is not what --json writes" % file)
        return record

    def names(self):
        """Return the names of all drivers that have figures."""
        return {name for row in self.rows.values() for name in row.figures}

    def rounds(self, key, name, unit):
        """Return the figure of each round, or None for a round without one."""
        if key not in self.rows:
            return []
        return [figures.get(unit)
                for figures in self.rows[key].figures.get(name, [])]

    def values(self, key, name, unit):
        return [figure for figure in self.rounds(key, name, unit)
                if figure is not None]

    def median(self, key, name, unit="us"):
        values = self.values(key, name, unit)
        return statistics.median(values) if values else None

    def check(self, key, unit, base, name="kustos"):
        """Return the figure of a driver, or its ratio to that of base, which is a
        workload of the same run and a driver; or None."""
        if base is None:
            return self.median(key, name, unit)
        if key not in self.rows or base[0] not in self.rows or \
                self.rows[key].run != self.rows[base[0]].run:
            return None
        ratios = [a / b for a, b in zip(self.rounds(key, name, unit),
                                        self.rounds(*base, unit))
                  if a is not None and b]
        return statistics.median(ratios) if ratios else None

    def checks(self, targets):
        """Yield the targets that were measured: whether each is met, and the same
        figure of the bare library."""
        for key, unit, base, target in targets:
            figure = self.check(key, unit, base)
            if figure is not None:
                yield dict(workload=key, unit=unit, figure=figure,
                           target=target, held=figure <= target,
                           least=self.check(key, unit, base, "library"),
                           base=base and "/".join(base))
