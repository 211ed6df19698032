"""Whether kernels are compiled for later runs instead of launched: tests ask before they look at results."""

from contextvars import ContextVar

_COMPILE_WARMUP_ACTIVE = ContextVar("compile_warmup_active", default=False)


def is_compile_warmup():
    return _COMPILE_WARMUP_ACTIVE.get()
