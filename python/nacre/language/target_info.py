"""What a kernel may ask about the target (made from the compiler's table when looked up)."""

from . import _builtins

__getattr__, __dir__ = _builtins.attach(globals(), ("triton.language.target_info",))
