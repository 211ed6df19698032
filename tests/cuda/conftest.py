"""Tests of the CUDA target and its devices on a machine without a GPU: the simulated device, and a driver that is none (the
mock of runtime/test/MockCudaDriver.cpp). Each script runs in a process of its own: a device is chosen once."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run_script(tmp_path):
    """run_script(text, **environment) -> the finished process, whose stdout and stderr are text."""

    def run(text, **environment):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        variables = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), **environment}
        return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=variables, timeout=600, cwd=tmp_path)

    return run


@pytest.fixture
def mock_driver():
    """The path of the mock of NVIDIA's driver."""
    build = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build"))
    for path in (build / "runtime" / "test").glob("libnacre_mock_cuda.*"):
        return str(path)
    pytest.skip("the mock driver is not built")
