# Descriptors of tensors, made on the host and passed to kernels.

from collections.abc import Sequence
from typing import Any, Literal

class DescriptorError(ValueError, AssertionError): ...

class TensorDescriptor:
    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str
    round_f32_to_tf32: bool
    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        padding: Literal["zero", "nan"] = "zero",
        round_f32_to_tf32: bool = False,
    ) -> None: ...
    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: Literal["zero", "nan"] = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor: ...
