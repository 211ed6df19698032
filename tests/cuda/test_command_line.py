"""`nacre compile --target cuda:CAPABILITY`: every stage, for every GPU that the target knows."""

import shutil
import subprocess
import sys

import pytest

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)
"""
CAPABILITIES = (75, 80, 86, 89, 90, 100, 120)


@pytest.fixture
def compile_add(tmp_path):
    (tmp_path / "add.py").write_text(KERNEL)

    def run(*options):
        command = [sys.executable, "-m", "nacre", "compile", str(tmp_path / "add.py"), "--kernel", "add"]
        signature = ["--signature", "*fp32:16, *fp32:16, i32:16, BLOCK=1024"]
        return subprocess.run([*command, *signature, *options], capture_output=True, timeout=600)

    return run


@pytest.mark.parametrize("stage, text", [("tile", b"tile.kernel"), ("ttir", b"tile.kernel"), ("gpu", b"#simt.layout"), ("ttgir", b"#simt.layout"),
                                         ("llvm", b"ptx_kernel void @add"), ("llir", b"ptx_kernel void @add"), ("ptx", b".visible .entry add(")])  # fmt: skip
def test_each_stage_under_both_names(compile_add, stage, text):
    process = compile_add("--target", "cuda:90", "--emit", stage)
    assert process.returncode == 0 and text in process.stdout, process.stderr


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_ptxas_takes_the_code_of_each_gpu(compile_add, capability):
    if not shutil.which("ptxas"):
        pytest.skip("there is no ptxas here")
    process = compile_add("--target", f"cuda:{capability}", "--emit", "cubin", "--report")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith(b"\x7fELF")
    assert b"registers, 0 bytes spilled, 0 bytes of shared memory, 4 warps" in process.stderr


def test_ptx_is_the_default_and_accesses_are_wide(compile_add):
    process = compile_add("--target=cuda:80")
    assert process.returncode == 0 and b".target sm_80" in process.stdout, process.stderr
    assert b"ld.global.v4.b32" in process.stdout and b"st.global.v4.b32" in process.stdout


def test_what_is_not_there_is_named(compile_add):
    assert b"there is no target `rocm`; targets: cpu, cuda, hip" in compile_add("--target", "rocm").stderr
    assert b"stages: tile, gpu, gpu-scheduled, llvm, ptx, cubin" in compile_add("--target", "cuda:90", "--emit", "asm").stderr
    assert b"unknown GPU '42'" in compile_add("--target", "cuda:42").stderr
