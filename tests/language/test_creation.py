"""arange, full, zeros, zeros_like; blocks of one element, of any length, and of 65,536."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, STANDARD, rounded


@triton.jit
def arange_kernel(out_ptr, START: tl.constexpr, END: tl.constexpr):
    values = tl.arange(START, END)
    tl.static_assert(values.dtype == tl.int32)
    tl.static_assert(values.shape[0] == END - START)
    tl.store(out_ptr + values - START, values)


@pytest.mark.parametrize("start, end", [(0, 1), (0, 16), (0, 128), (64, 128), (5, 13), (1, 2), (0, 65536)])
def test_arange(engine, start, end):
    out = engine.empty(end - start, "int32")
    arange_kernel[(1,)](out, START=start, END=end)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(start, end))


@pytest.mark.ours("lengths that are not powers of two")
@pytest.mark.parametrize("start, end", [(0, 3), (0, 100), (7, 1000), (0, 781), (3, 10)])
def test_arange_of_any_length(engine, start, end):
    out = engine.empty(end - start, "int32")
    arange_kernel[(1,)](out, START=start, END=end)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(start, end))


@triton.jit
def full_kernel(out_ptr, value, BLOCK: tl.constexpr, DTYPE: tl.constexpr, CONSTANT: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if HOW == "constant":
        x = tl.full((BLOCK,), CONSTANT, DTYPE)
    elif HOW == "list":
        x = tl.full([BLOCK], CONSTANT, dtype=DTYPE)
    elif HOW == "runtime":
        x = tl.full((BLOCK,), value, DTYPE)
    elif HOW == "zeros":
        x = tl.zeros((BLOCK,), dtype=DTYPE)
    else:
        x = tl.zeros_like(tl.full((BLOCK,), CONSTANT, DTYPE))
    tl.static_assert(x.dtype == DTYPE)
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("how", ["constant", "list", "runtime", "zeros", "zeros_like"])
@pytest.mark.parametrize("type_name", STANDARD)
def test_full(engine, type_name, how):
    value = 2.75 if type_name in FLOATS else 1 if type_name == "int1" else 77
    out = engine.empty(64, type_name)
    full_kernel[(1,)](out, value, BLOCK=64, DTYPE=getattr(tl, type_name), CONSTANT=value, HOW=how)
    expected = 0 if how.startswith("zeros") else rounded(value, type_name)
    np.testing.assert_array_equal(engine.numpy(out), np.full(64, expected))


@pytest.mark.ours("its interpreter refuses numbers that its compiler takes for bits")
@pytest.mark.parametrize("type_name, value", [("int32", 1 << 31), ("int32", 0xFFFF0000), ("int8", 0x80), ("int64", 1 << 63)])
def test_full_of_bits_that_a_signed_type_holds(engine, type_name, value):
    out = engine.empty(64, type_name)
    full_kernel[(1,)](out, 0, BLOCK=64, DTYPE=getattr(tl, type_name), CONSTANT=value, HOW="constant")
    expected = value - (1 << int(type_name.removeprefix("int")))
    np.testing.assert_array_equal(engine.numpy(out), np.full(64, expected))


@pytest.mark.parametrize("special", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("type_name", FLOATS)
def test_full_of_special_values(engine, type_name, special):
    out = engine.empty(16, type_name)
    full_kernel[(1,)](out, 0.0, BLOCK=16, DTYPE=getattr(tl, type_name), CONSTANT=special, HOW="constant")
    np.testing.assert_array_equal(engine.numpy(out), np.full(16, special))


@triton.jit
def full_shape_kernel(out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.full((A, B, C), 3, tl.int32)
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    tl.store(out_ptr + (a * B + b) * C + c, x + a * 100 + b * 10 + c)


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 4, 8), (16, 1, 2)], ids=str)
def test_full_with_three_axes(engine, shape):
    out = engine.empty(shape, "int32")
    full_shape_kernel[(1,)](out, *shape)
    a, b, c = np.indices(shape)
    np.testing.assert_array_equal(engine.numpy(out), 3 + a * 100 + b * 10 + c)


@triton.jit
def large_block_kernel(x_ptr, out_ptr, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.where(x > 0, x * 2, -x)
    tl.store(out_ptr + offsets, y)
    tl.store(total_ptr, tl.sum(y, axis=0))


def test_a_block_of_65536(engine, rng):
    x = rng.integers(-1000, 1000, 65536).astype(np.int32)
    out, total = engine.empty(65536, "int32"), engine.empty(1, "int32")
    large_block_kernel[(1,)](engine.array(x), out, total, BLOCK=65536)
    expected = np.where(x > 0, x * 2, -x)
    np.testing.assert_array_equal(engine.numpy(out), expected)
    assert engine.numpy(total)[0] == expected.sum()


@triton.jit
def square_block_kernel(x_ptr, out_ptr, SIDE: tl.constexpr):
    offsets = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x + tl.sum(x, axis=1)[:, None] + tl.max(x, axis=0)[None, :])


def test_a_block_of_256_by_256(engine, rng):
    x = rng.integers(-1000, 1000, (256, 256)).astype(np.int32)
    out = engine.empty(x.shape, "int32")
    square_block_kernel[(1,)](engine.array(x), out, SIDE=256)
    np.testing.assert_array_equal(engine.numpy(out), x + x.sum(1)[:, None] + x.max(0)[None, :])


@triton.jit
def to_tensor_kernel(x_ptr, out_ptr):
    number = tl.to_tensor(7)
    tl.static_assert(number.dtype == tl.int32)
    half = tl.to_tensor(0.5)
    tl.static_assert(half.dtype == tl.float32)
    x = tl.load(x_ptr + tl.arange(0, 4))
    same = tl.to_tensor(x)
    tl.static_assert(same.dtype == x.dtype and same.shape == x.shape)
    tl.store(out_ptr + tl.arange(0, 4), same * number + half)


def test_numbers_become_values(engine):
    out = engine.empty(4, "float32")
    to_tensor_kernel[(1,)](engine.array(np.arange(4, dtype=np.int16)), out)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(4) * 7 + 0.5)
