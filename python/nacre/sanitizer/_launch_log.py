"""Which arrays a process's launches were given, in a file of one JSON line each: for tools that look at it from outside, and know addresses alone."""

import json

from . import _arrays


def start(path):
    """Writes a line for each launch from now on that differs from the one before."""
    from ..runtime import hooks

    last = None

    def record(compiled, kernel, grid, arguments):
        nonlocal last
        rows = _arrays.arrays(kernel, [arguments[param.name] for param in kernel.params])[0] if kernel is not None else []
        line = json.dumps({"kernel": kernel.__name__, "arrays": rows}) + "\n" if rows else None
        if line is None or line == last:
            return
        last = line
        with open(path, "a") as file:  # the process may be ended at any time
            file.write(line)

    hooks.add_recorder(record)


def read(path):
    """{kernel: [rows of arrays, as _arrays has them]}, the latest last."""
    known = {}
    try:
        with open(path) as file:
            for line in file:
                if line.endswith("\n"):
                    launch = json.loads(line)
                    known.setdefault(launch["kernel"], []).extend(launch["arrays"])
    except FileNotFoundError:
        pass
    return known


def describe(address, rows):
    """Of the array that holds the address or is nearest to it: the argument and the element. Empty where none is near."""

    def gap(row):
        begin, end = row[:2]
        return begin - address if address < begin else address - end + 1 if address >= end else 0

    near = [row for row in rows if gap(row) < 1 << 20]
    if not near:
        return {}
    begin, end, origin, _, name, type, shape, _, size = min(reversed(near), key=gap)
    return {
        "argument": name, "argument_type": type, "argument_shape": list(shape), "begin": begin, "end": end, "element": (address - origin) // size,
        "valid": [(begin - origin) // size, (end - origin) // size - 1],
    }  # fmt: skip
