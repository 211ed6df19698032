"""The autotuner's timings between runs: `autotune(..., cache_results=True)`, or TRITON_CACHE_AUTOTUNING=1 for all."""

from .. import _core, knobs


def is_on(tuner, configs):
    """Whether timings of these configurations are kept. What a configuration's hook does is not known to any key."""
    return (tuner.cache_results or knobs.autotuning.cache) and not any(config.pre_hook for config in configs)


def _entry(tuner, key, configs):
    """(the cache's manager, the name of the file) for all that timings depend on."""
    from ..backends.cpu.compiler import CPUBackend
    from .cache import get_cache_manager
    from .driver import driver

    settings = [(row[0], row[1], str(getattr(getattr(knobs, row[0]), row[1]))) for row in _core.knobs() if row[6]]
    facts = [CPUBackend(driver.active.get_current_target()).hash(), _core.threads(), tuner.base_fn.cache_key, settings, key,
             [str(config) for config in configs]]  # fmt: skip
    return get_cache_manager(_core.fingerprint(repr(facts))), f"{tuner.__name__[:150]}.autotune.json"


def load(tuner, key, configs):
    """Configuration to timings, or None."""
    import json

    manager, name = _entry(tuner, key, configs)
    path = manager.get_file(name)
    if path is None:
        return None
    try:
        with open(path) as file:
            timings = json.load(file)["timings"]
        return dict(zip(configs, timings, strict=True))
    except (OSError, ValueError, KeyError, TypeError):  # torn or foreign: as if it were not there
        return None


def store(tuner, key, configs, timings):
    import json

    manager, name = _entry(tuner, key, configs)
    try:
        manager.put(json.dumps({"key": str(key), "timings": [timings[config] for config in configs]}), name, binary=False)
    except OSError:  # a folder that cannot be written costs the cache, never the launch
        pass
