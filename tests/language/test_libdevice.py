"""tl.extra.libdevice on every engine: against NumPy and Python's math in double, special values included."""

import math

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-42, 3e38, 0.5, 1.5, 2.5, -0.5, -1.5, 100.25, -7.0]


@triton.jit
def one_argument(x_ptr, out_ptr, N: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, getattr(libdevice, NAME)(tl.load(x_ptr + at)))


@triton.jit
def two_arguments(x_ptr, y_ptr, out_ptr, N: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, getattr(libdevice, NAME)(tl.load(x_ptr + at), tl.load(y_ptr + at)))


def floats(rng):
    return np.concatenate([rng.standard_normal(200) * 3, SPECIAL, rng.standard_normal(42) * 1000]).astype(np.float32)


def check(actual, expected, ulps):
    with np.errstate(all="ignore"):
        nearest = expected.astype(np.float32)
        error = np.abs(actual.astype(np.float64) - expected) / np.spacing(np.abs(nearest))
    same = (actual == nearest) | (np.isnan(actual) & np.isnan(nearest))
    bad = ~(same | (error <= ulps))
    assert not bad.any(), (actual[bad][:5], expected[bad][:5])


def elementwise(function):
    def apply(*columns):
        def value(*arguments):
            try:
                return function(*arguments)
            except (ValueError, OverflowError):
                return math.nan

        return np.array([value(*row) for row in zip(*columns)])

    return apply


UNARY = {
    "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "expm1": np.expm1, "log1p": np.log1p, "log10": np.log10,
    "cbrt": np.cbrt, "erfc": elementwise(math.erfc), "trunc": np.trunc, "rint": np.rint, "exp10": lambda x: 10.0**x,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "normcdf": elementwise(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "rcp_rn": lambda x: 1 / x, "fast_expf": np.exp, "saturatef": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1),
}  # fmt: skip
BINARY = {
    "pow": np.power, "atan2": np.arctan2, "fmod": np.fmod, "copysign": np.copysign, "hypot": np.hypot, "div_rn": np.divide,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0)), "add_rn": np.add,
    "remainder": elementwise(math.remainder),
}  # fmt: skip


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_float(engine, rng, name):
    x = floats(rng)
    out = engine.empty(len(x), "float32")
    one_argument[(1,)](engine.array(x), out, N=len(x), NAME=name)
    with np.errstate(all="ignore"):
        expected = UNARY[name](x.astype(np.float64))
    check(engine.numpy(out), expected, ulps=2)


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
def test_powers_of_two_may_be_subnormal(engine, rng):
    """Unlike tl.exp2, which may give 0 below 2^-126."""
    x = np.concatenate([np.arange(-160, 130), rng.uniform(-150, -120, 200), SPECIAL, [-1000.0, 1000.0]])
    x = np.resize(x, 512).astype(np.float32)
    out = engine.empty(len(x), "float32")
    one_argument[(1,)](engine.array(x), out, N=len(x), NAME="exp2")
    with np.errstate(all="ignore"):
        check(engine.numpy(out), np.exp2(x.astype(np.float64)), ulps=3)


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats(engine, rng, name):
    x = floats(rng)
    y = np.roll(x, 37)
    out = engine.empty(len(x), "float32")
    two_arguments[(1,)](engine.array(x), engine.array(y), out, N=len(x), NAME=name)
    with np.errstate(all="ignore"):
        expected = BINARY[name](x.astype(np.float64), y.astype(np.float64))
    check(engine.numpy(out), expected, ulps=2)


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("name, function", [("isnan", np.isnan), ("isinf", np.isinf), ("finitef", np.isfinite)])
def test_classification(engine, rng, name, function):
    x = floats(rng)
    out = engine.empty(len(x), "int1")
    one_argument[(1,)](engine.array(x), out, N=len(x), NAME=name)
    np.testing.assert_array_equal(engine.numpy(out), function(x))


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
def test_neighbours_and_exponents(engine, rng):
    x = floats(rng)
    y = np.roll(x, 37)
    out = engine.empty(len(x), "float32")
    two_arguments[(1,)](engine.array(x), engine.array(y), out, N=len(x), NAME="nextafter")
    np.testing.assert_array_equal(engine.numpy(out), np.nextafter(x, y))
    finite = x[np.isfinite(x) & (x != 0)]
    out = engine.empty(len(finite), "int32")
    one_argument[(1,)](engine.array(finite), out, N=len(finite), NAME="ilogb")
    np.testing.assert_array_equal(engine.numpy(out), [math.frexp(value)[1] - 1 for value in finite])


BITS = {
    "popc": lambda v: bin(v).count("1"), "clz": lambda v: 32 - v.bit_length(), "ffs": lambda v: (v & -v).bit_length(),
    "brev": lambda v: int(f"{v:032b}"[::-1], 2),
}  # fmt: skip


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("name", BITS)
def test_functions_of_bits(engine, rng, name):
    x = rng.integers(0, 2**32, 128).astype(np.uint32)
    x[:4] = [0, 1, 0x80000000, 0xFFFFFFFF]
    out = engine.empty(len(x), "int32")
    one_argument[(1,)](engine.array(x.view(np.int32)), out, N=len(x), NAME=name)
    np.testing.assert_array_equal(engine.numpy(out).view(np.uint32), [BITS[name](int(value)) for value in x])


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("name, function", [("float2int_rn", np.rint), ("float2int_rz", np.trunc), ("float2int_rd", np.floor), ("float2int_ru", np.ceil)])
def test_conversions_with_a_rounding(engine, rng, name, function):
    x = (rng.standard_normal(128) * 1000).astype(np.float32)
    x[:6] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5]
    out = engine.empty(len(x), "int32")
    one_argument[(1,)](engine.array(x), out, N=len(x), NAME=name)
    np.testing.assert_array_equal(engine.numpy(out), function(x).astype(np.int32))


@pytest.mark.ours("functions that need CUDA's library in the Triton package")
@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_remainders_of_every_quotient(engine, rng, type_name):
    """From those under one to those beyond the largest float, of subnormal numbers too: exact."""
    tiny, largest = np.finfo(type_name).smallest_subnormal, np.finfo(type_name).max
    exponents = (-149, 127) if type_name == "float32" else (-1074, 1023)
    x = np.ldexp(rng.uniform(-2, 2, 512), rng.integers(*exponents, 512)).astype(type_name)
    y = np.ldexp(rng.uniform(1, 2, 512), rng.integers(*exponents, 512)).astype(type_name)
    y[y == 0] = tiny
    x[:6], y[:6] = [largest, -largest, largest, 0.0, -7.5, tiny], [tiny, 3 * tiny, largest, 2.0, 2.5, largest]
    out = engine.empty(len(x), type_name)
    two_arguments[(1,)](engine.array(x), engine.array(y), out, N=len(x), NAME="fmod")
    expected = np.array([math.fmod(a, b) for a, b in zip(x.astype(np.float64), y.astype(np.float64), strict=True)], type_name)
    np.testing.assert_array_equal(engine.numpy(out), expected)
    np.testing.assert_array_equal(np.signbit(engine.numpy(out)), np.signbit(expected))
