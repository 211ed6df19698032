"""What a constexpr function sees of the values that a kernel has at run time: their types and shapes, and no numbers."""

from . import core
from .types import by_short_name, tensor_descriptor_type


def _has_no_number(*_, **__):
    raise TypeError("a constexpr function runs while the kernel is compiled: it can ask a run-time value for its type and shape, not for its number")


class RunTimeValue:
    """Of a number, a pointer or a tile."""

    __class__ = property(lambda self: core.tensor)  # for isinstance
    __array__ = __bool__ = __float__ = __getitem__ = __index__ = __int__ = __iter__ = _has_no_number

    def __init__(self, type):
        self.type = type
        self.dtype = type.scalar
        self.shape = getattr(type, "shape", ())
        self.numel = getattr(type, "numel", 1)

    def __repr__(self):
        return f"<run-time value of type {self.type}>"


for _name in "add sub mul matmul truediv floordiv mod pow and or xor lshift rshift".split():
    setattr(RunTimeValue, f"__{_name}__", _has_no_number)
    setattr(RunTimeValue, f"__r{_name}__", _has_no_number)
for _name in "eq ne lt le gt ge neg pos invert abs".split():
    setattr(RunTimeValue, f"__{_name}__", _has_no_number)


class RunTimeDescriptor:
    """Of a tensor descriptor; extents and strides that the kernel knows are numbers."""

    __class__ = property(lambda self: core.tensor_descriptor)

    def __init__(self, base, shape, strides, block_shape):
        block = by_short_name(base.dtype.element_ty._short_name + str(list(block_shape)))
        self.base, self.shape, self.strides, self.block_shape = base, tuple(shape), tuple(strides), list(block_shape)
        self.dtype, self.block_type, self.type = block.element_ty, block, tensor_descriptor_type(block)

    def __repr__(self):
        return f"<run-time value of type {self.type}>"


def is_run_time(value):
    """Whether a constexpr function got this, or made it of what it got."""
    return type(value) in (RunTimeValue, RunTimeDescriptor)
