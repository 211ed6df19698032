"""Spaces of configurations, and searching one within a budget.

    space = Space({"BLOCK_M": powers_of_two(16, 128), "BLOCK_N": powers_of_two(16, 128), "num_warps": [1, 2, 4]},
                  constraint=lambda BLOCK_M, BLOCK_N, **_: BLOCK_M * BLOCK_N <= 8192, budget=4.0)

    @autotune(search=space, key=["M", "N"])

Successive halving: many candidates are timed shortly, the better third goes on with three times the time, until few are left and timed
in full. Times of a short run are noisy, but they are enough to tell the slow ones, on which random search spends most of its budget.
"""

import itertools
import math
import random
import time

from .choice import choose
from .config import Config, identity
from .reporting import warn

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_KEPT = 3  # one in so many goes on to the next round
_SHORTEST = 2.0  # milliseconds for a candidate in the first round
_ENOUGH = _KEPT**3  # candidates, after which a search that its budget ended has found what it will find


def powers_of_two(first, last):
    """The powers of two from `first` to `last`, both included."""
    if first < 1 or last < first:
        raise ValueError(f"powers_of_two({first}, {last}): expected 1 <= first <= last")
    return [1 << exponent for exponent in range((first - 1).bit_length(), last.bit_length()) if first <= 1 << exponent <= last]


def span(first, last, step=1):
    """The integers from `first` to `last`, both included, by `step`."""
    return list(range(first, last + 1, step))


def _values(name, options):
    """The values of a name, each once."""
    try:
        listed = [] if isinstance(options, str) else list(options)
    except TypeError:
        listed = []
    if not listed:
        raise ValueError(f"Space: {name} needs a list of at least one value, found {options!r}")
    return [option for index, option in enumerate(listed) if option not in listed[:index]]


class Space:
    """Configurations as the product of values by name, of meta-parameters and launch options alike.

    constraint: function of the names that says whether a combination counts. budget: seconds for one key, compiles included.
    method: "halving" or "random". seed: of what is tried; equal seeds try the same.
    """

    def __init__(self, values, constraint=None, budget=5.0, method="halving", seed=0):
        if not isinstance(values, dict) or not values:
            raise ValueError(f"Space: expected a dictionary of names with their values, found {values!r}")
        if method not in ("halving", "random"):
            raise ValueError(f"Space: method {method!r} is not halving or random")
        if budget <= 0:
            raise ValueError("Space: the budget is a number of seconds above 0")
        self.values = {name: _values(name, options) for name, options in values.items()}
        self.constraint = constraint
        self.budget = budget
        self.method = method
        self.seed = seed
        self._all = None

    def all_configs(self):
        """Every configuration that the constraint allows, in the order of the values."""
        if self._all is None:
            found = []
            for combination in itertools.product(*self.values.values()):
                named = dict(zip(self.values, combination))
                if self.constraint is None or self.constraint(**named):
                    options = {name: named.pop(name) for name in _OPTIONS if name in named}
                    found.append(Config(named, **options))
            if not found:
                raise ValueError("Space: the constraint allows no combination")
            self._all = found
        return self._all

    def __len__(self):
        return len(self.all_configs())

    def first(self):
        return self.all_configs()[:1]

    def is_enough(self, count):
        """Whether a search that has tried so many need not go on in another process."""
        return count >= min(len(self), _ENOUGH)

    def _shuffled(self, tried):
        candidates = [config for config in self.all_configs() if config not in tried]
        random.Random(self.seed).shuffle(candidates)
        # The first of the list is what its author thought of first: it is always tried.
        first = self.all_configs()[0]
        if first in candidates:
            candidates.remove(first)
            candidates.insert(0, first)
        return candidates

    def go_on(self, name, measurement, known, problem):
        """As run, from where the last process stopped: the record of the problem tells; without one it begins anew. `known`: {config: times}.
        What was tried is all by now."""
        names = set(problem.tried() or ()) if problem is not None and choose(known)[0] is not None else set()
        before = [config for config in self.all_configs() if config in known or identity(config) in names]
        timings, failures, tried = self.run(measurement, before)
        tried = [*before, *tried]
        if not self.is_enough(len(tried)):
            then = "the next process goes on" if problem is not None else "nothing is kept, so that the next process begins anew"
            warn(f"{name}: the budget of {self.budget:g} s ended the search after {len(tried)} of {len(self)} configurations; {then}; "
                 "Space(budget=...) gives it more time")  # fmt: skip
        return timings, failures, tried

    def run(self, measurement, tried):
        """({config: times}, {config: reason}, [config]): those timed to the end, those that cannot run, all that were tried.
        measurement(configs, milliseconds).run() spends so much on each; `tried` were tried before, and are not again."""
        method = self._halving if self.method == "halving" else self._random
        taken = []

        def noted(configs, milliseconds):
            taken.extend(config for config in configs if config not in taken)
            return measurement(configs, milliseconds)

        timings, failures = method(noted, self._shuffled(tried))
        return timings, failures, taken

    def _random(self, measurement, candidates):
        """As many as the budget allows, each timed in full."""
        timings, failures = {}, {}
        start = time.monotonic()
        batch = 4
        while candidates and (not timings or time.monotonic() - start < self.budget):
            taken, candidates = candidates[:batch], candidates[batch:]
            run = measurement(taken, _SHORTEST * _KEPT * _KEPT)
            timings.update(run.run())
            failures.update(run.failures)
        return timings, failures

    def _halving(self, measurement, candidates):
        rounds = self._rounds(len(candidates))
        failures, final = {}, {}
        start = time.monotonic()
        milliseconds = _SHORTEST
        taken = candidates
        for number in range(rounds):
            is_last = number == rounds - 1
            allowed = self.budget * (number + 1) / rounds  # each round has an equal share
            timings = {}
            batch = 4 if not is_last else max(1, len(taken))
            for begin in range(0, len(taken), batch):
                if timings and time.monotonic() - start > allowed:
                    break
                run = measurement(taken[begin:begin + batch], milliseconds)
                timings.update(run.run())
                failures.update(run.failures)
            final.update(timings)
            alive = sorted((config for config in timings if config not in failures), key=lambda config: timings[config][0])
            if is_last or len(alive) <= 1:
                return ({config: timings[config] for config in alive} or final), failures
            taken = alive[:max(1, math.ceil(len(alive) / _KEPT))]
            milliseconds *= _KEPT
        return final, failures

    def _rounds(self, count):
        return max(1, min(4, round(math.log(max(count, 1), _KEPT))))


def bench_for(milliseconds):
    """A benchmarker that spends so much on each candidate."""

    def bench(call, quantiles):
        from ...testing.timing import do_bench

        return do_bench(call, warmup=milliseconds / 4, rep=milliseconds, quantiles=quantiles)

    return bench
