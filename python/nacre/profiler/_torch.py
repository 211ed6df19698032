"""Operators of torch as frames of profiles of the CPU.

torch's own profiler records them on the thread that starts a session; they are fetched whenever sessions change or are read, and each
stands under the scope that was open when it began. Of operators that call others the outermost counts.
"""

import os
import sys
import threading
import time

from .. import _core, knobs

_running = None  # torch's profiler, and the thread whose operators it records


def begin():
    """Records from now on, if torch is loaded and nobody else uses its profiler on this thread."""
    global _running
    torch = sys.modules.get("torch")
    if _running is not None or torch is None or not knobs.proton.frameworks or torch.autograd._profiler_enabled():
        return
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it announces every start and stop else
    _running = torch.autograd.profiler.profile(), threading.get_ident()
    _running[0].__enter__()
    _core.profiler_operators(None, True)


def fetch(goes_on=True):
    """Adds what has run since to the active sessions."""
    global _running
    if _running is None or _running[1] != threading.get_ident():
        return
    finished, _running = _running[0], None
    finished.__exit__(None, None, None)
    _core.profiler_operators(_outermost(finished.kineto_results.events()), False)
    if goes_on:
        begin()


def _outermost(events):
    """(name, begin, end) of the operators that no other one called, by the steady clock."""
    shift = _core.profiler_now() - time.time_ns()
    found, last = [], 0
    for event in sorted((event for event in events if event.name().startswith("aten::")), key=lambda event: (event.start_ns(), -event.end_ns())):
        if event.start_ns() >= last:
            last = event.end_ns()
            found.append((event.name(), event.start_ns() + shift, last + shift))
    return found
