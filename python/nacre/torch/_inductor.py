"""Inductor, told that `triton` is this package: the alias comes after torch has looked for triton, and often found none."""

import contextlib
import importlib
import importlib.util
import sys

from .._alias import activate, is_active
from .._locks import RenewedLock
from ._runtime import our_name

_lock = RenewedLock()
_is_prepared = False
_COMPAT = "torch._inductor.runtime.triton_compat"  # all that Inductor takes of triton; stand-ins where it found none
_HEURISTICS = "torch._inductor.runtime.triton_heuristics"  # how its kernels are called
# What builds on it while it is imported: jitted helpers of kernels, classes derived from triton's. In the order of their imports.
_BUILT_ON_IT = ("triton_helpers", "triton_heuristics")


def _choices():
    from ._blocks import CpuChoices

    return CpuChoices()


_OUR_SETTINGS = {
    # Whose name is part of the key of Inductor's cache.
    "inductor_choices_class": _choices,
    "cpu_backend": "triton",
    # Templates in C++ would need a compiler; those in the Triton language do not.
    "max_autotune_gemm_backends": "ATEN,TRITON",
    "max_autotune_conv_backends": "ATEN,TRITON",
    # A row that stays in the cache is read twice for its variance: less work than a division for each element.
    "cpp.use_two_step_variance_threshold": 1 << 17,
}


def _has_setting(name):
    """Whether this torch has it: some came later than others."""
    from torch._inductor import config

    owner = config
    for part in name.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def configuration(mode, options):
    """Inductor's settings for one compile: the mode's, then the user's, over ours."""
    from torch import _TorchCompileInductorWrapper

    settings = {name: value for name, value in _OUR_SETTINGS.items() if _has_setting(name)}
    settings.update(_TorchCompileInductorWrapper(mode, options, None).config)  # which checks them
    if settings["cpu_backend"] != "triton":
        raise ValueError(f"the backend nacre compiles Inductor's Triton code: cpu_backend={settings['cpu_backend']!r} is torch.compile's own "
                         "backend, inductor")  # fmt: skip
    if settings.get("cpp_wrapper"):
        raise ValueError("the backend nacre calls its kernels from Python, without a C++ compiler: leave out cpp_wrapper, or take "
                         "torch.compile's own backend, inductor")  # fmt: skip
    return settings


def other_triton():
    """The Triton that is installed and is not this package; None where there is none, or something else of that name."""
    if is_active():
        return None
    try:
        triton = importlib.import_module("triton")
    except ModuleNotFoundError:
        return None
    is_ours = triton is sys.modules[__name__.partition(".")[0]]
    return triton if not is_ours and hasattr(triton, "language") else None


def prepare():
    """Makes this package the triton of torch, in this process and the workers it starts; where another one is installed, of the graphs that
    this backend compiles."""
    global _is_prepared
    if _is_prepared:
        return
    with _lock:
        if _is_prepared:
            return
        other = other_triton()
        if other is None:
            activate()
            _forget_answers()
            _take_up_triton()
        else:
            from . import _beside

            _beside.prepare(other)
        _complete_the_cpu()
        from ._calls import shorten

        shorten(importlib.import_module(_HEURISTICS if other is None else our_name(_HEURISTICS)))
        from ._lowerings import amend

        amend(rebind)
        _ask_for_devices()
        _is_prepared = True


def _ask_for_devices():
    """Workers that are forked later know of the GPUs what this process does."""
    from .. import _core

    _core.devices()


def _forget_answers():
    """torch keeps what it once found out about triton."""
    from torch.utils import _triton as questions

    for question in vars(questions).values():
        if hasattr(question, "cache_clear"):
            question.cache_clear()
    base = getattr(sys.modules.get("torch._inductor.codecache"), "CacheBase", None)
    if hasattr(getattr(base, "get_system", None), "cache_clear"):  # the versions that are part of its cache's keys
        base.get_system.cache_clear()


def _take_up_triton():
    """What was imported while there was no triton, as it would have come out with it."""
    import triton

    from torch._dynamo import utils as dynamo

    dynamo.triton = triton  # as its own `import triton` would have left it
    dynamo.common_constant_types.add(triton.language.dtype)
    hints = sys.modules.get("torch._inductor.runtime.hints")
    if hints is not None:  # its enums are everywhere already: only what depends on triton is taken anew
        anew = importlib.util.module_from_spec(hints.__spec__)
        hints.__spec__.loader.exec_module(anew)
        rebind("AttrsDescriptorWrapper", hints.AttrsDescriptorWrapper, anew.AttrsDescriptorWrapper)
    compat = sys.modules.get(_COMPAT)
    if compat is None or compat.HAS_TRITON:
        return
    _reload(compat)
    for name in _BUILT_ON_IT:
        module = sys.modules.get("torch._inductor.runtime." + name)
        if module is not None:
            _reload(module)
    _set("torch._inductor.ir", triton_version=triton.__version__, has_triton=True)
    _set("torch._inductor.template_heuristics.triton", TritonConfig=triton.Config)
    _set("torch._inductor.runtime.static_triton_launcher", triton_knobs=triton.knobs)
    _restart_workers()


def _complete_the_cpu():
    """What torch 2.13 lacks to time fused kernels of its CPU: a line of its own for the stream (its text stands between indented lines
    and could not be imported), and a device to be current."""
    from torch._dynamo.device_interface import CpuInterface, DeviceInterface
    from torch._inductor.codegen import common

    from ._blocks import lift_limit_of_grids

    # Asked for by its device: torch 2.11 takes what is registered when it is first asked for all there is, and what is not for a CPU.
    overrides = common.get_device_op_overrides("cpu")
    type(overrides).import_get_raw_stream_as = lambda self, name: f"{name} = {{None: 0}}.get"  # a function of C
    if CpuInterface.device is DeviceInterface.device:
        CpuInterface.device = lambda device: contextlib.nullcontext()
    lift_limit_of_grids()


def _set(module, **values):
    """Values that a module, where it is loaded, has under names of its own."""
    for name, value in values.items():
        if hasattr(sys.modules.get(module), name):
            setattr(sys.modules[module], name, value)


def rebind(attribute, old, new):
    for name, module in list(sys.modules.items()):
        if name.startswith("torch._") and vars(module).get(attribute) is old and attribute in vars(module):
            setattr(module, attribute, new)


def _reload(module):
    """Runs a module anew, and hands its new values to the modules that took the old ones from it."""
    before = dict(vars(module))
    importlib.reload(module)
    for name, old in before.items():
        new = vars(module).get(name, old)
        if new is not old and not name.startswith("__"):
            rebind(name, old, new)


def _restart_workers():
    """Processes that were started before do not have the alias."""
    pool = sys.modules.get("torch._inductor.async_compile")
    if pool is not None:
        pool.shutdown_compile_workers()
