"""The programs of triton-viz."""

import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets * STEP, tl.load(x + offsets, mask=offsets < n))

STEP: tl.constexpr = tl.constexpr({step})
x = np.ones(24, np.float32)
copy[(3,)](x, np.zeros({size}, np.float32), 24, BLOCK=8)
print("end")
"""


@pytest.fixture
def run(tmp_path):
    def program(name, *arguments, text=None):
        script = tmp_path / "script.py"
        if text is not None:
            script.write_text(text)
            arguments = (str(script), *arguments)
        call = f"import sys; sys.argv[0] = {name!r}; from nacre.viz.triton_viz import _programs; sys.exit(_programs.{name}())"
        return subprocess.run([sys.executable, "-c", call, *arguments], capture_output=True, text=True, timeout=600, cwd=tmp_path)

    return program


def test_sanitizer(run):
    clean = run("sanitizer", text=SCRIPT.format(step=1, size=24))
    assert clean.returncode == 0 and clean.stdout == "end\n", clean.stderr
    process = run("sanitizer", text=SCRIPT.format(step=1, size=20))
    assert process.returncode == 1 and "ERROR: AddressSanitizer: heap-buffer-overflow" in process.stderr and "end" not in process.stdout


def test_race_detector(run):
    process = run("race_detector", text=SCRIPT.format(step=0, size=20))
    assert process.returncode == 66 and "WARNING: ThreadSanitizer: data race" in process.stderr and process.stdout == "end\n"


def test_profiler(run):
    process = run("profiler", text=SCRIPT.format(step=1, size=24))
    assert process.returncode == 0 and "copy" in process.stdout and "end" in process.stdout, process.stderr


def test_scripts_that_trace_are_refused(run):
    traced = "import triton_viz\n" + SCRIPT.format(step=1, size=24).replace("copy[(3,)]", "triton_viz.trace(copy)[(3,)]")
    process = run("sanitizer", text=traced)
    assert process.returncode != 0 and "looks at every kernel by itself" in process.stderr


def test_usage(run):
    for name in ("sanitizer", "race_detector", "profiler", "visualizer"):
        assert run(name).returncode == 1 and "usage: nacre-triton-" in run(name, "--help").stdout


def test_visualizer(run, tmp_path, monkeypatch):
    import triton
    import triton.language as tl
    import triton_viz

    @triton.jit
    def double(x, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, 2 * tl.load(x + offsets))

    triton_viz.clear()
    triton_viz.trace(double)[(1,)](np.ones(8, np.float32), BLOCK=8)
    triton_viz.save(str(tmp_path / "launches.tvz"))
    triton_viz.clear()
    process = run("visualizer", str(tmp_path / "launches.tvz"), "--port", "5001", "--no-block")
    assert process.returncode == 0, process.stderr
    assert "double" in (tmp_path / "launches.html").read_text()
    assert run("visualizer", "nothing.tvz").returncode == 2 and run("visualizer", "--what", "x.tvz").returncode == 2
