"""The compiler as Python sees it: sources, compiled kernels, errors."""

from ..runtime.cache import get_cache_key
from ..runtime.hooks import LazyDict
from .compiler import ASTSource, CompiledKernel, IRSource, compile, make_backend, max_shared_mem
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

__all__ = [
    "ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "IRSource",
    "LazyDict", "UnsupportedLanguageConstruct", "compile", "get_cache_key", "make_backend", "max_shared_mem",
]  # fmt: skip
