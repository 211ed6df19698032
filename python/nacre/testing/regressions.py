"""`nacre bench file.py`: runs the perf_reports of a file, keeps their numbers as JSON, and compares them with those of an earlier run."""

import json
import math
import os
import re
import sys

from .._completion import WORDS
from .._terminal import misused

VERSION = 1
USAGE = """usage: nacre bench FILE.py [--json NEW.json] [--against OLD.json] [--tolerance 5%] [--better higher|lower] [--save FOLDER]
                   [--resume] [--only TEXT]

Runs every benchmark that a file defines with triton.testing.perf_report.

  --json NEW.json     write the numbers there
  --against OLD.json  compare with an earlier run; exit with 1 when a point is worse by more than the tolerance, or has no number
  --tolerance 5%      how much worse counts as a regression (default: 5%)
  --better higher     which is better, where the label of the y axis is neither a rate (GB/s, TFLOPS) nor a time (ms)
  --save FOLDER       write tables, pictures and results.html there
  --resume            continue an interrupted run: points that are in FOLDER are not measured again
  --only TEXT         only benchmarks whose name contains this text
"""


def marks_of(path):
    """The perf_reports of a file, by name."""
    import importlib.util

    from .reports import Mark

    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("nacre_bench_file", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Mark)}


_RATES = re.compile(r"/\s*s\b|/\s*sec|per second|flops|bps\b|speedup|throughput|bandwidth", re.IGNORECASE)
_TIMES = re.compile(r"\b(ns|us|µs|ms|s|sec|seconds?|milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|time|latency|cycles)\b", re.IGNORECASE)


def direction(ylabel):
    """ "higher" for rates, "lower" for times, None where the label does not say which is better."""
    return "higher" if _RATES.search(ylabel) else "lower" if _TIMES.search(ylabel) else None


def better_of(name, ylabel, asked):
    """ "higher" or "lower": what the label of a report says, else what was asked for. Raises ValueError where nothing does."""
    better = direction(ylabel) or asked
    if better is None:
        raise ValueError(f"{name}: whether more or less of {ylabel or 'something without a unit'} is better is not known; say "
                         "--better higher or --better lower")  # fmt: skip
    return better


class Comparison:
    """A run beside an earlier one. `lines` is what there is to say of each point, [(text, is a regression)].

    What was measured before and has no number now is a regression: a line, a point or a whole report that is gone, NaN, another unit.
    """

    def __init__(self, old, new, tolerance, better=None, only=""):
        self.tolerance = tolerance
        self.better = better
        self.lines = []
        before = {report["name"]: report for report in old["reports"] if only in report["name"]}
        now = {report["name"]: report for report in new["reports"]}
        for name, report in before.items():
            if name not in now:
                self._say(name, "is gone", True)
            elif report["ylabel"] != now[name]["ylabel"]:
                self._say(name, f"cannot be compared: it was in {report['ylabel'] or 'no unit'}, now it is in {now[name]['ylabel'] or 'no unit'}", True)
            else:
                self._compare(name, report, now[name])
        for name in now:
            if name not in before:
                self._say(name, "is new", False)

    @property
    def worse(self):
        return sum(is_regression for _, is_regression in self.lines)

    def _say(self, place, text, is_regression):
        self.lines.append((f"{place}{': ' if ' -> ' in text else ' '}{text}", is_regression))

    def _compare(self, name, old, new):
        better = better_of(name, new["ylabel"], self.better)
        measured = {(tuple(map(str, point["x"])), line): values for point in new["points"] for line, values in zip(new["lines"], point["y"])}
        for point in old["points"]:
            for line, values in zip(old["lines"], point["y"]):
                key = tuple(map(str, point["x"])), line
                place = f"{name}, {', '.join(key[0])}, {line}"
                if key not in measured:
                    self._say(place, "is gone", True)
                else:
                    self._point(place, values[0], measured.pop(key)[0], new["ylabel"], better)
        for (x, line), _ in measured.items():
            self._say(f"{name}, {', '.join(x)}, {line}", "is new", False)

    def _point(self, place, was, now, unit, better):
        if not _is_number(now):
            self._say(place, f"{_shown(was)} -> {_shown(now)} {unit}: there is no number", _is_number(was))
            return
        if not _is_number(was):
            self._say(place, f"{_shown(was)} -> {_shown(now)} {unit}: there was no number", False)
            return
        change = now / was - 1 if was else 0.0 if now == was else math.copysign(math.inf, now)
        loss = -change if better == "higher" else change
        self._say(place, f"{_shown(was)} -> {_shown(now)} {unit} ({change:+.1%})", loss > self.tolerance)


def _is_number(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _shown(value):
    return f"{value:.6g}" if isinstance(value, (int, float)) else "nothing"


def _tolerance(text):
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf or (number > 1 and not text.endswith("%")):
        raise ValueError(f"--tolerance {text}: expected a share as 5% or 0.05")
    return number / 100 if text.endswith("%") else number


def _earlier(path):
    """What an earlier run has written."""
    try:
        with open(path) as stream:
            old = json.load(stream)
        if old["format"] == "nacre bench" and old["version"] == VERSION and all(map(_is_report, old["reports"])):
            return old
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ValueError(f"{path} is not a file of `nacre bench --json`")


def _is_report(report):
    points = report["points"]
    is_whole = isinstance(report["name"], str) and isinstance(report["ylabel"], str) and isinstance(report["lines"], list) and isinstance(points, list)
    return is_whole and all(isinstance(point["x"], list) and all(isinstance(y, list) and y for y in point["y"]) for point in points)


def _options(arguments):
    """(file, {option: value}); raises ValueError with what is wrong."""
    names = {"--json", "--against", "--tolerance", "--better", "--save", "--only"}
    file, options, rest = None, {}, list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--resume":
            options["resume"] = True
        elif name in names:
            if not equals and not rest:
                raise ValueError(f"{name} needs a value")
            options[name[2:]] = value if equals else rest.pop(0)
        elif word.startswith("-"):
            raise ValueError(f"there is no option {word}")
        elif file is None:
            file = word
        else:
            raise ValueError(f"one file at a time, found {word} too")
    if file is None:
        raise ValueError("a file is needed")
    return file, options


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    try:
        file, options = _options(arguments)
        tolerance = _tolerance(options.get("tolerance", "5%"))
        if options.get("better") not in (None, "higher", "lower"):
            raise ValueError(f"--better {options['better']}: expected higher or lower")
        old = _earlier(options["against"]) if "against" in options else None
        if not os.path.isfile(file) or not file.endswith(".py"):
            raise ValueError(f"there is no file {file}" if not os.path.exists(file) else f"{file} is not a file of Python (.py)")
        if "resume" in options and "save" not in options:
            raise ValueError("--resume needs the --save FOLDER of the run that was interrupted")
        if "save" in options:  # whether it can be written is known before anything is measured
            os.makedirs(options["save"], exist_ok=True)
        if "json" in options:
            open(options["json"], "a").close()
    except (ValueError, OSError) as error:
        return misused("nacre bench", str(error), WORDS["bench"])
    from .._run import show_only_the_program

    show_only_the_program()
    marks = marks_of(file)
    if not marks:
        print(f"nacre bench: {file} defines no perf_report", file=sys.stderr)
        return 2
    try:
        chosen = _chosen(marks, options, old)
    except ValueError as error:
        print(f"nacre bench: {error}", file=sys.stderr)
        return 2
    reports = _run(chosen, options)
    if not reports:
        print(f"nacre bench: {file} has no benchmark whose name holds {options['only']!r}", file=sys.stderr)
        return 2
    from ..runtime.tuning.records import device_facts, write_whole

    new = {"format": "nacre bench", "version": VERSION, "device": device_facts(), "reports": reports}
    try:
        if "json" in options:
            write_whole(options["json"], new, 0o666)
        return 0 if old is None else _compare(old, new, tolerance, options)
    except (ValueError, OSError) as error:
        print(f"nacre bench: {error}", file=sys.stderr)
        return 2


def _compare(old, new, tolerance, options):
    if old.get("device") != new["device"]:
        print("nacre bench: the earlier run was on another device: its numbers are compared all the same", file=sys.stderr)
    comparison = Comparison(old, new, tolerance, options.get("better"), options.get("only", ""))
    for text, is_regression in comparison.lines:
        print(f"{'REGRESSION ' if is_regression else ''}{text}")
    count = len(comparison.lines)
    if count == 0:
        print("nothing to compare")
        return 1
    print(f"{comparison.worse} of {count} points are worse by more than {100 * tolerance:.3g}%, or gone")
    return 1 if comparison.worse else 0


def _chosen(marks, options, old):
    """[(mark, benchmark, its name)] of what is to be run. Raises ValueError where it could not be compared with what was measured before."""
    from .reports import numbered

    found, names = [], set()
    for mark_name, mark in marks.items():
        for bench, name in mark.named_benchmarks(mark_name):
            name = numbered(name, names)
            names.add(name)
            if options.get("only", "") not in name:
                continue
            if any(report["name"] == name and report["ylabel"] == bench.ylabel for report in (old or {"reports": ()})["reports"]):
                better_of(name, bench.ylabel, options.get("better"))
            found.append((mark, bench, name))
    return found


def _run(chosen, options):
    from .page import write_page
    from .reports import Progress, Result, Unfinished, _as_text, _plot, _write_csv

    reports = []
    progress = Progress()
    for mark, bench, name in chosen:
        unfinished = Unfinished(options["save"], Result(bench, name)) if "save" in options else None
        try:
            known = unfinished.load() if "resume" in options else None
            result = mark.measure(bench, name, progress, unfinished.store if unfinished else lambda result: None, known)
        finally:
            progress.close()
        if unfinished is not None:
            unfinished.remove()
        print("\n".join([f"{name}:", _as_text(result, False), *(f"({remark})" for remark in result.remarks())]))
        reports.append(result.as_data())
        if "save" in options:
            _write_csv(result, options["save"], False, 6)
            if bench.plot_name:
                _plot(result, options["save"], False)
    if "save" in options:
        write_page(os.path.join(options["save"], "results.html"), [dict(report) for report in reports])
    return reports
