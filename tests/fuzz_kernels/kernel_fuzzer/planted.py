"""Which of the bugs that a build can plant in the compiler random kernels find, and after how many.

A kernel is compiled for each engine with all of its bugs planted that were not found yet, and run only where the compile came by
the site of one of them (planted_runs.py). Where that shows anything, the kernel is run without a bug, and then with ever smaller
groups of those that it came by, down to each alone.
"""

import itertools
import re
import statistics
import threading
from dataclasses import dataclass
from pathlib import Path

from .client import Client

TABLE = Path(__file__).parents[3] / "compiler" / "support" / "PlantedBugs.def"
REFERENCE = "interpreter"


@dataclass
class Bug:
    number: int  # of its row
    name: str
    engines: list
    text: str
    asked: int = 0  # kernels that came by its site
    found: int | None = None  # the first kernel that differs, from 1 on
    how: str = ""  # what was seen


def bugs_of_table(text=None):
    rows = re.findall(r'^BUG\((\w+),\s*"([^"]*)",\s*"([^"]*)"\)', TABLE.read_text() if text is None else text, re.M)
    return [Bug(number, name, engines.split(), what) for number, (name, engines, what) in enumerate(rows)]


class Score:
    def __init__(self, bugs, count, seed, jobs, limit=60.0, tell=lambda text: None, client=Client):
        self.bugs = bugs
        self.count = count
        self.seed = seed
        self.jobs = jobs
        self.limit = limit
        self.tell = tell
        self.client = client
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.done = 0
        self.wrong = []  # seeds of kernels that differ without any bug
        self.error = None

    def run(self):
        threads = [threading.Thread(target=self._work) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.error is not None:
            raise self.error
        return self

    def open(self):
        return [bug for bug in self.bugs if bug.found is None]

    def _next(self):
        with self.lock:
            number = next(self.numbers)
            return number if number <= self.count and self.open() and self.error is None else None

    def _work(self):
        client = self.client([REFERENCE], self.limit)
        try:
            while (number := self._next()) is not None:
                self._kernel(client, number)
        except Exception as error:  # noqa: BLE001  (the main thread raises it)
            self.error = error
        finally:
            client.close()

    def _kernel(self, client, number):
        seed = self.seed + number - 1
        asked = set()
        for engine in dict.fromkeys(engine for bug in self.open() for engine in bug.engines):
            bugs = [bug for bug in self.bugs if engine in bug.engines and (bug.found is None or bug.found > number)]
            shown, sites = self._check(client, seed, engine, bugs)
            if shown:
                alone, sites_alone = self._check(client, seed, engine, [])
                sites |= sites_alone
                if alone:
                    self._note_wrong(number, seed, alone)
                else:
                    self._search(client, number, seed, engine, [bug for bug in bugs if bug.number in sites])
            asked |= {bug.number for bug in bugs if bug.number in sites}
        with self.lock:
            for bug in self.bugs:
                bug.asked += bug.number in asked
            self.done += 1
            done = self.done
        if done % 20 == 0:
            self.tell(f"{done} kernels, {len(self.bugs) - len(self.open())} of {len(self.bugs)} bugs found")

    def _check(self, client, seed, engine, bugs):
        """(what is wrong with the bugs planted together or None, the numbers of those whose sites were asked)"""
        task = {"seed": seed, "planted": ",".join(bug.name for bug in bugs), "only_if_asked": [bug.number for bug in bugs] or None}
        return client.check(task, [REFERENCE, engine]), set(client.sites)

    def _search(self, client, number, seed, engine, bugs):
        """Which of the bugs show alone: by halves."""
        found = self._check(client, seed, engine, bugs)[0] if bugs else None
        if found is None:
            return
        if len(bugs) == 1:
            self._note_found(bugs[0], number, seed, found)
            return
        middle = len(bugs) // 2
        self._search(client, number, seed, engine, bugs[:middle])
        self._search(client, number, seed, engine, bugs[middle:])

    def _note_found(self, bug, number, seed, found):
        with self.lock:
            if bug.found is None or number < bug.found:
                bug.found, bug.how = number, f"{found['kind']} on {found['engine']}"
        self.tell(f"{bug.name}: found by kernel {number} (seed {seed}), {bug.how}")

    def _note_wrong(self, number, seed, found):
        with self.lock:
            self.wrong.append(seed)
        self.tell(f"kernel {number} (seed {seed}) differs without any bug: {found['kind']} on {found['engine']}: {found['text'][:200]}")

    def table(self):
        rows = ["| bug | what | engines | found after | kernels that could |", "|---|---|---|---|---|"]
        for bug in self.bugs:
            after = "MISSED" if bug.found is None else str(bug.found)
            rows.append(f"| {bug.name} | {bug.text} | {' '.join(bug.engines)} | {after} | {bug.asked} |")
        return "\n".join(rows)

    def summary(self):
        found = [bug.found for bug in self.bugs if bug.found is not None]
        median = f", the median after {statistics.median(found):g}" if found else ""
        return f"{len(found)} of {len(self.bugs)} planted bugs found within {self.count} kernels{median}: {100 * len(found) / len(self.bugs):.1f} %"
