# Meta-parameters that are computed from a kernel's arguments.

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..compiler.compiler import CompiledKernel
from .jit import Grid, KernelInterface

_F = TypeVar("_F", bound=Callable[..., Any])

class Heuristics(KernelInterface[_F]):
    __name__: str
    fn: Any  # the JITFunction, or what stands between
    values: Mapping[str, Callable[[dict[str, Any]], Any]]
    arg_names: list[str]
    def __init__(self, fn: KernelInterface[_F], arg_names: list[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None: ...
    def evaluate(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]: ...
    def run(self, *args: Any, grid: Grid, warmup: bool = False, **kwargs: Any) -> CompiledKernel: ...

def arguments_of(fn: Any, decorator: str) -> list[str]: ...
def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[KernelInterface[_F]], Heuristics[_F]]: ...
