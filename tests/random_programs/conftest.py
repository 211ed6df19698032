"""Random programs run on the engines of the language tests."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "language"))

_cache = tempfile.TemporaryDirectory(prefix="nacre-random-programs-")
os.environ["TRITON_CACHE_DIR"] = _cache.name

import nacre  # noqa: E402

nacre.activate()
