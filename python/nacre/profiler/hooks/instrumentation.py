"""The hook of sessions that look inside of kernels."""

import struct

from ... import _core, knobs
from .. import mode as modes
from ..flags import flags
from .hook import Hook

VERSION = 1


class CudaAllocator:
    """Buffers of a device for what kernels record; the runtime makes them itself."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, size, alignment, stream):
        raise RuntimeError("the runtime makes the buffers that kernels record to")


class _HookType(type):
    @property
    def enable_host_buffer(cls):
        return _host.is_kept

    @enable_host_buffer.setter
    def enable_host_buffer(cls, is_kept):
        _host.is_kept = bool(is_kept)
        if not is_kept:
            _host.facts = None
        _core.profiler_marks(bool(is_kept))

    @property
    def host_buffer(cls):
        """What the last launch recorded, as bytes in Proton's own layout (a tensor of torch's); None: nothing was launched while
        `enable_host_buffer` is set and a session looks inside."""
        return _host.buffer() if _host.is_kept and flags.instrumentation_on else None

    @host_buffer.setter
    def host_buffer(cls, value):
        if value is not None:
            raise ValueError("host_buffer is what a launch recorded: it can be read, and set to None")
        _host.facts = None


class InstrumentationHook(Hook, metaclass=_HookType):
    """While it is active kernels are compiled with the scopes in their text (NACRE_WATCH=scopes), and those are recorded."""

    priority = 0
    active_count = 0
    profile_buffer_size = 1
    profile_buffer_alignment = 128

    def __init__(self, mode=None):
        self.mode = modes.Default() if not mode else modes.parse(mode) if isinstance(mode, str) else mode
        self.allocator = CudaAllocator(self)
        self.buffer = None

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
        _host.facts = None

    def enter(self, metadata):
        if _host.is_kept:
            _host.facts = self.mode, getattr(metadata, "facts", None)

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


class _HostBuffer:
    """The last launch as Proton's binary trace.

    A header of 4-byte words: version, offset and size of the header, offset and size of what follows, kind of device (1: CUDA),
    programs, units of a program, bytes of a program, how many units are recorded and which. Then of each program: 0xDEADBEEF, its number,
    its processor, bytes of its marks; when it began, when its last mark was and when it ended (8 bytes each, cycles); of each unit how
    many words it wrote; and the marks of each unit: a word with the end's bit (31), the scope's number (from bit 23 on) and bits 32 to 42
    of the clock, and one with its lower bits.
    """

    PREAMBLE = 0xDEADBEEF

    def __init__(self):
        self.is_kept = False
        self.facts = None  # of the last launch: mode, metadata of the kernel

    def buffer(self):
        kept = self.facts and _core.profiler_marks(True)
        if not kept:
            return None
        import torch

        mode, facts = self.facts
        programs, marks = kept
        units = max([getattr(facts, "num_warps", 1), *(unit + 1 for _, unit, *_ in marks)])
        chosen = modes.marks_of(mode)[1]
        recorded = list(range(units)) if chosen is None or mode.granularity is modes.Granularity.CTA else chosen
        of_program = {}
        for program, unit, processor, name, is_end, cycles in marks:
            of_program.setdefault(program, []).append((unit, processor, name, is_end, cycles))
        numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, _, _, name, _, _ in marks))}
        room = max((sum(mark[0] == unit for mark in own) for own in of_program.values() for unit in range(units)), default=0) * modes.MARK_BYTES
        blocks = [self._block(program, own, numbers, units, room) for program, own in sorted(of_program.items())]
        size = len(blocks[0]) if blocks else 0
        target = getattr(getattr(facts, "target", None), "backend", "")
        header = 40 + 4 * len(recorded)
        words = [VERSION, 4, header, header, size * len(blocks), int(target == "cuda"), len(blocks), units, size, len(recorded), *recorded]
        return torch.frombuffer(bytearray(struct.pack(f"<{len(words)}I", *words) + b"".join(blocks)), dtype=torch.uint8)

    def _block(self, program, marks, numbers, units, room):
        times = [cycles for *_, cycles in marks]
        head = struct.pack("<4I3Q", self.PREAMBLE, program & 0xFFFFFFFF, marks[0][1], room * units, min(times), max(times), max(times))
        counts, data = [], b""
        for unit in range(units):
            words = [word for own, _, name, is_end, cycles in marks if own == unit for word in self._mark(numbers[name], is_end, cycles)]
            counts.append(len(words))
            data += struct.pack(f"<{len(words)}I", *words).ljust(room, b"\0")
        return head + struct.pack(f"<{units}I", *counts) + data

    @staticmethod
    def _mark(number, is_end, cycles):
        return int(is_end) << 31 | (number & 0xFF) << 23 | cycles >> 32 & 0x7FF, cycles & 0xFFFFFFFF


_host = _HostBuffer()
