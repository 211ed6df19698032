# What functions of the language give. No module when a program runs.

from typing import Any, Literal, TypeAlias

from ._tensor import tensor

# mypy gives a name the type of what it is first bound to: `total = 0.0` that a loop turns into a tile would be an error, and so would a number that
# follows a tile. Results are Any to mypy, then. Others follow a name from one binding to the next.
MYPY: Literal[False]  # mypy takes a name of this spelling for true
if MYPY:
    Tile: TypeAlias = Any
else:
    Tile: TypeAlias = tensor
