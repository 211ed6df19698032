"""Where the program is in its scopes."""

from .. import _core
from .flags import flags


def depth(session=0):
    """How many scopes are open on this thread; None while nothing is profiled."""
    if not flags.profiling_on:
        return None
    return _core.profiler_depth()
