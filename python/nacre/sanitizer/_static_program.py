"""`nacre sanitize --static script.py`: what is proved of the launches of a script."""

import json
import re
import sys

from .. import _core, knobs
from . import _report
from ._arrays import arrays


class LaunchNotRun(Exception):
    """A launch was looked at, and not run."""


class StaticSession:
    """Asks for each launch that differs from those before: another kernel, grid, number or shape. Without `runs` launches end there, with a
    LaunchNotRun."""

    def __init__(self, kernel=None, runs=True):
        self.runs = runs
        self.kernel = re.compile(kernel) if kernel else None
        self.asked = set()
        self.launches = []

    def begin(self, kernel, values, grid, compiled, slots):
        if self.kernel and not self.kernel.search(kernel.__name__):
            return None
        rows, _ = arrays(kernel, values)
        numbers = tuple(value for is_pointer, value in slots if not is_pointer)
        key = compiled.hash, grid, numbers, tuple(row[5:] for row in rows), self._overlaps(rows)
        if key in self.asked:
            return None
        self.asked.add(key)
        self._ask(kernel, grid, compiled, slots, rows)
        if not self.runs:
            raise LaunchNotRun(kernel.__name__)
        return None

    def _ask(self, kernel, grid, compiled, slots, rows):
        self.launches.append({"kernel": kernel.__name__, "grid": list(grid), "launched_at": _report._caller(), "accesses": [
            dict(zip(("check", "answer", "access", "place", "other_place", "text"), row))
            for row in _core.static_check(compiled.asm["ttir"], grid, slots, rows)
        ]})  # fmt: skip

    @staticmethod
    def _overlaps(rows):
        return tuple((i, j, b[0] - a[0]) for i, a in enumerate(rows) for j, b in enumerate(rows[:i]) if a[0] < b[1] and b[0] < a[1])

    def end(self, kernel, grid, findings):
        pass


def start(kernel=None, runs=True):
    session = StaticSession(kernel, runs)
    knobs.compilation.watch = "accesses"
    _core.set_launch_tool(session)
    return session


def stop():
    _core.set_launch_tool(None)
    del knobs.compilation.watch


def write(session, stream):
    counts = {"proved": 0, "witness": 0, "unknown": 0}
    for launch in session.launches:
        grid = ", ".join(map(str, launch["grid"]))
        stream.write(f"{launch['kernel']}, grid ({grid}), launched at {launch['launched_at']}\n")
        for access in launch["accesses"]:
            counts[access["answer"]] += 1
            where = access["place"] + (f" with {access['other_place']}" if access["other_place"] else "")
            why = f": {access['text']}" if access["text"] else ""
            stream.write(f"  {access['answer']:8}{access['check']:7}{access['access']} {where}{why}\n")
            if access["answer"] == "witness":
                file, line, column = access["place"].rsplit(":", 2)
                for text in _report.shown({"file": file, "line": int(line), "column": int(column)}):
                    stream.write(f"  {text}\n")
    stream.write(f"{counts['proved']} proved, {counts['witness']} with a witness, {counts['unknown']} unknown\n")
    return 1 if counts["witness"] else 0


def main(arguments):
    from .._run import run
    from ._program import SANITIZE_USAGE, _options

    try:
        options, rest = _options(arguments)
        unknown = set(options) - {"json", "kernel"}
        if unknown or not rest:
            raise ValueError("--static takes --json and --kernel" if unknown else "no script is given")
    except ValueError as error:
        print(f"nacre sanitize: {error}\n{SANITIZE_USAGE}", end="", file=sys.stderr)
        return 2
    session = start(options.get("kernel"))
    try:
        status = run(rest) or 0
    finally:
        stop()
    found = write(session, sys.stdout)
    if "json" in options:
        with open(options["json"], "w") as file:
            json.dump({"version": 1, "launches": session.launches}, file, indent=2)
            file.write("\n")
    return status or found
