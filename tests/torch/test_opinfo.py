"""A sample of PyTorch's database of operators; `make test-opinfo` sweeps all of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch.testing's database of operators needs expecttest")
SWEEP = Path(__file__).with_name("opinfo.py")


def sweep(tmp_path, *arguments):
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "NACRE_CACHE_DIR": str(tmp_path / "cache"),
                   "TORCHINDUCTOR_COMPILE_THREADS": "1"}  # fmt: skip
    return subprocess.run([sys.executable, SWEEP, *arguments], capture_output=True, text=True, timeout=1500, env=environment)


def right(result):
    """How many samples were; none may be wrong."""
    assert result.returncode == 0, result.stdout + result.stderr[-2000:]
    return int(re.search(r"(\d+) right, 0 wrong", result.stdout)[1])


def test_a_sample_of_the_operators_agrees_with_eager(tmp_path):
    result = sweep(tmp_path, "--every", "48", "--from", "3", "--samples", "1", "--dtypes", "float32")
    assert right(result) > 8


@pytest.mark.parametrize("operator", ["index_put", "cumsum"])
def test_operators_that_were_once_wrong_or_slow_to_get_right(tmp_path, operator):
    result = sweep(tmp_path, "--only", operator, "--samples", "2", "--dtypes", "float32")
    assert right(result) > 0
