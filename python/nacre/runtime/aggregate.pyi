# Classes whose instances kernels make, pass around and call methods on.

from typing import TypeVar, dataclass_transform

_C = TypeVar("_C", bound=type)

@dataclass_transform()
def aggregate(cls: _C) -> _C: ...
