"""What `nacre compile` says about a signature that does not fit the kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = """
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr = 16):
    tl.store(x_ptr, n)
"""
HINT = "hint: one entry for each of (x_ptr, n, BLOCK): a type such as i32, fp32, *fp16 or *fp32:16, or a constant"


@pytest.mark.parametrize("signature, message", [
    ("*fp33,i32", "`*fp33` is neither a type nor a constant"),
    ("*fp32", "`n` is missing"),
    ("*fp32,i32,16,4", "`4` is more than its 3 parameters"),
    ("*fp32:3,i32", "`3` in `*fp32:3` is not a power of two"),
    ("y=*fp32,i32", "there is no parameter `y`"),
    ("*fp32,x_ptr=i32", "`x_ptr` is given twice"),
])  # fmt: skip
def test_signature(tmp_path, signature, message):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    command = [sys.executable, "-m", "nacre", "compile", file, "--kernel", "kernel", "--signature", signature, "--emit", "tile"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].endswith(f"error: the signature of `kernel`: {message}")
    assert HINT in lines
