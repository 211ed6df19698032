"""Tests of torch.compile share programs.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
