"""Tests of torch.compile share compiled_programs.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
