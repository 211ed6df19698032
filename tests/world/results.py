"""What came of the last whole run of `make test-world ARGS=--write`, kept in results.json: the table of docs/6-compatibility.md and the cases
that the daily sample draws from.

results.json: {"seed": S, "packages": {package: {"version": V, "engines": {engine: {operator: [outcome of case 0, 1, ...]}}}}}. The outcome of a
right case is the seconds that it took, of any other its status.
"""

import json
import random
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "6-compatibility.md"
BEGIN, END = "<!-- written by make test-world -->", "<!-- until here -->"
STATUSES = ["right", "wrong", "refused", "theirs", "skipped"]
ENGINES = {"cpu": "CPU", "interpreter": "interpreter", "cuda:80": "sm_80, simulated", "cuda:90": "sm_90, simulated", "cuda": "a GPU"}


def read():
    return json.loads(FILE.read_text()) if FILE.exists() else {"seed": 1, "packages": {}}


def write(results):
    """The file, one line an operator, and the table of the page."""
    results["packages"] = {name: results["packages"][name] for name in sorted(results["packages"])}
    text = json.dumps(results, indent=1)
    FILE.write_text(_lists_on_one_line(text) + "\n")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table(results) + "\n" + END + rest.partition(END)[2])


def _lists_on_one_line(text):
    lines, joined = [], False
    for line in text.splitlines():
        if joined:
            lines[-1] += line.strip() + (" " if line.endswith(",") and "]" not in line else "")
        else:
            lines.append(line)
        joined = line.endswith("[") or (joined and "]" not in line)
    return "\n".join(lines)


def counts(outcomes):
    """Of an engine's {operator: outcomes}: how many there are of each status."""
    return Counter(outcome if isinstance(outcome, str) else "right" for cases in outcomes.values() for outcome in cases)


def table(results):
    """In Markdown: a row for each package, a column for each engine; skipped cases are not counted."""
    packages = results["packages"]
    engines = [engine for engine in ENGINES if any(engine in package["engines"] for package in packages.values())]
    rows = [["package", "version", "operators", *(ENGINES[engine] for engine in engines)]]
    rows.append(["---"] * len(rows[0]))
    for name, package in packages.items():
        operators = {operator for outcomes in package["engines"].values() for operator in outcomes}
        rows.append([name, package["version"], str(len(operators)), *(_cell(package["engines"].get(engine, {})) for engine in engines)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(outcomes):
    found = counts(outcomes)
    return ", ".join(f"{found[status]} {status}" for status in STATUSES[:-1] if found[status]) or "-"


def sample(results, names, seed, pairs, seconds):
    """[(package, engine, [(operator, case), ...])] of the named packages: as many pairs of package and engine, for each of them cases that were
    right and together took no longer than so many seconds. Another choice for every seed."""
    draw = random.Random(seed)
    everything = [(name, engine) for name in names for engine in results["packages"][name]["engines"] if engine != "cuda"]
    chosen = []
    for name, engine in draw.sample(everything, len(everything)):
        outcomes = results["packages"][name]["engines"][engine]
        cases = [(seconds_, operator, case) for operator, found in outcomes.items() for case, seconds_ in enumerate(found) if not isinstance(seconds_, str)]
        draw.shuffle(cases)
        left, taken = seconds, []
        for cost, operator, case in cases:
            if cost + 0.1 <= left:
                left -= cost + 0.1
                taken.append((operator, case))
        if taken:
            chosen.append((name, engine, taken))
        if len(chosen) == pairs:
            break
    return chosen
