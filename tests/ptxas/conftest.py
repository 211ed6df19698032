"""What ptxas makes of our PTX; skipped where there is no ptxas. `make test-ptxas` takes every kernel of the language tests."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
_cache = tempfile.TemporaryDirectory(prefix="nacre-ptxas-tests-")
os.environ.setdefault("TRITON_CACHE_DIR", _cache.name)

import nacre  # noqa: E402

nacre.activate()


@pytest.fixture(autouse=True)
def ptxas():
    if not shutil.which("ptxas"):
        pytest.skip("there is no ptxas here")
