"""Linux' perf is told of kernels, and of their lines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import numpy as np
import nacre
import nacre.language as tl


@nacre.jit
def busy_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    for i in range(n):
        x = tl.sin(x) * 1.5
    tl.store(x_ptr + offsets, x)


busy_kernel[(32,)](np.ones(1024, np.float32), 4000, BLOCK=1024)
import os

print(os.getpid())
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    path = tmp_path / "busy_script.py"
    path.write_text(SCRIPT)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JITDUMPDIR", str(tmp_path))
    monkeypatch.setenv("NACRE_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folder for folder in sys.path if folder))
    return path


@pytest.mark.parametrize("told", [True, False])
def test_a_map_of_kernels(script, monkeypatch, told):
    monkeypatch.setenv("NACRE_PERF_MAP", str(int(told)))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600, check=True)
    path = Path(f"/tmp/perf-{done.stdout.strip()}.map")
    assert path.exists() == told
    if told:
        address, size, name = path.read_text().split()
        assert int(address, 16) > 0 and int(size, 16) > 0 and name == "busy_kernel"
        path.unlink()


def perf_works():
    if shutil.which("perf") is None:
        return False
    return subprocess.run(["perf", "record", "-q", "-o", os.devnull, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not perf_works(), reason="perf is not installed, or must not be used here")
def test_perf_attributes_time_to_lines(script, monkeypatch, tmp_path):
    monkeypatch.setenv("NACRE_PERF_MAP", "1")

    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True, cwd=tmp_path).stdout

    pid = run("perf", "record", "-q", "-k", "1", "-o", "perf.data", sys.executable, script).strip()
    assert "busy_kernel" in run("perf", "report", "-q", "--stdio", "-i", "perf.data")
    Path(f"/tmp/perf-{pid}.map").unlink()
    run("perf", "inject", "--jit", "-i", "perf.data", "-o", "lines.data")
    report = run("perf", "report", "-q", "--stdio", "-i", "lines.data", "--dsos", f"jitted-{pid}-0.so", "--sort", "symbol,srcline")
    line = 1 + SCRIPT.splitlines().index("        x = tl.sin(x) * 1.5")
    assert any("busy_kernel" in row and f"busy_script.py:{line}" in row for row in report.splitlines()), report
