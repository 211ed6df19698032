"""Choosing among configurations of a kernel by timing them."""

from .. import _core, knobs
from .cache import get_cache_manager, triton_key  # noqa: F401  (packages ask for these here)
from .errors import AutotunerError  # noqa: F401
from .errors import OutOfResources, PTXASError
from . import tuning_cache
from .jit import KernelInterface


class Config:
    """One configuration: values for the kernel's meta-parameters, and launch options.

    pre_hook: called with the dictionary of all arguments before each launch with this configuration.
    ir_override: file whose text takes the place of a stage; its suffix names the stage (.ttir, .ttgir, .llir, .s).
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self):
        """The meta-parameters and the launch options that are set."""
        options = {"num_warps": self.num_warps, "num_stages": self.num_stages, "num_ctas": self.num_ctas, "maxnreg": self.maxnreg,
                   "ir_override": self.ir_override}  # fmt: skip
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _key(self):
        return tuple(sorted(self.all_kwargs().items(), key=str))

    def __hash__(self):
        return hash((self._key(), self.pre_hook))

    def __eq__(self, other):
        return isinstance(other, Config) and self._key() == other._key() and self.pre_hook == other.pre_hook

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__.setdefault("pre_hook", None)
        self.__dict__.setdefault("ir_override", None)

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __repr__(self):
        return f"Config({self})"


def _is_array(value):
    return hasattr(value, "data_ptr") or hasattr(value, "__array_interface__")


def _memory_of(array):
    """The array's memory as a plain array: autograd does not see what is written to it, and elements that share their place
    (of an expanded tensor) are there once."""
    if not hasattr(array, "as_strided"):
        return array
    array = array.data
    if array.is_contiguous():
        return array
    extent = 1 + sum((size - 1) * stride for size, stride in zip(array.shape, array.stride()))
    return array.as_strided((extent,), (1,))


def _copy_of(array):
    return array.clone() if hasattr(array, "clone") else array.copy()


def _write_back(array, saved):
    if hasattr(array, "copy_"):
        array.copy_(saved)
    else:
        array[...] = saved


def _fill_zero(array):
    array.zero_() if hasattr(array, "zero_") else array.fill(0)


class Autotuner(KernelInterface):
    """A kernel with several configurations. The first launch with a new key times them all, on copies of the arguments'
    contents, and the best is used from then on. In interpreter mode the first configuration is used and nothing is timed."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
                 prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):  # fmt: skip
        self.fn = fn
        self.base_fn = fn
        while not hasattr(self.base_fn, "src") and hasattr(self.base_fn, "fn"):
            self.base_fn = self.base_fn.fn
        self.__name__ = getattr(self.base_fn, "__name__", "kernel")
        self.__module__ = getattr(self.base_fn, "__module__", __name__)
        self.__doc__ = getattr(self.base_fn, "__doc__", None)
        self.arg_names = list(arg_names)
        self.configs = list(configs) if configs else [Config({})]
        self.keys = list(key)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._default_pre_hook
        self.post_hook = post_hook or self._default_post_hook
        pruning = prune_configs_by or {}
        self.perf_model = pruning.get("perf_model")
        self.configs_top_k = pruning.get("top_k", 1.0)
        self.early_config_prune = pruning.get("early_config_prune")
        self.use_cuda_graph = use_cuda_graph
        self.cache_results = cache_results
        self.num_warmups = 10 if warmup is None else warmup
        self.num_reps = 40 if rep is None else rep
        self._do_bench = do_bench
        self.cache = {}
        self.configs_timings = {}
        self.nargs = None
        self.best_config = None
        self.bench_time = None
        self._saved = {}

    # The default hooks do what reset_to_zero and restore_value say, for every timed run.
    def _default_pre_hook(self, kwargs, reset_only=False):
        for name in self.reset_to_zero:
            _fill_zero(kwargs[name])
        if not reset_only:
            self._saved = {name: _copy_of(kwargs[name]) for name in self.restore_value}

    def _default_post_hook(self, kwargs, exception=None):
        for name, saved in self._saved.items():
            _write_back(kwargs[name], saved)
        self._saved = {}

    @property
    def do_bench(self):
        if self._do_bench is None:
            from ..testing import do_bench

            self._do_bench = lambda call, quantiles: do_bench(call, warmup=self.num_warmups, rep=self.num_reps, quantiles=quantiles)
        return self._do_bench

    def _refuse_tuned(self, config, args, kwargs):
        """A parameter that the configurations set is not for the launch to set."""
        given = {*self.arg_names[:len(args)], *kwargs}
        clash = [name for name in config.all_kwargs() if name in given]
        if clash:
            names = ", ".join(map(repr, clash))
            raise ValueError(f"Conflicting meta-parameters: {self.__name__}() was launched with {names}, which @autotune sets; "
                             "leave it out of the launch")  # fmt: skip

    def _bench(self, *args, config, **meta):
        self._refuse_tuned(config, args, meta)
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def call():
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **current)
            except Exception as error:
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)

        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except (OutOfResources, PTXASError):
            return [float("inf")] * 3

    def _tune(self, args, kwargs, key):
        import time

        configs = self.prune_configs(kwargs)
        is_kept = tuning_cache.is_on(self, configs)
        timings = tuning_cache.load(self, key, configs) if is_kept else None
        if timings is not None:
            return self._choose(key, timings, None)
        start = time.perf_counter()
        # Whatever the kernel writes while it is timed is undone: the launch that follows sees what the caller passed.
        arrays = {id(value): value for value in self.nargs.values() if _is_array(value)}
        saved = [(memory, _copy_of(memory)) for memory in map(_memory_of, arrays.values())]
        try:
            timings = {config: self._bench(*args, config=config, **kwargs) for config in configs}
        finally:
            for array, contents in saved:
                _write_back(array, contents)
        self.bench_time = time.perf_counter() - start
        if is_kept:
            tuning_cache.store(self, key, configs, timings)
        return self._choose(key, timings, self.bench_time)

    def _choose(self, key, timings, duration):
        """Takes the best and tells who wants to know. `duration` is None when the timings are those of an earlier run."""
        best = min(timings, key=timings.get)
        self.cache[key] = best
        self.configs_timings = timings
        if knobs.autotuning.print:
            how = "found in the cache" if duration is None else f"tuned in {duration:.2f} s"
            print(f"{self.__name__}: {how} over {len(timings)} configurations; best: {best}")
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(fn=self.base_fn, key=key, best_config=best, configs_timings=timings, duration=duration,
                                      cache_hit=duration is None)  # fmt: skip
        return best

    def _key_of(self, kwargs):
        values = {**self.nargs, **kwargs}
        key = [values[name] for name in self.keys if name in values]
        return tuple(key + [str(value.dtype) for value in values.values() if hasattr(value, "dtype")])

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        self.nargs.update((name, value) for name, value in kwargs.items() if name in self.arg_names)
        if len(self.configs) > 1 and _core.is_interpreted(self.base_fn):
            config = self.prune_configs(kwargs)[0]  # times would say nothing, and who debugs wants one run
        elif len(self.configs) > 1:
            key = self._key_of(kwargs)
            config = self.cache.get(key) or self._tune(args, kwargs, key)
        else:
            config = self.configs[0]
        self._refuse_tuned(config, args, kwargs)
        self.best_config = config
        full = {**self.nargs, **kwargs, **config.all_kwargs()}
        if config.pre_hook is not None:
            config.pre_hook(full)
        result = self.fn.run(*args, **kwargs, **config.all_kwargs())
        self.nargs = None
        return result

    def prune_configs(self, kwargs):
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, self.nargs, **kwargs)
            if not configs:
                raise ValueError(f"{self.__name__}: early_config_prune left no configuration")
        if self.perf_model:
            top = self.configs_top_k
            top = max(1, int(len(self.configs) * top)) if isinstance(top, float) and top <= 1.0 else top
            if not isinstance(top, int):
                raise TypeError(f"top_k: expected a share of at most 1.0 or a whole number, found {top!r}")
            if len(configs) > top:
                estimate = {config: self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()) for config in configs}
                configs = sorted(estimate, key=estimate.get)[:top]
        return configs

    def warmup(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        kernels = [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]
        self.nargs = None
        return kernels


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
             warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):  # fmt: skip
    """Times the configurations when an argument named in `key` (or an array's dtype) has a new value, and uses the best."""

    def decorate(fn):
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook=pre_hook, post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup, rep=rep, use_cuda_graph=use_cuda_graph,
                         do_bench=do_bench, cache_results=cache_results)  # fmt: skip

    return decorate


class Heuristics(KernelInterface):
    """A kernel some of whose meta-parameters are computed from its arguments."""

    def __init__(self, fn, arg_names, values):
        self.fn = fn
        self.values = values
        self.arg_names = list(arg_names)
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args, **kwargs):
        named = {**dict(zip(self.arg_names, args)), **kwargs}
        for name, heuristic in self.values.items():
            value = heuristic(named)
            kwargs[name] = named[name] = value[name] if isinstance(value, dict) and name in value else value
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    """Computes meta-parameters: name -> function of the dictionary of arguments."""

    def decorate(fn):
        return Heuristics(fn, fn.arg_names, values)

    return decorate
