"""Nacre: the Triton language with a compiler of its own, for CPUs and GPUs.

    import nacre
    import nacre.language as tl

    @nacre.jit
    def add(x, y, out, n, BLOCK: tl.constexpr): ...

    add[(nacre.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

`nacre.activate()`, or starting a script with `nacre run`, makes `import triton` mean this package.
"""

from ._version import presented as _presented, version
from .errors import TritonError
from .runtime.errors import InterpreterError, OutOfResources
from .runtime.jit import (
    JITFunction,
    KernelInterface,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    reinterpret,
)
from .runtime.aggregate import aggregate
from .runtime.autotuner import Config, autotune, bucket, heuristics
from .runtime._allocation import set_allocator
from .compiler.errors import CompilationError
from .compiler.compiler import compile
from . import knobs, language, runtime
from .language.core import must_use_result
from ._alias import activate

__version__ = _presented(knobs.language.triton_version)

__all__ = [
    "CompilationError", "Config", "InterpreterError", "JITFunction", "KernelInterface", "MockTensor", "OutOfResources",
    "TensorWrapper", "TritonError", "__version__", "activate", "aggregate", "autotune", "bucket", "cdiv", "compile", "constexpr_function",
    "heuristics", "jit", "knobs", "language", "must_use_result", "next_power_of_2", "reinterpret", "runtime", "set_allocator", "testing",
    "tools", "version",
]  # fmt: skip


@constexpr_function
def cdiv(x: int, y: int):
    """x / y rounded up."""
    return (x + (y - 1)) // y


@constexpr_function
def next_power_of_2(n: int):
    """The smallest power of two that is not below n."""
    return 1 << (n - 1).bit_length() if n > 1 else n


def __getattr__(name):
    if name in ("testing", "tools", "compiler", "backends", "profiler", "sanitizer", "viz", "_C"):  # not everybody needs them
        import importlib

        return importlib.import_module("." + name, __name__)
    if name in ("Space", "powers_of_two", "span"):
        from .runtime.tuning import search

        return getattr(search, name)
    if name in ("AsyncCompileMode", "FutureKernel"):
        from .runtime import _async_compile

        return getattr(_async_compile, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _start_tools():
    """The tools that the environment asks for."""
    import os

    names = ("NACRE_SANITIZE", "NACRE_LAUNCH_LOG", "NACRE_SIMULATOR_FINDINGS", "TRITON_SHARED_SANITIZER_TYPE", "TRITON_INSTRUMENTATION_MODE", "TRITON_ENABLE_ASAN")
    if any(name in os.environ for name in names):
        __getattr__("sanitizer").start_from_environment()
    knobs.listen("instrumentation", lambda text: __getattr__("sanitizer").instrument(text))


_start_tools()
