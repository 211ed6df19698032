"""The `nacre` program of C++: compiling kernels without Python."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "cli" / "nacre"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the nacre program is not built")

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr = 128):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.static_print("compiling", BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

@triton.jit
def wrong(x):
    tl.store(x, unknown)
"""
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32"


def nacre(*args):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)


@pytest.fixture
def kernels(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.mark.parametrize("stage, text", [("tile", "tile.load"), ("cpu", "func.func"), ("llvm", "define"), ("asm", "add")])
def test_stages(kernels, stage, text):
    result = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE, "--target", "cpu", f"--emit={stage}")
    assert result.returncode == 0, result.stderr
    assert text in result.stdout and result.stderr == "compiling 128\n"


def test_object_code_of_another_cpu(kernels, tmp_path):
    out = tmp_path / "add.o"
    result = nacre("compile", kernels, "--kernel", "add", "--signature", "*fp32,*fp32,*fp32,n=i32,BLOCK=64", "--emit", "obj",
                   "--cpu", "skylake-avx512", "-o", out)  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert out.read_bytes()[:4] == b"\x7fELF"
    assembly = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE, "--cpu", "skylake-avx512").stdout
    assert "zmm" in assembly
    assembly = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE, "--cpu", "haswell").stdout
    assert "ymm" in assembly and "zmm" not in assembly


@pytest.mark.parametrize("args, status, text", [
    ((), 2, "no file"), (("--kernel",), 2, "needs a value"), (("k.py", "--kernel", "add", "--emit", "ptx"), 2, "no stage"),
    (("k.py", "--kernel", "add", "--target", "tpu"), 2, "no target"), (("k.py", "--frob"), 2, "no option"), (("/no/file.py", "--kernel", "add"), 1, "/no/file.py"),
])  # fmt: skip
def test_wrong_use(args, status, text):
    result = nacre("compile", *args)
    assert result.returncode == status and text in result.stderr


def test_the_only_kernel_of_a_file_needs_no_name(kernels, tmp_path):
    several = nacre("compile", kernels, "--signature", SIGNATURE)
    assert several.returncode == 2 and "--kernel is missing; the functions of" in several.stderr and "add" in several.stderr
    one, none = tmp_path / "one.py", tmp_path / "none.py"
    one.write_text("import triton\n\ndef helper():\n    pass\n\n@triton.jit\ndef nothing(x):\n    return\n")
    none.write_text("def helper():\n    pass\n")
    assert "@nothing" in nacre("compile", one, "--signature", "*fp32", "--emit", "tile").stdout
    result = nacre("compile", none)
    assert result.returncode == 2 and "no function of" in result.stderr


@pytest.mark.parametrize("kernel, signature, text", [
    ("wrong", "*fp32", "unknown"), ("missing", "", "there is no function `missing`"), ("add", "*fp32", "`y` is missing"),
    ("add", SIGNATURE + ", 1, 2", "more than its 5 parameters"), ("add", "*fp32:3,*fp32,*fp32,i32", "power of two"),
    ("add", "what,*fp32,*fp32,i32", "neither a type nor a constant"),
])  # fmt: skip
def test_errors(kernels, kernel, signature, text):
    result = nacre("compile", kernels, "--kernel", kernel, "--signature", signature)
    assert result.returncode == 1 and text in result.stderr and not result.stdout


def test_a_type_in_a_constants_place_is_said(kernels):
    result = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE + ", i32")
    assert result.returncode == 1
    assert "note: `BLOCK` is a constexpr, and the signature gives it a type, not a value: BLOCK=128 gives it one\n" in result.stderr


def test_info_and_version():
    assert "targets: cpu" in nacre("info").stdout and "runtime.num_threads" in nacre("info").stdout
    assert nacre("--version").stdout.startswith("nacre ")
    assert nacre().returncode == 2 and nacre("--help").returncode == 0
    for words in ((), ("info",), ("compile",)):
        wrong = nacre(*words, "--frob")
        assert wrong.returncode == 2 and "--frob" in wrong.stderr and f"{' '.join(['nacre', *words])} --help shows" in wrong.stderr
        assert wrong.stderr.count("\n") == 2 and wrong.stdout == ""
        asked = nacre(*words, "--help")
        assert asked.returncode == 0 and asked.stdout.startswith("usage: nacre") and asked.stderr == ""


def test_a_full_disk_is_reported(kernels):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    result = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE, "-o", "/dev/full")
    assert result.returncode == 1 and "No space left" in result.stderr


def test_the_same_code_as_from_python(kernels):
    """A kernel's machine code does not depend on who asked for it."""
    import importlib.util

    kernels.write_text(KERNELS.replace("import triton", "import nacre").replace("nacre\nimport", "nacre as triton\nimport"))
    spec = importlib.util.spec_from_file_location("kernels", kernels)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = np.zeros(1024, np.float32)
    x = x[(-x.ctypes.data // 4) % 4:]
    compiled = module.add[(1,)](x, x, x, 100)
    text = nacre("compile", kernels, "--kernel", "add", "--signature", SIGNATURE, "--emit", "tile").stdout
    assert [line.split(" loc(")[0] for line in compiled.asm["tile"].splitlines()] == [line.split(" loc(")[0] for line in text.splitlines()]


EXTERNAL = """
import triton
import triton.language as tl
from triton.language import core

FOLDER = "{folder}"
LIBRARY = FOLDER + "/halves.{kind}"

@core.extern
def half(x, _semantic=None):
    table = {{(core.dtype("fp32"),): ("half", core.dtype("fp32"))}}
    return core.extern_elementwise("halves", LIBRARY, [x], table, is_pure=True, _semantic=_semantic)

@triton.jit
def kernel(x_ptr):
    offsets = tl.arange(0, 64)
    tl.store(x_ptr + offsets, half(tl.load(x_ptr + offsets)))
"""


def test_functions_of_a_library_without_python(tmp_path):
    (tmp_path / "halves.ll").write_text("define float @half(float %x) {\n  %y = fmul float %x, 5.0e-1\n  ret float %y\n}\n")
    path = tmp_path / "kernel.py"
    path.write_text(EXTERNAL.format(folder=tmp_path, kind="ll"))
    result = nacre("compile", path, "--kernel", "kernel", "--signature", "*fp32", "--emit", "llvm")
    assert result.returncode == 0, result.stderr
    assert "fmul" in result.stdout and "call float" not in result.stdout


@pytest.mark.skipif(not shutil.which("clang-22"), reason="clang compiles the library")
def test_object_code_cannot_hold_a_shared_library(tmp_path):
    (tmp_path / "halves.c").write_text("float half(float x) { return x / 2; }")
    subprocess.run(["clang-22", "-shared", "-fPIC", tmp_path / "halves.c", "-o", tmp_path / "halves.so"], check=True)
    path = tmp_path / "kernel.py"
    path.write_text(EXTERNAL.format(folder=tmp_path, kind="so"))
    for kind in ("obj", "c"):
        result = nacre("compile", path, "--kernel", "kernel", "--signature", "*fp32", "--emit", kind, "-o", tmp_path / "out")
        assert result.returncode == 1 and "halves.so`, which cannot be part of" in result.stderr
        assert "give the library as LLVM bitcode or IR" in result.stderr
