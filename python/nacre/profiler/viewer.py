"""`nacre-proton-viewer`: profiles as trees of frames with metrics; nothing needs to be installed.

`parse` and `print_tree` do the same in a program; `--html` makes a page (`_page.py`), `--assert` compares for CI (`_compare.py`).
"""

import argparse
import re
import sys

from .._terminal import can_show, program
from ._derive import FactorDict, avg_cpu_time_factor_dict, avg_time_factor_dict, bytes_factor_dict, cpu_time_factor_dict, time_factor_dict
from ._derive import derivable_metrics, derive, derive_metrics, get_min_time_bytes, get_min_time_flops, is_doubtful
from ._graph import read

__all__ = [
    "FactorDict", "apply_diff_profile", "avg_cpu_time_factor_dict", "avg_time_factor_dict", "bytes_factor_dict", "cpu_time_factor_dict",
    "derivable_metrics", "derive_metrics", "emit_warnings", "filter_frames", "format_frames", "get_min_time_bytes", "get_min_time_flops",
    "get_raw_metrics", "main", "match_available_metrics", "parse", "print_tree", "read", "remove_frames", "show_metrics", "time_factor_dict",
]  # fmt: skip
FORMATS = ("full", "file_function_line", "function_line", "file_function")
# A value's share of the largest, from 1 down: the colours of the tree.
BANDS = ((0.9, 196), (0.7, 208), (0.5, 220), (0.3, 46), (0.1, 34), (0.0, 22))


def _plain(name):
    """A metric's name without its unit, in small letters: how names are compared."""
    return re.sub(r"\s*\([^)]*\)", "", name).strip().lower()


def match_available_metrics(metrics, inclusive_metrics, exclusive_metrics):
    """The columns that the given names mean: case and unit do not count, `(inc)` stands behind those that are summed up."""
    found = []
    for wanted in [metrics] if isinstance(metrics, str) else metrics:
        for name in (*inclusive_metrics, *exclusive_metrics):
            if _plain(name) == _plain(wanted):
                found.append(f"{name} (inc)" if name in inclusive_metrics else name)
                break
    if not found:
        raise RuntimeError(f"Metric {metrics} is not found. Use the --list flag to list available metrics")
    return found


def get_raw_metrics(file):
    """What read() gives; the file may be open already, or read."""
    return read(file if isinstance(file, list) else getattr(file, "name", file))


def remove_frames(graph, predicate):
    """The graph without the frames of which the predicate is true; what stands below them moves up."""

    def visit(frame):
        kept = []
        for child in frame.children:
            visit(child)
            kept += child.children if predicate(child) else [child]
        frame.children = kept

    visit(graph.root)
    return graph


def filter_frames(graph, include=None, exclude=None, threshold=None, metric=None):
    """Frames on a path to one that matches `include`; none of those that match `exclude`; none with less than `threshold` of a metric."""
    if include and exclude:
        raise ValueError("include and exclude cannot be given together")

    def keeps(frame, is_inside):
        is_inside = is_inside or bool(include and re.search(include, frame.name))
        if exclude and re.search(exclude, frame.name):
            return False
        if threshold is not None and metric is not None:
            value = frame.columns.get(metric)
            if not isinstance(value, (int, float)) or not value >= threshold:
                return False
        frame.children = [child for child in frame.children if keeps(child, is_inside)]
        return not include or is_inside or bool(frame.children)

    graph.root.children = [child for child in graph.root.children if keeps(child, False)]
    return graph


def format_frames(graph, format=None):
    """Frames of Python's call stack, file:line@function, written shorter."""
    if format is None or format == "full":
        return graph
    if format not in FORMATS:
        raise ValueError(f"Unknown format: {format}; there are {', '.join(FORMATS)}")
    for frame in graph.frames():
        match = re.fullmatch(r"(.*):(\d+)@(.*)", frame.name)
        if not match:
            continue
        file, line, function = match[1].rsplit("/", 1)[-1], match[2], match[3]
        frame.name = {
            "file_function_line": f"{file}:{line}@{function}", "function_line": f"{line}@{function}", "file_function": f"{file}@{function}",
        }[format]  # fmt: skip
    return graph


def parse(metrics, filename, include=None, exclude=None, threshold=None):
    """(graph, names of columns): the metrics are columns of `graph.dataframe`, as `time/ms (inc)`."""
    graph, inclusive, exclusive, devices = get_raw_metrics(filename)
    names, missing = derive(graph, metrics, inclusive, exclusive, devices)
    if missing:
        if len(missing) == len(names):
            raise ValueError(f"{filename} has no data for {', '.join(missing)}; it has {', '.join([*inclusive, *exclusive]) or 'no metrics'}")
        print(f"nacre-proton-viewer: {filename} has no data for {', '.join(missing)}", file=sys.stderr)
    if "util" in names and is_doubtful(devices):
        print(f"warning: the peaks in {filename} were measured while the machine was busy: the true shares of them (util) are smaller", file=sys.stderr)
    filter_frames(graph, include, exclude, threshold, names[0] if names else None)
    return graph, names


def apply_diff_profile(graph, names, old_file, metrics, include=None, exclude=None, threshold=None):
    """The graph with what it has more than the one in `old_file`, frame by frame."""
    old, _ = parse(metrics, old_file, include, exclude, None)

    def visit(frame, other):
        for name in names:
            value, before = frame.columns.get(name), other.columns.get(name) if other else None
            if isinstance(value, (int, float)):
                frame.columns[name] = value - (before if isinstance(before, (int, float)) else 0)
        known = {child.name: child for child in other.children} if other else {}
        for child in frame.children:
            visit(child, known.get(child.name))

    visit(graph.root, old.root)
    if threshold is not None and names:
        filter_frames(graph, threshold=threshold, metric=names[0])
    return graph


def _shown(value):
    if not isinstance(value, (int, float)) or value != value:
        return "-"
    return f"{value:.3f}"


def _band(value, most):
    if not isinstance(value, (int, float)) or value != value or not most:
        return None
    share = value / most
    return next(colour for limit, colour in BANDS if share >= limit or limit == 0.0)


def print_tree(graph, names, depth=100, format=None, print_sorted=False):
    """Prints the tree, each frame with its values; the first column decides colours, on a terminal, and with print_sorted the order."""
    format_frames(graph, format)
    is_coloured = sys.stdout.isatty()
    first = names[0] if names else None

    def amount(frame):
        value = frame.columns.get(first, 0)
        return value if isinstance(value, (int, float)) and value == value else 0

    most = max((abs(amount(frame)) for frame in graph.frames()), default=0)

    def line(frame, prefix):
        values = " ".join(_shown(frame.columns.get(name)) for name in names)
        colour = _band(amount(frame), most) if is_coloured else None
        return f"{prefix}\033[38;5;{colour}m{values}\033[0m {frame.name}" if colour else f"{prefix}{values} {frame.name}"

    if names:
        print(", ".join(names) + ":")
    branch, last_branch, trunk = ("├─ ", "└─ ", "│  ") if can_show("├─└│") else ("+- ", "`- ", "|  ")
    print(line(graph.root, ""))
    waiting = [(graph.root, "", 0, "")]  # deep stacks of calls are deep trees: no recursion
    while waiting:
        frame, prefix, level, shown = waiting.pop()
        if shown:
            print(shown)
        if level >= depth:
            continue
        children = sorted(frame.children, key=amount, reverse=True) if print_sorted else frame.children
        for child in reversed(children):
            is_last = child is children[-1]
            shown = line(child, prefix + (last_branch if is_last else branch))
            waiting.append((child, prefix + ("   " if is_last else trunk), level + 1, shown))
    _print_legend(first, most, is_coloured)
    if print_sorted and first:
        print(f"\nSorted by {first}:")
        for frame in sorted((frame for frame in graph.frames() if not frame.children), key=amount, reverse=True):
            print(f"{_shown(frame.columns.get(first))} {frame.name}")
    emit_warnings(graph, names)


def _print_legend(first, most, is_coloured):
    if not first or not most:
        return
    print(f"\nLegend (Metric: {first} Min: 0.000 Max: {most:.3f})")
    above = 1.0
    for limit, colour in BANDS:
        mark = f"\033[38;5;{colour}m█\033[0m" if is_coloured else "█"
        print(f"{mark} {limit * most:.3f} - {above * most:.3f}")
        above = limit


def emit_warnings(graph, names):
    """What a reader ought to know of the numbers."""
    if any("count" in frame.own and not frame.own["count"] for frame in graph.frames() if frame.name != "ROOT"):
        print("warning: some kernels were recorded with no launches", file=sys.stderr)
    for frame in graph.frames():
        if frame.own.get("moved"):
            print(f"warning: the scope {frame.name!r} does not measure all that was written in it: {frame.own['moved']}", file=sys.stderr)
        if frame.own.get("lost_marks"):
            print(f"warning: {frame.own['lost_marks']} marks of {frame.name} had no room: its scopes took longer than they seem", file=sys.stderr)


def show_metrics(file):
    """Prints the names of the metrics in a file."""
    _, inclusive, exclusive, _ = read(getattr(file, "name", file))
    print("Available inclusive metrics:")
    for name in inclusive:
        print(f"- {name}")
    if exclusive:
        print("Available exclusive metrics:")
        for name in exclusive:
            print(f"- {name}")
    print("Derived metrics: " + ", ".join(derivable_metrics))


def _arguments():
    parser = argparse.ArgumentParser(prog="nacre-proton-viewer", description="Shows profiles that proton wrote.")
    parser.add_argument("-l", "--list", action="store_true", help="the metrics that the file has")
    parser.add_argument("-m", "--metrics", help="metrics, with commas: time/ms, tflop16/s, util, time/%%, or a name in the file")
    parser.add_argument("-i", "--include", help="only paths with a frame that matches")
    parser.add_argument("-e", "--exclude", help="without frames that match")
    parser.add_argument("-t", "--threshold", type=float, help="without frames below this value of the first metric")
    parser.add_argument("-d", "--depth", type=int, default=100)
    parser.add_argument("-f", "--format", choices=FORMATS, default="full", help="format of the frames of the call stack")
    parser.add_argument("--print-sorted", action="store_true", help="largest first")
    parser.add_argument("-diff", "--diff-profile", metavar="FILE", help="show the difference to this profile")
    parser.add_argument("--html", metavar="PAGE", help="one page: flame graph, table, timeline, roofline, comparison")
    parser.add_argument("--assert", dest="conditions", action="append", default=[], metavar="'time/ms<5'", help="exit with 1 unless this holds")
    parser.add_argument("--against", metavar="FILE", help="exit with 1 if a metric is worse than in this profile")
    parser.add_argument("--tolerance", default="3%", help="how much worse it may be (default: 3%%)")
    parser.add_argument("--floor", default="10us", metavar="TIME", help="changes by less than this a launch are noise (default: 10us)")
    parser.add_argument("target_path", metavar="FILE")
    return parser


def split_metrics(text):
    """The metrics of a list with commas; `tflops/s_time/s` is two, as tutorials write it."""
    names = []
    for part in (text or "").split(","):
        pieces = re.split(r"(?<=/s)_|(?<=/ms)_|(?<=/us)_|(?<=/ns)_", part.strip())
        names += [piece for piece in pieces if piece]
    return names


def run():
    """The program: what is wrong is said in a line."""
    return program("nacre-proton-viewer", main)


def main(arguments=None):
    options = _arguments().parse_args(arguments)
    if options.include and options.exclude:
        raise ValueError("-i and -e cannot be given together")
    if options.list:
        show_metrics(options.target_path)
        return 0
    metrics = split_metrics(options.metrics)
    if options.html:
        from ._page import write_page

        write_page(options.html, options.target_path, options.diff_profile)
        print(f"{options.html} is written")
        return 0
    if options.conditions or options.against:
        from ._compare import check

        return check(options.target_path, options.conditions, options.against, options.tolerance, metrics, options.floor)
    graph, names = parse(metrics or None, options.target_path, options.include, options.exclude, None if options.diff_profile else options.threshold)
    if options.diff_profile:
        apply_diff_profile(graph, names, options.diff_profile, metrics or None, options.include, options.exclude, options.threshold)
    print_tree(graph, names, options.depth, options.format, options.print_sorted)
    return 0


if __name__ == "__main__":
    sys.exit(run())
