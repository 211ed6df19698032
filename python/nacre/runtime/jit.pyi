# Kernels as Python holds them.

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Generic, SupportsIndex, TypeAlias, TypeVar, overload

from _typeshed import DataclassInstance

from .._utils import (
    find_paths_if as find_paths_if,
    get_iterable_path as get_iterable_path,
    is_namedtuple as is_namedtuple,
    type_canonicalisation_dict as type_canonicalisation_dict,
)
from ..backends.compiler import BaseBackend as BaseBackend
from ..compiler.compiler import CompiledKernel
from ..language._methods import DescriptorMethods, TensorMethods
from ..tools.tensor_descriptor import TensorDescriptor as TensorDescriptor
from .cache import get_cache_invalidating_env_vars as get_cache_invalidating_env_vars, get_cache_key as get_cache_key
from .driver import driver as driver
from .names import (
    GLUON_MODULE as GLUON_MODULE,
    TRITON_MODULE as TRITON_MODULE,
    compute_cache_key as compute_cache_key,
    convert_to_tuple_if_list as convert_to_tuple_if_list,
    get_def_col_number as get_def_col_number,
    get_def_line_number as get_def_line_number,
    get_full_name as get_full_name,
    serialize_specialization_data as serialize_specialization_data,
)
from .tensors import MockTensor as MockTensor, TensorWrapper as TensorWrapper, reinterpret as reinterpret

_F = TypeVar("_F", bound=Callable[..., Any])

_Extents: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
# One to three numbers of programs, or a function that says them of the launch's arguments by name.
Grid: TypeAlias = _Extents | Callable[[dict[str, Any]], _Extents]

# What kernels pass to the functions that they call: tiles, descriptors, Python's values, functions, aggregates. An array of the host is none of it:
# who passes one has left out the grid, kernel[grid](...).
_InKernels: TypeAlias = (
    TensorMethods | DescriptorMethods | DataclassInstance | Callable[..., Any] | Enum | Mapping[Any, Any] | tuple[Any, ...] | list[Any]
    | str | float | None
)

class KernelParam:
    num: int
    name: str
    has_default: bool
    do_not_specialize: bool
    do_not_specialize_on_alignment: bool
    def __init__(
        self, num: int, name: str, annotation: Any, default: Any, has_default: bool, do_not_specialize: bool, do_not_specialize_on_alignment: bool
    ) -> None: ...
    @property
    def default(self) -> Any: ...
    @property
    def annotation(self) -> str: ...
    @property
    def annotation_type(self) -> str: ...
    @property
    def is_constexpr(self) -> bool: ...
    @property
    def is_const(self) -> bool: ...

class KernelInterface(Generic[_F]):
    """Anything that is launched as `kernel[grid](*args, **kwargs)`, with the function that it was made of. A launch takes the kernel's arguments,
    and launch options by name."""

    def __getitem__(self, grid: Grid) -> Callable[..., CompiledKernel]: ...
    def run(self, *args: Any, grid: Grid, warmup: bool, **kwargs: Any) -> CompiledKernel: ...
    def warmup(self, *args: Any, grid: Grid, **kwargs: Any) -> CompiledKernel: ...

class JITCallable:
    fn: Callable[..., Any]
    __name__: str
    __qualname__: str
    __globals__: dict[str, Any]
    src: str
    raw_src: list[str]
    starting_line_number: int
    def_file_line_number: int
    def_file_col_number: int
    file_name: str
    def parse(self) -> ast.Module: ...
    def get_capture_scope(self) -> dict[str, Any]: ...
    @property
    def cache_key(self) -> str: ...

class JITFunction(KernelInterface[_F], JITCallable):
    fn: _F  # type: ignore[assignment]
    version: Any
    noinline: bool
    debug: bool | None
    launch_metadata: Callable[..., Any] | None
    pre_run_hooks: list[Callable[..., Any]]
    used_global_vals: dict[Any, Any]
    do_not_specialize: Sequence[int | str] | None
    do_not_specialize_on_alignment: Sequence[int | str] | None
    arg_names: list[str]
    params: list[KernelParam]
    def __init__(
        self,
        fn: _F,
        version: Any = None,
        do_not_specialize: Sequence[int | str] | None = None,
        do_not_specialize_on_alignment: Sequence[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,
        launch_metadata: Callable[..., Any] | None = None,
    ) -> None: ...
    # Inside a kernel: branches of an `if` on a constexpr may return different things, so that what the function returns is not said.
    def __call__(self, *args: _InKernels, **kwargs: _InKernels) -> Any: ...
    def run(self, *args: Any, grid: Grid, warmup: bool = False, **kwargs: Any) -> CompiledKernel: ...
    def warmup(self, *args: Any, grid: Grid = (1,), **kwargs: Any) -> CompiledKernel: ...
    @property
    def signature(self) -> inspect.Signature: ...
    def repr(self, specialization: Any = None) -> str: ...
    def preload(self, specialization_data: str) -> CompiledKernel: ...
    @property
    def device_caches(self) -> Any: ...
    def create_binder(self) -> Any: ...
    def is_gluon(self) -> bool: ...
    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None: ...

class JitFunctionInfo:
    module: str
    name: str
    jit_function: JITFunction[Any]
    def __init__(self, module: str, name: str, jit_function: JITFunction[Any]) -> None: ...

class AggregateTypes(tuple[Any, ...]):
    aggregate: type
    def __new__(cls, aggregate: type, types: Iterable[Any]) -> AggregateTypes: ...

class ConstexprFunction(JITCallable):
    __wrapped__: Callable[..., Any]
    def __init__(self, fn: Callable[..., Any]) -> None: ...
    def __get__(self, instance: Any, owner: Any = None) -> ConstexprFunction: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class BoundConstexprFunction(ConstexprFunction):
    def __init__(self, instance: Any, fn: Callable[..., Any]) -> None: ...

def mangle_type(arg: Any, specialize: bool = False) -> str: ...
def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool = False, specialize_value: bool = True, align: bool = True
) -> tuple[str, Any]: ...
def module_name(function: JITCallable) -> str: ...
# Gives a ConstexprFunction, which is called as the function is, a method and an __init__ too.
def constexpr_function(fn: _F) -> _F: ...
@overload
def jit(fn: _F) -> JITFunction[_F]: ...
@overload
def jit(
    fn: None = None,
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Mapping[str, Any]] | None = None,
    do_not_specialize: Iterable[int | str] | None = None,
    do_not_specialize_on_alignment: Iterable[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    interpret: bool | None = None,
) -> Callable[[_F], JITFunction[_F]]: ...
