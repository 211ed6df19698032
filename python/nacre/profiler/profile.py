"""Sessions: start, activate, deactivate, finalize."""

import functools
import json
import os
import sys
import warnings

from .. import _core, knobs
from . import _graph_metrics, _torch
from . import mode as modes
from ._device import devices
from .flags import flags
from .hooks import HookManager, InstrumentationHook, LaunchHook
from .hooks.hook import Hook

DEFAULT_PROFILE_NAME = "proton"
BACKENDS = ("cpu", "cupti", "instrumentation")
FORMATS = ("hatchet", "hatchet_msgpack", "chrome_trace")
_said_why = False
_modes = {}  # session -> (backend, mode as text)
_flushing = {}  # session -> format of the files that its phases are written to


def _read_mode(backend, mode):
    """(backend, mode, format of flushed phases) of what was given."""
    if mode is None:
        return backend, None, None
    if isinstance(mode, str) and mode.split(":")[0] == "periodic_flushing":
        _, _, option = mode.partition(":")
        form = option.partition("=")[2] if option.startswith("format=") else "hatchet" if not option else None
        if form not in FORMATS:
            raise ValueError(f"Unknown format of periodic_flushing: {option}; there are {', '.join(FORMATS)}")
        return backend, mode, form
    if isinstance(mode, str):
        mode = modes.parse(mode)
    if not isinstance(mode, modes.BaseMode):
        raise ValueError(f"Unknown mode: {mode!r}")
    if isinstance(mode, modes.PCSampling) and backend == "instrumentation":
        raise ValueError("the mode pcsampling is one of the backends 'cpu' and 'cupti': sessions that look inside of kernels read their marks")
    if isinstance(mode, modes.InstrumentationMode) and mode.optimizations:
        names = ", ".join(word.value for word in mode.optimizations)
        warnings.warn(f"optimizations={names} change nothing here: each mark has 64 bits of the clock, and is written where it stands", stacklevel=3)
    return backend, mode, None


def _read_backend(backend):
    """The backend, of those that are there."""
    if backend not in (None, *BACKENDS):
        raise ValueError(f"the backend {backend!r} is not there: it is 'cpu', 'cupti' (NVIDIA's GPUs) or 'instrumentation'")
    has_gpu = backend in (None, "cupti") and any(name == "cuda" and count > 0 for name, count, _ in _core.devices())
    if backend == "cupti" and not has_gpu:
        raise ValueError("the backend 'cupti' needs an NVIDIA GPU, and there is none: kernels run on the CPU, whose backend is 'cpu'")
    return backend or ("cupti" if has_gpu else "cpu")


def _trace_gpus(mode):
    """Every kernel of the GPUs is recorded, by CUPTI; where it cannot be had, ours alone are, by events around them. Their lines are
    sampled about every `interval` cycles."""
    global _said_why
    samples = isinstance(mode, modes.PCSampling)
    why = _core.profiler_trace("cuda", mode.interval if samples else 0)
    if why and samples:
        raise RuntimeError(f"the lines of kernels cannot be sampled: {why}")
    if why and not _said_why:
        _said_why = True
        warnings.warn(f"kernels' times come from CUDA events, and those of other libraries are not seen: {why}", RuntimeWarning, stacklevel=3)


def _refuse_other_modes(backend, mode):
    open_sessions = {number for number, *_ in _core.profiler_sessions()}
    for session, (other, known) in list(_modes.items()):
        if session not in open_sessions:
            del _modes[session]
        elif other == backend and known != str(mode):
            raise RuntimeError(
                "Cannot add a session with the same profiler but a different mode than existing sessions: "
                f"session {session} of the backend {backend!r} has the mode {known}, and this one asks for {mode}"
            )


def _instrumentation(mode):
    """The hook of the sessions that look inside: they share one."""
    for hooks in HookManager.session_hooks.values():
        for hook in hooks:
            if isinstance(hook, InstrumentationHook):
                return hook
    return InstrumentationHook(mode)


def _is_disabled():
    return knobs.proton.disable


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """Begins a session, and gives its number; None under the program `nacre-proton` and with TRITON_PROTON_DISABLE=1.

    name: of the file without its ending (default: proton in the working directory); a name whose session is open activates it.
    context: "shadow" (scopes) or "python" (the call stack). data: "tree" or "trace". hook: "triton", or a Hook."""
    if flags.command_line or _is_disabled():
        return None
    if context not in ("shadow", "python"):
        raise ValueError(f"Unknown context: {context!r}; there are shadow and python")
    if data not in ("tree", "trace"):
        raise ValueError(f"Unknown data: {data!r}; there are tree and trace")
    if hook is not None and hook != "triton" and not isinstance(hook, Hook):
        raise ValueError(f"Unknown hook: {hook!r}; there is 'triton', or an object of nacre.profiler.hooks.Hook")
    backend, mode, form = _read_mode(_read_backend(backend), mode)
    looks_inside = backend == "instrumentation" or isinstance(mode, modes.InstrumentationMode)
    if looks_inside:
        backend = "instrumentation"
    _refuse_other_modes(backend, mode)
    if backend == "cupti":
        _graph_metrics.prepare()
        _trace_gpus(mode)
    marks = modes.marks_of(mode if isinstance(mode, modes.InstrumentationMode) else modes.Default())
    if knobs.proton.enable_hw_trace:  # by its variable
        raise ValueError("TRITON_ENABLE_HW_TRACE: traces by the hardware are not there; times of kernels come from CUPTI's records")
    _core.nvtx_is_on()  # a tool may have come into the process with CUDA
    _torch.fetch(goes_on=False)  # what ran before is not this session's
    flags.profiling_on = True
    interval = mode.interval if isinstance(mode, modes.PCSampling) else 0
    path = os.path.join(os.getcwd(), DEFAULT_PROFILE_NAME) if name is None else str(name)
    session = _core.profiler_start(path, context == "python", data == "trace", looks_inside, interval, *marks)
    _modes[session] = (backend, str(mode))
    _follow_torch()
    if form:
        _flushing[session] = form
    if hook is not None:
        HookManager.register(LaunchHook() if hook == "triton" else hook, session)
    if looks_inside and not any(isinstance(known, InstrumentationHook) for known in HookManager.session_hooks[session]):
        HookManager.register(_instrumentation(mode), session)
    return session


def _follow_torch():
    """torch's operators are recorded while an active session has a place for them, and its profiler is others' while none has."""
    if any(is_active and not is_trace and _modes.get(number, ("",))[0] == "cpu" for number, _, is_active, is_trace in _core.profiler_sessions()):
        _torch.begin()
    else:
        _torch.end()


def activate(session=None):
    """Goes on recording; None: in every session."""
    if flags.command_line and session not in (None, 0):
        raise ValueError("Only one session can be activated when running from the command line.")
    _torch.fetch(goes_on=False)
    _core.profiler_set_active(session, True)
    _follow_torch()
    HookManager.activate(session)


def deactivate(session=None, flushing=False):
    """Records nothing until activate(); None: in any session."""
    if flags.command_line and session not in (None, 0):
        raise ValueError("Only one session can be deactivated when running from the command line.")
    _torch.fetch(goes_on=False)
    HookManager.deactivate(session)
    _core.profiler_set_active(session, False)
    _follow_torch()


def _write(session, name, phase, form, path):
    document = _core.profiler_document(session, phase, form, json.dumps(devices(_core.profiler_device_types(session, phase))))
    if name in ("", "-"):
        (sys.stdout.buffer if isinstance(document, bytes) else sys.stdout).write(document)
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb" if isinstance(document, bytes) else "w") as file:
        file.write(document)


def flush_phase(session, phase):
    """Writes a phase that is over, in sessions that flush."""
    form = _flushing.get(session)
    name = {number: name for number, name, *_ in _core.profiler_sessions()}.get(session)
    if form and name:
        _write(session, name, phase, form, f"{name}.part_{phase}.{form}")
        _core.profiler_clear(session, phase, False)


def finalize(session=None, output_format=""):
    """Ends sessions (None: all) and writes their files: NAME.hatchet, .hatchet_msgpack or .chrome_trace; to standard output where the
    name is "" or "-"."""
    if output_format and output_format not in FORMATS:
        raise ValueError(f"Unknown output format: {output_format!r}; there are {', '.join(FORMATS)}")
    if flags.command_line and session not in (None, 0):
        raise ValueError("Only one session can be finalized when running from the command line.")
    known = {number: (name, is_trace) for number, name, _, is_trace in _core.profiler_sessions()}
    if session is not None and session not in known:
        _core.profiler_set_active(session, False)  # says that there is none
    for note in (_core.profiler_wait(), _graph_metrics.collect()):
        if note:
            warnings.warn(note, RuntimeWarning, stacklevel=2)
    _torch.fetch(goes_on=False)
    problem = None
    for number in list(known) if session is None else [session]:
        name, is_trace = known[number]
        HookManager.unregister(number)
        form = output_format or ("chrome_trace" if is_trace else "hatchet")
        phase = _core.profiler_phase(number)
        try:
            if number in _flushing:
                flush_phase(number, phase)
            else:
                _write(number, name, phase, form, f"{name}.{form}")
        except OSError as error:  # the other sessions are written, and this one is over
            problem = problem or error
        _flushing.pop(number, None)
        _core.profiler_close(number)
    if not _core.profiler_sessions():
        flags.profiling_on = False
        _core.profiler_trace(None)
        _core.profiler_leave_scopes()
    _follow_torch()
    if problem is not None:
        raise problem


def _profiling(function, name, context, data, backend, mode, hook):
    @functools.wraps(function)
    def within(*args, **kwargs):
        session = start(name, context=context, data=data, backend=backend, mode=mode, hook=hook)
        try:
            return function(*args, **kwargs)
        finally:
            if session is not None:
                deactivate(session)

    return within


def profile(func=None, *, name=None, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """A decorator: the function is profiled; finalize() is yours to call."""
    if func is None:
        return lambda function: _profiling(function, name, context, data, backend, mode, hook)
    return _profiling(func, name, context, data, backend, mode, hook)
