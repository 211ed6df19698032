"""Configurations compiled and timed by the workers of a concurrent.futures.Executor: processes of this machine, or a cluster's.

A worker is told where the kernel is defined, gets the arguments as they are, and answers with times. It compiles into its own cache and
uses the device it was pinned to when it was started (CUDA_VISIBLE_DEVICES, taskset, or the deployer's own way). Hooks, reset_to_zero,
restore_value and a benchmarker of the user's are those of the kernel as the worker finds it, and run there. A candidate that crashes or
takes too long costs itself, a worker that dies the candidate it was timing.
"""

import os
import pickle
import sys

from ... import knobs
from ..._locks import RenewedLock
from ..errors import AutotunerError
from ..jit import KernelInterface
from ..recompiles import for_a_launch
from .choice import FAILED, INFINITY
from .config import Config, identity
from .measuring import QUANTILES
from .reporting import Progress
from .tuned_launch import TunedLaunch

_made = {}
_importing = RenewedLock()


def _is_executor(found):
    """An executor, and no class of them."""
    return hasattr(found, "submit") and not isinstance(found, type)


def executor_of(given):
    """An executor as it was given, or made by the class or function that was given or that NACRE_TUNE_EXECUTOR names (once for a process)."""
    if given is not None:
        if _is_executor(given) or not callable(given):
            return given
        if (os.getpid(), given) not in _made:
            _made[os.getpid(), given] = given()
        return _made[os.getpid(), given]
    name = knobs.autotuning.executor
    if (os.getpid(), name) not in _made:
        import importlib

        module, colon, attribute = name.partition(":")
        if not colon:
            raise AutotunerError(f"NACRE_TUNE_EXECUTOR={name}: expected MODULE:NAME")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise AutotunerError(f"NACRE_TUNE_EXECUTOR={name}: {error}") from error
        executor = found() if callable(found) and not _is_executor(found) else found
        if not _is_executor(executor):
            raise AutotunerError(f"NACRE_TUNE_EXECUTOR={name}: expected an executor, a class of them or a function that makes one, found {executor!r}")
        _made[os.getpid(), name] = executor
    return _made[os.getpid(), name]


def _wrapped(kernel):
    """A kernel and whatever stands below it, from the outermost decorator to the function of the language."""
    while kernel is not None:
        yield kernel
        kernel = getattr(kernel, "fn", None) if not hasattr(kernel, "src") else None


def _attribute(found, name):
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def place_of(tuner):
    """(module, file, name) from which a worker finds the tuned kernel again: by its function's name, or as another global of the module."""
    fn = tuner.base_fn
    name = fn.__qualname__
    if "<locals>" in name:
        raise AutotunerError(f"{tuner.__name__} is defined inside of a function: workers of an executor cannot find it; define it in a module")
    module = sys.modules.get(fn.__module__)
    file = getattr(module, "__file__", None)
    place = fn.__module__, file and os.path.abspath(file)
    others = [name for name, value in vars(module).items() if isinstance(value, KernelInterface)] if module else []
    for name in (name, *others):
        if any(part is tuner for part in _wrapped(_attribute(module, name))):
            return *place, name
    found = list(_wrapped(_attribute(module, fn.__qualname__)))
    is_copy = any(hasattr(part, "configs") for part in found)
    is_bare = tuner.fn is fn and not (tuner.is_watched or tuner.reset_to_zero or tuner.restore_value)
    if found and found[-1] is fn and (is_copy or is_bare):
        return *place, fn.__qualname__
    raise AutotunerError(f"workers of an executor cannot find the tuned {tuner.__name__}: it is no global of the module {fn.__module__}; give "
                         "what @autotune makes a name there")  # fmt: skip


def _find(module, file, name):
    """The kernel in this process. A script is run as a module: what stands under `if __name__ == "__main__"` is not run."""
    with _importing:  # workers may be threads
        return _attribute(_module(module, file), name)


def _module(module, file):
    import importlib
    import importlib.util

    if module == "__main__":
        module = f"nacre_tuned_{os.path.basename(file).removesuffix('.py')}"
        if module not in sys.modules:
            spec = importlib.util.spec_from_file_location(module, file)
            made = sys.modules[module] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(made)
            except BaseException:
                del sys.modules[module]
                raise
    elif module not in sys.modules:
        if file:
            folder = os.path.dirname(file)
            for _ in range(module.count(".")):
                folder = os.path.dirname(folder)
            if folder not in sys.path:
                sys.path.append(folder)
        importlib.import_module(module)
    return sys.modules[module]


def time_candidate(place, arguments, config, grid, milliseconds, seconds):
    """What a worker runs: times, or an error's text behind "!". `arguments`: (args, kwargs) as pickled bytes."""
    from ...errors import TritonError
    from . import isolation
    from .measuring import as_times

    args, kwargs = pickle.loads(arguments)
    launch = {**kwargs, "grid": grid, "warmup": False}
    parts = list(_wrapped(_find(*place)))
    tuner = next((part for part in parts if hasattr(part, "configs")), None)
    kernel = parts[-1] if tuner is None else tuner.fn  # the autotuner itself is not asked: it would tune
    if tuner is not None:
        config = next((known for known in tuner.configs if identity(known) == identity(config)), config)

    def time_here(config):
        from ...testing.timing import do_bench

        if tuner is None:
            call = lambda: kernel.run(*args, **launch, **config.all_kwargs())  # noqa: E731
        else:
            tuner.nargs = dict(zip(tuner.arg_names, args))
            call = TunedLaunch(tuner, args, launch).timed_call(config)
            if not tuner.is_own_bench:
                return tuner.do_bench(call, quantiles=QUANTILES)
        return do_bench(call, warmup=milliseconds / 4, rep=milliseconds, quantiles=QUANTILES)

    try:
        with for_a_launch():
            kernel.run(*args, **{**launch, **config.all_kwargs(), "warmup": True})
        try:
            if isolation.can_isolate() is not None:
                raise isolation.CannotIsolate
            times, reason = isolation.measure(time_here, config, seconds)
        except isolation.CannotIsolate:
            times, reason = time_here(config), None
        if times is None:
            if isinstance(reason, Exception):
                raise reason
            return f"!{reason}"
        return as_times(kernel.__name__, times)
    except (TritonError, MemoryError) as error:
        return f"!{type(error).__name__}: {error}"


class Fleet:
    """The workers of an executor, for one launch that is tuned."""

    def __init__(self, tuner, executor, args, kwargs):
        if not hasattr(executor, "submit"):
            raise TypeError(f"autotune of {tuner.__name__}: executor={executor!r} is no concurrent.futures.Executor, nor a function that makes one")
        self.tuner = tuner
        self.workers = _Workers(executor)
        self.place = place_of(tuner)
        self.plain = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        self.grid = kwargs.get("grid")
        self.arguments = pickle.dumps((args, self.plain))

    def measurement(self, configs, milliseconds=None, on_result=lambda config, times, reason: None):
        return _Measurement(self, configs, 100.0 if milliseconds is None else milliseconds, on_result)

    def job(self, config, milliseconds):
        grid = self.grid
        if callable(grid):
            grid = grid({**self.tuner.nargs, **self.plain, **config.all_kwargs()})
        sent = Config(config.kwargs, config.num_warps, config.num_stages, config.num_ctas, config.maxnreg, None, config.ir_override)
        return self.place, self.arguments, sent, grid, milliseconds, float(knobs.autotuning.seconds)


class _Measurement:
    """Candidates timed by workers: as measuring.Measurement."""

    def __init__(self, fleet, configs, milliseconds, on_result):
        self.fleet = fleet
        self.configs = configs
        self.milliseconds = milliseconds
        self.on_result = on_result
        self.timings = {}
        self.failures = {}

    def run(self):
        """{config: times}; what has failed has infinite times, and `failures` has the reasons. Each is told as it comes."""
        progress = Progress(self.fleet.tuner.__name__, len(self.configs))
        jobs = {config: self.fleet.job(config, self.milliseconds) for config in self.configs}
        try:
            for config, result in _answers(self.fleet.workers, jobs):
                self._take(config, result)
                progress.answered(len(self.timings))
        finally:
            progress.close()
        return {config: self.timings[config] for config in self.configs}

    def _take(self, config, result):
        if not isinstance(result, (str, list)) or not result:
            raise AutotunerError(f"{self.fleet.tuner.__name__}: the executor answered {result!r} for {config} instead of times")
        if isinstance(result, list) and not result[0] < INFINITY:
            result = f"its benchmarker returned {result}"
        if isinstance(result, str):
            self.timings[config], self.failures[config] = list(FAILED), result
            self.on_result(config, None, result)
        else:
            self.timings[config] = result
            self.on_result(config, result, None)


class _Workers:
    """An executor, and another like it when that is broken: a pool of processes does not survive the death of one."""

    def __init__(self, executor):
        self.given = self.executor = executor

    def submit(self, job):
        return self.executor.submit(time_candidate, *job)

    def renew(self):
        from concurrent.futures import ProcessPoolExecutor

        if not isinstance(self.executor, ProcessPoolExecutor):
            return
        self.close()
        self.executor = ProcessPoolExecutor(max_workers=self.given._max_workers, mp_context=self.given._mp_context)

    def close(self):
        if self.executor is not self.given:
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self.given


def _answers(workers, jobs):
    """(config, times or reason) as they come."""
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    broken, configs = [], {}
    try:
        for config, job in jobs.items():
            try:
                configs[workers.submit(job)] = config
            except BrokenExecutor:
                broken.append(config)
        pending, failure = set(configs), None
        while pending and failure is None:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    answer = _result(future)
                except (BrokenExecutor, _WorkerDied):
                    broken.append(configs[future])
                except Exception as error:
                    failure = error
                else:
                    yield configs[future], answer
        if failure is not None:  # behind the answers that came with it
            raise failure
        # Which of them broke the pool, or killed the worker that others waited for as well, is not known: each is tried alone.
        if broken:
            workers.renew()
        for config in broken:
            try:
                yield config, _result(workers.submit(jobs[config]))
            except (BrokenExecutor, _WorkerDied) as error:
                workers.renew()
                yield config, f"the worker that timed it died ({error})"
    finally:
        for future in configs:
            future.cancel()
        workers.close()


class _WorkerDied(Exception):
    """A cluster's word for a worker that is gone."""


def _result(future):
    from concurrent.futures import BrokenExecutor, CancelledError

    try:
        result = future.result()
    except BrokenExecutor:
        raise
    except (Exception, CancelledError) as error:
        if type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError"):
            raise _WorkerDied(f"{type(error).__name__}: {error}") from error
        raise
    return result.removeprefix("!") if isinstance(result, str) else result
