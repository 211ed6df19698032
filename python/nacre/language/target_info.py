"""What a kernel may ask about the target (made from the compiler's table when looked up). Outside of kernels the same is told of the active
driver's target, which `current_target` gives as a GPUTarget."""

from . import _builtins
from .constants import constexpr


def _active_target():
    from ..runtime.driver import driver

    return driver.active.get_current_target()


def _plain(value):
    return value.value if isinstance(value, constexpr) else value


def _has_capability(major, minor=0):
    target = _active_target()
    return target.backend == "cuda" and target.arch >= 10 * _plain(major) + _plain(minor)


def _is_of_amd(*architectures):
    target = _active_target()
    return target.backend == "hip" and (not architectures or target.arch in architectures)


_OUTSIDE = {
    "current_target": _active_target, "is_cuda": lambda: _active_target().backend == "cuda", "cuda_capability_geq": _has_capability,
    "is_hip": _is_of_amd, "is_hip_cdna3": lambda: _is_of_amd("gfx942"), "is_hip_cdna4": lambda: _is_of_amd("gfx950"),
    "is_hip_gfx1250": lambda: _is_of_amd("gfx1250"),
}  # fmt: skip

_find, __dir__ = _builtins.attach(globals(), ("triton.language.target_info",))


def __getattr__(name):
    function = _find(name)
    function.__outside__ = _OUTSIDE[name]
    return function
