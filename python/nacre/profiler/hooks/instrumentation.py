"""The hook of sessions that look inside of kernels."""

from ... import knobs
from .. import mode as modes
from ..flags import flags
from .hook import Hook

VERSION = 1


class CudaAllocator:
    """Buffers of a device for what kernels record; on the CPU they need none."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, size, alignment, stream):
        raise RuntimeError("kernels of the CPU record without buffers of a device")


class InstrumentationHook(Hook):
    """While it is active kernels are compiled with the scopes in their text (NACRE_WATCH=scopes), and those are recorded."""

    priority = 0
    active_count = 0

    def __init__(self, mode=None):
        self.mode = modes.Default() if not mode else modes.parse(mode) if isinstance(mode, str) else mode

    def activate(self):
        if InstrumentationHook.active_count > 0:
            raise RuntimeError("Only one instance of the instrumentation hook can be active at a time.")
        InstrumentationHook.active_count += 1
        flags.instrumentation_on = True
        self.ask_for_marks()

    def deactivate(self):
        InstrumentationHook.active_count -= 1
        flags.instrumentation_on = False
        self.ask_for_marks()

    @staticmethod
    def ask_for_marks():
        """Says what kernels are to be compiled with from now on."""
        from ..language import _semantics

        words = [word for word in (knobs.compilation.watch or "").split(",") if word and word != "scopes"]
        if flags.instrumentation_on and "triton" in _semantics:
            words.append("scopes")
        if words:
            knobs.compilation.watch = ",".join(words)
        elif knobs.compilation.watch:
            del knobs.compilation.watch
