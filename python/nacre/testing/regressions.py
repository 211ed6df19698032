"""`nacre bench file.py`: runs the perf_reports of a file, keeps their numbers as JSON, and compares them with those of an earlier run."""

import json
import os
import sys

VERSION = 1
USAGE = """usage: nacre bench FILE.py [--json NEW.json] [--against OLD.json] [--tolerance 5%] [--save FOLDER] [--only TEXT]

Runs every benchmark that a file defines with triton.testing.perf_report.

  --json NEW.json     write the numbers there
  --against OLD.json  compare with an earlier run's; exit with 1 when a line is worse beyond the tolerance
  --tolerance 5%      how much worse counts as a regression (5% unless given)
  --save FOLDER       write tables, pictures and results.html there
  --only TEXT         only benchmarks whose name holds this text
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


def higher_is_better(ylabel):
    """Rates are better when they are higher, times when they are lower."""
    text = ylabel.lower()
    return "/s" in text or "flops" in text or "speedup" in text or "bps" in text


def compare(old, new, tolerance):
    """[(text, is a regression)] of every point that both runs have."""
    found = []
    before = {report["name"]: report for report in old["reports"]}
    for report in new["reports"]:
        other = before.get(report["name"])
        if other is None:
            continue
        points = {tuple(map(str, point["x"])): point["y"] for point in other["points"]}
        for point in report["points"]:
            values = points.get(tuple(map(str, point["x"])))
            for line, measured in zip(report["lines"], point["y"]):
                if values is None or line not in other["lines"]:
                    continue
                was, now = values[other["lines"].index(line)][0], measured[0]
                if not was or now is None:
                    continue
                change = now / was - 1
                loss = -change if higher_is_better(report["ylabel"]) else change
                place = f"{report['name']}, {', '.join(map(str, point['x']))}, {line}"
                found.append((f"{place}: {was:.6g} -> {now:.6g} {report['ylabel']} ({change:+.1%})", loss > tolerance))
    return found


def _tolerance(text):
    number = float(text.removesuffix("%"))
    return number / 100 if text.endswith("%") else number


def _options(arguments):
    """(file, {option: value}); raises ValueError with what is wrong."""
    names = {"--json", "--against", "--tolerance", "--save", "--only"}
    file, options, rest = None, {}, list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in names:
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
        old = None
        if "against" in options:
            with open(options["against"]) as stream:
                old = json.load(stream)
            if not isinstance(old, dict) or old.get("format") != "nacre bench" or old.get("version") != VERSION:
                raise ValueError(f"{options['against']} is not a file of `nacre bench --json`")
        marks = marks_of(file)
    except (ValueError, OSError) as error:
        print(f"nacre bench: {error}\n{USAGE}", end="", file=sys.stderr)
        return 2
    if not marks:
        print(f"nacre bench: {file} defines no perf_report", file=sys.stderr)
        return 2
    reports = _run(marks, options)
    from ..runtime.tuning.records import device_facts

    new = {"format": "nacre bench", "version": VERSION, "device": device_facts(), "reports": reports}
    if "json" in options:
        with open(options["json"], "w") as stream:
            json.dump(new, stream, indent=1)
    if old is None:
        return 0
    if old.get("device") != new["device"]:
        print("nacre bench: the earlier run was on another device: its numbers are compared all the same", file=sys.stderr)
    changes = compare(old, new, tolerance)
    for text, is_regression in changes:
        print(f"{'REGRESSION ' if is_regression else ''}{text}")
    worse = sum(is_regression for _, is_regression in changes)
    print(f"{worse} of {len(changes)} points are worse by more than {tolerance:.3g} of what they were" if changes else "nothing to compare")
    return 1 if worse else 0


def _run(marks, options):
    from .page import write_page
    from .reports import Benchmark, Progress, _as_text, _plot, _write_csv

    reports = []
    progress = Progress()
    for name, mark in marks.items():
        benchmarks = [mark.benchmarks] if isinstance(mark.benchmarks, Benchmark) else mark.benchmarks
        for bench in benchmarks:
            if options.get("only", "") not in (bench.plot_name or name):
                continue
            try:
                result = mark.measure(bench, progress)
            finally:
                progress.close()
            print(f"{bench.plot_name or name}:\n{_as_text(result, False)}")
            reports.append({**result.as_data(), "name": bench.plot_name or name})
            if "save" in options and bench.plot_name:
                os.makedirs(options["save"], exist_ok=True)
                _write_csv(result, options["save"], False, 6)
                _plot(result, options["save"], False)
    if "save" in options:
        write_page(os.path.join(options["save"], "results.html"), [dict(report) for report in reports])
    return reports
