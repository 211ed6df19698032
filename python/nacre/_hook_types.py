"""How hooks and listeners are called, by the names that packages annotate theirs with. Nothing needs to derive from these."""


class JITHookCompileInfo(dict):
    """What a hook is told of a compile: key, signature, device, constants, options, specialization_data, is_warmup, ..."""


class JITHook:
    """`knobs.runtime.jit_cache_hook`, jit_post_compile_hook."""

    def __call__(self, *, key, repr, fn, compile, is_manual_warmup, already_compiled):
        raise NotImplementedError


class LaunchHook:
    """`knobs.runtime.launch_enter_hook`, launch_exit_hook."""

    def __call__(self, metadata):
        raise NotImplementedError


class InitHandleHook:
    """`knobs.runtime.kernel_load_start_hook`, kernel_load_end_hook, kernel_unload_hook."""

    def __call__(self, module, function, name, metadata_group, hash):
        raise NotImplementedError


class PipelineStagesHook:
    """`knobs.runtime.add_stages_inspection_hook`."""

    def __call__(self, backend=None, stages=None, options=None, language=None, capability=None):
        raise NotImplementedError


class CompilationListener:
    """`knobs.compilation.listener`."""

    def __call__(self, *, src, metadata, metadata_group, times, cache_hit):
        raise NotImplementedError


class AutotuneListener:
    """`knobs.autotuning.listener`."""

    def __call__(self, *, fn, key, best_config, configs_timings, duration, cache_hit):
        raise NotImplementedError
