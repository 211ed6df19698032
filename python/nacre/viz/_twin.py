"""Launches on a device whose code tells no accesses: a GPU, or the simulated one. The launch's twin, the same kernel compiled for the CPU, runs
before it over copies of the arrays as they are then, and is recorded in its place."""

import copy

from .. import _core
from ..runtime.jit import TensorWrapper
from ..sanitizer import _arrays
from ..tools.tensor_descriptor import TensorDescriptor

_PAGE = 256  # copies lie as their originals do within so many bytes


class CannotCopy(Exception):
    """Why a launch has no twin."""


class Copies:
    """Arguments with copies of their arrays in host memory: what overlaps, overlaps there too, and strides stay."""

    def __init__(self, kernel, values, compiled=None):
        if compiled is not None and _makes_pointers(compiled):
            raise CannotCopy("the kernel makes pointers of numbers, which are the device's addresses")
        for param, value in zip(kernel.params, values):
            if isinstance(value, int) and not param.is_constexpr and param.annotation_type.startswith("*"):
                raise CannotCopy(f"{param.name!r} is an address, and how much memory is there is not known")
        rows, is_complete = _arrays.arrays(kernel, values)
        if not is_complete:
            raise CannotCopy("the memory of an argument is not known")
        spans = []
        for begin, end in sorted((row[0], row[1]) for row in rows if row[0] < row[1]):
            if spans and begin <= spans[-1][1]:
                spans[-1][1] = max(spans[-1][1], end)
            else:
                spans.append([begin, end])
        self._spans = [(begin - begin % _PAGE, end, _copied(begin, end)) for begin, end in spans]
        self.values = [value if param.is_constexpr else self._copy(value) for param, value in zip(kernel.params, values)]

    def _copy(self, value):
        if isinstance(value, tuple):
            items = [self._copy(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, (TensorWrapper, TensorDescriptor)):
            return self._with(value, base=self._copy(value.base))
        if hasattr(type(value), "__aggregate_fields__"):
            return self._with(value, **{field: self._copy(getattr(value, field)) for field in value.__aggregate_fields__})
        row = () if value is None or isinstance(value, (bool, int, float, str)) else _arrays._array("", value)
        return self._array(value, row) if row else value

    @staticmethod
    def _with(value, **attributes):
        other = copy.copy(value)
        for name, held in attributes.items():
            setattr(other, name, held)
        return other

    def _array(self, value, row):
        import numpy

        begin, end, origin, is_read_only, _, _, shape, strides, size = row
        base, memory = next(((base, memory) for base, last, memory in self._spans if base <= begin and end <= last), (origin, numpy.empty(0, numpy.uint8)))
        if hasattr(value, "untyped_storage"):
            import torch

            storage = torch.from_numpy(memory).untyped_storage()
            return torch.empty(0, dtype=value.dtype).set_(storage, (origin - base) // size, shape, tuple(stride // size for stride in strides))
        interface = getattr(value, "__array_interface__", None) or value.__cuda_array_interface__
        kind = value.dtype if isinstance(getattr(value, "dtype", None), numpy.dtype) else numpy.dtype(interface["typestr"])
        made = numpy.ndarray(shape, kind, memory, origin - base, strides) if begin < end else numpy.empty(shape, kind)
        made.flags.writeable = not is_read_only
        return made


def _copied(begin, end):
    """The memory from the last page's beginning on, what lies before `begin` left out."""
    import numpy

    before = begin % _PAGE
    room = numpy.zeros(before + end - begin + _PAGE, numpy.uint8)
    shift = -room.ctypes.data % _PAGE
    memory = room[shift : shift + before + end - begin]
    memory[before:] = numpy.frombuffer(_core.read_memory(begin, end - begin), numpy.uint8)
    return memory


def _makes_pointers(compiled):
    try:
        return "tile.int_to_ptr" in compiled.asm["ttir"]
    except KeyError:  # not kept
        return True


def is_needed(compiled):
    """Whether the code of a launch tells nothing: it is not the CPU's, and Python does not run it."""
    return compiled is not None and compiled.metadata.target.backend != _HOST


_HOST = next(iter(_core.TARGETS))


def run(kernel, grid, values, options):
    """Launches the kernel on the CPU."""
    before = _core.set_active_device(_HOST)
    try:
        names = [param.name for param in kernel.params]
        kernel[grid](**dict(zip(names, values)), **{name: value for name, value in options.items() if name not in names})
    finally:
        _core.set_active_device(before)
