"""Looking at the passes: the IR after each that changed it, and what a failing one leaves behind."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NACRE_OPT = pathlib.Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "cli" / "nacre-opt"

SCRIPT = '''
import numpy as np
import nacre
import nacre.language as tl


@nacre.jit
def plain_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


@nacre.jit
def follow(a, b):
    return tl.load(a.to(tl.pointer_type(tl.int64))) + b


@nacre.jit
def following_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.reduce(tl.arange(0, BLOCK).to(tl.int64), 0, follow))


x = np.zeros(64, np.int32)
plain_kernel[(1,)](x, BLOCK=64)
try:
    following_kernel[(1,)](x, BLOCK=64)
except nacre.CompilationError as error:
    print(error)
'''


@pytest.fixture
def run(tmp_path):
    script = tmp_path / "passes.py"
    script.write_text(SCRIPT)

    def run(**variables):
        environment = dict(os.environ, TRITON_CACHE_DIR=str(tmp_path / "cache"), **variables)
        return subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=600)

    return run


def test_passes_are_shown_when_they_change_something(run):
    shown = run(MLIR_ENABLE_DUMP="1").stderr
    assert "// ---- after lower-to-loops: " in shown
    assert "tile.load" in shown and "llvm.func @plain_kernel" in shown
    unchanged = next(line for line in shown.splitlines() if "after scalarize-carried" in line)
    assert unchanged.endswith("ms, no change")
    assert run().stderr == ""


@pytest.mark.skipif(not NACRE_OPT.exists(), reason="nacre-opt is not built")
def test_a_failing_pass_can_be_run_again(run, tmp_path):
    told = run().stdout
    assert "only elementwise operations" in told and "TRITON_REPRODUCER_PATH" in told
    path = tmp_path / "failed.mlir"
    told = run(TRITON_REPRODUCER_PATH=str(path)).stdout
    assert f"nacre-opt --run-reproducer {path}" in told
    again = subprocess.run([NACRE_OPT, "--run-reproducer", path], capture_output=True, text=True, timeout=600)
    assert again.returncode != 0 and "only elementwise operations" in again.stderr


def test_an_error_of_the_target_shows_the_kernels_line(run):
    told = run().stdout
    line = 1 + SCRIPT.splitlines().index("    return tl.load(a.to(tl.pointer_type(tl.int64))) + b")
    assert f"passes.py:{line}:12: error: the CPU target failed in lowering to loops: " in told
    assert "\n    return tl.load(a.to(tl.pointer_type(tl.int64))) + b\n           ^\n" in told
    caller = "    tl.store(x_ptr, tl.reduce(tl.arange(0, BLOCK).to(tl.int64), 0, follow))"
    assert f"passes.py:{1 + SCRIPT.splitlines().index(caller)}\n{caller}\n" in told
