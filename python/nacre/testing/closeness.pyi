# assert_close: compares arrays and says where and how they differ.

from collections.abc import Callable
from typing import Any, TypeAlias

_Tolerance: TypeAlias = float | Callable[[Any], float] | None

def assert_close(x: Any, y: Any, atol: _Tolerance = None, rtol: _Tolerance = None, err_msg: str = "") -> None: ...
