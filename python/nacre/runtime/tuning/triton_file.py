"""Triton's file of timings, NAME.autotune.json in the cache: `key`, and `configs_timings`, pairs of a configuration's fields and its times.

Written with `autotune(..., cache_results=True)` or TRITON_CACHE_AUTOTUNING=1, through the cache manager in use.
"""

from ... import _core, knobs
from .config import Config

_FIELDS = ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override")


class TimingsFile:
    """The file of one tuning."""

    def __init__(self, tuner, key, configs):
        from ..cache import get_cache_manager
        from ..jit import JITFunction
        from .records import device_facts

        fn = tuner.fn
        while not isinstance(fn, JITFunction):
            fn = fn.fn
        settings = [(row[0], row[1], str(getattr(getattr(knobs, row[0]), row[1]))) for row in _core.knobs() if row[6]]
        facts = [_core.info()["build_id"], device_facts(), fn.cache_key, settings, str(key), [str(config) for config in configs]]
        self.key = key
        self.configs = configs
        self.manager = get_cache_manager(_core.fingerprint(repr(facts)))
        self.name = f"{fn.__name__[:150]}.autotune.json"

    def load(self):
        """{config: times}, or None."""
        import json

        path = self.manager.get_file(self.name)
        if path is None:
            return None
        try:
            with open(path) as file:
                pairs = json.load(file)["configs_timings"]
            read = {Config(**fields): times for fields, times in pairs}
            return {config: read[config] for config in self.configs}
        except (OSError, ValueError, KeyError, TypeError):  # torn or foreign: as if it were not there
            return None

    def store(self, timings):
        import json

        pairs = [({name: getattr(config, name) for name in _FIELDS}, times) for config, times in timings.items() if not config.pre_hook]
        try:
            self.manager.put(json.dumps({"key": self.key, "configs_timings": pairs}, default=str), self.name, binary=False)
        except OSError:  # a folder that cannot be written costs the file, never the launch
            pass
