"""Where kernels for AMD look for the library of elementary functions: the same on every target."""

from . import libdevice

__all__ = ["libdevice"]
