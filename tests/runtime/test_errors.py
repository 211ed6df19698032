"""Errors as Python sees them."""

import pickle

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.compiler import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct


def error_of(kernel, *args, **kwargs):
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](*args, **kwargs)
    return caught.value


def test_an_error_knows_its_place():
    @nacre.jit
    def kernel(out):
        value = undefined_name  # noqa: F821
        tl.store(out, value)

    error = error_of(kernel, np.zeros(1, np.float32))
    assert error.filename == __file__ and "undefined_name" in error.message
    assert error.source_line.strip().startswith("value = undefined_name")
    assert error.source_line[error.column:].startswith("undefined_name")
    assert f"{__file__}:{error.line}" in str(error) and "^" in str(error)
    assert isinstance(error, nacre.TritonError)
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error) and copied.line == error.line


def test_errors_in_helpers_show_the_call():
    @nacre.jit
    def helper(x):
        return x + unknown  # noqa: F821

    @nacre.jit
    def kernel(out):
        tl.store(out, helper(1.0))

    text = str(error_of(kernel, np.zeros(1, np.float32)))
    assert "x + unknown" in text and "tl.store(out, helper(1.0))" in text


def test_classes_of_errors():
    @nacre.jit
    def asserting(out, N: tl.constexpr):
        tl.static_assert(N > 10, "N is too small")

    @nacre.jit
    def unsupported(out):
        try:
            tl.store(out, 1.0)
        finally:
            pass

    out = np.zeros(1, np.float32)
    error = error_of(asserting, out, N=3)
    assert isinstance(error, CompileTimeAssertionFailure) and "N is too small" in str(error)
    assert isinstance(error_of(unsupported, out), UnsupportedLanguageConstruct)


def test_a_failed_compile_is_tried_again():
    @nacre.jit
    def kernel(out, N: tl.constexpr):
        tl.static_assert(N > 10)
        tl.store(out, N)

    out = np.zeros(1, np.int32)
    for _ in range(2):
        error_of(kernel, out, N=3)
    kernel[(1,)](out, N=11)
    assert out[0] == 11


def test_static_print_goes_to_stdout(capsys):
    @nacre.jit
    def kernel(out, N: tl.constexpr):
        tl.static_print("N is", N)
        tl.store(out, N)

    out = np.zeros(1, np.int32)
    compiled = kernel[(1,)](out, N=5)
    kernel[(1,)](out, N=5)
    assert compiled.asm["ttir"]
    assert capsys.readouterr().out == "N is 5\n"


def test_a_lambda_and_a_class_are_not_kernels():
    with pytest.raises(TypeError, match="@jit needs a Python function"):
        nacre.jit(int)


def test_kernels_without_a_file():
    scope = {"nacre": nacre}
    with pytest.raises(ValueError, match="source"):
        exec("@nacre.jit\ndef kernel(): pass", scope)


def test_knobs(monkeypatch):
    import os

    runtime = nacre.knobs.runtime
    monkeypatch.setenv("TRITON_DEBUG", "perhaps")
    with pytest.raises(ValueError, match="TRITON_DEBUG"):
        runtime.debug
    monkeypatch.delenv("TRITON_DEBUG")
    with runtime.scope():
        runtime.debug = True
        assert os.environ["TRITON_DEBUG"] == "1" and runtime.debug is True and runtime.knobs["debug"] is True
        del runtime.debug
        assert runtime.debug is False
        runtime.debug = True
    assert "TRITON_DEBUG" not in os.environ
    monkeypatch.setenv("NACRE_KERNEL_DUMP", "1")
    assert nacre.knobs.compilation.dump_ir is True
    nacre.knobs.compilation.reset()
    assert nacre.knobs.compilation.dump_ir is False


def test_features_are_taken_away_from_this_machine():
    @nacre.jit
    def kernel(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, tl.load(x + i) + 1.0)

    x = np.zeros(64, np.float32)
    whole = kernel.warmup(x, N=64, grid=(1,)).asm["asm"]
    if "ymm" not in whole and "zmm" not in whole:
        pytest.skip("this machine has no AVX to take away")
    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_features = "-avx512f"
        without = kernel.warmup(x, N=64, grid=(1,)).asm["asm"]
        assert "zmm" not in without and "ymm" in without
        kernel[(1,)](x, N=64)
        nacre.knobs.compilation.cpu_features = "-avx"
        assert "ymm" not in kernel.warmup(x, N=64, grid=(1,)).asm["asm"]
        kernel[(1,)](x, N=64)
    assert (x == 2).all()


@pytest.mark.parametrize("features, message", [("-avx513", "unknown CPU feature 'avx513'"), ("avx2", "expected \\+ or - before")])
def test_unknown_features(features, message):
    @nacre.jit
    def kernel(x):
        tl.store(x, 1.0)

    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_features = features
        with pytest.raises(nacre.CompilationError, match=message):
            kernel[(1,)](np.zeros(1, np.float32))


def test_code_for_another_machine_is_not_launched():
    """It can be looked at; running it would end the process."""

    @nacre.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x + tl.arange(0, N), 1.0)

    x = np.zeros(64, np.float32)
    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_features = "+sse4a,+fma4,+amx-tile,+avx10.1-512,+xop"
        compiled = kernel.warmup(x, N=64, grid=(1,))
        assert "ret" in compiled.asm["asm"]
        with pytest.raises(RuntimeError, match="this machine lacks"):
            kernel[(1,)](x, N=64)
        nacre.knobs.compilation.cpu_features = None
        nacre.knobs.compilation.cpu_target = "x86-64-v2"
        kernel[(1,)](x, N=64)
    assert (x == 1).all()
    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_target = "pentium-of-tomorrow"
        with pytest.raises(nacre.CompilationError, match="unknown CPU"):
            kernel[(1,)](x, N=64)


def test_setting_a_knob_compiles_anew():
    @nacre.jit
    def kernel(out):
        tl.device_assert(tl.load(out) == 0, "not zero")

    out = np.ones(1, np.int32)
    kernel[(1,)](out)
    with nacre.knobs.runtime.scope():
        nacre.knobs.runtime.debug = True
        with pytest.raises(AssertionError, match="not zero"):
            kernel[(1,)](out)
    kernel[(1,)](out)


@nacre.jit
def assembly_kernel(x, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    offsets = tl.arange(0, 16)
    value = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [tl.load(x + offsets)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x + offsets, value)


@pytest.mark.parametrize("text, constraints", [
    ("bogus $1, $0", "=r,r"), ("mov $1, $0", "=Q1z,w9"), ("mov $1, $0", "garbage{"), ("mov $5, $0", "=r,r"), ('.error "x"', "=r,r"),
])  # fmt: skip
def test_what_llvm_cannot_do_is_an_exception(text, constraints):
    x = np.arange(16, dtype=np.int32)
    error_of(assembly_kernel, x, TEXT=text, CONSTRAINTS=constraints)
    assembly_kernel[(1,)](x, TEXT="mov $1, $0\n add $$1, $0", CONSTRAINTS="=r,r")
    np.testing.assert_array_equal(x, np.arange(16) + 1)
