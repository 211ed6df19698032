# Configurations, and the keys under which one is chosen.

from collections.abc import Callable, Iterable, Sequence
from typing import Any

class Config:
    kwargs: dict[str, Any]
    num_warps: int | None
    num_stages: int | None
    num_ctas: int | None
    maxnreg: int | None
    pre_hook: Callable[[dict[str, Any]], object] | None
    ir_override: str | None
    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int | None = 4,
        num_stages: int | None = 3,
        num_ctas: int | None = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], object] | None = None,
        ir_override: str | None = None,
    ) -> None: ...
    def all_kwargs(self) -> dict[str, Any]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

class Bucket:
    name: str
    of: Callable[[Any], Any]
    def __init__(self, name: str, by: float | Sequence[float] | Callable[[Any], Any] | None) -> None: ...

def identity(config: Config) -> str: ...
def bucket(name: str, by: float | Sequence[float] | Callable[[Any], Any] | None = None) -> Bucket: ...
def key_names(key: Iterable[str | Bucket]) -> list[str]: ...
