"""The tests of this folder import its helpers: kernels with defects, programs recorded on a GPU."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "device"))
