"""Operators of torch as frames of profiles of the CPU.

torch's own profiler records them, on every thread; they are fetched whenever sessions change or are read, and each stands under the
scope that was open on its thread when it began. Of operators that call others the outermost counts. Where a session has the call stack
for its frames torch's profiler follows Python's calls, too; it knows where functions begin.

Torch has one profiler at a time. Where the program uses it meanwhile (_torch_users.py), ours ends before and begins again after; the
operators between are those that the program's profiler has recorded, as far as it has.
"""

import atexit
import contextlib
import importlib.util
import os
import re
import sys
import threading
import time
import warnings

from .. import _core, knobs
from .._locks import RenewedLock
from . import _torch_users

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_lock = RenewedLock(threading.RLock)  # guards what follows
_running = None  # torch's profiler that is ours, and the only thread that may end it; None: any
_theirs = None  # since when the sessions' operators are in the program's profiler of torch, by the steady clock; None: it uses none
_beside = False  # whether other threads ran when that began
_said = set()

_ONE_AT_A_TIME = "the program uses torch's profiler, which can be used only once at a time: "
_OTHER_THREADS = "that one has the operators of one thread unless it is told to have all, and the profile may lack those of other threads"
_NO_OPERATORS = "that one records no operators of the CPU, and the profile lacks those that ran meanwhile"
_WARMED_UP = "the profile lacks the operators that ran while that one warmed up"
_CHANGED = "the sessions changed or were read before it ended, and their profiles lack the operators that ran since it began"
_ONE_THREAD = "this torch records the operators of one thread, and gives them to it alone: the profile lacks those since they were fetched there"


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


def _say(what):
    """Each warning once in a process."""
    if what not in _said:
        _said.add(what)
        warnings.warn(what, RuntimeWarning, stacklevel=2)


def begin(is_over=False):
    """Records from now on, or once torch is loaded, or once the program has ended the profiler of torch's that it uses. is_over: that one
    has ended, though torch does not say so yet."""
    global _running, _theirs
    torch = sys.modules.get("torch")
    if torch is None and knobs.proton.frameworks and not any(isinstance(finder, _Importing) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Importing())
    if torch is None or not knobs.proton.frameworks:
        return
    with _lock:
        if _running is not None or _theirs is not None:
            return
        _torch_users.watch(_users_begin, _users_end)
        if torch.autograd._profiler_enabled() or not is_over and getattr(torch.autograd.profiler, "_is_profiler_enabled", False):
            _theirs = _core.profiler_now()
            _core.profiler_operators(None, True)
            return
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it announces every start and stop else
        profiler, is_of_all_threads = _profiler(torch, _core.profiler_wants_frames())
        _running = profiler, None if is_of_all_threads else threading.get_ident()
        with _torch_users.is_ours():
            profiler.__enter__()
        _core.profiler_operators(None, True)
        atexit.unregister(_stop)
        atexit.register(_stop)


def end():
    """No session has a place for operators."""
    global _theirs
    with _lock:
        _fetch()
        if _running is None:
            _theirs = None
            _torch_users.watch_no_more()
            _core.profiler_operators(None, False)


def _stop():
    """The program ends with a session open: torch's profiler must not outlive it."""
    global _running
    with _lock:
        if _running is not None:
            finished, _running = _running[0], None
            with _torch_users.is_ours():
                finished.__exit__(None, None, None)


def _profiler(torch, with_stack):
    """And whether it records all threads."""
    try:
        config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        return torch.autograd.profiler.profile(with_stack=with_stack, experimental_config=config), True
    except TypeError:  # an older torch: of this thread alone
        return torch.autograd.profiler.profile(with_stack=with_stack), False


def fetch(goes_on=True, is_change=True):
    """Adds what has run since to the active sessions. is_change: the sessions change after it, rather than being read."""
    global _theirs
    with _lock:
        if _theirs is not None:
            _say(_ONE_AT_A_TIME + _CHANGED)
            if is_change:
                _theirs = _core.profiler_now()
        if _fetch() and goes_on:
            begin()


def _fetch():
    """Ends the profiler that is ours; whether there was one that could be ended here."""
    global _running
    if _running is None:
        return False
    if _running[1] not in (None, threading.get_ident()):
        _say(_ONE_THREAD)
        return False
    finished, _running = _running[0], None
    with _torch_users.is_ours():
        finished.__exit__(None, None, None)
    _record(finished.kineto_results, 0)
    return True


def _record(results, since):
    """Adds operators that began at a time or later. Gives the threads that torch recorded."""
    events = results.events() if results is not None else ()
    _core.profiler_operators([operator for operator in _outermost(events) if operator[1] >= since], True)
    return {event.device_resource_id() for event in events}


@contextlib.contextmanager
def _users_begin(records_operators):
    """Around the begin of a profiler of torch's that is the program's; whether one of ours was ended for it."""
    global _theirs, _beside
    with _lock:
        was_ours = _fetch()
        try:
            yield was_ours
        except BaseException:
            begin(is_over=True)
            raise
        now = _core.profiler_now()
        if not records_operators:
            _say(_ONE_AT_A_TIME + _NO_OPERATORS)
        elif _theirs is not None and now - _theirs > 10_000_000:
            _say(_ONE_AT_A_TIME + _WARMED_UP)
        _theirs, _beside = now, threading.active_count() > 1


def _users_end(end_it):
    """Ends a profiler of torch's that is the program's; its results."""
    global _theirs
    with _lock:
        _fetch()  # one of ours would be ended instead
        since, _theirs = _theirs, None
        try:
            results = end_it()
            if since is not None and len(_record(results, since)) == 1 and (_beside or threading.active_count() > 1):
                _say(_ONE_AT_A_TIME + _OTHER_THREADS)
        finally:
            begin(is_over=True)
    return results


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
        thread, name = event.device_resource_id(), _name(event)  # the system's number of the thread
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


def _name(event):
    """Torch's names are any bytes."""
    try:
        name = event.name()
    except UnicodeDecodeError as error:
        name = error.object.decode("utf-8", "replace")
    return name.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _python_frame(name):
    """torch's `file.py(12): function` as file:line@function; None where it is something else, or a function of torch's or of ours."""
    match = re.fullmatch(r"(.+\.py)\((\d+)\): (.+)", name)
    if not match or match[1].startswith(("torch/", "nacre/")) or match[1].startswith(_OURS):
        return None
    path = next((path for folder in sys.path if os.path.isfile(path := os.path.join(folder, match[1]))), match[1])
    return f"{os.path.abspath(path)}:{match[2]}@{match[3]}"
