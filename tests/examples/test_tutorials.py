"""Programs of the shape of Triton's tutorials 01 to 09, each in a process of its own through `nacre run`: on a GPU where there is
one, with larger sizes, else on the CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
TUTORIALS = sorted((Path(__file__).parent / "tutorials").glob("t0*.py"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path, tmp_path):
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    process = subprocess.run([sys.executable, "-m", "nacre", "run", str(path)], env=environment, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr[-4000:]
