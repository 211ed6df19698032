# The heart of the language: types and constexprs. Tiles are in _tensor.pyi; the builtins are in _functions.pyi and _methods.pyi, which are written
# from the compiler's table (python/write_stubs.py). Files whose name begins with an underscore are no modules
# when a program runs.

from builtins import tuple as _tuple  # _functions has a function of this name
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, overload

from .._utils import get_primitive_bitwidth as get_primitive_bitwidth, validate_block_shape as validate_block_shape, warn_once as warn_once
from ..runtime.jit import JITCallable as JITCallable
from ._functions import *
from ._methods import DescriptorMethods
from ._tensor import Dtype as Dtype, Value as Value, tensor as tensor
from .constants import const as const, constexpr as constexpr, constexpr_type as constexpr_type
from .standard import atomic_poll as atomic_poll
from .types import (
    block_type as block_type,
    dtype as dtype,
    pointer_type as pointer_type,
    tensor_descriptor_type as tensor_descriptor_type,
    tuple_type as tuple_type,
)

_T = TypeVar("_T")
_Callable = TypeVar("_Callable", bound=Callable[..., Any])

MYPY: Literal[False]  # mypy takes a name of this spelling for true

class base_value: ...
class base_type: ...
class tensor_descriptor_base(base_value): ...

class tensor_descriptor(DescriptorMethods, tensor_descriptor_base):
    """A tensor in memory that a kernel reads and writes by blocks."""

    shape: _tuple[Any, ...]
    strides: _tuple[Any, ...]
    block_shape: _tuple[int, ...]
    dtype: Dtype

class PropagateNan:
    NONE: str
    ALL: str

# `tl.int64` is a value, a dtype, and in a kernel's parameter list (`n: tl.int64`) an annotation: n is a scalar of that type there, and a kernel may
# bind other values to the name. Any is both.
if MYPY:
    void: TypeAlias = Any
    int1: TypeAlias = Any
    int8: TypeAlias = Any
    int16: TypeAlias = Any
    int32: TypeAlias = Any
    int64: TypeAlias = Any
    uint8: TypeAlias = Any
    uint16: TypeAlias = Any
    uint32: TypeAlias = Any
    uint64: TypeAlias = Any
    float8e4nv: TypeAlias = Any
    float8e5: TypeAlias = Any
    float8e4b15: TypeAlias = Any
    float8e4b8: TypeAlias = Any
    float8e5b16: TypeAlias = Any
    float16: TypeAlias = Any
    bfloat16: TypeAlias = Any
    float32: TypeAlias = Any
    float64: TypeAlias = Any
else:
    def _dtype_and_annotation(cls: type) -> Any: ...
    @_dtype_and_annotation
    class void: ...
    @_dtype_and_annotation
    class int1: ...
    @_dtype_and_annotation
    class int8: ...
    @_dtype_and_annotation
    class int16: ...
    @_dtype_and_annotation
    class int32: ...
    @_dtype_and_annotation
    class int64: ...
    @_dtype_and_annotation
    class uint8: ...
    @_dtype_and_annotation
    class uint16: ...
    @_dtype_and_annotation
    class uint32: ...
    @_dtype_and_annotation
    class uint64: ...
    @_dtype_and_annotation
    class float8e4nv: ...
    @_dtype_and_annotation
    class float8e5: ...
    @_dtype_and_annotation
    class float8e4b15: ...
    @_dtype_and_annotation
    class float8e4b8: ...
    @_dtype_and_annotation
    class float8e5b16: ...
    @_dtype_and_annotation
    class float16: ...
    @_dtype_and_annotation
    class bfloat16: ...
    @_dtype_and_annotation
    class float32: ...
    @_dtype_and_annotation
    class float64: ...

pi32_t: pointer_type
CONSTEXPR_0: Any
TRITON_MAX_TENSOR_NUMEL: int
TRITON_BUILTIN: str
builtin_max: Callable[..., Any]
builtin_min: Callable[..., Any]

def get_int_dtype(bitwidth: int, signed: bool) -> Dtype: ...
@overload
def must_use_result(x: _Callable, s: bool | str = True) -> _Callable: ...
@overload
def must_use_result(x: str, s: bool | str = True) -> Callable[[_Callable], _Callable]: ...
def extern(fn: _Callable) -> _Callable: ...
def builtin(fn: _Callable) -> _Callable: ...
def is_builtin(fn: Any) -> bool: ...
def is_negative_zero(x: Any) -> bool: ...
def check_bit_width(value: Any, shift_value: Any) -> None: ...
def aggregate_replace(instance: _T, /, **fields: Any) -> _T: ...
