"""The elementary functions from within kernels. Their accuracy on all bit patterns is measured by `make test-math`."""

import math

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import sample

COUNT = 1024


@triton.jit
def unary_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, OP: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    if OP == "exp":
        y = tl.exp(x)
    elif OP == "exp2":
        y = tl.exp2(x)
    elif OP == "log":
        y = tl.log(x)
    elif OP == "log2":
        y = tl.log2(x)
    elif OP == "sin":
        y = tl.sin(x)
    elif OP == "cos":
        y = tl.cos(x)
    elif OP == "sqrt":
        y = tl.sqrt(x)
    elif OP == "sqrt_rn":
        y = tl.sqrt_rn(x)
    elif OP == "rsqrt":
        y = tl.rsqrt(x)
    elif OP == "erf":
        y = tl.erf(x)
    elif OP == "floor":
        y = tl.floor(x)
    elif OP == "ceil":
        y = tl.ceil(x)
    elif OP == "abs":
        y = tl.abs(x)
    elif OP == "sigmoid":
        y = tl.sigmoid(x)
    else:
        y = tl.math.exp(x)
    tl.static_assert(y.dtype == x.dtype)
    tl.store(out_ptr + offsets, y)


def erf(x):
    return np.array([math.erf(v) for v in x])


FUNCTIONS = {  # reference in float64, low, high, allowed ulp
    "exp": (np.exp, -87, 88, 2), "exp2": (np.exp2, -125, 127, 2), "log": (np.log, 1e-30, 1e30, 2), "log2": (np.log2, 1e-30, 1e30, 2),
    "sin": (np.sin, -1e4, 1e4, 2), "cos": (np.cos, -1e4, 1e4, 2), "sqrt": (np.sqrt, 0, 1e30, 1), "sqrt_rn": (np.sqrt, 0, 1e30, 0.5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30, 2), "erf": (erf, -5, 5, 2), "floor": (np.floor, -1e6, 1e6, 0),
    "ceil": (np.ceil, -1e6, 1e6, 0), "abs": (np.abs, -1e6, 1e6, 0), "math.exp": (np.exp, -20, 20, 2),
}  # fmt: skip


def run(engine, x, op, name):
    out = engine.empty(COUNT, name)
    unary_kernel[(1,)](engine.array(x, name), out, COUNT=COUNT, OP=op)
    return engine.numpy(out)


def error_in_ulp(got, expected, dtype):
    ulp = np.spacing(np.abs(expected).astype(dtype)).astype(np.float64)
    return np.abs(got.astype(np.float64) - expected) / ulp


@pytest.mark.parametrize("op", FUNCTIONS)
def test_float32(engine, rng, op):
    function, low, high, bound = FUNCTIONS[op]
    x = sample(rng, "float32", COUNT, low, high)
    x[: COUNT // 2] = sample(rng, "float32", COUNT // 2, max(low, -3), min(high, 3)) if low < 0 else np.exp(rng.uniform(-20, 20, COUNT // 2))
    x = x.astype(np.float32)
    expected = function(x.astype(np.float64))
    got = run(engine, x, op, "float32")
    worst = error_in_ulp(got, expected, np.float32)
    assert worst.max() <= bound + 1e-6, f"{worst.max()} ulp at {x[worst.argmax()]}"


@pytest.mark.parametrize("op", [op for op in FUNCTIONS if op != "sqrt_rn"])  # of float32 only
def test_float64(engine, rng, op):
    function, low, high, _ = FUNCTIONS[op]
    x = sample(rng, "float64", COUNT, max(low, -20), min(high, 20))
    np.testing.assert_allclose(run(engine, x, op, "float64"), function(x), rtol=2e-15, atol=1e-15)


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, -1e-40, 1e-45, 3.4e38, -3.4e38, 100.0, -100.0, 0.5, 2.0], dtype=np.float32)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_special_values_and_denormals(engine, op):
    function = FUNCTIONS[op][0]
    x = np.resize(SPECIAL, COUNT)
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64)).astype(np.float32)
    got = run(engine, x, op, "float32")
    odd = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(got[odd], expected[odd])
    np.testing.assert_allclose(got[~odd], expected[~odd], rtol=3e-7, atol=1e-45)


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_sigmoid(engine, rng, name):
    x = sample(rng, name, COUNT, -30, 30)
    np.testing.assert_allclose(run(engine, x, "sigmoid", name), 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)


@pytest.mark.ours("Triton's interpreter lets these through")
@pytest.mark.parametrize("name", ["float16", "bfloat16", "int32"])
@pytest.mark.parametrize("op", ["exp", "sqrt", "sin"])
def test_other_types_are_an_error(engine, name, op):
    with pytest.raises(triton.TritonError):
        run(engine, np.ones(COUNT), op, name)


@triton.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr, OP: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    if OP == "fdiv":
        z = tl.fdiv(x, y)
    elif OP == "div_rn":
        z = tl.div_rn(x, y)
    else:
        z = tl.umulhi(x, y)
    tl.store(out_ptr + offsets, z)


@pytest.mark.parametrize("op, bound", [("fdiv", 2), ("div_rn", 0.5)])
def test_division_functions(engine, rng, op, bound):
    x, y = sample(rng, "float32", COUNT).astype(np.float32), sample(rng, "float32", COUNT, 0.01, 100).astype(np.float32)
    out = engine.empty(COUNT, "float32")
    binary_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=COUNT, OP=op)
    expected = x.astype(np.float64) / y
    assert error_in_ulp(engine.numpy(out), expected, np.float32).max() <= bound + 1e-6


@pytest.mark.parametrize("name", ["uint32", "int32", "uint64"])
def test_umulhi(engine, rng, name):
    x, y = sample(rng, name, COUNT), sample(rng, name, COUNT)
    out = engine.empty(COUNT, name)
    binary_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=COUNT, OP="umulhi")
    bits = 64 if name == "uint64" else 32
    mask = (1 << bits) - 1
    expected = np.array([((int(a) & mask) * (int(b) & mask)) >> bits for a, b in zip(x, y)], dtype=np.uint64).astype(name)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def fused_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.exp(-x * x) * tl.cos(3 * x) + tl.sqrt(tl.abs(x) + 1) / (1 + tl.exp(-x))
    tl.store(out_ptr + offsets, y)


def test_an_expression(engine, rng):
    x = sample(rng, "float32", COUNT, -4, 4)
    out = engine.empty(COUNT, "float32")
    fused_kernel[(1,)](engine.array(x, "float32"), out, COUNT=COUNT)
    x = x.astype(np.float64)
    expected = np.exp(-x * x) * np.cos(3 * x) + np.sqrt(np.abs(x) + 1) / (1 + np.exp(-x))
    np.testing.assert_allclose(engine.numpy(out), expected, rtol=2e-6, atol=1e-6)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, HOW: tl.constexpr):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + places)
    if HOW == "default":
        y = tl.softmax(x)
    elif HOW == "dim":
        y = tl.softmax(x, dim=1, ieee_rounding=True)
    elif HOW == "axis":
        y = tl.softmax(x, axis=1)
    else:
        y = x.softmax(0)
    tl.store(out_ptr + places, y)


@pytest.mark.ours("axis=, and softmax of two axes in the interpreter")
@pytest.mark.parametrize("how, axis", [("default", 0), ("dim", 1), ("axis", 1), ("method", 0)])
@pytest.mark.parametrize("shape", [(8, 16), (5, 13)], ids=str)
def test_softmax(engine, rng, how, axis, shape):
    x = (10 * rng.standard_normal(shape)).astype(np.float32)
    x[0, 0] = 80.0  # exp of it alone would be large
    out = engine.empty(shape, "float32")
    softmax_kernel[(1,)](engine.array(x), out, R=shape[0], C=shape[1], HOW=how)
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    # The difference of x and its maximum is rounded to 2**-19 past 32, and exp passes that on; 2**-21 for exp and the division.
    np.testing.assert_allclose(engine.numpy(out), e / e.sum(axis=axis, keepdims=True), rtol=2**-19 + 2**-21, atol=1e-30)
