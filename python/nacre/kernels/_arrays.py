"""What launching asks of arrays, for torch tensors and NumPy arrays alike: checks, allocation, rows and their strides.

Every check names the argument and says what to do. torch is never imported here: an array that is no NumPy array is asked in torch's words.
Functions that give arrays make no assumption about sizes being plain numbers, so that torch can run them while it compiles.
"""

import math
import sys

import numpy

from .. import language as tl

FLOATING = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int32", "int64")


def is_numpy(x):
    return isinstance(x, numpy.ndarray)


def is_array(x):
    torch = sys.modules.get("torch")
    return is_numpy(x) or (torch is not None and isinstance(x, torch.Tensor))


def dtype_name(x):
    """The type of the elements as a text: "float32", "bfloat16", "int64"."""
    return x.dtype.name if is_numpy(x) else str(x.dtype).removeprefix("torch.")


def _kind(x):
    return "a NumPy array" if is_numpy(x) else f"a torch tensor on {x.device}" if is_array(x) else f"a {type(x).__name__}"


def _dtype(like, name):
    """The type object of that name, in the world of `like`."""
    if name is None:
        return like.dtype
    return numpy.dtype(name) if is_numpy(like) else getattr(sys.modules["torch"], name)


# ---- checks


def check_array(name, x, like=None, like_name=None):
    """x is an array, of the same kind and on the same device as `like`."""
    if not is_array(x):
        raise TypeError(f"{name} must be a torch tensor or a NumPy array, not {_kind(x)}")
    if like is not None and (is_numpy(x) != is_numpy(like) or not is_numpy(x) and x.device != like.device):
        raise ValueError(f"{name} is {_kind(x)} and {like_name} is {_kind(like)}: bring them to one device")


def check_dtype(name, x, allowed):
    """The type of the elements of x is one of the names."""
    if dtype_name(x) not in allowed:
        raise TypeError(f"{name} has elements of type {dtype_name(x)}; {', '.join(allowed)} are supported: convert it")


def check_same_dtype(name, x, like, like_name):
    if x.dtype != like.dtype:
        raise TypeError(f"{name} has elements of type {dtype_name(x)} and {like_name} of {dtype_name(like)}: convert one of them")


def check_shape(name, x, expected, reason=""):
    """`expected`: a tuple with a number, or None for any extent, for each axis. `reason` says where it comes from."""
    shape = tuple(x.shape)
    if len(shape) != len(expected) or any(extent is not None and extent != size for size, extent in zip(shape, expected)):
        shown = ", ".join("any" if extent is None else str(extent) for extent in expected)
        comma = "," if len(expected) == 1 else ""
        raise ValueError(f"{name} has shape {shape}; ({shown}{comma}) is expected" + (f", {reason}" if reason else ""))


def check_axes(name, x, least, what="axes"):
    if len(x.shape) < least:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; at least {least} {what} are expected")


def check_parameter(name, x, like, like_name, shape, reason=""):
    """A weight, a bias or a table that belongs to `like`: floating point of any width, on its device, of that shape."""
    check_array(name, x, like, like_name)
    check_dtype(name, x, FLOATING)
    check_shape(name, x, shape, reason)


def check_number(name, value, least=None, below=None, most=None):
    """A number within bounds: least <= value, value < below, value <= most."""
    if value is None or isinstance(value, (str, bytes, list, tuple, dict)):
        raise TypeError(f"{name} is {value!r}; a number is expected")
    wrong = value != value or (least is not None and value < least) or (below is not None and value >= below) or (most is not None and value > most)
    if wrong:
        bounds = [f"at least {least}"] * (least is not None) + [f"below {below}"] * (below is not None) + [f"at most {most}"] * (most is not None)
        raise ValueError(f"{name} is {value}; it must be {' and '.join(bounds) or 'a number'}")


def check_integer(name, value, least=None, below=None, most=None):
    """The same for whole numbers."""
    if isinstance(value, (float, numpy.floating)):
        raise TypeError(f"{name} is {value!r}; an integer is expected")
    check_number(name, value, least, below, most)


_END_OF_INT64 = 1 << 63


def check_int64(name, value):
    """A number that fits in an element of int64."""
    check_integer(name, value, least=-_END_OF_INT64, below=_END_OF_INT64)


def is_in_host_memory(x):
    return is_numpy(x) or x.device.type == "cpu"


def check_values(name, x, least, below, reason):
    """Every element of an array of integers is within least <= element < below. What lies in the memory of a GPU is not looked at, as that would
    wait for it: there the values are the caller's promise. Not for what torch runs while it compiles."""
    if x is None or size(x) == 0 or not is_in_host_memory(x):
        return
    x = numpy.asarray(x)
    smallest, largest = int(x.min()), int(x.max())
    if smallest < least or largest >= below:
        raise ValueError(f"{name} has the element {smallest if smallest < least else largest}; {least} to {below - 1} are expected, {reason}")


# ---- allocation


def empty(like, shape, dtype=None):
    """An array without values, in the world and on the device of `like`. `dtype`: a name; that of `like` unless given."""
    shape = tuple(shape)
    if is_numpy(like):
        return numpy.empty(shape, _dtype(like, dtype))
    return sys.modules["torch"].empty(shape, dtype=_dtype(like, dtype), device=like.device)


def empty_like(x, dtype=None):
    """The same shape, contiguous whatever the strides of x are."""
    return empty(x, x.shape, dtype)


def zeros(like, shape, dtype=None):
    shape = tuple(shape)
    if is_numpy(like):
        return numpy.zeros(shape, _dtype(like, dtype))
    return sys.modules["torch"].zeros(shape, dtype=_dtype(like, dtype), device=like.device)


def nothing(like):
    """Stands for an array that is not wanted, where an operator must give one."""
    return empty(like, (0,))


def accumulation_dtype(x):
    """The name of the type in which sums of elements of x are kept."""
    return "float64" if dtype_name(x) == "float64" else "float32"


def sum_type(x):
    """The same as the language's type, for a constexpr of a kernel."""
    return tl.float64 if accumulation_dtype(x) == "float64" else tl.float32


# ---- strides


def size(x):
    """How many elements."""
    return math.prod(x.shape)


def strides(x):
    """In elements."""
    return tuple(step // x.itemsize for step in x.strides) if is_numpy(x) else x.stride()


def is_contiguous(x):
    return x.flags.c_contiguous if is_numpy(x) else x.is_contiguous()


def contiguous(x):
    """x with its elements one after the other: x itself where they are so already. None stays None."""
    if x is None:
        return None
    if is_numpy(x):
        return readable(x if x.flags.c_contiguous else numpy.ascontiguousarray(x))
    return x.detach().contiguous()


def readable(x):
    """x where a kernel can read it by its strides, otherwise a copy: NumPy's strides may be negative, or no whole elements. None stays None."""
    if x is None or not is_numpy(x):
        return None if x is None else x.detach()
    return x if all(step >= 0 and step % x.itemsize == 0 for step in x.strides) else x.copy("C")


def with_contiguous_last_axis(x):
    """x itself where the elements of its last axis lie side by side, otherwise a contiguous copy."""
    if is_numpy(x):
        x = readable(x)
        return x if x.shape[-1] <= 1 or x.strides[-1] == x.itemsize else numpy.ascontiguousarray(x)
    x = x.detach()
    return x if x.shape[-1] <= 1 or x.stride(-1) == 1 else x.contiguous()


FAR = 1 << 23


def with_near_rows(x, *axes):
    """x as a kernel can read it that counts offsets within a block of up to 256 rows along these axes in int32: a contiguous copy where the last
    axis is not contiguous, or the rows are too far from each other."""
    x = with_contiguous_last_axis(x)
    return contiguous(x) if any(strides(x)[axis] >= FAR for axis in axes) else x


def as_rows(x):
    """x as a matrix whose rows are its last axis: (rows, columns), each row contiguous. A view where the strides allow one."""
    columns = x.shape[-1]
    rows = math.prod(x.shape[:-1])
    return with_contiguous_last_axis(x).reshape(rows, columns)


def row_stride(matrix):
    """The distance of two rows of what as_rows() gives, in elements."""
    return strides(matrix)[0]
