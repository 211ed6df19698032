"""The library of elementary functions: the same on every target."""

from ... import _builtins

__getattr__, __dir__ = _builtins.attach(globals(), ("triton.language.extra.libdevice", "triton.language.math"))
