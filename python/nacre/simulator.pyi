# Run PTX on this machine, without a GPU, and learn what is wrong with it and what it costs.

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

_Extents: TypeAlias = int | Sequence[int]

class TensorMap:
    array: Any
    box: tuple[int, ...]
    swizzle: int
    element_strides: tuple[int, ...]
    fill_nan: bool
    dtype: str | None
    sizes: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    offset: int
    def __init__(
        self,
        array: Any,
        box: Sequence[int],
        *,
        swizzle: Literal[0, 32, 64, 128] = 0,
        element_strides: Sequence[int] | None = None,
        fill_nan: bool = False,
        dtype: str | None = None,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        offset: int = 0,
    ) -> None: ...
    def encode(self, address: int, array: Any) -> bytes: ...

class Finding:
    kind: str
    message: str
    file: str
    line: int
    ptx_line: int
    inner_file: str
    inner_line: int
    other: dict[str, Any] | None
    instruction: str
    block: tuple[int, ...]
    thread: tuple[int, ...] | None
    count: int
    def __init__(self, fields: dict[str, Any]) -> None: ...

class Report:
    json: str
    text: str
    printed: str
    kernel: str
    completed: bool
    seconds: float
    counters: dict[str, Any]
    lines: list[dict[str, Any]]
    findings: list[Finding]
    more_findings: int
    def __init__(self, json_text: str, text: str, printed: str) -> None: ...
    @property
    def clean(self) -> bool: ...

class Module:
    kernels: dict[str, dict[str, Any]]
    def __init__(self, ptx: str | bytes | bytearray, file_name: str = "") -> None: ...
    def run(
        self,
        name: str | None,
        grid: _Extents,
        block: _Extents,
        args: list[Any] | tuple[Any, ...],
        *,
        shared: int = 0,
        cluster: _Extents | None = None,
        schedule: Literal["fixed", "random"] = "fixed",
        seed: int = 0,
        checks: bool = True,
        counters: bool = True,
        threads: int = 0,
        instruction_limit: int = 0,
        finding_limit: int = 100,
        cooperative: bool = False,
    ) -> Report: ...
    def variable(self, name: str, dtype: Any = "uint8") -> Any: ...

def load(ptx: str | bytes | bytearray, file_name: str = "") -> Module: ...
def run(
    ptx: str | bytes | bytearray,
    name: str | None,
    grid: _Extents,
    block: _Extents,
    args: list[Any] | tuple[Any, ...],
    *,
    shared: int = 0,
    cluster: _Extents | None = None,
    schedule: Literal["fixed", "random"] = "fixed",
    seed: int = 0,
    checks: bool = True,
    counters: bool = True,
    threads: int = 0,
    instruction_limit: int = 0,
    finding_limit: int = 100,
    cooperative: bool = False,
) -> Report: ...
