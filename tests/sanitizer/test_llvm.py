"""`triton-san asan --llvm`: LLVM's own AddressSanitizer on kernels."""

import glob
import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 1.0)


@triton.jit
def masked(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1.0, mask=at < n)


elements = int(sys.argv[2])
globals()[sys.argv[1]][(2,)](np.zeros(elements, np.float32), 21, BLOCK=16)
print("reached")
"""


@pytest.fixture
def run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(*arguments, options=("asan", "--llvm")):
        command = [sys.executable, "-m", "nacre", "sanitize", *options, sys.executable, str(script), *arguments]
        # Names of functions in its report take LLVM's symbolizer long.
        chosen = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "symbolize=0"]))
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "ASAN_OPTIONS": chosen})

    return run


@pytest.mark.skipif(not glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-x86_64.so"), reason="LLVM's runtime is not installed")
@pytest.mark.parametrize("kernel, elements, is_fine", [("fill", "32", True), ("fill", "20", False), ("masked", "21", True), ("masked", "20", False)])
def test_blocks_of_memory(run, kernel, elements, is_fine):
    process = run(kernel, elements)
    assert (process.returncode == 0 and "reached" in process.stdout) == is_fine, process.stderr
    assert ("ERROR: AddressSanitizer: heap-buffer-overflow" in process.stderr) == (not is_fine)
    assert is_fine or "after 80-byte region" in process.stderr


@pytest.mark.parametrize("options", [("tsan", "--llvm"), ("asan", "--llvm", "--continue"), ("all", "--llvm")])
def test_it_is_asan_alone(run, options):
    process = run("fill", "32", options=options)
    assert process.returncode == 2 and "--llvm is asan alone" in process.stderr and "reached" not in process.stdout
