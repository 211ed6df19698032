"""Random kernels with one bug each, and their clean twins: the bug is found by the right sanitizer, at its line and for its argument, and nothing is found
in the twin. `python run_generated.py ENGINE FIRST COUNT FOLDER` runs others; a seed makes the same kernel everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
HERE = Path(__file__).parent


@pytest.mark.parametrize("engine, count", [("cpu", 62), ("interpreter", 31), ("simulator", 31)])
def test_every_bug_is_found_and_no_other(engine, count, tmp_path):
    command = [sys.executable, str(HERE / "run_generated.py"), engine, "0", str(count), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent / "python")}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{engine}: " in result.stdout and " 0 complaints" in result.stdout
