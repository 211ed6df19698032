"""`nacre-proton-viewer --assert 'time/ms<5' --against old.hatchet --tolerance 3% --floor 10us`: for CI."""

import re
import sys

from ._derive import derive
from ._graph import read

# Metrics of which more is better; of the others less is.
_RATES = re.compile(r"/s$|^util$|flop|byte/s")
_OPERATORS = {
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, ">": lambda a, b: a > b, "==": lambda a, b: a == b,
}  # fmt: skip


def _columns(filename, metrics):
    graph, inclusive, exclusive, devices = read(filename)
    names, _ = derive(graph, metrics, inclusive, exclusive, devices)
    return graph, dict(zip(metrics, names))


def _tolerance(text):
    match = re.fullmatch(r"([\d.]+)\s*(%?)", text)
    if not match:
        raise ValueError(f"--tolerance {text}: expected a share such as 3%")
    return float(match[1]) / (100 if match[2] else 1)


def _condition(text):
    """(expression of frames or None, metric, operator, limit) of `[frame:]metric<number`."""
    match = re.fullmatch(r"(?:(.+):)?([^<>=:]+?)\s*(<=|>=|==|<|>)\s*([-\d.eE]+)", text.strip())
    if not match:
        raise ValueError(f"--assert {text!r}: expected METRIC<NUMBER or FRAME:METRIC<NUMBER")
    return match[1], match[2].strip(), match[3], float(match[4])


def _floor(text):
    """In nanoseconds."""
    match = re.fullmatch(r"([\d.]+)\s*(ns|us|ms|s)", text)
    if not match:
        raise ValueError(f"--floor {text}: expected a time such as 10us")
    return float(match[1]) * {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[match[2]]


def _time_of_a_launch(frame):
    """In nanoseconds; None where the frame has no time."""
    time = frame.total.get("time (ns)", frame.own.get("time (ns)"))
    return time / (frame.total.get("count", frame.own.get("count")) or 1) if isinstance(time, (int, float)) else None


def check(filename, conditions, against, tolerance, metrics, floor="10us"):
    """Prints what does not hold; the exit status."""
    failures = []
    for text in conditions:
        pattern, metric, operator, limit = _condition(text)
        graph, names = _columns(filename, [metric])
        frames = [frame for frame in graph.frames() if re.search(pattern, frame.name)] if pattern else [graph.root]
        known = [(frame, frame.columns[names[metric]]) for frame in frames if names[metric] in frame.columns]
        if not known:
            failures.append(f"{text}: the profile has no data for it")
        for frame, value in known:
            if not _OPERATORS[operator](value, limit):
                failures.append(f"{text}: {frame.name} has {value:.6g}")
    if against:
        worse, noise = _regressions(filename, against, _tolerance(tolerance), metrics or ["time/ns"], _floor(floor))
        failures += worse
        if noise:
            print(
                f"nacre-proton-viewer: {noise} {'value is' if noise == 1 else 'values are'} worse by a change of less than {floor} a launch: not counted (--floor)"
            )
    for failure in failures:
        print(f"nacre-proton-viewer: {failure}", file=sys.stderr)
    if not failures:
        print("nacre-proton-viewer: all holds")
    return 1 if failures else 0


def _regressions(filename, against, tolerance, metrics, floor):
    """([what is worse], how many are worse by so little that it is noise)"""
    failures, noise = [], [0]
    new, names = _columns(filename, metrics)
    old, _ = _columns(against, metrics)

    def visit(frame, before, path):
        times = _time_of_a_launch(frame), _time_of_a_launch(before)
        is_noise = None not in times and abs(times[0] - times[1]) < floor
        for metric, column in names.items():
            value, was = frame.columns.get(column), before.columns.get(column)
            if not isinstance(value, (int, float)) or not isinstance(was, (int, float)) or not was:
                continue
            change = (was - value) / was if _RATES.search(metric) and "time" not in metric else (value - was) / was
            if change > tolerance and is_noise:
                noise[0] += 1
            elif change > tolerance:
                failures.append(f"{' > '.join(path)}: {metric} is {value:.6g}, was {was:.6g} ({change * 100:+.1f}%, allowed {tolerance * 100:g}%)")
        known = {child.name: child for child in before.children}
        for child in frame.children:
            if child.name in known:
                visit(child, known[child.name], [*path, child.name])

    visit(new.root, old.root, [new.root.name])
    return failures, noise[0]
