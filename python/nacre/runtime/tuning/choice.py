"""Which configuration the measured times speak for."""

INFINITY = float("inf")
FAILED = (INFINITY, INFINITY, INFINITY)  # the times of a configuration that cannot run
_LEAST_NOISE = 0.01  # differences below this share are no differences
_MOST_NOISE = 0.1  # differences above it are, however far the times of a busy machine lie apart


def _middle(times):
    return times[0] if isinstance(times, (list, tuple)) else times


def _spread(times):
    """How far the times of one configuration lie apart: between the 20th and the 80th percentile."""
    if not isinstance(times, (list, tuple)) or len(times) < 3 or times[2] == INFINITY:
        return 0.0
    return max(0.0, times[2] - times[1])


def choose(timings):
    """(the configuration, those that are as fast within noise) of {configuration: times}; (None, []) when all have failed.

    Among those that cannot be told apart from the fastest the one that stands first is taken: the choice is the same from run to run,
    and the order of the list has a meaning.
    """
    finite = {config: times for config, times in timings.items() if _middle(times) < INFINITY}
    if not finite:
        return None, []
    fastest = min(finite, key=lambda config: _middle(finite[config]))
    best = _middle(finite[fastest])

    def is_equal(times):
        spread = min(_spread(times), _spread(finite[fastest]))
        noise = min(max(_LEAST_NOISE * best, spread / 2), _MOST_NOISE * best)
        return _middle(times) - best <= noise

    equal = [config for config, times in finite.items() if is_equal(times)]
    return equal[0], equal[1:]
