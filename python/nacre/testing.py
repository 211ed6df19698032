"""Timing kernels, and comparing results."""

import functools
import math
import os
import statistics
import sys
import time
from contextlib import contextmanager

_SUMMARIES = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}


def _quantile(sorted_times, q):
    if not 0 <= q <= 1:
        raise ValueError("a quantile is between 0 and 1")
    position = q * (len(sorted_times) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return sorted_times[below] + (position - below) * (sorted_times[above] - sorted_times[below])


def _summarize(times, quantiles, return_mode):
    if quantiles is not None:
        values = [_quantile(sorted(times), q) for q in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return times
    return _SUMMARIES[return_mode](times)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The time one call of `fn` takes, in milliseconds.

    warmup, rep: milliseconds to spend before and while measuring. grad_to_none: tensors whose gradients are dropped before each
    call. quantiles: return these instead. return_mode: "min", "max", "mean", "median" or "all".
    """
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode: {return_mode!r} is not min, max, mean, median or all")
    fn()
    start = time.perf_counter()
    for _ in range(5):
        fn()
    estimate = max((time.perf_counter() - start) * 1000 / 5, 1e-6)
    for _ in range(max(1, int(warmup / estimate))):
        fn()
    times = []
    for _ in range(max(1, int(rep / estimate))):
        for tensor in grad_to_none or ():
            tensor.grad = None
        start = time.perf_counter()
        fn()
        times.append((time.perf_counter() - start) * 1000)
    return _summarize(times, quantiles, return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Raises AssertionError unless x and y are close: within atol + rtol * |y|, 1e-2 each unless given."""
    import numpy

    def plain(value):
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if "bfloat16" in str(value.dtype) or "float8" in str(value.dtype):
                value = value.float()
        return numpy.asarray(value)

    atol = 1e-2 if atol is None else atol(getattr(x, "dtype", None)) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(getattr(x, "dtype", None)) if callable(rtol) else rtol
    numpy.testing.assert_allclose(plain(x), plain(y), atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)


class Benchmark:
    """What one plot or table shows: x values, and a line for each provider."""

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


class Mark:
    """A function to be run for every point of its benchmarks."""

    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks

    def _run(self, bench, save_path, show_plots, print_data, diff_col=False, save_precision=6, **kwargs):
        x_names = list(bench.x_names)
        names = list(bench.line_names)
        rows = []
        for point in bench.x_vals:
            xs = list(point) if isinstance(point, (list, tuple)) else [point] * len(x_names)
            if len(xs) != len(x_names):
                raise ValueError(f"{bench.plot_name}: {point!r} does not give {len(x_names)} x values")
            row = []
            for value in bench.line_vals:
                result = self.fn(**dict(zip(x_names, xs)), **{bench.line_arg: value}, **bench.args, **kwargs)
                row.append(tuple(result) if isinstance(result, (list, tuple)) else (result, None, None))
            rows.append((xs, row))
        header = x_names + [f"{name} ({bench.ylabel})" if bench.ylabel else name for name in names]
        table = [xs + [values[0] for values in row] for xs, row in rows]
        if diff_col and len(names) == 2:
            header.append("Diff")
            table = [line + [line[-1] - line[-2]] for line in table]
        if save_path:
            os.makedirs(save_path, exist_ok=True)
            with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as file:
                file.write(",".join(map(str, header)) + "\n")
                for line in table:
                    file.write(",".join(f"{v:.{save_precision}f}" if isinstance(v, float) else str(v) for v in line) + "\n")
        if show_plots or save_path:
            self._plot(bench, rows, names, save_path, show_plots)
        if print_data:
            print(bench.plot_name + ":")
            shown = [[f"{v:.6f}" if isinstance(v, float) else str(v) for v in line] for line in table]
            widths = [max(len(str(cell)) for cell in column) for column in zip(header, *shown)]
            for line in [list(map(str, header)), *shown]:
                print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))
        return header, table

    def _plot(self, bench, rows, names, save_path, show_plots):
        try:
            import matplotlib.pyplot as plot
        except ImportError:
            if show_plots:
                print("matplotlib is not installed: no plot", file=sys.stderr)
            return
        plot.figure()
        axes = plot.subplot()
        xs = [x[0] for x, _ in rows]
        for index, name in enumerate(names):
            style = bench.styles[index] if bench.styles else (None, "-")
            middle = [row[index][0] for _, row in rows]
            axes.plot(xs, middle, label=name, color=style[0], ls=style[1])
            low, high = [row[index][1] for _, row in rows], [row[index][2] for _, row in rows]
            if all(v is not None for v in low + high):
                axes.fill_between(xs, low, high, alpha=0.15, color=style[0])
        axes.legend()
        axes.set_xlabel(bench.xlabel or bench.x_names[0])
        axes.set_ylabel(bench.ylabel)
        axes.set_xscale("log" if bench.x_log else "linear")
        axes.set_yscale("log" if bench.y_log else "linear")
        if save_path:
            plot.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))
        if show_plots:
            plot.show()

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Runs every benchmark; prints tables, shows plots, saves both. return_df gives pandas data frames."""
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if single else self.benchmarks
        results = [self._run(bench, save_path, show_plots, print_data, **kwargs) for bench in benchmarks]
        if not return_df:
            return None
        import pandas

        frames = [pandas.DataFrame(table, columns=header) for header, table in results]
        return frames[0] if single else frames


def perf_report(benchmarks):
    """Makes a function that is benchmarked: `.run()` calls it for every point."""
    return lambda fn: Mark(fn, benchmarks)


@contextmanager
def cuda_graph_without_gc(*args, **kwargs):
    """Captures a CUDA graph while the garbage collector rests."""
    import gc

    import torch

    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs):
            yield
    finally:
        if enabled:
            gc.enable()


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """On the CPU there are no graphs: measures plain calls."""
    return do_bench(fn, warmup=rep, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


@functools.lru_cache
def _peak_bandwidth():
    """GB/s of a copy between two large blocks of memory."""
    size = 64 << 20
    source, target = bytearray(size), bytearray(size)
    best = min(_timed_copy(source, target) for _ in range(5))
    return 2 * size / best / 1e9


def _timed_copy(source, target):
    start = time.perf_counter()
    target[:] = source
    return time.perf_counter() - start


def get_dram_gbps(device=None):
    """The memory's bandwidth in GB/s, as one core's copy shows it."""
    return _peak_bandwidth()


def _only_of_a_gpu(what):
    raise RuntimeError(f"{what} is known of GPUs only, and this process runs kernels on the CPU")


def nvsmi(attrs):
    """What nvidia-smi says of the GPU."""
    _only_of_a_gpu("nvidia-smi's report")


def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
    """The most TFLOP/s that the GPU's tensor cores reach."""
    _only_of_a_gpu("the speed of tensor cores")


def get_max_simd_tflops(dtype, clock_rate, device=None):
    """The most TFLOP/s that the GPU reaches without tensor cores."""
    _only_of_a_gpu("the speed of a GPU's cores")


@contextmanager
def set_gpu_clock(ref_sm_clock=1350, ref_mem_clock=1215):
    """Locks the clocks of the GPU."""
    _only_of_a_gpu("a locked clock")
    yield


def do_bench_proton(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Measured as do_bench does: on the CPU there is no other clock."""
    return do_bench(fn, warmup, rep, grad_to_none, quantiles, return_mode)
