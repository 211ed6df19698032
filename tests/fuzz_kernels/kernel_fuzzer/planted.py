"""Which of the bugs that a build can plant in the compiler random kernels find, and after how many.

Every kernel is run without a bug first. That says which sites of bugs its compiles asked; only those can change it. Those that
were not found yet are planted together, all of the same engines; where that shows anything, each of them is planted alone.
"""

import itertools
import re
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
        engines = list(dict.fromkeys(engine for bug in self.open() for engine in bug.engines))
        found = client.check({"seed": seed}, [REFERENCE, *engines])
        asked = set(client.sites)
        if found is not None:
            with self.lock:
                self.wrong.append(seed)
            self.tell(f"kernel {number} (seed {seed}) differs without any bug: {found['kind']} on {found['engine']}: {found['text'][:200]}")
        else:
            groups = {}
            for bug in self.bugs:
                if bug.number in asked and (bug.found is None or bug.found > number):
                    bug.asked += 1
                    groups.setdefault(tuple(bug.engines), []).append(bug)
            for group in groups.values():
                if len(group) == 1 or self._shows(client, group, seed):
                    for bug in group:
                        self._try(client, bug, number, seed)
        with self.lock:
            self.done += 1
            done = self.done
        if done % 20 == 0:
            self.tell(f"{done} kernels, {len(self.bugs) - len(self.open())} of {len(self.bugs)} bugs found")

    def _shows(self, client, bugs, seed):
        """What is found with the bugs, which have the same engines, planted together; None: nothing."""
        engines = [REFERENCE, *bugs[0].engines]
        found = client.check({"seed": seed, "planted": ",".join(bug.name for bug in bugs)}, engines)
        if found and found["kind"] == "hang" and client.check({"seed": seed}, engines) is not None:
            return None  # the machine is slow
        return found

    def _try(self, client, bug, number, seed):
        found = self._shows(client, [bug], seed)
        if found is None:
            return
        with self.lock:
            if bug.found is None or number < bug.found:
                bug.found, bug.how = number, f"{found['kind']} on {found['engine']}"
        self.tell(f"{bug.name}: found by kernel {number} (seed {seed}), {bug.how}")

    def table(self):
        rows = ["| bug | what | engines | found after | kernels that could |", "|---|---|---|---|---|"]
        for bug in self.bugs:
            after = "MISSED" if bug.found is None else str(bug.found)
            rows.append(f"| {bug.name} | {bug.text} | {' '.join(bug.engines)} | {after} | {bug.asked} |")
        return "\n".join(rows)

    def summary(self):
        found = len(self.bugs) - len(self.open())
        return f"{found} of {len(self.bugs)} planted bugs found within {self.count} kernels: {100 * found / len(self.bugs):.1f} %"
