"""Tells of the profilers of torch's that the program itself begins and ends, by any of torch's interfaces: all of them call three
functions by their names in torch.autograd.profiler."""

import contextlib
import sys
import threading

_own = threading.local()
_replaced = {}  # name -> torch's function, and the one in its place
_prepared = None  # what the program's profiler is prepared with once it begins; True: it is


@contextlib.contextmanager
def is_ours():
    """Within it this thread begins or ends a profiler that is not the program's. Torch's own switch says nothing of that one: torch and
    launches would tell it of ranges that nobody asked for."""
    profiler = sys.modules["torch.autograd.profiler"]
    is_on = getattr(profiler, "_is_profiler_enabled", None)
    _own.calls = True
    try:
        yield
    finally:
        _own.calls = False
        if is_on is not None:
            profiler._is_profiler_enabled = is_on


def watch(begins, ends):
    """From now on `begins(records_operators)` is a context around the begin of a profiler, and `ends(end)` gives what its end gives."""
    if _replaced:
        return
    profiler = sys.modules["torch.autograd.profiler"]

    def prepare(*args, **kwargs):
        global _prepared
        if getattr(_own, "calls", False):
            return torchs["_prepare_profiler"](*args, **kwargs)
        # It warms up what records GPUs, and ends another profiler: where none is recorded that can wait.
        activities = args[1] if len(args) > 1 else kwargs.get("activities", ())
        if set(activities) == {profiler.ProfilerActivity.CPU}:
            _prepared = args, kwargs
            return None
        with begins(profiler.ProfilerActivity.CPU in activities):
            _prepared = True
            return torchs["_prepare_profiler"](*args, **kwargs)

    def enable(*args, **kwargs):
        global _prepared
        if getattr(_own, "calls", False):
            return torchs["_enable_profiler"](*args, **kwargs)
        activities = args[1] if len(args) > 1 else kwargs.get("activities", ())
        with begins(profiler.ProfilerActivity.CPU in activities) as was_ours:
            prepared, _prepared = _prepared, None
            if isinstance(prepared, tuple):
                torchs["_prepare_profiler"](*prepared[0], **prepared[1])
            elif prepared is None and was_ours and activities:  # it was before ours began
                torchs["_prepare_profiler"](*args, **kwargs)
            return torchs["_enable_profiler"](*args, **kwargs)

    def disable(*args, **kwargs):
        global _prepared
        if getattr(_own, "calls", False):
            return torchs["_disable_profiler"](*args, **kwargs)
        _prepared = None
        return ends(lambda: torchs["_disable_profiler"](*args, **kwargs))

    torchs = {}
    for name, function in (("_prepare_profiler", prepare), ("_enable_profiler", enable), ("_disable_profiler", disable)):
        torchs[name] = getattr(profiler, name)
        _replaced[name] = torchs[name], function
        setattr(profiler, name, function)


def watch_no_more():
    """Torch has its functions back."""
    global _prepared
    profiler = sys.modules.get("torch.autograd.profiler")
    for name, (torchs, ours) in list(_replaced.items()):
        if getattr(profiler, name) is ours:
            setattr(profiler, name, torchs)
    _replaced.clear()
    prepared, _prepared = _prepared, None
    if isinstance(prepared, tuple):
        profiler._prepare_profiler(*prepared[0], **prepared[1])
