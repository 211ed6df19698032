"""A debugger stops at a kernel's own line and shows its text."""

import os
import shutil
import subprocess
import sys

import pytest

SCRIPT = '''
import numpy as np
import nacre
import nacre.language as tl


@nacre.jit
def doubled_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.exp(x) * 2.0
    tl.store(out_ptr + offsets, y)


x = np.ones(256, np.float32)
out = np.empty_like(x)
doubled_kernel[(1,)](x, out, BLOCK=256)
print("right" if np.allclose(out, 2 * np.exp(1)) else "wrong")
'''


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("lines", [True, False])
def test_gdb_stops_at_a_line_of_the_kernel(tmp_path, lines):
    script = tmp_path / "debugged_kernel.py"
    script.write_text(SCRIPT)
    # gdb wants the program itself, not a virtual environment's link to it: so the modules' folders are handed over.
    folders = os.pathsep.join(folder for folder in sys.path if folder)
    environment = dict(os.environ, TRITON_CACHE_DIR=str(tmp_path / "cache"), NACRE_NUM_THREADS="1", PYTHONPATH=folders)
    if not lines:
        environment["TRITON_DISABLE_LINE_INFO"] = "1"
    line = 1 + SCRIPT.splitlines().index("    y = tl.exp(x) * 2.0")
    commands = ["set breakpoint pending on", f"break debugged_kernel.py:{line}", "run", "backtrace 1", "continue"]
    run = subprocess.run(
        ["gdb", "-batch", "-nx", *(f"-ex={command}" for command in commands), "--args",
         os.path.realpath(sys.executable), str(script)],
        capture_output=True, text=True, timeout=600, env=environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "right" in run.stdout, run.stdout + run.stderr
    stopped = f"doubled_kernel () at debugged_kernel.py:{line}" in run.stdout.replace(str(tmp_path) + "/", "")
    assert stopped == lines, run.stdout + run.stderr
    assert ("y = tl.exp(x) * 2.0" in run.stdout) == lines
