"""The place where packages look for the compiler's bindings."""

from . import libtriton

__all__ = ["libtriton"]
