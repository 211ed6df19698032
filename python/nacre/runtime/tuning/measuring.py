"""Compiling the candidates of a tuning side by side, then timing them one by one.

On the CPU compiles and timed runs need the same cores, so they never overlap: nothing is timed before everything is compiled.
"""

import math

from ... import _core, knobs
from ...errors import TritonError
from ..errors import AutotunerError, UnexpectedCompileError
from ..hooks import timed
from . import isolation
from .choice import FAILED
from .protection import Protection
from .reporting import Progress, first_line, reasons_text

QUANTILES = (0.5, 0.2, 0.8)
_HOPELESS = 1000  # times the best call: a candidate that takes so long for all of its calls is given up
_LEAST_PATIENCE = 20.0  # seconds


def compile_all(compile_one, configs, progress=None):
    """({config: compiled kernel}, {config: error}) by as many threads as there are cores."""
    kernels, failures = {}, {}
    workers = min(knobs.autotuning.compile_workers or _core.info()["cores"], len(configs))

    def attempt(config):
        try:
            kernels[config] = compile_one(config)
        except UnexpectedCompileError:  # nothing may be compiled now: that is the launch's error, not the candidate's
            raise
        except (TritonError, MemoryError) as error:
            failures[config] = error

    if workers <= 1:
        for config in configs:
            attempt(config)
        return kernels, failures
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor(workers, thread_name_prefix="nacre-tune") as pool:
        futures = [pool.submit(attempt, config) for config in sorted(configs, key=_size, reverse=True)]
        try:
            for done, future in enumerate(as_completed(futures)):
                future.result()
                if progress is not None:
                    progress.compiled(done + 1)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return kernels, failures


def _size(config):
    """How much there is to compile, roughly: unrolled code grows with the tiles. The largest begin first, so that no core waits for one."""
    return math.prod(value for value in config.kwargs.values() if isinstance(value, int) and value > 0)


class Measurement:
    """One tuning: compile(config) -> CompiledKernel, call(config) -> function that launches it once with its hooks.

    bench(call, quantiles=...) -> times. is_watched: hooks or a benchmarker of the user's take part, which expect to run in this process.
    identity(config, kernel): what tells whether two candidates are the same code on the same grid; None: unlike any other.
    """

    def __init__(self, name, configs, compile, call, values, bench, on_result=lambda config, times, reason: None, isolate=None,
                 on_compile_error=lambda config, error: None, is_watched=False, identity=lambda config, kernel: None):  # fmt: skip
        self.name = name
        self.configs = configs
        self.compile = compile
        self.call = call
        self.values = values
        self.bench = bench
        self.on_result = on_result
        self.on_compile_error = on_compile_error
        self.isolate = isolation_mode(isolate)
        self.is_watched = is_watched
        self.identity = identity
        self.best = None  # (config, milliseconds)
        self.timings = {}
        self.failures = {}

    def run(self):
        """{config: times}, of every configuration; those that failed have infinite times, and `failures` has their reasons."""
        progress = Progress(self.name, len(self.configs))
        try:
            kernels, failed = compile_all(self.compile, self.configs, progress)
            for config, error in failed.items():
                self.on_compile_error(config, error)
                self._skip(config, error)
            # A hook that says to skip a compile leaves nothing to time here.
            ready = [config for config in self.configs if config in kernels]
            same = self._same_code(ready, kernels)
            protection = Protection([kernel for kernel in kernels.values() if hasattr(kernel, "_native")], self.values)
            if ready:
                self._time_all([config for config in ready if config not in same], protection, progress)
            for config, twin in same.items():
                if twin in self.failures:
                    self._skip(config, self.failures[twin])
                else:
                    self._note(config, self.timings[twin], progress)
        finally:
            progress.close()
        return {config: self.timings[config] for config in self.configs}

    def _same_code(self, configs, kernels):
        """{config: an earlier one that is the same code}. Options that a target does not have, as num_warps on a CPU, make no difference."""
        same, first = {}, {}
        for config in configs:
            identity = self.identity(config, kernels[config])
            if identity is None:
                continue
            if identity in first:
                same[config] = first[identity]
            first.setdefault(identity, config)
        return same

    def _time_all(self, configs, protection, progress):
        start = 0
        if self._is_isolated(protection):
            try:
                for index, config in enumerate(configs):
                    start = index
                    progress.timing(index, config)
                    self._time_in_child(config, protection, progress)
                return
            except isolation.CannotIsolate as obstacle:
                self._refuse_here(protection, obstacle)
        self._time_here(configs[start:], protection, progress)

    def _is_isolated(self, protection):
        """Whether candidates are timed in child processes."""
        if self.isolate == "never":
            self._refuse_here(protection, "NACRE_AUTOTUNE_ISOLATE is never")
            return False
        if self.isolate == "auto" and self.is_watched and protection.why_isolated is None:
            return False
        obstacle = isolation.can_isolate()
        if obstacle is not None:
            self._refuse_here(protection, obstacle)
        return obstacle is None

    def _refuse_here(self, protection, obstacle):
        if protection.why_isolated is not None:
            raise CannotProtect(f"{protection.why_isolated}, and {obstacle}")

    def _announce(self, config):
        if knobs.autotuning.print:
            print(f"Autotuning kernel {self.name} with config {config}")

    def _time(self, config):
        from ...testing.timing import compare, do_bench, quantile

        call = self.call(config)
        if self.bench is not do_bench or self.is_watched or self.best is None:
            return self.bench(call, quantiles=QUANTILES)
        # Against the best so far, call by call: each child meets the machine in another state, and a slow one is soon known as such.
        rival, milliseconds = self.best
        ratios = sorted(compare(call, self.call(rival)))
        return [milliseconds * quantile(ratios, q) for q in QUANTILES]

    def _time_here(self, configs, protection, progress):
        protection.save()
        try:
            for index, config in enumerate(configs):
                progress.timing(index, config)
                self._announce(config)
                try:
                    with timed():
                        times = self._time(config)
                    self._note(config, times, progress)
                except (TritonError, MemoryError) as error:
                    self._skip(config, error)
                finally:
                    protection.restore()  # the next one sees what the caller passed
        finally:
            protection.restore()

    def _time_in_child(self, config, protection, progress):
        self._announce(config)
        seconds = float(knobs.autotuning.seconds)
        if self.best is not None:  # nothing that takes so much longer can win
            hopeless = max(_LEAST_PATIENCE, _HOPELESS * self.best[1] / 1e3)
            seconds = min(seconds, hopeless) if seconds else hopeless
        try:
            budget, written = (protection.budget, []) if protection.is_over_budget else (None, protection.host_ranges())
            times, reason = isolation.measure(self._time, config, seconds, budget, written)
            if isinstance(reason, Exception) and not isinstance(reason, (TritonError, MemoryError)):
                raise reason  # of a grid or a heuristic: not the candidate's
        except isolation.OverBudget:
            raise CannotProtect(f"{protection.why_isolated}, and it writes more than that") from None
        if times is None:
            self._skip(config, reason)
        else:
            self._note(config, times, progress)

    def _note(self, config, times, progress):
        times = as_times(self.name, times)
        middle = times[0] if isinstance(times, list) else times
        if not middle < math.inf:
            self._skip(config, f"its benchmarker returned {times}")
            return
        self.timings[config] = times
        if self.best is None or middle < self.best[1]:
            self.best = config, middle
        progress.timed(config, middle)
        self.on_result(config, times, None)

    def _skip(self, config, reason):
        self.timings[config] = list(FAILED)
        self.failures[config] = reason
        if knobs.autotuning.print:
            print(f"Autotuning failed with {reason}")
        self.on_result(config, None, reason)


def as_times(name, times):
    """What a benchmarker returned: milliseconds, or a list of them."""
    try:
        if isinstance(times, (list, tuple)):
            return list(map(float, times)) if times else [float("nan")]
        return float(times)
    except (TypeError, ValueError):
        raise TypeError(f"autotune of {name}: do_bench(call, quantiles) returns milliseconds, or a list with those of each quantile; found "
                        f"{times!r}") from None  # fmt: skip


def isolation_mode(given):
    """auto, always or never: what autotune() was given, else what NACRE_AUTOTUNE_ISOLATE says."""
    mode = given or knobs.autotuning.isolate
    if mode not in ("auto", "always", "never"):
        raise ValueError(f"{'isolate' if given else 'NACRE_AUTOTUNE_ISOLATE'}={mode}: expected auto, always or never")
    return mode


class CannotProtect(Exception):
    """Candidates cannot be timed without changing what the caller passed."""


def nothing_left(name, timings, failures):
    """The error of a tuning of which no configuration can run. Where all fail alike it is the kernel's own error, not the tuning's."""
    first = next(iter(failures.values()), None)
    if isinstance(first, BaseException) and len({first_line(reason) for reason in failures.values()}) == 1:
        first.add_note(f"{name}: all {len(timings)} configurations fail so")
        return first
    error = AutotunerError(f"{name}: none of the {len(timings)} configurations can run:\n{reasons_text(failures)}")
    error.__cause__ = first if isinstance(first, BaseException) else None
    return error
