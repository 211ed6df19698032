"""The library of elementary functions, under the names that CUDA's libdevice gave them; on every target."""

from .. import _builtins

__getattr__, __dir__ = _builtins.attach(globals(), ("triton.language.extra.libdevice", "triton.language.math"))
