"""Functions beyond the core of the language."""

from . import libdevice

__all__ = ["libdevice"]


def __getattr__(name):
    if name in ("cuda", "hip", "intel"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
