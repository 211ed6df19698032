"""Meaning, "Division": the three operators on integers, floats and constexprs."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, proved, refused
from scalar_types import FLOATS, INTEGERS, SIGNED, TYPES, UNSIGNED


@triton.jit
def quotient_type_kernel(x_ptr, y_ptr, out_ptr, EXPECTED: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    y = tl.load(y_ptr + tl.arange(0, 16))
    tl.static_assert((x / y).dtype == EXPECTED)
    tl.static_assert((y / x).dtype == EXPECTED)
    tl.static_assert((tl.load(x_ptr) / tl.load(y_ptr)).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@triton.jit
def quotient_of_integers_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x / 2).dtype == tl.float32)
    tl.static_assert((1 / x).dtype == tl.float32)
    tl.static_assert((x / 2.0).dtype == tl.float32)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_divide_to_fp32(engine, name):
    """`/` of two integers is fp32, of tiles, scalars and numbers, 64 bits too."""
    proved(engine, quotient_type_kernel, engine.zeros(16, name), engine.zeros(16, name), EXPECTED=tl.float32)
    proved(engine, quotient_of_integers_kernel, engine.zeros(16, name))


NARROW = [("float16", "float16"), ("bfloat16", "bfloat16"), ("float16", "bfloat16"), ("float32", "float16"), ("int32", "float32"),
          ("int64", "float16"), ("uint8", "bfloat16")]  # fmt: skip


@pytest.mark.parametrize("name, other", NARROW)
def test_quotients_of_narrow_floats(engine, name, other):
    """`/` is fp32 for the 16-bit floats too, and for integers with them."""
    proved(engine, quotient_type_kernel, engine.zeros(16, name), engine.zeros(16, other), EXPECTED=tl.float32)


@pytest.mark.parametrize("name", ["int8", "uint64", "float16", "bfloat16", "float32", "float64"])
def test_with_fp64_it_is_fp64(engine, name):
    """`/` with fp64 on a side is fp64."""
    proved(engine, quotient_type_kernel, engine.zeros(16, name), engine.zeros(16, "float64"), EXPECTED=tl.float64)


@triton.jit
def divided_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x // y)
    tl.store(out_ptr + 16 + offsets, x % y)


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_tensors_divide_toward_zero(engine, name):
    """`//` drops the fraction and `%` has the dividend's sign, as in C."""
    t = TYPES[name]
    x = np.array([7, -7, 7, -7, 0, 1, -1, 100, -100, 5, 6, -6, 8, -8, 127, -128])
    y = np.array([2, 2, -2, -2, 3, 5, 5, 7, 7, 100, -4, 4, 8, 8, 10, 10])
    if t.kind == "uint":
        x, y = abs(x), abs(y)
    x, y = x.astype(t.numpy), y.astype(t.numpy)
    quotient = np.trunc(x.astype(np.float64) / y.astype(np.float64)).astype(np.int64)
    got = computed(engine, divided_kernel, 32, "int64", engine.array(x), engine.array(y))
    np.testing.assert_array_equal(got[:16], quotient)
    np.testing.assert_array_equal(got[16:], x.astype(np.int64) - quotient * y.astype(np.int64))


@triton.jit
def constexpr_division_kernel(out_ptr, A: tl.constexpr, B: tl.constexpr):
    tl.store(out_ptr + 0, A // B)
    tl.store(out_ptr + 1, A % B)
    tl.store(out_ptr + 2, (A / B) * 1000)


@pytest.mark.parametrize("a", [7, -7])
@pytest.mark.parametrize("b", [2, -2])
def test_constexprs_divide_as_python(engine, a, b):
    """On constexprs `//` and `%` go toward minus infinity, and `/` is Python's."""
    out = engine.empty(3, "float32")
    constexpr_division_kernel[(1,)](out, A=a, B=b)
    np.testing.assert_array_equal(engine.numpy(out), [a // b, a % b, a / b * 1000])


@triton.jit
def operator_kernel(x_ptr, y_ptr, out_ptr, OPERATOR: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    y = tl.load(y_ptr + tl.arange(0, 16))
    if OPERATOR == "/":
        z = x / y
    elif OPERATOR == "//":
        z = x // y
    else:
        z = x % y
    tl.store(out_ptr + tl.arange(0, 16), z)


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("operator", ["//", "%"])
@pytest.mark.parametrize("signed", SIGNED)
@pytest.mark.parametrize("unsigned", UNSIGNED)
def test_mixed_signedness(engine, signed, unsigned, operator):
    """A signed and an unsigned integer neither divide nor leave a remainder; the error says which types and to cast."""
    x, y = engine.array(np.ones(16), signed), engine.array(np.ones(16), unsigned)
    refused(engine, operator_kernel, x, y, engine.empty(16, "int64"), OPERATOR=operator, words=[signed, unsigned, operator])
    refused(engine, operator_kernel, y, x, engine.empty(16, "int64"), OPERATOR=operator, words=[signed, unsigned, operator])


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("signed, unsigned", [("int32", "uint32"), ("int8", "uint64")])
def test_mixed_signedness_of_true_division(engine, signed, unsigned):
    """So with `/`."""
    x, y = engine.array(np.ones(16), signed), engine.array(np.ones(16), unsigned)
    refused(engine, operator_kernel, x, y, engine.empty(16, "float32"), OPERATOR="/", words=[signed, unsigned])


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("name, other", [("float32", "float32"), ("float16", "int32"), ("int64", "float64"), ("bfloat16", "bfloat16")])
def test_float_floor_division(engine, name, other):
    """`//` with a float on either side is an error."""
    x, y = engine.array(np.ones(16), name), engine.array(np.ones(16), other)
    refused(engine, operator_kernel, x, y, engine.empty(16, "float32"), OPERATOR="//", words=["//", "integers"])


@pytest.mark.parametrize("name", FLOATS)
def test_float_remainder_is_fmod(engine, name):
    """Float `%` has the dividend's sign and no rounding of the quotient."""
    x = np.array([5.5, -5.5, 5.5, -5.5, 0.5, -0.5, 8, -8, 1e4, 3, 2.5, -2.5, 7, 100, 0, 1])
    y = np.array([2, 2, -2, -2, 2, 2, 4, 4, 3, 0.75, 1, 1, 0.5, 0.3125, 5, 3])
    out = engine.empty(16, name)
    operator_kernel[(1,)](engine.array(x, name), engine.array(y, name), out, OPERATOR="%")
    rounded_x, rounded_y = engine.numpy(engine.array(x, name)), engine.numpy(engine.array(y, name))
    np.testing.assert_array_equal(engine.numpy(out), np.fmod(rounded_x.astype(np.float64), rounded_y.astype(np.float64)))
