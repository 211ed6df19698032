"""Operators of torch as frames of profiles of the CPU.

torch's own profiler records them, on every thread; they are fetched whenever sessions change or are read on the thread that started
the session, and each stands under the scope that was open on its thread when it began. Of operators that call others the outermost
counts.
"""

import importlib.util
import os
import sys
import threading
import time

from .. import _core, knobs

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
    _running = _profiler(torch), threading.get_ident()
    _running[0].__enter__()
    _core.profiler_operators(None, True)


def _profiler(torch):
    try:
        return torch.autograd.profiler.profile(experimental_config=torch._C._profiler._ExperimentalConfig(profile_all_threads=True))
    except TypeError:  # an older torch: of this thread alone
        return torch.autograd.profiler.profile()


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
    """(name, begin, end, thread) of the operators that no other one called, by the steady clock."""
    shift = _core.profiler_now() - time.time_ns()
    found, last = [], {}
    for event in sorted((event for event in events if event.name().startswith("aten::")), key=lambda event: (event.start_ns(), -event.end_ns())):
        thread = event.device_resource_id()  # the system's number of it
        if event.start_ns() >= last.get(thread, 0):
            last[thread] = event.end_ns()
            found.append((event.name(), event.start_ns() + shift, event.end_ns() + shift, thread))
    return found
