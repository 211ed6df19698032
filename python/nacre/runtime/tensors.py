"""Tensors that are not there yet, and tensors that are read as another type."""


class MockTensor:
    """A tensor of which only the dtype is known, for compiling without data."""

    @staticmethod
    def wrap_dtype(arg):
        is_dtype = any(base.__name__ == "dtype" and base.__module__ in ("torch", "numpy") for base in type(arg).__mro__)
        return MockTensor(arg) if is_dtype else arg

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        strides = [1]
        for size in reversed(list(self.shape)[1:]):
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr():
        return 0  # as aligned as it gets

    @staticmethod
    def ptr_range():
        return 0


class TensorWrapper:
    """A tensor whose elements are read as another type of the same size."""

    def __init__(self, base, dtype):
        self.dtype = dtype
        self.base = base
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", None)
        self.shape = base.shape

    def data_ptr(self):
        return self.base.data_ptr() if hasattr(self.base, "data_ptr") else self.base.__array_interface__["data"][0]

    def stride(self, *args):
        if hasattr(self.base, "stride"):
            return self.base.stride(*args)
        strides = tuple(step // self.base.itemsize for step in self.base.strides)
        return strides[args[0]] if args else strides

    def element_size(self):
        return self.base.element_size() if hasattr(self.base, "element_size") else self.base.itemsize

    def cpu(self):
        return TensorWrapper(self.base.cpu() if hasattr(self.base, "cpu") else self.base, self.dtype)

    def copy_(self, other):
        if hasattr(self.base, "copy_"):
            self.base.copy_(other.base)
        else:
            self.base[...] = other.base

    def clone(self):
        return TensorWrapper(self.base.clone() if hasattr(self.base, "clone") else self.base.copy(), self.dtype)

    def new_empty(self, sizes):
        made = self.base.new_empty(sizes) if hasattr(self.base, "new_empty") else type(self.base)(sizes, self.base.dtype)
        return TensorWrapper(made, self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def __repr__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """The tensor with its elements read as `dtype`, of the same size."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr") or hasattr(tensor, "__array_interface__"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"cannot reinterpret a value of type {type(tensor).__name__}")
