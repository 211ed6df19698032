"""The arrays among a launch's arguments: exactly the elements of each tensor and view."""

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
        if param.is_constexpr:
            continue
        is_address = isinstance(value, int) and param.annotation_type.startswith("*")
        if is_address or not add(param.name, value):
            is_complete = False
    return found, is_complete


def _array(name, value):
    """A row; () for what is no array, None where its memory is not known."""
    if isinstance(value, (TensorWrapper, TensorDescriptor)):
        return _array(name, value.base)
    if hasattr(value, "untyped_storage"):
        size = value.element_size()
        strides = tuple(stride * size for stride in value.stride())
        return _row(name, str(value.dtype).removeprefix("torch."), value.data_ptr(), tuple(value.shape), strides, size, False)
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        address, is_read_only = interface["data"]
        size, strides = value.itemsize, interface["strides"]
        if strides is None:
            strides, step = [], size
            for extent in reversed(interface["shape"]):
                strides.insert(0, step)
                step *= extent
        return _row(name, str(value.dtype), address, tuple(interface["shape"]), tuple(strides), size, is_read_only)
    return None if hasattr(value, "data_ptr") or hasattr(value, "__dlpack__") else ()


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
