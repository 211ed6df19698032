"""The place and the size of a program, by the names that kernels for AMD use."""

from . import _NAMES, __getattr__  # noqa: F401


def __dir__():
    return sorted(_NAMES)
