"""What a kernel may write, saved before it is timed in this process and put back afterwards.

On the CPU candidates are timed in child processes (isolation.py), and nothing of this is needed: no copy is made, only pages that are
written are the system's to copy, and stores beyond an array's end change nothing here either. This is for candidates that must run in
this process: those of a GPU, and those with hooks or a benchmarker of the user's.

The compiler says through which arguments a kernel may store (compiler/analysis/ArgumentAccess.h), also through tuples, descriptors and
aggregates; of those the whole memory is saved that the array lies in. Meanwhile other threads must not write there. A store through an
address that arrives as a number, or that is read from memory, may go anywhere: then, and where the copies would not fit the memory
budget, candidates cannot be timed in this process.
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
    return (max(0, knobs.autotuning.memory) or _free_megabytes() // 4) << 20


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
        ranges, self.why_isolated, self.is_elsewhere = [], None, False
        for compiled in kernels:
            written, is_elsewhere = _written_values(compiled, values)
            if is_elsewhere:
                self.is_elsewhere = True
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
        self.budget = budget = budget_bytes()
        if self.bytes > budget:
            self.why_isolated = (f"copies of what the kernel may write would take {self.bytes / (1 << 20):.3g} MB, more than the "
                                 f"{budget >> 20} MB of NACRE_AUTOTUNE_MEGABYTES")  # fmt: skip
        self.is_over_budget = self.bytes > budget

    def host_ranges(self):
        """[(begin, end)] of what may be written in the memory of this process."""
        return [(memory.begin, memory.end) for memory in self.ranges if isinstance(memory, _HostRange)]

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


# What reset_to_zero and restore_value ask for. Host memory is written by this thread alone: a forked child has no others, and
# the pools of other packages wait for ever there.


def _host_view(array):
    """The elements of an array in host memory, as NumPy has them; None for others."""
    if not hasattr(array, "untyped_storage"):
        return array if hasattr(array, "__array_interface__") else None
    import torch

    array = array.detach()
    if array.dtype == torch.bfloat16 or "float8" in str(array.dtype):  # NumPy does not have them
        array = array.view(torch.int16 if array.itemsize == 2 else torch.int8)
    try:
        return array.numpy()
    except TypeError:  # it is on a device
        return None


def arrays_named(parameter, name, value):
    """The arrays of an argument that reset_to_zero or restore_value names. None has none; what is no array is an error."""
    found = [getattr(array, "base", array) if type(array).__name__ == "TensorWrapper" else array for array in _arrays(value)]
    if value is not None and (not found or not all(hasattr(array, "zero_") or _host_view(array) is not None for array in found)):
        raise TypeError(f"{parameter} names {name!r}, which is not an array: {value!r}")
    return found


def fill_zero(array):
    view = _host_view(array)
    if view is not None:
        view.fill(0) if view.ndim else view.__setitem__((), 0)
    else:
        array.data.zero_()


def copy_of(array):
    view = _host_view(array)
    if view is None:
        return array.data.clone()
    if not hasattr(array, "untyped_storage"):
        return array.copy()
    import torch

    copy = torch.empty_like(array, requires_grad=False)
    _host_view(copy)[...] = view
    return copy


def write_back(array, saved):
    view = _host_view(array)
    if view is not None:
        view[...] = _host_view(saved)
    else:
        array.data.copy_(saved)
