"""Integers wrap; `//` and `%` go toward zero; shifts follow the left operand's sign; bits are bits."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import INTEGERS, SIGNED, TYPES, sample

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
    elif OP == "//":
        z = x // y
    elif OP == "%":
        z = x % y
    elif OP == "&":
        z = x & y
    elif OP == "|":
        z = x | y
    elif OP == "^":
        z = x ^ y
    elif OP == "<<":
        z = x << y
    elif OP == ">>":
        z = x >> y
    elif OP == "minimum":
        z = tl.minimum(x, y)
    elif OP == "maximum":
        z = tl.maximum(x, y)
    else:
        z = x / y
    tl.store(out_ptr + offsets, z)


def run(engine, x, y, op, out_type):
    out = engine.empty(COUNT, out_type)
    binary_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=COUNT, OP=op)
    return engine.numpy(out)


WRAPPING = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "minimum": np.minimum, "maximum": np.maximum,
}  # fmt: skip


@pytest.mark.parametrize("op", WRAPPING)
@pytest.mark.parametrize("name", INTEGERS)
def test_wrapping_operators(engine, rng, name, op):
    x, y = sample(rng, name, COUNT), sample(rng, name, COUNT)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run(engine, x, y, op, name), WRAPPING[op](x, y))


@pytest.mark.parametrize("op", ["&", "|", "^"])
def test_bits_of_bools(engine, op):
    x, y = np.resize([False, False, True, True], COUNT), np.resize([False, True], COUNT)
    np.testing.assert_array_equal(run(engine, x, y, op, "int1"), WRAPPING[op](x, y))


def nonzero(rng, name):
    y = sample(rng, name, COUNT)
    small = sample(rng, name, COUNT, 1, 9)
    y = np.where(rng.integers(0, 2, COUNT) == 0, y, small).astype(y.dtype)
    return np.where(y == 0, 3, y).astype(y.dtype)


def toward_zero(x, y):
    """C's quotient, exactly, by way of Python's integers."""
    quotients = [abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)]
    return np.array(quotients, dtype=x.dtype)


@pytest.mark.parametrize("name", INTEGERS)
def test_floor_division_goes_toward_zero(engine, rng, name):
    x, y = sample(rng, name, COUNT), nonzero(rng, name)
    x = np.where((x == np.iinfo(x.dtype).min) & (TYPES[name].kind == "int"), 1, x).astype(x.dtype)
    np.testing.assert_array_equal(run(engine, x, y, "//", name), toward_zero(x, y))


@pytest.mark.parametrize("name", INTEGERS)
def test_remainder_has_the_sign_of_the_dividend(engine, rng, name):
    x, y = sample(rng, name, COUNT), nonzero(rng, name)
    x = np.where((x == np.iinfo(x.dtype).min) & (TYPES[name].kind == "int"), 1, x).astype(x.dtype)
    expected = np.array([int(a) - int(q) * int(b) for a, q, b in zip(x, toward_zero(x, y), y)], dtype=x.dtype)
    np.testing.assert_array_equal(run(engine, x, y, "%", name), expected)


@pytest.mark.parametrize("name", SIGNED)
def test_division_examples(engine, name):
    dtype = TYPES[name].numpy
    x = np.resize(np.array([-7, 7, -7, 7, -6, 0], dtype), COUNT)
    y = np.resize(np.array([2, -2, -2, 2, 4, 5], dtype), COUNT)
    np.testing.assert_array_equal(run(engine, x, y, "//", name)[:6], [-3, -3, 3, 3, -1, 0])
    np.testing.assert_array_equal(run(engine, x, y, "%", name)[:6], [-1, 1, -1, 1, -2, 0])


@pytest.mark.parametrize("name", INTEGERS)
def test_true_division_gives_float32(engine, rng, name):
    x, y = sample(rng, name, COUNT), nonzero(rng, name)
    expected = x.astype(np.float32) / y.astype(np.float32)
    np.testing.assert_allclose(run(engine, x, y, "/", "float32"), expected, rtol=2e-7)


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts(engine, rng, name):
    bits = TYPES[name].bits
    x = sample(rng, name, COUNT)
    y = rng.integers(0, bits, COUNT).astype(x.dtype)
    np.testing.assert_array_equal(run(engine, x, y, "<<", name), np.left_shift(x, y))
    np.testing.assert_array_equal(run(engine, x, y, ">>", name), np.right_shift(x, y))


@triton.jit
def mixed_shift_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) >> tl.load(y_ptr + offsets))


@pytest.mark.ours("Triton promotes first, so that the shift of a signed value by an unsigned one is logical")
@pytest.mark.parametrize("left, right", [("int32", "uint32"), ("int8", "uint8"), ("uint32", "int32"), ("int64", "uint64")])
def test_right_shift_follows_the_left_operand(engine, rng, left, right):
    x = sample(rng, left, COUNT)
    y = rng.integers(0, TYPES[left].bits, COUNT).astype(TYPES[right].numpy)
    out = engine.empty(COUNT, left)
    mixed_shift_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), np.right_shift(x, y.astype(x.dtype)))


@triton.jit
def unary_kernel(x_ptr, minus_ptr, invert_ptr, absolute_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(minus_ptr + offsets, -x)
    tl.store(invert_ptr + offsets, ~x)
    tl.store(absolute_ptr + offsets, tl.abs(x))


@pytest.mark.parametrize("name", INTEGERS)
def test_unary_operators(engine, rng, name):
    x = sample(rng, name, COUNT)
    outs = [engine.empty(COUNT, name) for _ in range(3)]
    unary_kernel[(1,)](engine.array(x), *outs, COUNT=COUNT)
    with np.errstate(over="ignore"):
        for out, expected in zip(outs, (-x, ~x, np.abs(x))):
            np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def augmented_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    x += 3
    x *= 2
    x -= 1
    x //= 3
    x %= 50
    x <<= 2
    x >>= 1
    x |= 64
    x &= 127
    x ^= 5
    tl.store(out_ptr + offsets, x)


def test_augmented_assignment(engine):
    x = np.arange(COUNT, dtype=np.int32)
    out = engine.empty(COUNT, "int32")
    augmented_kernel[(1,)](engine.array(x), out, COUNT=COUNT)
    expected = (((((((x + 3) * 2 - 1) // 3) % 50) << 2) >> 1 | 64) & 127) ^ 5
    np.testing.assert_array_equal(engine.numpy(out), expected)


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize("op", ["//", "%", "/"])
@pytest.mark.parametrize("left, right", [("int32", "uint32"), ("uint8", "int8"), ("int64", "uint16")])
def test_division_of_mixed_signedness_is_an_error(engine, left, right, op):
    with pytest.raises(triton.TritonError):
        run(engine, np.ones(COUNT, left), np.ones(COUNT, right), op, left)


@triton.jit
def constexpr_division_kernel(out_ptr, NUMBER: tl.constexpr):
    k = -7
    tl.store(out_ptr, -7 // 2)
    tl.store(out_ptr + 1, k // 2)
    tl.store(out_ptr + 2, NUMBER // 2)
    tl.store(out_ptr + 3, NUMBER % 3)
    tl.store(out_ptr + 4, k % 3)


@pytest.mark.ours("Triton's interpreter computes the local as Python does")
def test_constexprs_divide_as_python_does(engine):
    out = engine.empty(5, "int32")
    constexpr_division_kernel[(1,)](out, NUMBER=-7)
    np.testing.assert_array_equal(engine.numpy(out), [-4, -3, -4, 2, -1])


@triton.jit
def broadcast_kernel(x_ptr, y_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, ROWS))[:, None]
    y = tl.load(y_ptr + tl.arange(0, COLUMNS))[None, :]
    z = x * 3 - y
    tl.static_assert(z.shape[0] == ROWS and z.shape[1] == COLUMNS)
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], z)


@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 64), (16, 1), (8, 32), (128, 128)])
def test_broadcasting(engine, rng, rows, columns):
    x, y = sample(rng, "int32", rows), sample(rng, "int32", columns)
    out = engine.empty((rows, columns), "int32")
    broadcast_kernel[(1,)](engine.array(x), engine.array(y), out, ROWS=rows, COLUMNS=columns)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(engine.numpy(out), x[:, None] * np.int32(3) - y[None, :])




@triton.jit
def named_operators_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.add(x, y, sanitize_overflow=False))
    tl.store(out_ptr + COUNT + offsets, tl.sub(x, y, sanitize_overflow=False))
    tl.store(out_ptr + 2 * COUNT + offsets, tl.mul(x, y, sanitize_overflow=False))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64"])
def test_operators_by_name(engine, rng, name):
    x, y = sample(rng, name, 64), sample(rng, name, 64)
    out = engine.empty((3, 64), name)
    named_operators_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=64)
    np.testing.assert_array_equal(engine.numpy(out), np.stack([x + y, x - y, x * y]))


@triton.jit
def far_shift_kernel(x_ptr, left_ptr, right_ptr, amount_ptr, n):
    offsets = tl.arange(0, 8)
    x = tl.load(x_ptr + offsets)
    tl.store(left_ptr + offsets, x << n)
    tl.store(right_ptr + offsets, x >> n)
    tl.store(left_ptr + 8 + offsets, x << tl.load(amount_ptr + offsets))
    tl.store(right_ptr + 8 + offsets, x >> tl.load(amount_ptr + offsets))


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_shifts_by_more_than_32_bits_hold(engine, name):
    """The amount counts whole: its low half alone would be a small shift."""
    x = np.arange(1, 9).astype(name) * 3
    amounts = np.array([1 << 33, (1 << 33) + 1, 5, 0, 1 << 32, 63, 64, (1 << 62) + 2]).astype(name)
    left, right = engine.zeros(16, name), engine.zeros(16, name)
    far_shift_kernel[(1,)](engine.array(x), left, right, engine.array(amounts), 1 << 33)
    near = amounts < 64
    amount = np.where(near, amounts, 0).astype(name)
    zeros = np.zeros(8, name)
    np.testing.assert_array_equal(engine.numpy(left), np.concatenate([zeros, np.where(near, x << amount, 0)]))
    np.testing.assert_array_equal(engine.numpy(right), np.concatenate([zeros, np.where(near, x >> amount, 0)]))
