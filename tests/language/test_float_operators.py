"""Arithmetic of floats: each operator in its own type, division, remainder, special values, rounding after each step."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, FP8, rounded, sample

COUNT = 128


@triton.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr, OP: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    if OP == "+":
        z = x + y
    elif OP == "-":
        z = x - y
    elif OP == "*":
        z = x * y
    elif OP == "/":
        z = x / y
    elif OP == "%":
        z = x % y
    elif OP == "minimum":
        z = tl.minimum(x, y)
    else:
        z = tl.maximum(x, y)
    tl.store(out_ptr + offsets, z)


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.0**-14])


def pairs(rng, name):
    x, y = sample(rng, name, COUNT), sample(rng, name, COUNT)
    x[:64] = np.repeat(SPECIAL, 8)
    y[:64] = np.tile(SPECIAL, 8)
    return x, y


def run(engine, x, y, op, source, target):
    out = engine.empty(COUNT, target)
    binary_kernel[(1,)](engine.array(x, source), engine.array(y, source), out, COUNT=COUNT, OP=op)
    return engine.numpy(out)


@pytest.mark.parametrize("op, function", [("+", np.add), ("-", np.subtract), ("*", np.multiply)])
@pytest.mark.parametrize("name", FLOATS)
def test_arithmetic(engine, rng, name, op, function):
    x, y = pairs(rng, name)
    with np.errstate(all="ignore"):
        expected = rounded(function(x, y), name)  # float64 holds the exact result of the 16-bit types, float32 its own
        if name == "float32":
            expected = function(x.astype(np.float32), y.astype(np.float32))
    got = run(engine, x, y, op, name, name)
    np.testing.assert_array_equal(got, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("name", FLOATS)
def test_division_of_small_types_happens_in_float32(engine, rng, name):
    x, y = pairs(rng, name)
    wide = np.float64 if name == "float64" else np.float32
    with np.errstate(all="ignore"):
        expected = x.astype(wide) / y.astype(wide)
    got = run(engine, x, y, "/", name, "float64" if name == "float64" else "float32")
    np.testing.assert_allclose(got, expected, rtol=3e-7 if wide is np.float32 else 1e-15)


@triton.jit
def division_type_kernel(x_ptr, EXPECTED: tl.constexpr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x / x).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", FLOATS)
def test_the_type_of_a_quotient(engine, name):
    out = engine.zeros(1, "int32")
    division_type_kernel[(1,)](engine.zeros(16, name), tl.float64 if name == "float64" else tl.float32, out)
    assert engine.numpy(out)[0] == 1


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_remainder_is_fmod(engine, rng, name):
    x = sample(rng, name, COUNT, -100, 100)
    y = sample(rng, name, COUNT, 0.5, 7) * np.where(rng.integers(0, 2, COUNT), 1, -1)
    x[:4], y[:4] = [7.5, -7.5, 7.5, -7.5], [2.0, 2.0, -2.0, -2.0]
    got = run(engine, x, y, "%", name, name)
    np.testing.assert_array_equal(got, np.fmod(x.astype(name), y.astype(name)))
    np.testing.assert_array_equal(got[:4], [1.5, -1.5, 1.5, -1.5])


@pytest.mark.ours("Triton's interpreter lets NaN through")
@pytest.mark.parametrize("op", ["minimum", "maximum"])
@pytest.mark.parametrize("name", FLOATS)
def test_minimum_and_maximum_ignore_nan(engine, rng, name, op):
    x, y = pairs(rng, name)
    got = run(engine, x, y, op, name, name)
    expected = (np.fmin if op == "minimum" else np.fmax)(x, y)
    np.testing.assert_array_equal(got, expected)


@triton.jit
def propagate_kernel(x_ptr, y_ptr, low_ptr, high_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(low_ptr + offsets, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(high_ptr + offsets, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_minimum_and_maximum_that_propagate_nan(engine, rng, name):
    x, y = pairs(rng, name)
    low, high = engine.empty(COUNT, name), engine.empty(COUNT, name)
    propagate_kernel[(1,)](engine.array(x, name), engine.array(y, name), low, high, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(low), np.minimum(x, y))
    np.testing.assert_array_equal(engine.numpy(high), np.maximum(x, y))


@triton.jit
def unary_kernel(x_ptr, minus_ptr, absolute_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(minus_ptr + offsets, -x)
    tl.store(absolute_ptr + offsets, tl.abs(x))


@pytest.mark.parametrize("name", FLOATS)
def test_minus_and_abs(engine, rng, name):
    x, _ = pairs(rng, name)
    minus, absolute = engine.empty(COUNT, name), engine.empty(COUNT, name)
    unary_kernel[(1,)](engine.array(x, name), minus, absolute, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(absolute), np.abs(x))
    got = engine.numpy(minus)
    np.testing.assert_array_equal(got, -x)
    signed = ~np.isnan(x) & (x != 0)  # the language leaves the sign of a negated zero, or of a NaN, open
    np.testing.assert_array_equal(np.signbit(got[signed]), np.signbit(-x[signed]))


@triton.jit
def numbers_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, 2.5 * x + 1 - x / 4)


@pytest.mark.parametrize("name", FLOATS)
def test_with_numbers(engine, rng, name):
    """Powers of two and small values: every step is exact, so no rounding can hide a wrong type."""
    x = np.round(sample(rng, name, COUNT, -8, 8) * 2) / 2
    out = engine.empty(COUNT, name)
    numbers_kernel[(1,)](engine.array(x, name), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), rounded(2.5 * x + 1 - x / 4, name))


@triton.jit
def no_contraction_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    squared = x * x
    tl.store(out_ptr + offsets, tl.fma(x, x, -squared))


def test_fma_rounds_once(engine, rng):
    x = sample(rng, "float32", COUNT, 1, 2)
    out = engine.empty(COUNT, "float32")
    no_contraction_kernel[(1,)](engine.array(x, "float32"), out, COUNT=COUNT)
    x = x.astype(np.float64)
    squared = rounded(x * x, "float32").astype(np.float64)
    np.testing.assert_array_equal(engine.numpy(out), (x * x - squared).astype(np.float32))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize("name", FLOATS)
def test_floor_division_of_floats_is_an_error(engine, name):
    with pytest.raises(triton.TritonError):
        floor_division_kernel[(1,)](engine.zeros(16, name), engine.empty(16, name))


@triton.jit
def floor_division_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 16), x // x)


@triton.jit
def clamp_kernel(x_ptr, out_ptr, low, high, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.clamp(tl.load(x_ptr + offsets), low, high))


def test_clamp(engine, rng):
    x = sample(rng, "float32", COUNT, -3, 3)
    out = engine.empty(COUNT, "float32")
    clamp_kernel[(1,)](engine.array(x, "float32"), out, -1.25, 0.75, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), np.clip(x, -1.25, 0.75).astype(np.float32))


@triton.jit
def fp8_through_float_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr, DTYPE: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets).to(tl.float32)
    y = tl.load(y_ptr + offsets).to(tl.float32)
    tl.store(out_ptr + offsets, (x * y).to(DTYPE))


@pytest.mark.ours("Triton's interpreter rounds fp8 wrongly")
@pytest.mark.parametrize("name", FP8)
def test_fp8_stored_after_float32_arithmetic(engine, rng, name):
    x, y = sample(rng, name, COUNT), sample(rng, name, COUNT)
    out = engine.empty(COUNT, name)
    fp8_through_float_kernel[(1,)](engine.array(x, name), engine.array(y, name), out, COUNT=COUNT, DTYPE=getattr(tl, name))
    np.testing.assert_array_equal(engine.numpy(out), rounded(x * y, name))


@triton.jit
def nan_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.maximum(x, y, propagate_nan=tl.PropagateNan.NONE))
    tl.store(out_ptr + COUNT + offsets, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 2 * COUNT + offsets, tl.clamp(x, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL))


def test_what_becomes_of_nan(engine):
    nan = float("nan")
    x, y = np.array([1, nan, 3, nan], np.float32), np.array([2, 5, nan, nan], np.float32)
    out = engine.empty((3, 4), "float32")
    nan_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=4)
    np.testing.assert_array_equal(engine.numpy(out), np.array([[2, 5, 3, nan], [1, nan, nan, nan], [1, nan, 1, nan]], np.float32))
