"""perf_report: a function measured for every point of a plot, as a table, a CSV file, a picture and a web page."""

import json
import os
import sys

from .clocks import Watch


class Benchmark:
    """What one plot or table shows: x values, and a line for each provider.

    x_vals: for each point one value for all of x_names, or a tuple with one for each. line_arg: the argument that tells lines apart.
    args: further arguments of every call. styles: (colour, line style) of each line.
    """

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", x_log=False,
                 y_log=False, styles=None):  # fmt: skip
        self.x_names = x_names
        self.x_vals = x_vals
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.plot_name = plot_name
        self.args = args
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.x_log = x_log
        self.y_log = y_log
        self.styles = styles


class Progress:
    """One line on stderr, where that is a terminal."""

    def __init__(self):
        self.is_on = sys.stderr is not None and sys.stderr.isatty()
        self.width = 0

    def show(self, text):
        if self.is_on:
            sys.stderr.write("\r" + text[:120].ljust(self.width))
            sys.stderr.flush()
            self.width = min(len(text), 120)

    def close(self):
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            self.width = 0


class Result:
    """A measured benchmark: for each point its x values and, for each line, (y, low, high), the last two None where they are not known;
    and how the clock ran meanwhile, as clocks.Watch tells it."""

    def __init__(self, bench, name):
        self.bench = bench
        self.name = name
        self.points = []
        self.clocks = []

    def add(self, xs, lines, clock):
        self.points.append((xs, lines))
        self.clocks.append(clock)

    def remarks(self):
        """What a reader of the numbers should know, as lines of text."""
        remarks = {}
        for (xs, _), clock in zip(self.points, self.clocks):
            for reason in clock.get("throttled", ()):
                remarks.setdefault(f"slowed down by {reason}", []).append(", ".join(map(str, xs)))
        texts = [f"{what} at {'; '.join(places)}" for what, places in remarks.items()]
        known = [mhz for clock in self.clocks for mhz in clock.get("mhz", ())]
        if known and max(known) > 1.1 * min(known):
            texts.append(f"the clock ran at {min(known)} to {max(known)} MHz")
        return texts

    def header(self, diff_col):
        bench = self.bench
        names = [f"{name} ({bench.ylabel})" for name in bench.line_names]
        return [*bench.x_names, *names, *(["Diff"] if diff_col and len(names) == 2 else [])]

    def table(self, diff_col):
        rows = [[*xs, *(values[0] for values in lines)] for xs, lines in self.points]
        if diff_col and len(self.bench.line_names) == 2:
            rows = [[*row, row[-1] - row[-2]] for row in rows]
        return rows

    def as_data(self):
        """For JSON."""
        bench = self.bench
        return {"name": self.name, "x_names": list(bench.x_names), "lines": list(map(str, bench.line_names)), "xlabel": bench.xlabel,
                "ylabel": bench.ylabel, "x_log": bench.x_log, "y_log": bench.y_log,
                "points": [{"x": list(xs), "y": [list(values) for values in lines], **clock}
                           for (xs, lines), clock in zip(self.points, self.clocks)]}  # fmt: skip


class Mark:
    """A function to be run for every point of its benchmarks."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def named_benchmarks(self, name=None):
        """[(benchmark, the name of its report)]: what it says, else the function's; each once. Raises ValueError for what cannot be run."""
        benchmarks = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else list(self.benchmarks)
        found = {}
        for bench in benchmarks:
            its_name = numbered(bench.plot_name or name or self.fn.__name__, found)
            _check(bench, its_name)
            found[its_name] = bench
        return [(bench, its_name) for its_name, bench in found.items()]

    def measure(self, bench, name, progress=None, on_point=lambda result: None, known=None, **kwargs):
        """The Result of one benchmark. Lines are measured in turn at each point, in another order each time, so that a machine that grows
        warm slows them all. known: points of an earlier run, {x values as texts: (lines, clock)}."""
        x_names = list(bench.x_names)
        result = Result(bench, name)
        count = len(bench.x_vals)
        for number, point in enumerate(bench.x_vals):
            xs = _x_of(point, bench, name)
            shown = [_plain(x) for x in xs]
            if known and tuple(map(str, shown)) in known:
                result.add(shown, *known[tuple(map(str, shown))])
                continue
            lines = [None] * len(bench.line_vals)
            watch = Watch()
            for turn in range(len(lines)):
                index = (turn + number) % len(lines)
                if progress is not None:
                    progress.show(f"{name}: point {number + 1} of {count} ({', '.join(map(str, shown))}), "
                                  f"{bench.line_names[index]}")  # fmt: skip
                try:
                    value = self.fn(**dict(zip(x_names, xs)), **{bench.line_arg: bench.line_vals[index]}, **bench.args, **kwargs)
                    watch.sample()
                    lines[index] = _y_of(value, name)
                except Exception as error:
                    place = ", ".join(f"{x_name}={x}" for x_name, x in zip(x_names, shown))
                    error.add_note(f"in the benchmark {name} at {place}, line {bench.line_names[index]}")
                    raise
            result.add(shown, lines, watch.result())
            on_point(result)
        return result

    def _run(self, bench, name, save_path, show_plots, print_data, diff_col=False, save_precision=6, resume=False, **kwargs):
        if resume and not save_path:
            raise ValueError("resume=True needs the save_path of the run that was interrupted")
        unfinished = Unfinished(save_path, Result(bench, name)) if save_path else None

        def save(result):  # after every point: who stops a long run has what was measured
            if unfinished is not None:
                _write_csv(result, save_path, diff_col, save_precision)
                unfinished.store(result)

        progress = Progress()
        try:
            result = self.measure(bench, name, progress, save, unfinished.load() if resume else None, **kwargs)
        finally:
            progress.close()
        if unfinished is not None:
            unfinished.remove()
        if bench.plot_name and (show_plots or save_path):
            _plot(result, save_path, show_plots)
        if print_data:
            print(f"{result.name}:")
            print(_as_text(result, diff_col))
            for remark in result.remarks():
                print(f"({remark})")
        return result

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Runs every benchmark; prints tables, shows plots, and saves both with a web page, results.html. return_df gives pandas data
        frames. diff_col=True adds the difference of two lines; save_precision: digits in the CSV file. resume=True goes on with a run
        that was interrupted: the points that it left in save_path are not measured again."""
        is_single = isinstance(self.benchmarks, Benchmark)
        results = [self._run(bench, name, save_path, show_plots, print_data, **kwargs) for bench, name in self.named_benchmarks()]
        if save_path:
            from .page import write_page

            write_page(os.path.join(save_path, "results.html"), [result.as_data() for result in results])
        if not return_df:
            return None
        import pandas

        diff_col = kwargs.get("diff_col", False)
        frames = [pandas.DataFrame(result.table(diff_col), columns=result.header(diff_col)) for result in results]
        return frames[0] if is_single else frames


class Unfinished:
    """The points of a run under way, in a file beside its table, for a run that goes on with them. A whole run leaves none."""

    def __init__(self, folder, result):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, f"{_file_name(result)}.unfinished.json")
        self.facts = {name: value for name, value in result.as_data().items() if name != "points"}

    def load(self):
        """{x values as texts: (lines, clock)}; nothing where there is no such file, or one of another benchmark."""
        try:
            with open(self.path) as file:
                content = json.load(file)
            if {name: value for name, value in content.items() if name != "points"} == self.facts:
                return {tuple(map(str, point.pop("x"))): ([_y_of(values, self.path) for values in point.pop("y")], point)
                        for point in content["points"]}  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return {}

    def store(self, result):
        with open(self.path + ".part", "w") as file:
            json.dump({**self.facts, "points": result.as_data()["points"]}, file)
        os.replace(self.path + ".part", self.path)

    def remove(self):
        try:
            os.unlink(self.path)
        except OSError:
            pass


def numbered(name, taken):
    """The name, with a number behind it where it is taken."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name} ({count})"
    return found


def _check(bench, name):
    if len(bench.line_names) != len(bench.line_vals):
        raise ValueError(f"{name}: line_names has {len(bench.line_names)} names for {len(bench.line_vals)} line_vals")
    if bench.styles and len(bench.styles) < len(bench.line_vals):
        raise ValueError(f"{name}: styles has {len(bench.styles)} styles for {len(bench.line_vals)} line_vals")
    for point in bench.x_vals:
        _x_of(point, bench, name)


def _x_of(point, bench, name):
    """The x values of a point: those of a list, a tuple or an array, or one for all names."""
    is_several = isinstance(point, (list, tuple)) or getattr(point, "ndim", 0) == 1
    xs = list(point) if is_several else [point] * len(bench.x_names)
    if len(xs) != len(bench.x_names):
        raise ValueError(f"{name}: {point!r} does not give {len(bench.x_names)} x values")
    return xs


def _plain(value):
    """A value as Python's own: JSON knows no numbers of NumPy or torch."""
    if type(value) in (int, float, str, bool):
        return value
    try:
        return value.item()
    except (AttributeError, ValueError, RuntimeError):
        return str(value)


def _y_of(value, name):
    """(y, low, high) of what a benchmark function returns."""
    if isinstance(value, dict) and {"median", "p20", "p80"} <= value.keys():  # return_mode="stats"
        value = value["median"], value["p20"], value["p80"]
    values = tuple(value) if isinstance(value, (list, tuple)) else (value, None, None)
    try:
        numbers = tuple(None if number is None else number if type(number) in (int, float) else float(_not_text(number)) for number in values)
    except (TypeError, ValueError, RuntimeError):  # the last: a tensor of several elements
        numbers = ()
    if len(numbers) not in (1, 3) or numbers[0] is None:
        raise TypeError(f"{name}: the function returns y, or (y, lowest, highest); found {value!r}")
    return numbers if len(numbers) == 3 else (*numbers, None, None)


def _not_text(value):
    if isinstance(value, (str, bytes)):
        raise TypeError
    return value


def _file_name(result):
    return result.name.replace(os.sep, "_")


def _write_csv(result, save_path, diff_col, precision):
    def text(value):
        return f"{value:.{precision}f}" if isinstance(value, float) else str(value)

    path = os.path.join(save_path, f"{_file_name(result)}.csv")
    with open(path + ".part", "w") as file:
        for line in [result.header(diff_col), *result.table(diff_col)]:
            file.write(",".join(map(text, line)) + "\n")
    os.replace(path + ".part", path)


def _as_text(result, diff_col):
    """The table with the number of each row before it, as pandas prints a data frame."""
    header = ["", *map(str, result.header(diff_col))]
    rows = [[str(i), *(f"{v:.6f}" if isinstance(v, float) else str(v) for v in row)] for i, row in enumerate(result.table(diff_col))]
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [header, *rows])


def _plot(result, save_path, show_plots):
    try:
        import matplotlib

        if not show_plots:
            matplotlib.use("Agg")  # no window
        import matplotlib.pyplot as plot
    except ImportError:
        print("matplotlib is not installed: no picture (the web page needs none)", file=sys.stderr)
        return
    bench = result.bench
    figure, axes = plot.subplots()
    xs = [x[0] for x, _ in result.points]
    for index, name in enumerate(bench.line_names):
        style = bench.styles[index] if bench.styles else (None, "-")
        axes.plot(xs, [lines[index][0] for _, lines in result.points], label=name, color=style[0], ls=style[1])
        low, high = [lines[index][1] for _, lines in result.points], [lines[index][2] for _, lines in result.points]
        if all(v is not None for v in low + high):
            axes.fill_between(xs, low, high, alpha=0.15, color=style[0])
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if save_path:
        figure.savefig(os.path.join(save_path, f"{_file_name(result)}.png"))
    if show_plots:
        plot.show()
    plot.close(figure)


def perf_report(benchmarks):
    """Makes a function that is benchmarked: `.run()` calls it for every point. The function returns y, or (y, lowest, highest)."""
    return lambda fn: Mark(fn, benchmarks)
