# Sessions of the profiler.

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, overload

from .hooks.hook import Hook
from .mode import BaseMode

_F = TypeVar("_F", bound=Callable[..., Any])
_Context: TypeAlias = Literal["shadow", "python"]
_Data: TypeAlias = Literal["tree", "trace"]
_Backend: TypeAlias = Literal["cpu", "cupti", "instrumentation"]

DEFAULT_PROFILE_NAME: str

def start(
    name: str | None = None,
    *,
    context: _Context = "shadow",
    data: _Data = "tree",
    backend: _Backend | None = None,
    mode: str | BaseMode | None = None,
    hook: Literal["triton"] | Hook | None = None,
) -> int | None: ...
def activate(session: int | None = None) -> None: ...
def deactivate(session: int | None = None, flushing: bool = False) -> None: ...
def flush_phase(session: int, phase: int) -> None: ...
def finalize(session: int | None = None, output_format: Literal["", "hatchet", "hatchet_msgpack", "chrome_trace"] = "") -> None: ...
@overload
def profile(
    func: _F,
    *,
    name: str | None = None,
    context: _Context = "shadow",
    data: _Data = "tree",
    backend: _Backend | None = None,
    mode: str | BaseMode | None = None,
    hook: Literal["triton"] | Hook | None = None,
) -> _F: ...
@overload
def profile(
    func: None = None,
    *,
    name: str | None = None,
    context: _Context = "shadow",
    data: _Data = "tree",
    backend: _Backend | None = None,
    mode: str | BaseMode | None = None,
    hook: Literal["triton"] | Hook | None = None,
) -> Callable[[_F], _F]: ...
