"""Choosing among configurations of a kernel by timing them. The parts are in tuning/."""

import threading
import warnings

from .. import _core
from .._locks import RenewedLock
from .cache import get_cache_invalidating_env_vars, get_cache_manager, triton_key  # noqa: F401  (packages ask for these here)
from .driver import driver
from .errors import AutotunerError, OutOfResources, PTXASError, UnexpectedCompileError  # noqa: F401
from .heuristics import Heuristics, arguments_of, heuristics  # noqa: F401
from .jit import JITFunction, KernelInterface  # noqa: F401
from .tuning.choice import FAILED, choose
from .tuning.config import Bucket, Config, bucket, identity, key_names  # noqa: F401
from .tuning.find_config import ConfigFinder
from .tuning.pruning import checked_pruning, prune
from .tuning.tuned_launch import TunedLaunch

# One tuning at a time in a process: two that are timed together would measure each other.
_lock = RenewedLock(threading.RLock)


class Autotuner(_core.TunedKernel, KernelInterface):
    """A kernel with several configurations. The first launch with a new key compiles them all, times them with whatever they write put
    back, and the best is used from then on, in later processes too. A launch whose configuration is known is C++.

    In interpreter mode the first configuration is used and nothing is timed.
    """

    __getitem__ = _core.TunedKernel.__getitem__

    def __init__(self, fn, arg_names, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
                 prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False, search=None,
                 executor=None, isolate=None):  # fmt: skip
        self.fn = fn
        self.base_fn = fn
        while not hasattr(self.base_fn, "src") and hasattr(self.base_fn, "fn"):
            if isinstance(self.base_fn, Autotuner):
                raise TypeError(f"autotune of {self.base_fn.__name__}, which is tuned already: put all configurations into one @autotune")
            self.base_fn = self.base_fn.fn
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.__module__ = getattr(self.base_fn, "__module__", __name__)
        self.__doc__ = getattr(self.base_fn, "__doc__", None)
        self.arg_names = list(arg_names)
        self.search = search
        self.configs = list(configs) if configs else search.first() if search is not None else [Config({})]
        for config in self.configs:
            if not hasattr(config, "all_kwargs"):
                raise TypeError(f"autotune of {self.__name__}: configs holds {config!r}, which is no Config; write Config({{...}})")
        self.keys, self.reset_to_zero, self.restore_value = map(_names, (key, reset_to_zero, restore_value))
        self._leave_out_unknown_keys()
        for parameter, names in (("reset_to_zero", self.reset_to_zero), ("restore_value", self.restore_value)):
            self._refuse_unknown(parameter, names)
        self.restore_copies = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._default_pre_hook
        self.post_hook = post_hook or self._default_post_hook
        pruning = checked_pruning(self.__name__, prune_configs_by or {})
        self.perf_model = pruning.get("perf_model")
        self.configs_top_k = pruning.get("top_k", 1.0)
        self.early_config_prune = pruning.get("early_config_prune")
        self.use_cuda_graph = use_cuda_graph
        self.cache_results = cache_results
        self.num_warmups = warmup
        self.num_reps = rep
        self.executor = executor
        self.isolate = isolate
        if isolate not in (None, "auto", "always", "never"):
            raise ValueError(f"isolate={isolate!r}: expected 'auto', 'always' or 'never'")
        self._do_bench = self._old_bench() if warmup is not None or rep is not None or use_cuda_graph else do_bench
        self.is_own_bench = do_bench is None
        self.configs_timings = {}
        self.failures = {}
        self.tied = []
        self.bench_time = None
        self._set_up()

    def _set_up(self):
        self._local = threading.local()
        self.hook_lock = RenewedLock()
        is_native = type(self).run is _OWN_RUN
        # An argument that is left to its default counts as if it had been passed.
        defaults = {param.name: (param.default,) for param in getattr(self.base_fn, "params", ()) if param.has_default}
        places = [(self.arg_names.index(name), part.of if isinstance(part, Bucket) else None, defaults.get(name, ()))
                  for name, part in zip(key_names(self.keys), self.keys)]  # fmt: skip
        only = self.configs[0] if len(self.configs) == 1 and self.search is None else None
        self._configure(self.fn if is_native else None, self.arg_names, places, only)

    def __getstate__(self):
        state = {name: value for name, value in self.__dict__.items() if name not in ("_local", "hook_lock")}
        for name, default in (("pre_hook", self._default_pre_hook), ("post_hook", self._default_post_hook)):
            if state[name] == default:
                state[name] = None
        return {**state, "cache": dict(self.cache) if isinstance(self.cache, dict) else self.cache}

    def __setstate__(self, state):
        self.cache = state.pop("cache")
        self.__dict__.update(state)
        self.pre_hook = self.pre_hook or self._default_pre_hook
        self.post_hook = self.post_hook or self._default_post_hook
        self._set_up()

    def _leave_out_unknown_keys(self):
        """A part of the key that names no argument has no value to count by."""
        unknown = [name for name in key_names(self.keys) if name not in self.arg_names]
        if unknown:
            warnings.warn(f"autotune of {self.__name__}: key names {', '.join(map(str, unknown))}, which is no argument of the kernel and does not "
                          f"count; its arguments are {', '.join(self.arg_names)}", stacklevel=4)  # fmt: skip
            self.keys = [part for part, name in zip(self.keys, key_names(self.keys)) if name not in unknown]

    def _refuse_unknown(self, parameter, names):
        unknown = [str(name) for name in names if name not in self.arg_names]
        if unknown:
            raise ValueError(f"{parameter} contains names that are not kernel arguments: {', '.join(unknown)}. Valid argument names are: "
                             f"{', '.join(self.arg_names)}.")  # fmt: skip

    def _old_bench(self):
        """What the parameters warmup, rep and use_cuda_graph ask for."""
        warnings.warn("warmup, rep, and use_cuda_graph parameters are deprecated; do_bench= takes a function that times", DeprecationWarning,
                      stacklevel=4)  # fmt: skip
        warmup, rep, is_graph = self.num_warmups, self.num_reps, self.use_cuda_graph

        def bench(call, quantiles):
            from ..testing.timing import do_bench, do_bench_cudagraph

            if is_graph:
                return do_bench_cudagraph(call, rep=100 if rep is None else rep, quantiles=quantiles)
            return do_bench(call, warmup=25 if warmup is None else warmup, rep=100 if rep is None else rep, quantiles=quantiles)

        return bench

    @property
    def nargs(self):
        """The positional arguments by name of the launch under way on this thread; None when there is none."""
        return getattr(self._local, "nargs", None)

    @nargs.setter
    def nargs(self, value):
        self._local.nargs = value

    # The default hooks do what reset_to_zero and restore_value say, for every timed run.
    def _default_pre_hook(self, kwargs, reset_only=False):
        if not self.reset_to_zero and (reset_only or not self.restore_value):
            return
        from .tuning.protection import arrays_named, copy_of, fill_zero

        for name in self.reset_to_zero:
            for array in arrays_named("reset_to_zero", name, kwargs[name]):
                fill_zero(array)
        if not reset_only:
            found = {name: arrays_named("restore_value", name, kwargs[name]) for name in self.restore_value}
            copies = {name: list(map(copy_of, arrays)) for name, arrays in found.items() if arrays}
            self.restore_copies = {name: saved[0] if found[name][0] is kwargs[name] else saved for name, saved in copies.items()}

    def _default_post_hook(self, kwargs, exception=None):
        from .tuning.protection import arrays_named, write_back

        for name, saved in self.restore_copies.items():
            for array, copy in zip(arrays_named("restore_value", name, kwargs[name]), saved if isinstance(saved, list) else [saved]):
                write_back(array, copy)
        self.restore_copies = {}

    @property
    def do_bench(self):
        if self._do_bench is None:
            self._do_bench = driver.active.get_benchmarker()
        return self._do_bench

    @do_bench.setter
    def do_bench(self, bench):
        self._do_bench, self.is_own_bench = bench, False

    @property
    def is_watched(self):
        """Whether functions of the user's are called for every timed run: they run in this process."""
        hooks = self.user_defined_pre_hook or self.user_defined_post_hook or any(config.pre_hook for config in self.configs)
        return hooks or not self.is_own_bench

    def _resets(self, hook):
        """Whether a hook is to be called for the first launch with a key too: reset_to_zero holds for it."""
        return hook == self._default_pre_hook or _takes_reset_only(hook)

    def check_disk_cache(self, tuning_key, configs, bench_fn):
        """Triton's own file, NAME.autotune.json of the cache: True when it had the times; else bench_fn() tunes and they are written."""
        from .tuning.triton_file import TimingsFile

        if not tuning_key or any(config.pre_hook for config in configs):
            bench_fn()
            return False
        file = TimingsFile(self, tuning_key, configs)
        timings = file.load()
        if timings is not None and choose(timings)[0] is not None:
            best, self.tied = choose(timings)
            self.cache[tuning_key] = best
            self.configs_timings = timings
            return True
        bench_fn()
        file.store(self.configs_timings)
        return False

    def run(self, *args, **kwargs):
        before = self.nargs
        self.nargs = dict(zip(self.arg_names, args))
        try:
            if kwargs.get("warmup"):
                return self._warm(args, {name: value for name, value in kwargs.items() if name != "warmup"})
            config = self._config_for(args, kwargs)
            TunedLaunch(self, args, kwargs).refuse_tuned(config)
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
            return self.fn.run(*args, **kwargs, **config.all_kwargs())
        except (AutotunerError, UnexpectedCompileError) as error:
            raise error.with_traceback(None)  # noqa: B904  (it says all; how the tuning came there is nobody's concern)
        finally:
            self.nargs = before

    def _chosen(self, key):
        """What the cache has: a dictionary, or what a subclass keeps its results in."""
        return self.cache[key] if key in self.cache else None

    def _bench(self, *args, config, **meta):
        """The times of one configuration: what do_bench says of its launches; infinite where it cannot be launched. `nargs` is set."""
        from ..compiler.errors import CompileTimeAssertionFailure

        call = TunedLaunch(self, args, meta).timed_call(config)
        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError):
            return list(FAILED)

    def _config_for(self, args, kwargs):
        if len(self.configs) == 1 and self.search is None:
            return self.configs[0]
        if _core.is_interpreted(self.base_fn):
            return self.prune_configs(kwargs)[0]  # times would say nothing, and who debugs wants one run
        named = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        key = self._key(*args, **named)
        try:
            config = self._chosen(key)
        except TypeError:
            raise TypeError(f"{self.__name__}: the key {key!r} holds a value that is not hashable; in autotune(key=...) name other arguments, or "
                            "make something of it with bucket(name, by=function)") from None  # fmt: skip
        if config is None:
            with _lock:  # whoever waited here finds what the first has chosen
                config = self._chosen(key)
                if config is None:
                    config = ConfigFinder(self, TunedLaunch(self, args, kwargs), key).find()
                    # The same in every process, whether times were measured, read from a record or pinned.
                    if key in self.cache and self._resets(self.pre_hook):
                        self.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()}, reset_only=True)
        return config

    def prune_configs(self, kwargs):
        return prune(self, kwargs)

    def _warm(self, args, kwargs):
        from .tuning.measuring import compile_all

        configs = self.prune_configs(kwargs)
        kernels, failures = compile_all(lambda config: self.fn.warmup(*args, **kwargs, **config.all_kwargs()), configs)
        if failures:
            raise next(iter(failures.values()))
        return [kernels[config] for config in configs]

    def warmup(self, *args, **kwargs):
        """Compiles every configuration, as many at a time as there are cores, without running any. Returns the compiled kernels."""
        before = self.nargs
        self.nargs = dict(zip(self.arg_names, args))
        try:
            return self._warm(args, kwargs)
        finally:
            self.nargs = before


def _names(given):
    """A list of names; one name may stand alone."""
    return [given] if isinstance(given, (str, Bucket)) else list(given or ())


def _takes_reset_only(hook):
    import inspect

    try:
        parameters = inspect.signature(hook).parameters
    except (TypeError, ValueError):
        return False
    return "reset_only" in parameters or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


_OWN_RUN = Autotuner.run  # where a package has put another in its place, every launch goes through that


def __getattr__(name):
    if name in ("builtins", "hashlib", "json"):  # packages that tune in their own way take these modules from here
        import importlib

        return importlib.import_module(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def autotune(configs=None, key=(), prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
             warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False, *, search=None, executor=None,
             isolate=None):  # fmt: skip
    """Times configurations when an argument named in `key` (or an array's dtype) has a new value, and uses the best from then on.

    What a kernel writes while it is timed is put back. Results are kept on disk (`nacre tune list`); NACRE_AUTOTUNE says whether to time.

    key: names of arguments; `bucket("N")` for one of which only the size class counts.
    prune_configs_by: {"early_config_prune": function(configs, named_args, **kwargs) -> configs, "perf_model": function(**all) -> time,
    "top_k": how many of the estimated best are timed, a number or a share}.
    reset_to_zero, restore_value: arguments that are zeroed before, or restored after, every timed run; zeroed also before the first
    launch with each new key of a process, whether it was timed in this process or before.
    pre_hook, post_hook: called before and after every timed run, instead of the above.
    do_bench: function(call, quantiles) -> times, instead of the driver's benchmarker.
    cache_results: keep times also where hooks or a benchmarker of the user's take part, in Triton's own file.
    search: a Space instead of a list of configurations. executor: a concurrent.futures.Executor whose workers time.
    isolate: "always" times in a child process, "never" not, "auto" where it is needed; left out, NACRE_AUTOTUNE_ISOLATE decides.
    """
    if configs and search is not None:
        raise TypeError("autotune() takes configs or search, not both; Space(...) has the configurations of a search")
    if configs is None and search is None or not isinstance(configs, (list, tuple, type(None))):
        raise TypeError(f"autotune() needs configs=[Config(...), ...] or search=Space(...){'' if configs is None else f', found {configs!r}'}")

    def decorate(fn):
        return Autotuner(fn, arguments_of(fn, "autotune"), configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph,
                         do_bench=do_bench, cache_results=cache_results, search=search, executor=executor, isolate=isolate)  # fmt: skip

    return decorate
