"""Functions of the CUDA target."""

from ... import _builtins
from .. import libdevice

__getattr__, __dir__ = _builtins.attach(globals(), ("triton.language.extra.cuda",))
