"""The compiler as Python sees it: sources, compiled kernels, errors."""

from .compiler import ASTSource, CompiledKernel, IRSource, compile, make_backend
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

__all__ = [
    "ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "IRSource",
    "UnsupportedLanguageConstruct", "compile", "make_backend",
]  # fmt: skip
