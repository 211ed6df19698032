"""extern_elementwise: functions of a library of the user's own, as LLVM IR or bitcode, objects, static and shared libraries.

Libraries are made from LLVM IR text, which needs no compiler; the other kinds are compiled from C by clang. A GPU takes IR alone.
"""

import os
import shutil
import subprocess

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language import core

pytestmark = pytest.mark.ours("Triton's interpreter has no extern_elementwise")

CLANG = shutil.which("clang-22") or shutil.which("clang") or "/usr/lib/llvm-22/bin/clang"
needs_clang = pytest.mark.skipif(not os.path.exists(CLANG), reason="clang compiles the library")

IR = """
define float @halved_sum(float %a, float %b) {
  %sum = call float @plus(float %a, float %b)
  %half = fmul float %sum, 5.0e-1
  ret float %half
}
define internal float @plus(float %a, float %b) {
  %sum = fadd float %a, %b
  ret float %sum
}
define double @halved_sum_double(double %a, double %b) {
  %sum = fadd double %a, %b
  %half = fmul double %sum, 5.0e-1
  ret double %half
}
define i32 @unused() {
  ret i32 7
}
"""

C = """
#include <math.h>
float halved_sum(float a, float b) { return (a + b) * 0.5f; }
double halved_sum_double(double a, double b) { return hypot(a, b) * 0.0 + (a + b) * 0.5; }
int small(signed char a, unsigned short b, _Bool c) { return a * 1000 + b + c; }
static int counter_base = 40;
int counted(void) { return counter_base + 2; }
long element(const int *pointer, long index) { return pointer[index]; }
"""


@core.extern
def halved_sum(a, b, path, _semantic=None):
    return core.extern_elementwise(
        "halves", path, [a, b], {
            (core.dtype("fp32"), core.dtype("fp32")): ("halved_sum", core.dtype("fp32")),
            (core.dtype("fp64"), core.dtype("fp64")): ("halved_sum_double", core.dtype("fp64")),
        }, is_pure=True, _semantic=_semantic)  # fmt: skip


@triton.jit
def halves_kernel(x_ptr, y_ptr, out_ptr, PATH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, halved_sum(tl.load(x_ptr + offsets), tl.load(y_ptr + offsets), PATH))


def write(path, text):
    path.write_text(text)
    return str(path)


def compile_c(engine, folder, kind, text=C, name="library"):
    if engine.is_cuda:
        if kind not in ("bc", "ll"):
            pytest.skip("a GPU takes IR alone")
        text = text.replace("#include <math.h>\n", "").replace("hypot(a, b) * 0.0 + ", "")
    source = write(folder / f"{name}.c", text)
    target = folder / f"{name}.{kind}"
    flags = {"bc": ["-c", "-emit-llvm"], "ll": ["-S", "-emit-llvm"], "o": ["-c"], "a": ["-c"], "so": ["-shared"]}[kind]
    compiled = folder / f"{name}.o" if kind == "a" else target
    machine = ["--target=nvptx64-nvidia-cuda", "-nogpulib"] if engine.is_cuda else ["-fPIC"]
    subprocess.run([CLANG, "-O1", *machine, *flags, source, "-o", compiled], check=True, capture_output=True)
    if kind == "a":
        archiver = shutil.which("llvm-ar-22") or shutil.which("ar") or "/usr/lib/llvm-22/bin/llvm-ar"
        subprocess.run([archiver, "rcs", target, compiled], check=True, capture_output=True)
    return str(target)


def check_halves(engine, rng, path, name="float32", count=100):
    x, y = rng.standard_normal((2, count)).astype(name)
    out = engine.empty(count, name)
    halves_kernel[(1,)](engine.array(x), engine.array(y), out, path, count)
    np.testing.assert_array_equal(engine.numpy(out), (x + y) * np.asarray(0.5, name))


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_ir_text(engine, rng, tmp_path, name):
    check_halves(engine, rng, write(tmp_path / "halves.ll", IR), name)


@needs_clang
@pytest.mark.parametrize("kind", ["bc", "ll", "o", "a", "so"])
def test_every_kind_of_library(engine, rng, tmp_path, kind):
    path = compile_c(engine, tmp_path, kind)
    check_halves(engine, rng, path)
    check_halves(engine, rng, path, "float64", 37)


def test_shapes_and_numbers_are_brought_together(engine, rng, tmp_path):
    @triton.jit
    def kernel(x_ptr, out_ptr, scalar_ptr, PATH: tl.constexpr):
        rows, columns = tl.arange(0, 4)[:, None], tl.arange(0, 8)[None, :]
        x = tl.load(x_ptr + columns)
        tl.store(out_ptr + rows * 8 + columns, halved_sum(x, rows.to(tl.float32), PATH))
        tl.store(scalar_ptr, halved_sum(3.0, 5.0, PATH))

    x = rng.standard_normal(8).astype("float32")
    out, scalar = engine.empty((4, 8), "float32"), engine.empty(1, "float32")
    kernel[(1,)](engine.array(x), out, scalar, write(tmp_path / "halves.ll", IR))
    np.testing.assert_array_equal(engine.numpy(out), (x[None, :] + np.arange(4, dtype="float32")[:, None]) * np.float32(0.5))
    assert engine.numpy(scalar)[0] == 4


@core.extern
def small(a, b, c, path, _builder=None):
    key = (core.dtype("int8"), core.dtype("uint16"), core.dtype("int1"))
    return core.extern_elementwise("small", path, [a, b, c], {key: ("small", core.dtype("int32"))}, True, _builder=_builder)


@needs_clang
@pytest.mark.parametrize("kind", ["bc", "o", "so"])
def test_narrow_integers_and_bools(engine, rng, tmp_path, kind):
    @triton.jit
    def kernel(a_ptr, b_ptr, out_ptr, PATH: tl.constexpr):
        offsets = tl.arange(0, 64)
        a, b = tl.load(a_ptr + offsets), tl.load(b_ptr + offsets)
        tl.store(out_ptr + offsets, small(a, b, a > 0, PATH))

    a, b = rng.integers(-128, 128, 64).astype("int8"), rng.integers(0, 65536, 64).astype("uint16")
    out = engine.empty(64, "int32")
    kernel[(1,)](engine.array(a), engine.array(b), out, compile_c(engine, tmp_path, kind))
    np.testing.assert_array_equal(engine.numpy(out), a.astype("int32") * 1000 + b + (a > 0))


TABLE = {(tl.int64, tl.int64): ("nothing", tl.int64)}
POINTERS = {(tl.pointer_type(tl.int32), tl.int64): ("element", tl.int64)}


@core.extern
def element(pointer, index, path, _semantic=None):
    return core.extern_elementwise("pointers", path, [pointer, index], POINTERS, is_pure=False, _semantic=_semantic)


@core.extern
def counted(path, _semantic=None):
    return core.extern_elementwise("counter", path, [], {(): ("counted", core.dtype("int32"))}, is_pure=True, _semantic=_semantic)


@needs_clang
@pytest.mark.parametrize("kind", ["bc", "so"])
def test_pointers_and_no_arguments(engine, tmp_path, kind):
    @triton.jit
    def kernel(x_ptr, out_ptr, PATH: tl.constexpr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, element(x_ptr + offsets, (offsets % 2).to(tl.int64), PATH))
        tl.store(out_ptr + 16, counted(PATH))

    x = np.arange(100, 117, dtype="int32")
    out = engine.empty(17, "int64")
    kernel[(1,)](engine.array(x), out, compile_c(engine, tmp_path, kind))
    expected = x[np.arange(16) + np.arange(16) % 2]
    np.testing.assert_array_equal(engine.numpy(out), [*expected, 42])


@pytest.mark.parametrize("kind", ["ll", pytest.param("o", marks=needs_clang), pytest.param("so", marks=needs_clang)])
def test_a_library_built_anew_means_a_new_compile(engine, tmp_path, kind):
    def build(factor):
        if kind == "ll":
            return write(tmp_path / "halves.ll", IR.replace("5.0e-1", f"{factor:.1f}"))
        return compile_c(engine, tmp_path, kind, C.replace("0.5f", f"{factor:.1f}f"))

    ones = engine.array(np.ones(16, "float32"))
    for factor in (1.0, 2.0, 1.0, 4.0):
        out = engine.empty(16, "float32")
        halves_kernel[(1,)](ones, ones, out, build(factor), 16)
        assert engine.numpy(out)[0] == 2 * factor


def test_two_libraries_with_one_name(engine, tmp_path):
    @triton.jit
    def halved_sum_kernel(x_ptr, out_ptr, FIRST: tl.constexpr, SECOND: tl.constexpr):
        offsets = tl.arange(0, 16)
        x = tl.load(x_ptr + offsets)
        tl.store(out_ptr + offsets, halved_sum(x, x, FIRST) * 100 + halved_sum(x, x, SECOND))

    first, second = write(tmp_path / "a.ll", IR), write(tmp_path / "b.ll", IR.replace("5.0e-1", "2.0"))
    out = engine.empty(16, "float32")
    halved_sum_kernel[(1,)](engine.array(np.ones(16, "float32")), out, first, second)
    assert engine.numpy(out).tolist() == [104.0] * 16


def test_bitcode_becomes_part_of_the_kernel(tmp_path):
    path = write(tmp_path / "halves.ll", IR)
    x = np.ones(64, "float32")
    compiled = halves_kernel[(1,)](x, x, np.empty_like(x), path, 64)
    text = compiled.asm["llir"]
    assert "call float" not in text and "unused" not in text
    assert "fmul <" in text  # vectors


@core.extern
def missing(x, path, _semantic=None):
    return core.extern_elementwise("lib", path, [x], {(core.dtype("fp32"), ): ("absent", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)


@triton.jit
def missing_kernel(x_ptr, out_ptr, PATH: tl.constexpr):
    tl.store(out_ptr, missing(tl.load(x_ptr), PATH))


@pytest.mark.parametrize("text, message", [
    (IR, r"has no function `absent`; it defines halved_sum, halved_sum_double, unused"),
    (IR + "\ndefine double @absent(double %x) { ret double %x }", r"`absent` of .* is double \(double\), and .* says float \(float\)"),
    ('target triple = "aarch64-unknown-linux-gnu"\n' + IR, "is made for aarch64-unknown-linux-gnu, and this kernel for (x86_64|nvptx64)"),
    ('target datalayout = "e-p:32:32"\n' + IR, "lays its data out in another way"),
    ("define float @absent(", r"cannot be read \(line 1\)"),
    (IR + "\ndeclare float @from_nowhere(float)\ndefine float @absent(float %x) {\n  %y = call float @from_nowhere(float %x)\n  ret float %y\n}",
     "needs `from_nowhere`, which neither it nor (this process|the GPU) has"),
])  # fmt: skip
def test_what_is_wrong_with_a_library_is_said_at_its_line(engine, tmp_path, text, message):
    x = engine.array(np.ones(1, "float32"))
    with pytest.raises(Exception, match=message) as failure:
        missing_kernel[(1,)](x, engine.empty(1, "float32"), write(tmp_path / "bad.ll", text))
    if engine.name == "cpu":
        assert "core.extern_elementwise" in str(failure.value) and "^" in str(failure.value)


def test_a_library_of_the_other_machine(engine, tmp_path):
    """Bitcode as clang and NVIDIA make it for a GPU, of this and other versions, or as clang makes it for the host."""
    gpu = [
        'target triple = "nvptx64-nvidia-cuda"\ntarget datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"\n',
        'target triple = "nvptx64-nvidia-gpulibs"\ntarget datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"\n',
    ]
    host = ['target triple = "x86_64-unknown-linux-gnu"\n']
    ones = engine.array(np.ones(16, "float32"))
    for number, head in enumerate(gpu + host):
        out = engine.empty(16, "float32")
        path = write(tmp_path / f"{number}.ll", head + IR)
        if (head in gpu) == engine.is_cuda:
            halves_kernel[(1,)](ones, ones, out, path, 16)
            assert (engine.numpy(out) == 1).all()
        else:
            with pytest.raises(Exception, match="is made for (nvptx64|x86_64).*, and this kernel for (x86_64|nvptx64)"):
                halves_kernel[(1,)](ones, ones, out, path, 16)


@needs_clang
def test_a_gpu_takes_no_machine_code(engine, tmp_path):
    if not engine.is_cuda:
        pytest.skip("this is about GPUs")
    source = write(tmp_path / "library.c", C)
    subprocess.run([CLANG, "-O1", "-c", source, "-o", str(tmp_path / "library.o")], check=True, capture_output=True)
    ones = engine.array(np.ones(16, "float32"))
    with pytest.raises(Exception, match="machine code of this computer, which a GPU cannot run"):
        halves_kernel[(1,)](ones, ones, engine.empty(16, "float32"), str(tmp_path / "library.o"), 16)


@needs_clang
@pytest.mark.parametrize("kind", ["o", "so", "a"])
def test_a_symbol_that_machine_code_lacks(engine, tmp_path, kind):
    x = engine.array(np.ones(1, "float32"))
    with pytest.raises(Exception, match="has no function `absent`; it defines counted, element"):
        missing_kernel[(1,)](x, engine.empty(1, "float32"), compile_c(engine, tmp_path, kind))


def test_files_that_are_no_libraries(engine, tmp_path):
    x, out = engine.array(np.ones(1, "float32")), engine.empty(1, "float32")
    with pytest.raises(Exception, match="cannot read the library `.*nowhere.so`: No such file"):
        missing_kernel[(1,)](x, out, str(tmp_path / "nowhere.so"))
    with pytest.raises(Exception, match="is no library that a kernel can use"):
        missing_kernel[(1,)](x, out, write(tmp_path / "text.txt", "hello"))
    with pytest.raises(Exception, match="`lib_path` is empty, so there is no library with `absent`"):
        missing_kernel[(1,)](x, out, "")


def test_types_that_are_not_in_the_table(engine, tmp_path):
    x = engine.array(np.ones(16, "int32"))
    with pytest.raises(Exception, match=r"no function for \(int32, int32\)") as failure:
        halves_kernel[(1,)](x, x, x, write(tmp_path / "halves.ll", IR), 16)
    assert "(fp32, fp32), (fp64, fp64)" in str(failure.value)


@core.extern
def hyperbolic(x, _semantic=None):
    return core.extern_elementwise("libdevice", "", [x], {(core.dtype("fp32"), ): ("__nv_tanhf", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)


def test_names_of_libdevice_without_a_library(engine, rng):
    @triton.jit
    def kernel(x_ptr, out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, hyperbolic(tl.load(x_ptr + offsets)))

    x = rng.standard_normal(16).astype("float32")
    out = engine.empty(16, "float32")
    kernel[(1,)](engine.array(x), out)
    np.testing.assert_allclose(engine.numpy(out), np.tanh(x), rtol=1e-6)


def test_what_a_library_may_do_through_a_pointer(tmp_path):
    """An argument whose pointer goes to a library, or into a function of single elements, counts as read and written."""

    @triton.jit
    def first(pointer, x):
        if x > 2:
            tl.store(pointer, x)
        return x

    @triton.jit
    def kernel(x_ptr, mapped_ptr, out_ptr, PATH: tl.constexpr):
        offsets = tl.arange(0, 8)
        tl.store(out_ptr + offsets, element(x_ptr + offsets, offsets.to(tl.int64), PATH))
        tl.map_elementwise(first, mapped_ptr + offsets, offsets)

    path = write(tmp_path / "element.ll", "define i64 @element(ptr %p, i64 %i) {\n  ret i64 %i\n}\n")
    x = np.zeros(8, "int32")
    compiled = kernel[(1,)](x, x.copy(), np.zeros(8, "int64"), path)
    assert tuple(compiled._native.access) == (0b001, 0b111)


@needs_clang
@pytest.mark.parametrize("kind", ["o", "a"])
def test_code_that_cannot_be_loaded(engine, tmp_path, kind):
    """Without -fPIC a table is addressed by 32 bits; a function that nobody has is named."""
    text = """
    static const float table[4] = {1, 2, 4, 8};
    float halved_sum(float a, float b) { return table[(int)a & 3]; }
    double from_nowhere(double);
    double halved_sum_double(double a, double b) { return from_nowhere(a); }
    """
    source, compiled = write(tmp_path / "bad.c", text), str(tmp_path / "bad.o")
    subprocess.run([CLANG, "-O1", "-fno-pic", "-c", source, "-o", compiled], check=True, capture_output=True)
    path = compiled
    if kind == "a":
        path = str(tmp_path / "bad.a")
        archiver = shutil.which("llvm-ar-22") or shutil.which("ar") or "/usr/lib/llvm-22/bin/llvm-ar"
        subprocess.run([archiver, "rcs", path, compiled], check=True, capture_output=True)
    ones = engine.array(np.ones(16, "float32"))
    with pytest.raises(Exception, match=rf"bad.{kind}` cannot be loaded: .*from_nowhere|(?s:out of range.*-fPIC)"):
        halves_kernel[(1,)](ones, ones, engine.empty(16, "float32"), path, 16)


# The launch option extern_libs


def test_libraries_named_at_the_launch(engine, rng, tmp_path):
    x, y = rng.standard_normal((2, 16)).astype("float32")
    first = write(tmp_path / "first.ll", IR)
    second = write(tmp_path / "second.ll", IR.replace("5.0e-1", "2.5e-1"))
    for libraries, factor in [({"halves": first}, 0.5), ((("halves", second),), 0.25), ({"other": first, "halves": tmp_path / "first.ll"}, 0.5)]:
        out = engine.empty(16, "float32")
        halves_kernel[(1,)](engine.array(x), engine.array(y), out, "", 16, extern_libs=libraries)
        np.testing.assert_array_equal(engine.numpy(out), (x + y) * np.float32(factor))


def test_a_library_that_is_not_named_at_the_launch(engine):
    x = engine.array(np.zeros(16, "float32"))
    for options in {}, {"extern_libs": {"other": "other.ll"}}, {"extern_libs": None}:
        with pytest.raises(triton.CompilationError, match="there is no library with `halved_sum`") as error:
            halves_kernel[(1,)](x, x, x, "", 16, **options)
        assert "extern_libs={name: path}" in str(error.value)
    for wrong in "halves", {"halves": 5}, {5: "halves"}:
        with pytest.raises(TypeError, match="extern_libs: expected"):
            halves_kernel[(1,)](x, x, x, "", 16, extern_libs=wrong)


def test_libdevice_named_at_the_launch(engine, rng):
    """As for a GPU: its functions are the compiler's own, and the file is not looked for."""

    @triton.jit
    def kernel(x_ptr, out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.extra.libdevice.asin(tl.load(x_ptr + offsets)))

    x = rng.uniform(-1, 1, 16).astype("float32")
    out = engine.empty(16, "float32")
    kernel[(1,)](engine.array(x), out, extern_libs={"libdevice": "/no/such/libdevice.10.bc"})
    np.testing.assert_allclose(engine.numpy(out), np.arcsin(x), rtol=1e-6)
