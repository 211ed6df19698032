"""What a kernel may write, saved before it is timed and put back afterwards.

The compiler says through which arguments a kernel may store (runtime/compile/ArgumentAccess.h), also through tuples, descriptors and
aggregates; of those the whole memory is saved that the array lies in. A store through an address that arrives as a number, or that is
read from memory, may go anywhere: then, and where the copies would not fit the memory budget, nothing of this process may be written at
all, and candidates are timed in a child process (isolation.py), where only the pages they touch are copied.
"""

import os

from ... import knobs

_EVERYWHERE = (1 << 64) - 1


def _free_megabytes():
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable"):
                    return int(line.split()[1]) // 1024
    except (OSError, ValueError):
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (2 << 20)


def budget_bytes():
    """How much memory copies may take."""
    return (knobs.autotuning.memory or _free_megabytes() // 4) << 20


class _HostRange:
    """Memory of this process, as bytes. Neither autograd nor NumPy sees what is written to it."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.size = end - begin
        self.saved = None

    def save(self):
        import ctypes

        self.saved = ctypes.create_string_buffer(self.size)
        ctypes.memmove(self.saved, self.begin, self.size)

    def restore(self):
        import ctypes

        ctypes.memmove(self.begin, self.saved, self.size)

    def fill_zero(self):
        import ctypes

        ctypes.memset(self.begin, 0, self.size)


class _DeviceStorage:
    """The memory of a tensor on a GPU."""

    def __init__(self, storage):
        self.storage = storage
        self.begin = storage.data_ptr()
        self.size = storage.nbytes()
        self.end = self.begin + self.size
        self.saved = None

    def save(self):
        self.saved = self.storage.clone()

    def restore(self):
        self.storage.copy_(self.saved)


def _memory_of(array):
    """The range that an array lies in; None when it is not known, () when there is nothing."""
    from ..interpreter import _extent

    base = getattr(array, "base", None)
    tensor = base if not getattr(array, "is_cuda", False) and getattr(base, "is_cuda", False) else array
    if getattr(tensor, "is_cuda", False):
        return _DeviceStorage(tensor.untyped_storage())
    extent = _extent(array)
    if extent is None:
        return None
    if not extent or extent[1] <= extent[0] or extent[3]:  # no array, empty, or read-only: the launch refuses to write it
        return ()
    return _HostRange(extent[0], extent[1])


def _arrays(value):
    """Every array inside of an argument."""
    from ...tools.tensor_descriptor import TensorDescriptor

    if isinstance(value, TensorDescriptor):
        yield value.base
    elif isinstance(value, tuple):
        for item in value:
            yield from _arrays(item)
    elif hasattr(type(value), "__aggregate_fields__"):
        for name in value.__aggregate_fields__:
            yield from _arrays(getattr(value, name))
    elif value is not None and not isinstance(value, (int, float, str)):
        yield value


def _written_values(compiled, values):
    """(the arguments through which a kernel may write, whether it may write elsewhere too)"""
    _, written = compiled._native.access
    if written == _EVERYWHERE:
        return list(values), True
    flat = compiled._flat(values)
    if len(flat) != len(compiled.slot_types):  # a constant that is a tuple: nothing can be told apart
        return list(values), False
    found, slot = [], 0
    for value, type in zip(flat, compiled.slot_types):
        if not type:
            continue
        if slot < 64 and written >> slot & 1:
            found.append(value)
        slot += 1
    return found, any(isinstance(value, int) and not isinstance(value, bool) for value in found)


class Protection:
    """The memory that candidates may write. `why_isolated` says why it cannot be saved here; None: it can."""

    def __init__(self, kernels, values):
        """kernels: compiled candidates. values: what each parameter of the kernel is given, without the constants that candidates set."""
        ranges, self.why_isolated = [], None
        for compiled in kernels:
            written, is_elsewhere = _written_values(compiled, values)
            if is_elsewhere:
                self.why_isolated = "the kernel may write through an address that is not an array's"
            for value in written:
                for array in _arrays(value):
                    memory = _memory_of(array)
                    if memory is None:
                        self.why_isolated = "the kernel may write an array whose size is not known"
                    elif memory:
                        ranges.append(memory)
        self.ranges = _merged(ranges)
        self.bytes = sum(memory.size for memory in self.ranges)
        budget = budget_bytes()
        if self.bytes > budget:
            self.why_isolated = (f"copies of what the kernel may write would take {self.bytes >> 20} MB, more than the {budget >> 20} MB of "
                                 "NACRE_AUTOTUNE_MEGABYTES")  # fmt: skip

    def save(self):
        for memory in self.ranges:
            memory.save()

    def restore(self):
        for memory in self.ranges:
            if memory.saved is not None:
                memory.restore()


def _merged(ranges):
    """Ranges that overlap as one; a view and its base are saved once."""
    merged = []
    for memory in sorted(ranges, key=lambda memory: (memory.begin, -memory.end)):
        last = merged[-1] if merged else None
        if last is not None and memory.begin < last.end:
            if memory.end > last.end and isinstance(last, _HostRange):
                merged[-1] = _HostRange(last.begin, memory.end)
            continue
        merged.append(memory)
    return merged


def fill_zero(array):
    """Zeroes an array, as reset_to_zero asks."""
    if hasattr(array, "zero_"):
        (array.data if getattr(array, "requires_grad", False) else array).zero_()
    else:
        array.fill(0)


def copy_of(array):
    array = array.data if hasattr(array, "requires_grad") else array
    return array.clone() if hasattr(array, "clone") else array.copy()


def write_back(array, saved):
    if hasattr(array, "copy_"):
        (array.data if hasattr(array, "requires_grad") else array).copy_(saved)
    else:
        array[...] = saved
