"""Configurations compiled and timed by the workers of a concurrent.futures.Executor: processes of this machine, or a cluster's.

A worker is told where the kernel is defined, gets the arguments as they are, and answers with times. It compiles into its own cache and
uses the device it was pinned to when it was started (CUDA_VISIBLE_DEVICES, taskset, or the deployer's own way). A worker that dies costs
the candidate it was timing.
"""

import os
import pickle
import sys
import threading

from ... import knobs
from ..errors import AutotunerError
from .choice import FAILED

_made = {}
_importing = threading.Lock()


def executor_of(given):
    """An executor as it was given, or made by what NACRE_TUNE_EXECUTOR names (once for a process)."""
    if given is not None:
        return given() if callable(given) and not hasattr(given, "submit") else given
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
        executor = found() if callable(found) and not hasattr(found, "submit") else found
        if not hasattr(executor, "submit"):
            raise AutotunerError(f"NACRE_TUNE_EXECUTOR={name}: expected an executor or a function that makes one, found {executor!r}")
        _made[os.getpid(), name] = executor
    return _made[os.getpid(), name]


def place_of(tuner):
    """(module, file, name) from which a worker finds the tuned kernel again."""
    fn = tuner.base_fn
    name = fn.__qualname__
    if "<locals>" in name:
        raise AutotunerError(f"{tuner.__name__} is defined inside of a function: workers of an executor cannot find it; define it in a module")
    module = sys.modules.get(fn.__module__)
    file = getattr(module, "__file__", None)
    return fn.__module__, file and os.path.abspath(file), name


def _find(module, file, name):
    """The kernel in this process. A script is run as a module: what stands under `if __name__ == "__main__"` is not run."""
    with _importing:  # workers may be threads
        found = _module(module, file)
    for part in name.split("."):
        found = getattr(found, part)
    return found


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


def time_candidate(place, arguments, config, grid, milliseconds):
    """What a worker runs: times, or an error's text behind "!". `arguments`: (args, kwargs) as pickled bytes."""
    from ...errors import TritonError
    from ...testing import do_bench

    args, kwargs = pickle.loads(arguments)
    kernel = _find(*place)
    while not hasattr(kernel, "configs"):
        kernel = kernel.fn
    kernel = kernel.fn  # the autotuner itself is not asked: it would tune
    launch = {**kwargs, **config.all_kwargs(), "grid": grid, "warmup": False}
    try:
        return list(do_bench(lambda: kernel.run(*args, **launch), warmup=milliseconds / 4, rep=milliseconds, quantiles=(0.5, 0.2, 0.8)))
    except (TritonError, MemoryError) as error:
        return f"!{type(error).__name__}: {error}"


def measure(tuner, executor, args, kwargs, configs, keep):
    """({config: times}, {config: reason}) by the executor's workers."""
    place = place_of(tuner)
    plain = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
    arguments = pickle.dumps((args, plain))
    jobs = {}
    for config in configs:
        if config.pre_hook is not None:
            raise AutotunerError(f"{tuner.__name__}: a configuration with a pre_hook cannot be timed by workers of an executor")
        grid = kwargs.get("grid")
        if callable(grid):
            grid = grid({**tuner.nargs, **plain, **config.all_kwargs()})
        jobs[config] = (place, arguments, config, grid, 100.0)
    results = _collect(_Workers(executor), jobs)
    timings, failures = {}, {}
    for config in configs:
        result = results[config]
        if isinstance(result, str):
            timings[config], failures[config] = list(FAILED), result
            keep(config, None, result)
        else:
            timings[config] = result
            keep(config, result, None)
    return timings, failures


class _Workers:
    """An executor, and another like it when that is broken: a pool of processes does not survive the death of one."""

    def __init__(self, executor):
        self.executor = executor
        self.is_own = False

    def submit(self, job):
        return self.executor.submit(time_candidate, *job)

    def renew(self):
        from concurrent.futures import ProcessPoolExecutor

        if not isinstance(self.executor, ProcessPoolExecutor):
            return
        self.close()
        self.executor = ProcessPoolExecutor(max_workers=self.executor._max_workers, mp_context=self.executor._mp_context)
        self.is_own = True

    def close(self):
        if self.is_own:
            self.executor.shutdown(wait=False, cancel_futures=True)


def _collect(workers, jobs):
    """{config: times or reason}"""
    from concurrent.futures import BrokenExecutor

    results, broken = {}, []
    try:
        futures = {}
        for config, job in jobs.items():
            try:
                futures[config] = workers.submit(job)
            except BrokenExecutor:
                broken.append(config)
        for config, future in futures.items():
            try:
                results[config] = _result(future)
            except BrokenExecutor:
                broken.append(config)
        # Which of them broke the pool is not known: each is tried alone.
        if broken:
            workers.renew()
        for config in broken:
            try:
                results[config] = _result(workers.submit(jobs[config]))
            except BrokenExecutor as error:
                results[config] = f"the worker that timed it died ({error})"
                workers.renew()
    finally:
        workers.close()
    return results


def _result(future):
    from concurrent.futures import BrokenExecutor, CancelledError

    try:
        result = future.result()
    except BrokenExecutor:
        raise
    except (Exception, CancelledError) as error:
        if type(error).__name__ in ("KilledWorker", "CancelledError", "FutureCancelledError"):
            return f"the worker that timed it died ({type(error).__name__}: {error})"
        raise
    return result.removeprefix("!") if isinstance(result, str) else result
