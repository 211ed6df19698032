"""Compiling the candidates of a tuning side by side, then timing them one by one.

On the CPU compiles and timed runs need the same cores, so they never overlap: nothing is timed before everything is compiled.
"""

from ... import _core, knobs
from ...errors import TritonError
from ..errors import AutotunerError
from . import isolation
from .choice import FAILED
from .protection import Protection
from .reporting import Progress, first_line, reasons_text

QUANTILES = (0.5, 0.2, 0.8)


def compile_all(compile_one, configs, progress=None):
    """({config: compiled kernel}, {config: error}) by as many threads as there are cores."""
    kernels, failures = {}, {}
    workers = min(knobs.autotuning.compile_workers or _core.info()["cores"], len(configs))

    def attempt(config):
        try:
            kernels[config] = compile_one(config)
        except (TritonError, MemoryError) as error:
            failures[config] = error

    if workers <= 1:
        for config in configs:
            attempt(config)
        return kernels, failures
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor(workers, thread_name_prefix="nacre-tune") as pool:
        futures = [pool.submit(attempt, config) for config in configs]
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


class Measurement:
    """One tuning: compile(config) -> CompiledKernel, call(config) -> function that launches it once with its hooks."""

    def __init__(self, name, configs, compile, call, values, bench, on_result=lambda config, times, reason: None, isolate=None,
                 on_compile_error=lambda config, error: None):  # fmt: skip
        self.name = name
        self.configs = configs
        self.compile = compile
        self.call = call
        self.values = values
        self.bench = bench
        self.on_result = on_result
        self.on_compile_error = on_compile_error
        self.isolate = isolate or knobs.autotuning.isolate
        if self.isolate not in ("auto", "always", "never"):
            raise ValueError(f"NACRE_AUTOTUNE_ISOLATE={self.isolate}: expected auto, always or never")
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
            protection = Protection([kernel for kernel in kernels.values() if hasattr(kernel, "_native")], self.values)
            if not ready:
                pass
            elif self._is_isolated(protection):
                self._time_in_child(ready, progress)
            else:
                self._time_here(ready, protection, progress)
        finally:
            progress.close()
        return {config: self.timings[config] for config in self.configs}

    def _is_isolated(self, protection):
        if self.isolate == "never" and protection.why_isolated is None:
            return False
        if self.isolate != "always" and protection.why_isolated is None:
            return False
        obstacle = "NACRE_AUTOTUNE_ISOLATE is never" if self.isolate == "never" else isolation.can_isolate()
        if obstacle is None:
            return True
        if protection.why_isolated is None:
            return False
        raise CannotProtect(f"{protection.why_isolated}, and {obstacle}")

    def _time(self, config):
        return self.bench(self.call(config), quantiles=QUANTILES)

    def _time_here(self, configs, protection, progress):
        protection.save()
        try:
            for index, config in enumerate(configs):
                progress.timing(index, config)
                try:
                    self._note(config, self._time(config), progress)
                except (TritonError, MemoryError) as error:
                    self._skip(config, error)
                finally:
                    protection.restore()  # the next one sees what the caller passed
        finally:
            protection.restore()

    def _time_in_child(self, configs, progress):
        results = isolation.measure(configs, self._time, lambda index: progress.timing(index, configs[index]))
        for index, (times, reason) in results.items():
            if times is None:
                self._skip(configs[index], reason)
            else:
                self._note(configs[index], times, progress)

    def _note(self, config, times, progress):
        self.timings[config] = times
        progress.timed(config, times[0] if isinstance(times, (list, tuple)) else times)
        self.on_result(config, times, None)

    def _skip(self, config, reason):
        self.timings[config] = list(FAILED)
        self.failures[config] = reason
        if knobs.autotuning.print:
            print(f"Autotuning failed with {reason}")
        self.on_result(config, None, reason)


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
