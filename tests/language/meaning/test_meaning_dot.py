"""Meaning, "dot" (and the types of math functions)."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import proved, refused
from scalar_types import INTEGERS

FP8 = ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"]


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, EXPECTED: tl.constexpr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    c = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places))
    tl.static_assert(c.dtype == EXPECTED)
    tl.store(out_ptr, (tl.sum(tl.sum(c.to(tl.float32), 1), 0) == 4096).to(tl.int32))


def ones(engine, name):
    return engine.array(np.ones((16, 16)), name)


@pytest.mark.parametrize(
    "name, expected", [("int8", "int32"), ("float16", "float32"), ("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64")],
)  # fmt: skip
def test_operands_of_equal_types(engine, name, expected):
    """int8 gives int32; fp16, bf16 and fp32 give fp32 by default, fp64 itself."""
    proved(engine, dot_kernel, ones(engine, name), ones(engine, name), EXPECTED=getattr(tl, expected))


@pytest.mark.ours("the interpreter of Triton does not hold every fp8 type")
@pytest.mark.parametrize("left", FP8)
@pytest.mark.parametrize("right", FP8)
def test_any_two_fp8_types(engine, left, right):
    """fp8 operands may differ; the result is fp32 by default."""
    proved(engine, dot_kernel, ones(engine, left), ones(engine, right), EXPECTED=tl.float32)


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize(
    "left, right",
    [("float16", "float32"), ("float16", "bfloat16"), ("int8", "int32"), ("float8e5", "float16"), ("float32", "float64"), ("int8", "float16")],
)  # fmt: skip
def test_operands_of_two_types(engine, left, right):
    """Are an error that names both."""
    refused(
        engine, dot_kernel, ones(engine, left), ones(engine, right), engine.zeros(1, "int32"), EXPECTED=tl.float32,
        words=[left.replace("float", "fp").replace("bfp", "bf"), right.replace("float", "fp").replace("bfp", "bf")],
    )  # fmt: skip


@triton.jit
def out_dtype_kernel(a_ptr, b_ptr, out_ptr, OUT: tl.constexpr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    c = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places), out_dtype=OUT)
    tl.static_assert(c.dtype == OUT)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", ["float16", "float8e5", "float8e4nv"])
@pytest.mark.parametrize("out", ["float16", "float32"])
def test_out_dtype_of_fp16_and_fp8(engine, name, out):
    """They give `out_dtype`."""
    proved(engine, out_dtype_kernel, ones(engine, name), ones(engine, name), OUT=getattr(tl, out))


@triton.jit
def accumulator_kernel(a_ptr, b_ptr, out_ptr, ACC: tl.constexpr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    acc = tl.full((16, 16), 1, ACC)
    c = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places), acc)
    tl.static_assert(c.dtype == ACC)
    tl.store(out_ptr, (tl.max(tl.max(c.to(tl.float32), 1), 0) == 17).to(tl.int32))


@pytest.mark.parametrize(
    "name, acc",
    [
        ("float16", "float16"), ("float16", "float32"), ("float8e5", "float16"), ("float8e4nv", "float32"), ("bfloat16", "float32"),
        ("float32", "float32"), ("int8", "int32"),
    ],
)  # fmt: skip
@pytest.mark.ours("out_dtype must be named in Triton for an fp16 accumulator")
def test_the_accumulator_s_type(engine, name, acc):
    """fp16 and fp8 give the accumulator's type; the others match the type they give."""
    proved(engine, accumulator_kernel, ones(engine, name), ones(engine, name), ACC=getattr(tl, acc))


@triton.jit
def other_accumulator_kernel(a_ptr, out_ptr, ACC: tl.constexpr, OUT: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])
    tl.store(out_ptr, tl.sum(tl.dot(a, a, tl.zeros((16, 16), ACC), out_dtype=OUT)))


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize(
    "name, acc, out, hint",
    [("float16", "float32", "float16", "out_dtype=tl.float32"), ("float32", "float16", "float32", "dtype=tl.float32"),
     ("float64", "float32", "float32", "dtype=tl.float64"), ("int8", "float32", "float32", "dtype=tl.int32")],
)  # fmt: skip
def test_an_accumulator_of_another_type(engine, name, acc, out, hint):
    """Than the result's is an error that names both and says what to change."""
    words = ["`acc` is " + acc.replace("float", "fp"), hint]
    refused(
        engine, other_accumulator_kernel, ones(engine, name), engine.zeros(1, "float32"),
        ACC=getattr(tl, acc), OUT=getattr(tl, out), words=words,
    )  # fmt: skip


@pytest.mark.ours("the interpreter of Triton lets these through")
def test_unsigned_bytes(engine):
    """uint8 operands are an error."""
    refused(engine, dot_kernel, ones(engine, "uint8"), ones(engine, "uint8"), engine.zeros(1, "int32"), EXPECTED=tl.int32, words="uint8")


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_a_bf16_result(engine, name):
    """Is an error that says what to do."""
    refused(engine, out_dtype_kernel, ones(engine, name), ones(engine, name), engine.zeros(1, "int32"), OUT=tl.bfloat16, words=["bf16"])


@triton.jit
def math_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    if FUNCTION == "exp":
        y = tl.exp(x)
    elif FUNCTION == "exp2":
        y = tl.exp2(x)
    elif FUNCTION == "log":
        y = tl.log(x)
    elif FUNCTION == "log2":
        y = tl.log2(x)
    elif FUNCTION == "sin":
        y = tl.sin(x)
    elif FUNCTION == "cos":
        y = tl.cos(x)
    elif FUNCTION == "sqrt":
        y = tl.sqrt(x)
    elif FUNCTION == "rsqrt":
        y = tl.rsqrt(x)
    elif FUNCTION == "erf":
        y = tl.erf(x)
    elif FUNCTION == "floor":
        y = tl.floor(x)
    elif FUNCTION == "ceil":
        y = tl.ceil(x)
    tl.static_assert(y.dtype == x.dtype)
    tl.store(out_ptr, 1)


FUNCTIONS = ["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil"]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_math_functions_take_fp32_and_fp64(engine, name, function):
    """And give the same type."""
    proved(engine, math_kernel, engine.array(np.ones(16), name), FUNCTION=function)


@pytest.mark.ours("the interpreter of Triton lets some through")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8e5", *INTEGERS, "int1"])
def test_math_functions_refuse_other_types(engine, name, function):
    """The error says to convert with .to(tl.float32)."""
    refused(engine, math_kernel, engine.zeros(16, name), engine.zeros(1, "int32"), FUNCTION=function, words=[function, ".to(tl.float32)"])
