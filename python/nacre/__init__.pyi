# Nacre: the Triton language with a compiler of its own, for CPUs and GPUs.

from collections.abc import Sequence
from typing import Any, SupportsIndex, overload

from . import (
    backends as backends,
    compiler as compiler,
    errors as errors,
    knobs as knobs,
    language as language,
    profiler as profiler,
    runtime as runtime,
    sanitizer as sanitizer,
    testing as testing,
    tools as tools,
    viz as viz,
)
from ._version import version as version
from .compiler.compiler import compile as compile
from .compiler.errors import CompilationError as CompilationError
from .errors import TritonError as TritonError
from .language.core import must_use_result as must_use_result
from .runtime._allocation import set_allocator as set_allocator
from .runtime._async_compile import AsyncCompileMode as AsyncCompileMode, FutureKernel as FutureKernel
from .runtime.aggregate import aggregate as aggregate
from .runtime.autotuner import Config as Config, autotune as autotune, bucket as bucket, heuristics as heuristics
from .runtime.errors import InterpreterError as InterpreterError, OutOfResources as OutOfResources
from .runtime.jit import (
    JITFunction as JITFunction,
    KernelInterface as KernelInterface,
    MockTensor as MockTensor,
    TensorWrapper as TensorWrapper,
    constexpr_function as constexpr_function,
    jit as jit,
    reinterpret as reinterpret,
)
from .runtime.tuning.search import Space as Space, powers_of_two as powers_of_two, span as span

__version__: str

def activate(names: Sequence[str] = ...) -> None: ...
@overload
def cdiv(x: int, y: int) -> int: ...
@overload
def cdiv(x: SupportsIndex, y: SupportsIndex) -> Any: ...
@overload
def next_power_of_2(n: int) -> int: ...
@overload
def next_power_of_2(n: SupportsIndex) -> Any: ...
