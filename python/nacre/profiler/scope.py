"""Scopes: named frames around what is launched."""

import functools
import time

from .. import _core
from .flags import flags
from .metric import plain

_enter, _exit = _core.profiler_enter_scope, _core.profiler_exit_scope
_marks_ranges = _core.nvtx_is_on  # for the tool that the process runs under
_marks_ranges()


def _open(name, metrics):
    """Opens a scope with its metrics; it stays closed where these are wrong."""
    number = _enter(name)
    if metrics:
        try:
            _core.profiler_add_metrics(number, plain(metrics))
        except Exception:
            _exit(name)
            raise
    return number


class scope(_core.ProfilerScope):
    """A context manager and a decorator: what is launched inside stands under `name`, which has the metrics too."""

    __slots__ = ()

    def __call__(self, function):
        @functools.wraps(function)
        def within(*args, **kwargs):
            with type(self)(self.name, self.metrics):
                return function(*args, **kwargs)

        return within


class cpu_timed_scope(scope):
    """A scope that has its own time, too: `cpu_time (ns)`, which belongs to its own frame."""

    __slots__ = ("begin",)

    def __init__(self, name, metrics=None):
        super().__init__(name, metrics)
        if metrics and "cpu_time" in metrics:
            raise ValueError("cpu_time is what cpu_timed_scope measures: it cannot be given among the metrics")

    def __enter__(self):
        super().__enter__()
        self.begin = time.perf_counter_ns()
        return self

    def __exit__(self, kind, error, traceback):
        if self.id is not None and _core.profiler_depth():
            _core.profiler_add_metrics(self.id, {"cpu_time (ns)(exc)": time.perf_counter_ns() - self.begin})
        super().__exit__(kind, error, traceback)


def enter_scope(name, *, metrics=None):
    """Opens a scope, and gives its number; None while nothing is profiled."""
    if not flags.profiling_on and not _marks_ranges():
        return None
    return _open(name, metrics)


def exit_scope(name=None, *, metrics=None):
    """Closes the scope that is open. Another name than its own is a ValueError."""
    if not flags.profiling_on and not _marks_ranges():
        return None
    if metrics:
        _core.profiler_add_metrics(0, plain(metrics))
    return _exit(name)
