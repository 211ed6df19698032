"""`import triton` in processes that one with the alias starts: its folder leads their search path (see nacre/_alias.py)."""

import os
import sys

try:
    import nacre  # noqa: F401
except ModuleNotFoundError:  # the parent found it in a place that only the parent knows
    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))

from nacre._alias import replace_triton

replace_triton()
