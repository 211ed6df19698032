"""Operators of torch as frames of profiles of the CPU.

torch's own profiler records them, on every thread; they are fetched whenever sessions change or are read on the thread that started
the session, and each stands under the scope that was open on its thread when it began. Of operators that call others the outermost
counts. Where a session has the call stack for its frames torch's profiler follows Python's calls, too; it knows where functions begin.
"""

import atexit
import importlib.util
import os
import re
import sys
import threading
import time

from .. import _core, knobs

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_running = None  # torch's profiler, and the thread whose operators it records


class _Importing:
    """A finder that waits for torch: its operators are recorded once it has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_begin(module):
                execute(module)
                if any(is_active and not is_trace for _, _, is_active, is_trace in _core.profiler_sessions()):
                    begin()

            spec.loader.exec_module = execute_and_begin
        return spec


def begin():
    """Records from now on, or once torch is loaded, if nobody else uses its profiler on this thread."""
    global _running
    torch = sys.modules.get("torch")
    if torch is None and knobs.proton.frameworks and not any(isinstance(finder, _Importing) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Importing())
    if _running is not None or torch is None or not knobs.proton.frameworks or torch.autograd._profiler_enabled():
        return
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it announces every start and stop else
    _running = _profiler(torch, _core.profiler_wants_frames()), threading.get_ident()
    _running[0].__enter__()
    _core.profiler_operators(None, True)
    atexit.unregister(_stop)
    atexit.register(_stop)


def _stop():
    """The program ends with a session open: torch's profiler must not outlive it."""
    global _running
    if _running is not None:
        finished, _running = _running[0], None
        finished.__exit__(None, None, None)


def _profiler(torch, with_stack):
    try:
        config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        return torch.autograd.profiler.profile(with_stack=with_stack, experimental_config=config)
    except TypeError:  # an older torch: of this thread alone
        return torch.autograd.profiler.profile(with_stack=with_stack)


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


def _steady_minus_wall():
    """Of several readings the one that took the shortest: a scope around an operator may be a microsecond long."""
    best = None
    for _ in range(50):
        before, wall, after = _core.profiler_now(), time.time_ns(), _core.profiler_now()
        if best is None or after - before < best[0]:
            best = after - before, (before + after) // 2 - wall
    return best[1]


def _outermost(events):
    """(name, begin, end, thread, frames of Python's) of the operators that no other one called, by the steady clock."""
    shift = _steady_minus_wall()
    found, last, calls = [], {}, {}
    for event in sorted(events, key=lambda event: (event.start_ns(), -event.end_ns())):
        thread, name = event.device_resource_id(), event.name()  # the system's number of the thread
        if not name.startswith("aten::"):
            if frame := _python_frame(name):
                open_calls = calls.setdefault(thread, [])
                open_calls[:] = [call for call in open_calls if call[0] > event.start_ns()]
                open_calls.append((event.end_ns(), frame))
        elif event.start_ns() >= last.get(thread, 0):
            last[thread] = event.end_ns()
            frames = [frame for end, frame in calls.get(thread, ()) if end > event.start_ns()]
            found.append((name, event.start_ns() + shift, event.end_ns() + shift, thread, frames))
    return found


def _python_frame(name):
    """torch's `file.py(12): function` as file:line@function; None where it is something else, or a function of torch's or of ours."""
    match = re.fullmatch(r"(.+\.py)\((\d+)\): (.+)", name)
    if not match or match[1].startswith(("torch/", "nacre/")) or match[1].startswith(_OURS):
        return None
    path = next((path for folder in sys.path if os.path.isfile(path := os.path.join(folder, match[1]))), match[1])
    return f"{os.path.abspath(path)}:{match[2]}@{match[3]}"
