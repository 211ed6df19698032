# How long a function takes.

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias, TypeVar, overload

_Callable = TypeVar("_Callable", bound=Callable[..., Any])
_One: TypeAlias = Literal["min", "max", "mean", "median"]

def quantile(sorted_times: Sequence[float], q: float) -> float: ...
def summarize(times: list[float], quantiles: float | Sequence[float] | None, return_mode: str) -> Any: ...
def compare(fn: Callable[[], object], rival: Callable[[], object], milliseconds: float = 25.0) -> list[float]: ...
# With quantiles: one number where there is one of them, else a list.
@overload
def do_bench(
    fn: Callable[[], object], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None, quantiles: None = None,
    return_mode: _One = "mean",
) -> float: ...
@overload
def do_bench(
    fn: Callable[[], object], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None, quantiles: None = None,
    *, return_mode: Literal["all"],
) -> list[float]: ...
@overload
def do_bench(
    fn: Callable[[], object], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None, quantiles: None = None,
    *, return_mode: Literal["stats"],
) -> dict[str, Any]: ...
@overload
def do_bench(
    fn: Callable[[], object], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None, *,
    quantiles: float | Sequence[float], return_mode: _One | Literal["all", "stats"] = "mean",
) -> Any: ...
def do_bench_proton(
    fn: Callable[[], object], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None,
    quantiles: float | Sequence[float] | None = None, return_mode: _One | Literal["all", "stats"] = "mean",
) -> Any: ...
def do_bench_cudagraph(
    fn: Callable[[], object], rep: float = 20, grad_to_none: Iterable[Any] | None = None,
    quantiles: float | Sequence[float] | None = None, return_mode: _One | Literal["all", "stats"] = "mean",
) -> Any: ...
def do_bench_cudagraph_proton(
    fn: Callable[[], object], rep: float = 20, grad_to_none: Iterable[Any] | None = None,
    quantiles: float | Sequence[float] | None = None, return_mode: _One | Literal["all", "stats"] = "mean",
) -> Any: ...
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> AbstractContextManager[None]: ...
def cuda_memcheck(**target_kwargs: Any) -> Callable[[_Callable], _Callable]: ...
