"""Elementary functions (made from the compiler's table when looked up)."""

from . import _builtins, core

__getattr__, __dir__ = _builtins.attach(globals(), ("triton.language.math", "triton.language.extra.libdevice"))
