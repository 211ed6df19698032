"""Libraries of users that need NVIDIA's libdevice: it is looked for and linked then, and not before."""

import os

import pytest

LIBRARY = """
target triple = "nvptx64-nvidia-cuda"
declare float @__nv_sinhf(float)
define float @tripled_sinh(float %x) {
  %y = call float @__nv_sinhf(float %x)
  %z = fmul float %y, 3.0
  ret float %z
}
define float @plain(float %x) {
  ret float %x
}
"""
KERNEL = """
import numpy as np
import nacre
import nacre.language as tl
from nacre.language import core

@core.extern
def tripled_sinh(x, _semantic=None):
    return core.extern_elementwise("library", "library.ll", [x], {(core.dtype("fp32"),): ("tripled_sinh", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)

@core.extern
def plain(x, _semantic=None):
    return core.extern_elementwise("library", "library.ll", [x], {(core.dtype("fp32"),): ("plain", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)

@nacre.jit
def kernel(x, out, IS_PLAIN: tl.constexpr):
    offsets = tl.arange(0, 64)
    values = tl.load(x + offsets)
    tl.store(out + offsets, plain(values) if IS_PLAIN else tripled_sinh(values))

x = np.linspace(-3, 3, 64, dtype=np.float32)
out = np.zeros_like(x)
"""


@pytest.fixture
def run(run_script, tmp_path):
    (tmp_path / "library.ll").write_text(LIBRARY)
    return lambda text, **environment: run_script(KERNEL + text, NACRE_DEVICE="simulate", **environment)


def test_a_library_that_needs_libdevice(run, tmp_path):
    (tmp_path / "mine.ll").write_text('target triple = "nvptx64-nvidia-gpulibs"\ntarget datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"\n'
                                      "define internal float @twice(float %x) {\n  %y = fadd float %x, %x\n  ret float %y\n}\n"
                                      "define float @__nv_sinhf(float %x) {\n  %y = call float @twice(float %x)\n  ret float %y\n}\n"
                                      "define float @__nv_unused(float %x) {\n  ret float %x\n}\n")  # fmt: skip
    process = run("""
compiled = kernel[(1,)](x, out, False)
np.testing.assert_array_equal(out, 6 * x)
assert "__nv_" not in compiled.asm["ptx"]
""", TRITON_LIBDEVICE_PATH=str(tmp_path / "mine.ll"))  # fmt: skip
    assert process.returncode == 0, process.stderr


def test_libdevice_of_the_toolkit(run):
    if not os.path.exists("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc"):
        pytest.skip("there is no CUDA toolkit here")
    process = run("""
kernel[(1,)](x, out, False)
np.testing.assert_allclose(out, 3 * np.sinh(x), rtol=1e-6)
""")
    assert process.returncode == 0, process.stderr


def test_without_need_it_is_not_looked_for(run):
    process = run("""
kernel[(1,)](x, out, True)
assert (out == x).all()
""", TRITON_LIBDEVICE_PATH="/nowhere/libdevice.10.bc")  # fmt: skip
    assert process.returncode == 0, process.stderr


MINE = "define float @__nv_sinhf(float %x) {\n  %y = fadd float %x, %x\n  ret float %y\n}\n"


def test_the_content_of_libdevice_is_part_of_the_key(run, tmp_path):
    """A later process finds another file at the same path, as large and as old."""
    file = tmp_path / "mine.ll"
    for text, expected in ((MINE, "6 * x"), (MINE.replace("fadd", "fsub"), "0 * x"), (MINE, "6 * x")):
        file.write_text(text)
        os.utime(file, (1e9, 1e9))
        process = run(f"kernel[(1,)](x, out, False)\nnp.testing.assert_array_equal(out, {expected})", TRITON_LIBDEVICE_PATH=str(file))
        assert process.returncode == 0, process.stderr


def test_what_is_missing_is_said(run):
    process = run("""
kernel[(1,)](x, out, False)
""", TRITON_LIBDEVICE_PATH="/nowhere/libdevice.10.bc")  # fmt: skip
    assert "libdevice, `/nowhere/libdevice.10.bc`, cannot be read" in process.stderr, process.stderr
