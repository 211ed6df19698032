"""Descriptors of tensors, made on the host and passed to kernels."""


class TensorDescriptor:
    """A tensor in memory with the block that kernels read and write: base, shape, strides, block shape."""

    def __init__(self, base, shape, strides, block_shape, padding="zero", round_f32_to_tf32=False):
        rank = len(shape)
        if len(strides) != rank or len(block_shape) != rank:
            raise ValueError(f"shape, strides and block_shape must have one length, found {rank}, {len(strides)}, {len(block_shape)}")
        if rank == 0:
            raise ValueError("a descriptor needs at least one dimension")
        if strides[-1] != 1:
            raise ValueError(f"the last dimension must be contiguous, found a stride of {strides[-1]}")
        if padding not in ("zero", "nan"):
            raise ValueError(f"padding: {padding!r} is neither 'zero' nor 'nan'")
        self.base = base
        self.shape = list(shape)
        self.strides = list(strides)
        self.block_shape = list(block_shape)
        self.padding = padding
        self.round_f32_to_tf32 = round_f32_to_tf32

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding, round_f32_to_tf32)
