"""What kernels for AMD ask for, by the names that they use: the same functions on every target."""

from ... import _builtins
from .. import libdevice

_NAMES = ("smid", "num_warps", "num_threads")
_look_up, _ = _builtins.attach(globals(), ("triton.language.extra.cuda",))


def __getattr__(name):
    if name in ("utils",):
        import importlib

        return importlib.import_module("." + name, __name__)
    if name in _NAMES:
        return _look_up(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({"libdevice", "utils", *_NAMES})
