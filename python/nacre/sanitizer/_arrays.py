"""The arrays among a launch's arguments: exactly the elements of each tensor and view."""

import weakref

from ..runtime.jit import TensorWrapper
from ..tools.tensor_descriptor import TensorDescriptor


def arrays(kernel, values):
    """[(begin, end, address of element 0, read-only, name, type, shape, strides in bytes, bytes of an element)] in the order of the
    arguments, and whether these are all the memory that the kernel was given."""
    found = []

    def add(name, value):
        if isinstance(value, tuple):
            return all([add(f"{name}[{i}]", item) for i, item in enumerate(value)])
        if hasattr(type(value), "__aggregate_fields__"):
            return all([add(f"{name}.{field}", getattr(value, field)) for field in value.__aggregate_fields__])
        if value is None or isinstance(value, (bool, int, float, str)):
            return True
        row = _array(name, value)
        if row:
            found.append(row)
        return row is not None

    is_complete = True
    for param, value in zip(kernel.params, values):
        kind = type(value)
        if kind in _PLAIN or param.is_constexpr:
            if kind is int and not param.is_constexpr and param.annotation_type.startswith("*"):  # an address
                is_complete = False
        elif kind in _ARRAYS:  # nearly all: looked at once
            found.append(_ARRAYS[kind](param.name, value))
        elif (isinstance(value, int) and param.annotation_type.startswith("*")) or not add(param.name, value):
            is_complete = False
    return found, is_complete


def own_elements(kernel, values):
    """What the interpreter asks of a launch's memory (runtime/interpreter.py: describe_memory): a view is no more than its own elements,
    rather than all of its tensor's memory."""
    rows, is_complete = arrays(kernel, values)
    return [(*row[:5], row[8], axes(row)) for row in rows], is_complete


_PLAIN = {bool, int, float, str, type(None)}
_ARRAYS = {}  # the types of NumPy's and torch's own arrays -> what makes a row of one
_names = {}  # of element types


def _array(name, value):
    """A row; () for what is no array, None where its memory is not known."""
    if isinstance(value, (TensorWrapper, TensorDescriptor)):
        return _array(name, value.base)
    kind = type(value)
    if hasattr(value, "untyped_storage"):
        _ARRAYS[kind] = _tensor
        return _tensor(name, value)
    if getattr(value, "__array_interface__", None) is not None:
        if kind.__module__ == "numpy" and hasattr(value, "strides"):
            _ARRAYS[kind] = _numpy
        return _interface(name, value, value.__array_interface__)
    if getattr(value, "__cuda_array_interface__", None) is not None:
        return _interface(name, value, value.__cuda_array_interface__)
    return None if hasattr(value, "data_ptr") or hasattr(value, "__dlpack__") else ()


def _type_name(type):
    name = _names.get(type)
    if name is None:
        name = _names[type] = str(type).removeprefix("torch.")
    return name


def _tensor(name, value):
    size = value.element_size()
    strides = tuple(stride * size for stride in value.stride())
    return _row(name, _type_name(value.dtype), value.data_ptr(), tuple(value.shape), strides, size, False)


_seen = {}  # id of an array of NumPy's -> (reference, shape, strides, whether it is writable, row)


def _numpy(name, value):
    """A row of one of NumPy's arrays, which are asked for their address once: that costs a microsecond."""
    seen = _seen.get(id(value))
    if seen is not None and seen[0]() is value and seen[1] == value.shape and seen[2] == value.strides and seen[3] == value.flags.writeable:
        row = seen[4]
        return row if row[4] == name else (*row[:4], name, *row[5:])
    key = id(value)
    row = _interface(name, value, value.__array_interface__)
    _seen[key] = weakref.ref(value, lambda _: _seen.pop(key, None)), value.shape, value.strides, value.flags.writeable, row
    return row


def _interface(name, value, interface):
    (address, is_read_only), shape, strides = interface["data"], interface["shape"], interface.get("strides")
    size, type = int(interface["typestr"][2:]), _type_name(value.dtype if hasattr(value, "dtype") else interface["typestr"])
    if strides is None:
        strides, step = [], size
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
        return address, address + step, address, is_read_only, name, type, shape, tuple(strides), size
    return _row(name, type, address, shape, strides, size, is_read_only)


def _row(name, type, address, shape, strides, size, is_read_only):
    begin = end = address
    if 0 not in shape:
        end += size
        for extent, stride in zip(shape, strides):
            if stride < 0:
                begin += (extent - 1) * stride
            else:
                end += (extent - 1) * stride
    return begin, end, address, is_read_only, name, type, shape, strides, size


def axes(row):
    """((stride, extent), ...) of a row's array, outermost first, where there is memory between its elements; () where there is none, or where
    elements overlap."""
    size = row[8]
    found = sorted(((abs(stride), extent) for extent, stride in zip(row[6], row[7]) if extent > 1 and stride), reverse=True)
    reach, has_holes = size, False
    for stride, extent in reversed(found):
        if stride < reach:
            return ()
        has_holes |= stride != reach
        reach += stride * (extent - 1)
    return tuple(found) if has_holes and 0 not in row[6] else ()
