"""Descriptors of tensors, made on the host and passed to kernels."""


class DescriptorError(ValueError, AssertionError):
    """What a descriptor says of its tensor cannot be: either name of such an error catches it."""


def _address(base):
    """Of the first element, or None of a tensor without memory of its own."""
    if type(base).__name__ in ("FakeTensor", "FunctionalTensor"):
        return None
    if hasattr(base, "data_ptr"):
        return base.data_ptr()
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        if hasattr(base, interface):
            return getattr(base, interface)["data"][0]
    return None


def _element_bytes(dtype):
    if hasattr(dtype, "itemsize"):
        return dtype.itemsize
    bits = getattr(dtype, "primitive_bitwidth", None)
    return bits and max(bits // 8, 1)


def _is_float(dtype):
    """None where the type does not say."""
    if hasattr(dtype, "is_floating_point"):
        return dtype.is_floating_point
    if hasattr(dtype, "is_floating"):
        return dtype.is_floating()
    return {"f": True, "i": False, "u": False, "b": False}.get(getattr(dtype, "kind", None))


class TensorDescriptor:
    """A tensor in memory with the block that kernels read and write: base, shape, strides, block shape."""

    def __init__(self, base, shape, strides, block_shape, padding="zero", round_f32_to_tf32=False):
        self.base = base
        self.shape = list(shape)
        self.strides = list(strides)
        self.block_shape = list(block_shape)
        self.padding = padding
        self.round_f32_to_tf32 = round_f32_to_tf32
        self._check()

    def _check(self):
        """What every target asks of a descriptor. Block shapes may still change: kernels check these where they use them."""

        def require(condition, text):
            if not condition:
                raise DescriptorError(text)

        rank = len(self.shape)
        lengths = f"{rank}, {len(self.strides)} and {len(self.block_shape)} entries"
        require(len(self.strides) == rank == len(self.block_shape), f"rank mismatch: shape, strides and block_shape have {lengths}")
        require(rank > 0, "rank must not be zero: a descriptor has 1 to 5 axes")
        require(rank <= 5, f"rank cannot be more than 5: found {rank} axes; join axes that lie together in memory")
        for axis, extent in enumerate(self.block_shape):
            require(extent > 0, f"block_shape must be positive: entry {axis} is {extent}")
        address = _address(self.base)
        if address is not None:
            require(
                address % 16 == 0,
                f"base must be 16-byte aligned: it is {address % 16} bytes past a multiple of 16; begin at an element that is, or copy the tensor",
            )
        dtype = getattr(self.base, "dtype", None)
        size = _element_bytes(dtype)
        for axis, stride in enumerate(self.strides[:-1]):
            text = f"strides must be 16-byte aligned: that of axis {axis} is {stride} elements of {size} bytes; copy the tensor into one with padded rows"
            require(not size or stride * size % 16 == 0, text)
        for axis, extent in enumerate(self.shape):
            require(extent > 0, f"shape must be positive: entry {axis} is {extent}; launch nothing for an empty tensor")
        last = self.strides[-1]
        require(last == 1, f"Last dimension must be contiguous: its stride is {last}; transpose the tensor, or make it contiguous")
        require(self.padding in ("zero", "nan"), f"Illegal value for padding: {self.padding!r} is neither 'zero' nor 'nan'")
        if self.padding == "nan":
            text = f"Padding option `nan` is only supported for floating point tensors, not for {dtype}; use 'zero'"
            require(_is_float(dtype) is not False, text)
        if self.round_f32_to_tf32:
            text = f"round_f32_to_tf32 is only supported for float32 tensors, not for {dtype}"
            require(str(dtype).rpartition(".")[2] in ("float32", "fp32"), text)

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding, round_f32_to_tf32)
