"""How long a function takes.

A call is timed when the machine is in a steady state, with cold caches, and as often as it takes for the median to be known within one
per cent, at most for the time that was asked for.
"""

import functools
import math
import statistics
import time
from contextlib import contextmanager

from .clocks import Watch, only_of_a_gpu

_SUMMARIES = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
_MODES = (*_SUMMARIES, "all", "stats")
_STEADY = 0.03  # medians of two halves of the warm-up that differ by less are the same
_PRECISION = 0.01  # of the median, when measuring stops
_FEWEST = 6  # timed calls before it may stop


def quantile(sorted_times, q):
    if not 0 <= q <= 1:
        raise ValueError(f"quantiles are between 0 and 1, found {q}")
    position = q * (len(sorted_times) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return sorted_times[below] + (position - below) * (sorted_times[above] - sorted_times[below])


def _interval(sorted_times):
    """The 95% confidence interval of the median, from ranks: nothing is assumed about how times are spread."""
    count = len(sorted_times)
    reach = 0.98 * math.sqrt(count)
    low = max(0, math.floor((count - 1) / 2 - reach))
    high = min(count - 1, math.ceil((count - 1) / 2 + reach))
    return sorted_times[low], sorted_times[high]


def summarize(times, quantiles, return_mode):
    if quantiles is not None:
        quantiles = [quantiles] if isinstance(quantiles, (int, float)) else quantiles
        values = [quantile(sorted(times), q) for q in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return times
    if return_mode == "stats":
        ordered = sorted(times)
        low, high = _interval(ordered)
        return {"count": len(times), "min": ordered[0], "max": ordered[-1], "mean": statistics.fmean(times),
                "median": statistics.median(times), "p20": quantile(ordered, 0.2), "p80": quantile(ordered, 0.8),
                "stdev": statistics.stdev(times) if len(times) > 1 else 0.0, "median_low": low, "median_high": high}  # fmt: skip
    return _SUMMARIES[return_mode](times)


def _refuse_mode(return_mode):
    if return_mode not in _MODES:
        raise ValueError(f"return_mode: {return_mode!r} is not one of {', '.join(_MODES)}")


class _Clock:
    """Times single calls on the active device, in milliseconds."""

    def __init__(self):
        from ..runtime.driver import driver

        self.driver = driver.active
        self.is_host = self.driver.is_host
        if self.is_host:
            from .. import _core

            self.clear = _core.clear_caches
        else:
            self.device = self.driver.get_device_interface()
            memory = self.driver.get_empty_cache_for_benchmark()
            self.clear = lambda: self.driver.clear_cache(memory)

    def time(self, fn):
        if self.is_host:
            start = time.perf_counter()
            fn()
            return (time.perf_counter() - start) * 1e3
        start, end = self.device.Event(enable_timing=True), self.device.Event(enable_timing=True)
        start.record()
        fn()
        end.record()
        self.device.synchronize()
        return start.elapsed_time(end)


def _gradient_dropper(grad_to_none):
    """What is done before each call: the tensors get no gradient added to an earlier one."""

    def drop():
        for tensor in grad_to_none or ():
            tensor.grad = None

    return drop


def _warm_up(fn, clock, milliseconds, before):
    """Calls until so much time has passed and the calls take as long as before, at most three times as long."""
    times, start = [], time.perf_counter()
    while True:
        before()
        times.append(clock.time(fn))
        elapsed = (time.perf_counter() - start) * 1e3
        if elapsed >= 3 * milliseconds:
            return
        if elapsed >= milliseconds:
            half = len(times) // 2
            early, late = times[half // 2 : half], times[half:]
            if not early or abs(statistics.median(late) - statistics.median(early)) <= _STEADY * statistics.median(early):
                return


def _measure(fn, clock, milliseconds, clear, before):
    """Times of calls until their median is known, or so much time was measured. Clearing the caches counts for a part, so that short
    calls do not take for ever."""
    times, spent = [], 0.0
    limit = time.perf_counter() + 4e-3 * milliseconds
    while True:
        before()
        if clear is not None:
            clear()
        times.append(clock.time(fn))
        spent += times[-1]
        if len(times) >= _FEWEST:
            ordered = sorted(times)
            low, high = _interval(ordered)
            if high - low <= 2 * _PRECISION * quantile(ordered, 0.5):
                return times
        if spent >= milliseconds or (time.perf_counter() >= limit and len(times) >= _FEWEST):
            return times


class _StatsWatch:
    """The clock during the calls, under return_mode="stats" alone: reading it takes time."""

    def __init__(self, return_mode):
        self.watch = Watch() if return_mode == "stats" else None

    def added(self, summary):
        if self.watch is None or not isinstance(summary, dict):
            return summary
        self.watch.sample()
        return {**summary, **self.watch.result()}


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The time one call of `fn` takes, in milliseconds, with nothing of its data in the caches.

    warmup: milliseconds of calls before measuring, more where the calls are not steady by then. rep: milliseconds to measure at most; it
    ends earlier when the median is known within one per cent. grad_to_none: tensors whose gradients are dropped before each call.
    quantiles: return these instead. return_mode: "min", "max", "mean", "median", "all" for a list, or "stats" for a dictionary: with the
    spread, and "mhz" and "throttled" where the machine tells how its clock ran.
    """
    _refuse_mode(return_mode)
    drop_gradients, clock = _gradient_dropper(grad_to_none), _Clock()
    fn()
    _warm_up(fn, clock, warmup, drop_gradients)
    watch = _StatsWatch(return_mode)
    times = _measure(fn, clock, rep, clock.clear, drop_gradients)
    return watch.added(summarize(times, quantiles, return_mode))


_DECIDED = 0.02  # a candidate that is surely slower than its rival by more, or whose ratio to it is known so well, is measured


def compare(fn, rival, milliseconds=25.0):
    """How much longer a call of `fn` takes than one of `rival`: ratios of calls made in turn, one after the other, so that whatever slows
    the machine slows both. It ends when `fn` is surely slower, when the ratio is known, or when `fn` has run for so many milliseconds."""
    clock = _Clock()
    fn()
    rival()
    start = time.perf_counter()
    while time.perf_counter() - start < 3e-3:  # caches of instructions and pages, the threads
        fn()
        rival()
    ratios, spent, limit = [], 0.0, time.perf_counter() + 4e-3 * milliseconds
    while True:
        clock.clear()
        theirs = clock.time(rival)
        clock.clear()
        ours = clock.time(fn)
        ratios.append(ours / theirs if theirs > 0 else 1.0)
        spent += ours
        if len(ratios) >= _FEWEST:
            low, high = _interval(sorted(ratios))
            if low > 1 + _DECIDED or high - low <= _DECIDED or spent >= milliseconds or time.perf_counter() >= limit:
                return ratios


class _KernelClock:
    """Times the kernels that a call launches, and nothing else of it."""

    def __init__(self):
        self.started = None
        self.spent = 0.0

    def _enter(self, metadata):
        self.started = time.perf_counter()

    def _exit(self, metadata):
        if self.started is not None:
            self.spent += time.perf_counter() - self.started
            self.started = None

    def time(self, fn):
        self.spent = 0.0
        fn()
        return self.spent * 1e3

    @contextmanager
    def listening(self):
        from .. import knobs

        knobs.runtime.launch_enter_hook.add(self._enter)
        knobs.runtime.launch_exit_hook.add(self._exit)
        try:
            yield self
        finally:
            knobs.runtime.launch_enter_hook.remove(self._enter)
            knobs.runtime.launch_exit_hook.remove(self._exit)


def do_bench_proton(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As do_bench, of the kernels alone: what Python does between them is not counted. 0 when `fn` launches no kernel of the language."""
    _refuse_mode(return_mode)
    device = _Clock()
    if not device.is_host:
        return do_bench(fn, warmup, rep, grad_to_none, quantiles, return_mode)

    drop_gradients = _gradient_dropper(grad_to_none)
    with _KernelClock().listening() as clock:
        fn()
        _warm_up(fn, device, warmup, drop_gradients)
        return summarize(_measure(fn, clock, rep, device.clear, drop_gradients), quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Times replays of a CUDA graph, without clearing caches. On the CPU there are no graphs: plain calls with warm caches."""
    _refuse_mode(return_mode)
    clock = _Clock()
    if clock.is_host:
        fn()
        drop_gradients = _gradient_dropper(grad_to_none)
        _warm_up(fn, clock, rep / 2, drop_gradients)
        return summarize(_measure(fn, clock, rep, None, drop_gradients), quantiles, return_mode)
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for tensor in grad_to_none or ():
            tensor.detach_()
            tensor.requires_grad_(True)
            tensor.grad = None
        estimate = statistics.median(clock.time(fn) for _ in range(5))
        count = 1000 if estimate == 0 else max(1, int(rep / estimate))
        graph = torch.cuda.CUDAGraph()
        with cuda_graph_without_gc(graph):
            for _ in range(count):
                for tensor in grad_to_none or ():
                    tensor.grad = None
                fn()
        torch.cuda.synchronize()
        return summarize([clock.time(graph.replay) / count for _ in range(10)], quantiles, return_mode)


def do_bench_cudagraph_proton(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Times the kernels of a CUDA graph's replays. For CUDA alone."""
    _refuse_mode(return_mode)
    if _Clock().is_host:
        only_of_a_gpu("the time of a CUDA graph")
    return do_bench_cudagraph(fn, rep, grad_to_none, quantiles, return_mode)


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


def cuda_memcheck(**target_kwargs):
    """Makes a test run under compute-sanitizer where that is installed and the test's arguments are the given ones; else it runs as it is.

    The test needs pytest's `request` fixture among its arguments, by which it is named to the sanitizer.
    """

    def decorate(test):
        @functools.wraps(test)
        def wrapper(*args, **kwargs):
            import os
            import shutil
            import subprocess
            import sys

            sanitizer = shutil.which("compute-sanitizer")
            is_asked = target_kwargs.items() <= kwargs.items()
            if sanitizer is None or not is_asked or "PYTORCH_NO_CUDA_MEMORY_CACHING" in os.environ or "request" not in kwargs:
                return test(*args, **kwargs)
            node = f"{kwargs['request'].node.fspath}::{kwargs['request'].node.name}"
            done = subprocess.run([sanitizer, sys.executable, "-m", "pytest", "-vs", node], capture_output=True, text=True,
                                  env={**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
            assert "ERROR SUMMARY: 0 errors" in done.stdout, done.stdout

        return wrapper

    return decorate
