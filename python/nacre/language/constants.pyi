# Values known when a kernel is compiled.

from typing import Any, Literal, TypeAlias

# A parameter annotated tl.constexpr takes any value and is that value in the kernel: an int, a text, a type, None, a function. It is Any, then,
# with any default. The name must be callable too, `tl.constexpr(128)`: an alias of Any is that to mypy; to the others a class is that goes
# through a decorator which returns Any. A parameter annotated tl.const is a pointer, and a kernel may bind others to its name.
MYPY: Literal[False]  # mypy takes a name of this spelling for true
if MYPY:
    constexpr: TypeAlias = Any
    const: TypeAlias = Any
else:
    def _any(cls: type) -> Any: ...
    @_any
    class constexpr:
        """A value known when a kernel is compiled: an annotation for parameters, and a wrapper for globals that kernels read."""

        value: Any
        def __init__(self, value: Any) -> None: ...
    @_any
    class const:
        """Annotates a pointer parameter that the kernel only reads."""

class constexpr_type:
    value: Any
    def __init__(self, value: Any) -> None: ...
