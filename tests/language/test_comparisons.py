"""Comparisons, where, and the logical operators: types, NaN, mixed signs, chains."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, STANDARD, TYPES, sample

COUNT = 128
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}


@triton.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr, OP: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    if OP == "<":
        z = x < y
    elif OP == "<=":
        z = x <= y
    elif OP == ">":
        z = x > y
    elif OP == ">=":
        z = x >= y
    elif OP == "==":
        z = x == y
    else:
        z = x != y
    tl.static_assert(z.dtype == tl.int1)
    tl.store(out_ptr + offsets, z)


def run(engine, x, x_type, y, y_type, op):
    out = engine.empty(COUNT, "int1")
    compare_kernel[(1,)](engine.array(x, x_type), engine.array(y, y_type), out, COUNT=COUNT, OP=op)
    return engine.numpy(out)


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("name", STANDARD)
def test_comparisons(engine, rng, name, op):
    x, y = sample(rng, name, COUNT), sample(rng, name, COUNT)
    x[: COUNT // 2] = y[: COUNT // 2]
    if TYPES[name].is_float:
        x[:8] = [np.nan, np.nan, 1, np.inf, -np.inf, 0.0, -0.0, np.inf]
        y[:8] = [np.nan, 1, np.nan, np.inf, np.inf, -0.0, 0.0, 3]
    np.testing.assert_array_equal(run(engine, x, name, y, name, op), COMPARISONS[op](x, y))


@pytest.mark.parametrize("op", COMPARISONS)
def test_the_extremes_of_64_bits(engine, op):
    for name in ("int64", "uint64"):
        info = np.iinfo(name)
        x = np.resize(np.array([info.min, info.max, 0, info.max], name), COUNT)
        y = np.resize(np.array([info.max, info.min, 1, info.max], name), COUNT)
        np.testing.assert_array_equal(run(engine, x, name, y, name, op), COMPARISONS[op](x, y))


@pytest.mark.parametrize("op", ["<", ">=", "=="])
@pytest.mark.parametrize(
    "left, right", [("int32", "uint32"), ("uint8", "int8"), ("int8", "uint32"), ("int16", "uint64"), ("int64", "uint32"), ("uint8", "int32")]
)
def test_mixed_signs(engine, rng, left, right, op):
    """Unsigned when the unsigned side is at least as wide, signed in the wider type otherwise."""
    x, y = sample(rng, left, COUNT), sample(rng, right, COUNT)
    s, t = TYPES[left], TYPES[right]
    unsigned, signed = (s, t) if s.kind == "uint" else (t, s)
    common = unsigned.numpy if unsigned.bits >= signed.bits else signed.numpy
    x[:4] = x[:4] // 64
    y[:4] = x[:4].astype(y.dtype)
    expected = COMPARISONS[op](x.astype(common), y.astype(common))
    np.testing.assert_array_equal(run(engine, x, left, y, right, op), expected)


@pytest.mark.parametrize("op", COMPARISONS)
def test_an_integer_with_a_float(engine, rng, op):
    x = rng.integers(-5, 5, COUNT).astype(np.int32)
    y = rng.integers(-10, 10, COUNT) / 2
    np.testing.assert_array_equal(run(engine, x, "int32", y, "float32", op), COMPARISONS[op](x, y))


@triton.jit
def compare_number_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, (x > 3).to(tl.int32) + 2 * (5 <= x).to(tl.int32) + 4 * (x == 4).to(tl.int32))


@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "float16", "float32"])
def test_with_numbers(engine, name):
    x = np.resize(np.arange(8), COUNT)
    out = engine.empty(COUNT, "int32")
    compare_number_kernel[(1,)](engine.array(x, name), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), (x > 3) + 2 * (x >= 5) + 4 * (x == 4))


@triton.jit
def chain_kernel(low, high, out_ptr):
    count = 0
    for i in range(20):
        if low < i < high:
            count += 1
    tl.store(out_ptr, count)


def test_a_chain_of_comparisons(engine):
    out = engine.empty(1, "int32")
    chain_kernel[(1,)](5, 11, out)
    assert engine.numpy(out)[0] == 5


@triton.jit
def chain_of_tiles_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, -2 < x <= 3)


@pytest.mark.ours("CPython asks for the truth of a tile in Triton's interpreter")
def test_a_chain_of_tiles(engine, rng):
    x = rng.integers(-5, 6, COUNT).astype(np.int32)
    out = engine.empty(COUNT, "int1")
    chain_of_tiles_kernel[(1,)](engine.array(x), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), (-2 < x) & (x <= 3))


@triton.jit
def where_kernel(x_ptr, y_ptr, mask_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    mask = tl.load(mask_ptr + offsets)
    tl.store(out_ptr + offsets, tl.where(mask, tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)))


@pytest.mark.parametrize("name", STANDARD)
def test_where(engine, rng, name):
    x, y, mask = sample(rng, name, COUNT), sample(rng, name, COUNT), sample(rng, "int1", COUNT)
    if TYPES[name].is_float:
        x[:4], y[:4] = [np.nan, np.inf, 1, 2], [1, 2, np.nan, np.inf]
    out = engine.empty(COUNT, name)
    where_kernel[(1,)](engine.array(x, name), engine.array(y, name), engine.array(mask), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), np.where(mask, x, y))


@triton.jit
def where_broadcast_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    z = tl.where(i[:, None] >= i[None, :], x[None, :], -1.0)
    z = tl.where(i[:, None] == 0, 7.0, z)
    tl.store(out_ptr + i[:, None] * N + i[None, :], z)


@pytest.mark.parametrize("n", [1, 16, 64])
def test_where_broadcasts(engine, rng, n):
    x = sample(rng, "float32", n)
    out = engine.empty((n, n), "float32")
    where_broadcast_kernel[(1,)](engine.array(x, "float32"), out, N=n)
    i = np.arange(n)
    expected = np.where(i[:, None] >= i[None, :], x[None, :], -1.0)
    expected[0] = 7.0
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def where_scalar_condition_kernel(flag, x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.where(flag > 2, x, -x))


@pytest.mark.parametrize("flag", [2, 3])
def test_where_with_a_scalar_condition(engine, flag):
    x = np.arange(1, COUNT + 1, dtype=np.int32)
    out = engine.empty(COUNT, "int32")
    where_scalar_condition_kernel[(1,)](flag, engine.array(x), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), x if flag > 2 else -x)


@triton.jit
def logical_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    a = x > 2
    b = x < 6
    tl.store(out_ptr + offsets, (a & b).to(tl.int32) + 2 * (a | b).to(tl.int32) + 4 * (a ^ b).to(tl.int32) + 8 * (~a).to(tl.int32))


def test_bits_of_conditions(engine):
    x = np.resize(np.arange(9), COUNT).astype(np.int32)
    out = engine.empty(COUNT, "int32")
    logical_kernel[(1,)](engine.array(x), out, COUNT=COUNT)
    a, b = x > 2, x < 6
    np.testing.assert_array_equal(engine.numpy(out), (a & b) + 2 * (a | b) + 4 * (a ^ b) + 8 * ~a)


@triton.jit
def scalar_logic_kernel(n, m, out_ptr):
    result = 0
    if n > 2 and m > 2:
        result += 1
    if n > 2 or m > 2:
        result += 2
    if not (n > 2):
        result += 4
    tl.store(out_ptr, result)


@pytest.mark.parametrize("n, m", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_and_or_not_of_scalars(engine, n, m):
    out = engine.empty(1, "int32")
    scalar_logic_kernel[(1,)](n, m, out)
    assert engine.numpy(out)[0] == (n > 2 and m > 2) + 2 * (n > 2 or m > 2) + 4 * (not n > 2)


@triton.jit
def nan_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x != x)


@pytest.mark.parametrize("name", FLOATS)
def test_nan_is_unlike_itself(engine, name):
    x = np.resize([1.0, np.nan, np.inf, 0.0, -np.nan], COUNT)
    out = engine.empty(COUNT, "int1")
    nan_kernel[(1,)](engine.array(x, name), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), np.isnan(x))
