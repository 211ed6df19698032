"""The hook of sessions that look inside of kernels."""

from .hook import Hook

VERSION = 1


class CudaAllocator:
    """Buffers of a device for what kernels record; on the CPU they need none."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, size, alignment, stream):
        raise RuntimeError("kernels of the CPU record without buffers of a device")


class InstrumentationHook(Hook):
    """Scopes of a kernel's own text are recorded while it is active."""

    priority = 0
    active_count = 0

    def __init__(self, mode=None):
        self.mode = mode

    def activate(self):
        from ..flags import flags

        InstrumentationHook.active_count += 1
        flags.instrumentation_on = True

    def deactivate(self):
        from ..flags import flags

        InstrumentationHook.active_count -= 1
        flags.instrumentation_on = InstrumentationHook.active_count > 0
