"""Kernels run by Python itself, tile by tile: `TRITON_INTERPRET=1`, `driver.active.set_interpret_mode(True)`, or
`@jit(interpret=True)`.

CPython runs the kernel's text (rewriting.py mends what it would read differently); what the kernel does with tiles is computed
by the reference evaluator in C++. So pdb, breakpoint(), print and tracebacks work in kernels as they do elsewhere. The functions
here are what the native half asks of Python.
"""

import linecache
import os
import sys
from itertools import islice

from ..language.core import aggregate_replace
from ..tools.tensor_descriptor import TensorDescriptor
from .jit import JITFunction, TensorWrapper

_LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "language") + os.sep


class InterpretedFunction(JITFunction):
    """A kernel that Python runs, whatever the driver's mode. Where its text cannot be read (exec), Python runs it as it stands."""

    _needs_text = False

    def _set_up(self):
        super()._set_up()
        self._set_interpreted(True)


class Shape(tuple):
    """The shape of a tile: a tuple, but equal to a list of the same extents, as in a compiled kernel."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other):
        return tuple.__ne__(self, tuple(other) if isinstance(other, list) else other)


def _locate():
    """Where the kernel stands: (file, line, column, end column, the line's text, name of the library's function or None)."""
    frame = sys._getframe(1)
    library = None
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        library = frame.f_code.co_name
        frame = frame.f_back
    code, line = frame.f_code, frame.f_lineno
    text = linecache.getline(code.co_filename, line, frame.f_globals).rstrip("\n")
    _, end_line, column, end_column = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    if column is None:
        column = len(text) - len(text.lstrip())
    else:
        column = _characters(text, column)
    end_column = len(text) if end_column is None or end_line != line else _characters(text, end_column)
    return code.co_filename, line, column, end_column, text, library


def _characters(text, column):
    """A column that counts bytes, as one that counts characters."""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


describe_memory = None  # of a tool that wants to know more than _memory tells: called instead of it (sanitizer/_arrays.py: own_elements)


def _memory(kernel, values):
    """[(begin, end, address of element 0, read-only, name)] of the arrays among a kernel's arguments, and whether these are all the memory
    that it was given. The rows of a tool may go on: (bytes of an element, ((stride, extent), ...) of a view with memory between its
    elements)."""
    if describe_memory is not None:
        return describe_memory(kernel, values)
    ranges = []

    def add(name, value):
        if isinstance(value, tuple):
            return all([add(f"{name}[{i}]", item) for i, item in enumerate(value)])
        if hasattr(type(value), "__aggregate_fields__"):
            return all([add(f"{name}.{field}", getattr(value, field)) for field in value.__aggregate_fields__])
        extent = _extent(value)
        if extent is None:
            return False
        if extent:
            ranges.append((*extent, name))
        return True

    is_complete = True
    for param, value in zip(kernel.params, values):
        if param.is_constexpr:
            continue
        if isinstance(value, int) and param.annotation_type.startswith("*"):
            is_complete = False  # an address
        elif not add(param.name, value):
            is_complete = False
    return ranges, is_complete


def _extent(value):
    """(begin, end, address of element 0, read-only) of the memory that an array is in; () for what is not an array, None when it is not
    known."""
    if value is None or isinstance(value, (int, float, str)):
        return ()
    base = getattr(value, "base", None)
    if isinstance(value, (TensorWrapper, TensorDescriptor)):
        return _extent(base)
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes(), value.data_ptr(), False
    for name in ("__array_interface__", "__cuda_array_interface__"):
        interface = getattr(value, name, None)
        if interface is not None:
            origin, is_read_only = interface["data"]
            while base is not None and hasattr(base, name):
                value, base = base, getattr(base, "base", None)
            interface = getattr(value, name)
            return *_bounds(interface, int(interface["typestr"][2:])), origin, is_read_only
    return None if hasattr(value, "data_ptr") or hasattr(value, "__dlpack__") else ()


def _bounds(interface, item_size):
    begin = interface["data"][0]
    end = begin + item_size
    if 0 in interface["shape"]:
        return begin, begin
    strides = interface.get("strides")
    if strides is None:
        for size in interface["shape"]:
            item_size *= size
        return begin, begin + item_size
    for size, stride in zip(interface["shape"], strides):
        if stride < 0:
            begin += (size - 1) * stride
        else:
            end += (size - 1) * stride
    return begin, end


def _host_copies(args):
    """(arguments with tensors of a GPU copied to the host, a function that writes them back), or None if there are none."""
    compound = (tuple, TensorWrapper, TensorDescriptor)
    if not any(
        getattr(arg, "is_cuda", False) or isinstance(arg, compound) or hasattr(type(arg), "__aggregate_fields__") for arg in args
    ):
        return None
    storages = {}  # address -> (storage, its copy): tensors that share memory go on sharing it

    def copy(arg):
        if isinstance(arg, tuple):
            items = [copy(item) for item in arg]
            return arg if all(a is b for a, b in zip(items, arg)) else type(arg)(*items) if hasattr(arg, "_fields") else tuple(items)
        if hasattr(type(arg), "__aggregate_fields__"):
            fields = {name: getattr(arg, name) for name in arg.__aggregate_fields__}
            copies = {name: copy(value) for name, value in fields.items()}
            return arg if all(copies[name] is fields[name] for name in fields) else aggregate_replace(arg, **copies)
        if isinstance(arg, TensorWrapper):
            base = copy(arg.base)
            return arg if base is arg.base else TensorWrapper(base, arg.dtype)
        if isinstance(arg, TensorDescriptor):
            base = copy(arg.base)
            fields = arg.shape, arg.strides, arg.block_shape, arg.padding, arg.round_f32_to_tf32
            return arg if base is arg.base else TensorDescriptor(base, *fields)
        if not getattr(arg, "is_cuda", False):
            return arg
        import torch

        storage = arg.untyped_storage()
        if storage.data_ptr() not in storages:
            storages[storage.data_ptr()] = storage, storage.cpu()
        host = torch.empty(0, dtype=arg.dtype)
        return host.set_(storages[storage.data_ptr()][1], arg.storage_offset(), arg.size(), arg.stride())

    copied = tuple(copy(arg) for arg in args)
    if not storages:
        return None

    def write_back():
        for storage, host in storages.values():
            storage.copy_(host)

    return copied, write_back


_NUMPY = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "fp16": "float16", "fp32": "float32", "fp64": "float64"}  # fmt: skip


def _as_array(tensor, dtype):
    """A tile as a NumPy array."""
    import numpy

    data, shape, name = tensor.__elements__()
    array = numpy.frombuffer(bytearray(data), dtype=_NUMPY[name]).reshape(shape)
    return array if dtype is None else array.astype(dtype)


def _call_numpy(function, args, kwargs):
    """A function of NumPy's, with tiles as arrays."""
    from .. import _core

    def plain(value):
        if isinstance(value, _core.Tensor):
            return _as_array(value, None)
        return type(value)(map(plain, value)) if type(value) in (tuple, list) else value

    return function(*plain(args), **{name: plain(value) for name, value in kwargs.items()})


def _formatted(tensor, specification):
    """A tile as text, each element by a format specification."""
    import numpy

    return numpy.array2string(_as_array(tensor, None), formatter={"all": lambda element: format(element.item(), specification)})
