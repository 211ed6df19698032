# perf_report: a function measured for every point of a plot, as a table, a CSV file, a picture and a web page.

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class Benchmark:
    x_names: Sequence[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: Sequence[str]
    plot_name: str
    args: Mapping[str, Any]
    xlabel: str
    ylabel: str
    x_log: bool
    y_log: bool
    styles: Sequence[tuple[str, str]] | None
    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        line_arg: str,
        line_vals: Sequence[Any],
        line_names: Sequence[str],
        plot_name: str,
        args: Mapping[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Sequence[tuple[str, str]] | None = None,
    ) -> None: ...

class Progress:
    is_on: bool
    width: int
    def show(self, text: str) -> None: ...
    def close(self) -> None: ...

class Result:
    bench: Benchmark
    name: str
    points: list[Any]
    clocks: list[Any]
    def __init__(self, bench: Benchmark, name: str) -> None: ...
    def add(self, xs: list[Any], lines: list[Any], clock: Any) -> None: ...
    def remarks(self) -> list[str]: ...
    def header(self, diff_col: bool) -> list[str]: ...
    def table(self, diff_col: bool) -> list[list[Any]]: ...
    def as_data(self) -> dict[str, Any]: ...

class Mark(Generic[_F]):
    fn: _F
    benchmarks: Benchmark | Sequence[Benchmark]
    def __init__(self, fn: _F, benchmarks: Benchmark | Sequence[Benchmark]) -> None: ...
    def named_benchmarks(self, name: str | None = None) -> list[tuple[Benchmark, str]]: ...
    def measure(
        self, bench: Benchmark, name: str, progress: Progress | None = None, on_point: Callable[[Result], object] = ..., known: Any = None,
        **kwargs: Any,
    ) -> Result: ...
    # With return_df: a data frame of pandas for each benchmark; one by itself where there is one.
    def run(self, show_plots: bool = False, print_data: bool = False, save_path: str = "", return_df: bool = False, **kwargs: Any) -> Any: ...

class Unfinished:
    path: str
    facts: dict[str, Any]
    def __init__(self, folder: str, result: Result) -> None: ...
    def load(self) -> dict[Any, Any]: ...
    def store(self, result: Result) -> None: ...
    def remove(self) -> None: ...

def numbered(name: str, taken: Any) -> str: ...
def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[_F], Mark[_F]]: ...
