"""From a key that is new to the process to a configuration: what is known is looked up, what is not is timed, as the mode allows."""

import sys
import time

from ... import _core, knobs
from ..errors import AutotunerError
from .choice import FAILED, choose
from .config import identity
from .tuned_launch import function_of

_MODES = ("tune", "cached", "first", "error")


class ConfigFinder:
    """Finds the configuration for one launch and its key, and keeps it in the tuner's cache."""

    def __init__(self, tuner, launch, key):
        self.tuner = tuner
        self.launch = launch
        self.key = key
        self.configs = tuner.prune_configs(launch.kwargs)
        self.all_configs = self.configs if tuner.search is None else tuner.search.all_configs()

    def find(self):
        """The configuration."""
        tuner, configs = self.tuner, self.configs
        if len(configs) == 1 and tuner.search is None:
            return self._take(configs[0])
        mode = knobs.autotuning.mode
        if mode not in _MODES:
            raise ValueError(f"NACRE_AUTOTUNE={mode}: expected one of {', '.join(_MODES)}")
        is_capturing = _is_capturing()
        if is_capturing and mode == "tune":
            mode = "cached"
        if mode == "first":
            return self._take(configs[0])
        problem = self.launch.problem(self.key)
        from .records import pinned_choice

        pinned = None if problem is None else pinned_choice(problem, self.all_configs, mode == "error")
        if pinned is not None:
            return self._take(pinned)
        is_kept = problem is not None and self._is_kept()
        known = self._known(problem) if is_kept else {}
        if self._is_enough(known, problem):
            return self._choose(known)
        if mode in ("cached", "error"):
            return self._without_timing(known, mode, is_capturing)
        kept = problem if is_kept else None
        if problem is not None and (tuner.cache_results or knobs.autotuning.cache):
            hit = tuner.check_disk_cache(self.key, configs, lambda: self._tune(kept))
            if hit:
                announce(tuner, self.key, tuner.cache[self.key], None)
            return tuner.cache[self.key]
        return self._tune(kept)

    def _take(self, config):
        self.tuner.cache[self.key] = config
        return config

    def _is_kept(self):
        """Whether times are kept on disk: not where something takes part of which no record knows, a hook or a benchmarker of the user's."""
        tuner = self.tuner
        own = tuner.is_own_bench and not (tuner.user_defined_pre_hook or tuner.user_defined_post_hook)
        return (own or tuner.cache_results) and not any(config.pre_hook for config in self.configs) and knobs.autotuning.dir not in (None, "", "off")

    def _known(self, problem):
        """{config: times} of those among configurations that have a record."""
        record = problem.load()
        found = {config: record[identity(config)] for config in self.all_configs if identity(config) in record}
        self.tuner.failures = {config: result for config, result in found.items() if isinstance(result, str)}
        return {config: list(FAILED) if isinstance(result, str) else result for config, result in found.items()}

    def _is_enough(self, known, problem):
        """Whether nothing needs to be timed: all have times, or a search was made before that its budget did not end too early."""
        if self.tuner.search is None:
            return bool(known) and all(config in known for config in self.configs)
        if choose(known)[0] is None:
            return False
        tried = problem.tried()
        return tried is None or self.tuner.search.is_enough(len(tried))

    def _without_timing(self, known, mode, is_capturing):
        """The best of what is known, where nothing may be timed."""
        if known and choose(known)[0] is not None:
            return self._choose(known)
        name = self.tuner.__name__
        if mode == "error":
            raise AutotunerError(f"{name}: no time of any configuration is known for the key {self.key}, and NACRE_AUTOTUNE=error says not to "
                                 "tune; run it once with NACRE_AUTOTUNE=tune, or `nacre tune import` times")  # fmt: skip
        from .reporting import warn

        why = "a CUDA graph is being captured" if is_capturing else "NACRE_AUTOTUNE=cached"
        warn(f"{name}: no time of any configuration is known for the key {self.key} and {why}: the first configuration is used")
        # A launch outside of the capture tunes.
        return self.configs[0] if is_capturing else self._take(self.configs[0])

    def _tune(self, problem):
        """Times what is not known of the problem and takes the best. Without a problem nothing is kept on disk."""
        if problem is None:
            return self._measure({}, None)
        with problem.alone():
            known = self._known(problem)  # another process may have been faster
            if self._is_enough(known, problem):
                return self._choose(known)
            return self._measure(known, problem)

    def _measure(self, known, problem):
        from .measuring import CannotProtect
        from .reporting import warn

        tuner = self.tuner
        start, begin = time.perf_counter(), _core.profiler_now()
        is_range = _core.nvtx_is_on()
        if is_range:
            _core.nvtx_range(f"tune {tuner.__name__}")
        results = _Results(problem, start)
        try:
            timings, failures = self._time_all(known, problem, results)
        except CannotProtect as obstacle:
            warn(f"{tuner.__name__} is not tuned: {obstacle}; the first configuration is used")
            return self._take(self.configs[0])
        finally:
            results.store()
            _tell_profiler(tuner.__name__, begin, is_range)
        tuner.failures = {**tuner.failures, **failures}
        # In the order of the list, which decides between those that are as fast.
        timings = {config: known[config] if config in known else timings[config] for config in self.all_configs
                   if config in known or config in timings}  # fmt: skip
        if choose(timings)[0] is not None:
            tuner.bench_time = time.perf_counter() - start
        return self._choose(timings, tuner.bench_time)

    def _time_all(self, known, problem, results):
        """({config: times}, {config: why it failed}) of what is not known."""
        from .measuring import Measurement
        from .search import bench_for

        tuner, launch = self.tuner, self.launch
        fleet = self._fleet()

        def measurement(chosen, milliseconds=None):
            # Of a search only the last round is kept: times of the others are short ones.
            on_result = results.add if tuner.search is None else lambda config, times, reason: None
            if fleet is not None:
                return fleet.measurement(chosen, milliseconds, on_result)
            bench = tuner.do_bench if milliseconds is None or not tuner.is_own_bench else bench_for(milliseconds)
            return Measurement(tuner.__name__, chosen, launch.compile, launch.timed_call, launch.values(), bench, on_result, tuner.isolate,
                               launch.tell_hooks, tuner.is_watched, launch.code_identity)  # fmt: skip

        if tuner.search is None:
            run = measurement([config for config in self.configs if config not in known])
            return run.run(), run.failures
        timings, failures, results.tried = tuner.search.go_on(tuner.__name__, measurement, known, problem)
        for config, times in timings.items():
            if config not in failures:
                results.add(config, times, None)
        return timings, failures

    def _fleet(self):
        """The workers that time for a launch; None: this process does. A kernel that writes to an address of this process is not for them."""
        from . import fleet_executor

        executor = fleet_executor(self.tuner.executor)
        if executor is None:
            return None
        from .fleet import Fleet
        from .measuring import CannotProtect
        from .protection import Protection

        kernel = self.launch.compile(self.configs[0])
        protection = Protection([kernel] if hasattr(kernel, "_native") else [], self.launch.values())
        if protection.is_elsewhere:
            raise CannotProtect(f"{protection.why_isolated}, and a worker of an executor has no memory there")
        return Fleet(self.tuner, executor, self.launch.args, self.launch.kwargs)

    def _choose(self, timings, duration=None):
        """Takes the best and tells who wants to know. `duration` is None when the timings are those of an earlier run."""
        tuner = self.tuner
        best, tuner.tied = choose(timings)
        if best is None:
            from .measuring import nothing_left

            raise nothing_left(tuner.__name__, timings, tuner.failures)
        tuner.configs_timings = timings
        announce(tuner, self.key, self._take(best), duration)
        return best


class _Results:
    """What was measured, on its way to the record on disk. Without a problem there is none."""

    def __init__(self, problem, start):
        self.problem = problem
        self.stored = start
        self.results = {}
        self.tried = []  # by a search

    def add(self, config, times, reason):
        # Of failures only those are kept that are the compiler's: another run may have more memory.
        if reason is None:
            self.results[identity(config)] = times if isinstance(times, (list, tuple)) else [times]
        elif type(reason).__module__.endswith("compiler.errors"):
            self.results[identity(config)] = f"{type(reason).__name__}: {reason}"
        if time.perf_counter() - self.stored > 1.0:
            self.store()

    def store(self):
        self.stored = time.perf_counter()
        if self.problem is not None and self.results:
            self.problem.store(self.results, [identity(config) for config in self.tried])


def announce(tuner, key, best, duration):
    """Tells who wants to know what was chosen."""
    if knobs.autotuning.print and duration is not None:
        tie = f" (a tie with {len(tuner.tied)} later ones)" if tuner.tied else ""
        print(f"Triton autotuning for function {tuner.__name__},\nwith key as {key},\nfinished after {duration:.2f}s,\n"
              f"best config selected: {best}{tie};")  # fmt: skip
    if knobs.autotuning.listener is not None:
        knobs.autotuning.listener(fn=function_of(tuner) or tuner.base_fn, key=key, best_config=best, configs_timings=tuner.configs_timings,
                                  duration=duration, cache_hit=duration is None)  # fmt: skip


def _tell_profiler(name, begin, is_range):
    """The tuning has ended: it is a frame of sessions that are active, and a range of the tool around the process."""
    if is_range:
        _core.nvtx_range(None)
    profiler = sys.modules.get("nacre.profiler.flags")
    if profiler is not None and profiler.flags.profiling_on:
        _core.profiler_span(f"tune {name}", begin, _core.profiler_now())


def _is_capturing():
    """Whether a CUDA graph is being captured: then nothing may be timed or waited for."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda is not None and cuda.is_available() and cuda.is_initialized() and cuda.is_current_stream_capturing()
