"""`nacre sanitize --static script.py`: what is proved of the launches of a script."""

import json
import re
import sys

from .. import _core, knobs
from .._completion import WORDS
from .._terminal import misused, show_all_letters
from . import _report
from ._arrays import arrays
from ._family import Family


class LaunchNotRun(Exception):
    """A launch was looked at, and not run."""


class StaticSession:
    """Asks for each launch that differs from those before: another kernel, grid, number or shape. Without `runs` launches end there, with a
    LaunchNotRun. With `conditions` it asks for all launches that meet them, once for each compiled kernel that is launched."""

    def __init__(self, kernel=None, runs=True, conditions=None):
        self.runs = runs
        self.conditions = conditions
        self.kernel = re.compile(kernel) if kernel else None
        self.asked = set()
        self.is_program = False  # what is wrong is said in a line
        self.launches = []

    def begin(self, kernel, values, grid, compiled, slots):
        if compiled is None or (self.kernel and not self.kernel.search(kernel.__name__)):  # Python runs it: nothing is compiled
            return None
        rows, _ = arrays(kernel, values)
        if self.conditions is not None:
            if compiled.hash not in self.asked:
                self.asked.add(compiled.hash)
                try:
                    self._ask_for_all(kernel, values, compiled, slots, rows)
                except ValueError as error:
                    if not self.is_program:
                        raise
                    print(f"nacre sanitize: {error}", file=sys.stderr)
                    sys.exit(2)
            if not self.runs:
                raise LaunchNotRun(kernel.__name__)
            return None
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
            _verdict(row) for row in _core.static_check(compiled.asm["ttir"], grid, slots, rows)
        ]})  # fmt: skip

    def _ask_for_all(self, kernel, values, compiled, slots, rows):
        for i, j, _ in self._overlaps(rows):
            if rows[i][:2] != rows[j][:2]:
                raise ValueError(f"--for-all: {rows[i][4]} and {rows[j][4]} of {kernel.__name__} share a part of their memory")
        first = {}  # of the arrays that are passed several times
        sizes = {row[4]: (first.setdefault(row[0], row[4]), row[8]) for row in rows}
        signature = compiled.src.signature
        constants = {param.name: value for param, value in zip(kernel.params, values) if signature.get(param.name) == "constexpr"}
        family = Family(self.conditions, signature, constants, sizes)
        text, native = compiled.asm["ttir"], family.native()
        found = [_verdict(row) for row in _core.static_check(text, (1, 1, 1), slots, [], native)]
        multiples = {family.slots[int(number)][0]: int(by) for number, by in _MULTIPLE.findall(text)}
        multiples = {name: by for name, by in multiples.items() if not dict(family.slots)[name].startswith("*")}
        if any(access["answer"] == "unknown" for access in found):
            numbers = [value for is_pointer, value in slots if not is_pointer and 0 < value < 1 << 31]
            for example in family.examples(numbers, multiples):
                _look_for_witnesses(found, text, family, example)
        specialized = [f"{name} % {by} == 0" for name, by in multiples.items()]
        self.launches.append({"kernel": kernel.__name__, "conditions": "; ".join([*filter(None, [family.text]), *specialized]),
                              "launched_at": _report._caller(), "accesses": found})  # fmt: skip

    @staticmethod
    def _overlaps(rows):
        return tuple((i, j, b[0] - a[0]) for i, a in enumerate(rows) for j, b in enumerate(rows[:i]) if a[0] < b[1] and b[0] < a[1])

    def end(self, kernel, grid, findings):
        pass


_MULTIPLE = re.compile(r"%arg(\d+): [^,{)]+ \{tile\.divisibility = (\d+)")


def _verdict(row):
    return dict(zip(("check", "answer", "access", "place", "other_place", "text"), row))


def _look_for_witnesses(found, text, family, example):
    """Asks for one launch of the family what is unknown of all: a witness against one is one against all."""
    rows, slots = [], []
    begins = {}
    for name, type in family.slots:
        if not type.startswith("*"):
            slots.append((False, example.get(name, 0)))
            continue
        first, size = family.sizes.get(name, (name, 1))
        begin = begins.setdefault(first, (len(begins) + 1) << 42)
        slots.append((True, begin))
        count = example.get(f"{first}.numel")
        if count is not None:
            rows.append((begin, begin + count * size, begin, False, name, "", (count,), (size,), size))
    grid = tuple(example[f"grid[{axis}]"] for axis in range(3))
    said = ", ".join(f"{name} = {value}" for name, value in example.items() if not name.startswith("grid["))
    for row in _core.static_check(text, grid, slots, rows):
        verdict = _verdict(row)
        for access in found:
            if verdict["answer"] == "witness" and access["answer"] == "unknown" and _same(access, verdict):
                access.update(answer="witness", text=f"{said}, grid {grid}: {verdict['text']}")


def _same(one, other):
    return all(one[key] == other[key] for key in ("check", "access", "place", "other_place"))


def start(kernel=None, runs=True, conditions=None):
    session = StaticSession(kernel, runs, conditions)
    knobs.compilation.watch = "accesses"
    _core.set_launch_tool(session)
    return session


def stop():
    _core.set_launch_tool(None)
    del knobs.compilation.watch


def write(session, stream):
    counts = {"proved": 0, "witness": 0, "unknown": 0}
    for launch in session.launches:
        which = f"all launches with {launch['conditions'] or 'any numbers'}" if "conditions" in launch else f"grid ({', '.join(map(str, launch['grid']))})"
        stream.write(f"{launch['kernel']}, {which}, launched at {launch['launched_at']}\n")
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


def _conditions(arguments):
    """(the value of --for-all or None, the other arguments); it stands before the script."""
    for i, argument in enumerate(arguments):
        if argument == "--for-all" and i + 1 < len(arguments):
            return arguments[i + 1], arguments[:i] + arguments[i + 2 :]
        if argument.startswith("--for-all="):
            return argument.partition("=")[2], arguments[:i] + arguments[i + 1 :]
        if argument == "--for-all":
            raise ValueError("--for-all needs conditions")
        if argument.endswith(".py") or argument in ("-", "-m", "-c"):
            break
    return None, arguments


def main(arguments):
    from .._run import run
    from ._program import _options

    try:
        conditions, arguments = _conditions(arguments)
        options, rest = _options(arguments)
        unknown = set(options) - {"json", "kernel"}
        if unknown or not rest:
            raise ValueError("--static takes --for-all, --json and --kernel" if unknown else "no script is given")
    except ValueError as error:
        return misused("nacre sanitize", str(error), WORDS["sanitize"])
    session = start(options.get("kernel"), conditions=conditions)
    session.is_program = True
    try:
        status = run(rest) or 0
    finally:
        stop()
    if status == 2 and not session.launches:
        return status
    show_all_letters()
    found = write(session, sys.stdout)
    if "json" in options:
        with open(options["json"], "w") as file:
            json.dump({"version": 1, "launches": session.launches}, file, indent=2)
            file.write("\n")
    return status or found
