"""How a package's kernels are launched in a case: tuned ones with a configuration of the case's choice, in mutated cases all of them with other
numbers of warps and stages, and tuned ones with other block sizes.
"""

import random

from nacre.runtime.autotuner import Autotuner, Config
from nacre.runtime.jit import JITFunction


class ForcedLaunches:
    def __init__(self):
        self.number, self.mutation = 0, None
        self.used = {}  # tuner: its configuration
        self.most = 0  # configurations of one tuner that the last case met
        prune = Autotuner.prune_configs

        def one_of_them(tuner, keywords):
            configs = prune(tuner, keywords)
            self.most = max(self.most, len(configs))
            chosen = configs[self.number % len(configs)]
            self.used[tuner] = chosen if self.mutation is None else self.mutated(tuner, chosen, configs)
            return [self.used[tuner]]

        Autotuner.prune_configs = one_of_them
        self._wrap_launches()

    def _wrap_launches(self):
        run, subscript = JITFunction.run, JITFunction.__getitem__

        def other_run(kernel, *arguments, **keywords):
            return run(kernel, *arguments, **{**keywords, **self.options_of(kernel)})

        def other_subscript(kernel, grid):
            launch = subscript(kernel, grid)
            if self.mutation is None:
                return launch
            return lambda *arguments, **keywords: launch(*arguments, **{**keywords, **self.options_of(kernel)})

        JITFunction.run, JITFunction.__getitem__ = other_run, other_subscript

    def options_of(self, kernel):
        """Warps and stages of a launch in a mutated case."""
        if self.mutation is None:
            return {}
        draw = random.Random(f"{self.mutation}:{kernel.__name__}")
        return {"num_warps": draw.choice([1, 2, 4, 8]), "num_stages": draw.choice([1, 2, 3, 4])}

    def mutated(self, tuner, chosen, configs):
        """Each block size is that of some configuration, or half of the least."""
        draw = random.Random(f"{self.mutation}:{tuner.__name__}")
        keywords = {}
        for name, value in chosen.kwargs.items():
            values = sorted({config.kwargs[name] for config in configs if name in config.kwargs}, key=repr)
            numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
            if len(numbers) == len(values) > 1 and min(numbers) >= 32:
                values = [min(numbers) // 2, *values]
            keywords[name] = draw.choice(values)
        return Config(keywords, pre_hook=chosen.pre_hook, **self.options_of(tuner))

    def begin(self, number, mutation):
        self.number, self.mutation, self.most = number, mutation, 0

    def end(self):
        for tuner in self.used:
            tuner.cache.clear() if hasattr(tuner.cache, "clear") else setattr(tuner, "cache", {})  # FlagGems keeps a database there
        self.used.clear()
        self.mutation = None

    def text(self):
        return "; ".join(f"{tuner.__name__}: {config}" for tuner, config in self.used.items())
