"""Loads and stores whose neighbours in memory lie along another axis of the tile than the last: transposes, with masks and any sizes."""

import numpy as np
import pytest
import triton
import triton.language as tl

TYPES = ["float32", "float16", "bfloat16", "float64", "int8", "int64", "int1"]


def values(rng, name, shape):
    return rng.integers(0, 2, shape) if name == "int1" else rng.integers(-100, 100, shape)


@triton.jit
def turned_load_kernel(x, y, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    turned = tl.load(x + j[None, :] * rows + i[:, None], mask=mask, other=1)
    place = i[:, None] * N + j[None, :]
    tl.store(out + place, turned + tl.load(y + place))


@pytest.mark.parametrize("name", ["float32", "int8", "int64"])
@pytest.mark.parametrize("shape, inside", [((16, 16), (16, 16)), ((64, 32), (61, 30)), ((4, 128), (3, 128)), ((32, 8), (1, 8)), ((16, 64), (16, 5))])
def test_a_turned_load(engine, rng, name, shape, inside):
    m, n = shape
    rows, columns = inside
    x, y = values(rng, name, (columns, rows)), rng.integers(-20, 20, shape)
    out = engine.empty(shape, name)
    turned_load_kernel[(1,)](engine.array(x, name), engine.array(y, name), out, rows, columns, M=m, N=n)
    expected = np.ones(shape)
    expected[:rows, :columns] = x.T
    np.testing.assert_array_equal(engine.numpy(out), (expected + y).astype(np.int8) if name == "int8" else expected + y)


@triton.jit
def turned_store_kernel(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tile = tl.load(x + i[:, None] * columns + j[None, :], mask=mask)
    tl.store(out + j[None, :] * rows + i[:, None], tile, mask=mask)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape, block", [((32, 32), (16, 16)), ((33, 70), (16, 32)), ((5, 100), (8, 64)), ((64, 3), (64, 4))])
def test_a_transpose_by_blocks(engine, rng, name, shape, block):
    rows, columns = shape
    x = values(rng, name, shape)
    out = engine.empty((columns, rows), name)
    grid = (triton.cdiv(rows, block[0]), triton.cdiv(columns, block[1]))
    turned_store_kernel[grid](engine.array(x, name), out, rows, columns, M=block[0], N=block[1])
    np.testing.assert_array_equal(engine.numpy(out), x.T)


@triton.jit
def channels_last_kernel(x, out, rows, taps, CHANNELS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, IS_DOUBLED: tl.constexpr):
    y = (tl.program_id(1) * M + tl.arange(0, M))[:, None]
    t = (tl.program_id(0) * N + tl.arange(0, N))[None, :]
    mask = (y < rows) & (t < taps)
    tile = tl.load(x + t + taps * y, mask)
    tl.store(out + (y % CHANNELS + CHANNELS * t + CHANNELS * taps * (y // CHANNELS)), tile * 2 if IS_DOUBLED else tile, mask)


@pytest.mark.parametrize("is_doubled", [False, True])
@pytest.mark.parametrize("filters, channels, taps, block", [(2, 64, 9, (64, 16)), (3, 32, 1, (16, 4)), (5, 12, 9, (32, 16)), (2, 16, 49, (64, 64)), (3, 28, 20, (16, 16))])
def test_weights_to_channels_last(engine, rng, filters, channels, taps, block, is_doubled):
    """Rows beyond the bound, and remainders that wrap within a block and between blocks."""
    x = rng.integers(-100, 100, (filters, channels, taps))
    out = engine.array(np.full((filters, taps, channels), 7), "float32")
    rows = filters * channels
    grid = (triton.cdiv(taps, block[1]), triton.cdiv(rows, block[0]) + 1)  # the last program has no row
    channels_last_kernel[grid](engine.array(x, "float32"), out, rows, taps, CHANNELS=channels, M=block[0], N=block[1], IS_DOUBLED=is_doubled)
    np.testing.assert_array_equal(engine.numpy(out), x.transpose(0, 2, 1) * (2 if is_doubled else 1))


@triton.jit
def in_place_kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + i[None, :])
    tl.debug_barrier()
    tl.store(x + i[None, :] * N + i[:, None], tile * 2)


@pytest.mark.parametrize("n", [8, 32])
def test_in_place(engine, rng, n):
    x = rng.standard_normal((n, n)).astype(np.float32)
    array = engine.array(x, "float32")
    in_place_kernel[(1,)](array, N=n)
    np.testing.assert_array_equal(engine.numpy(array), 2 * x.T)


@triton.jit
def batches_kernel(x, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    i = tl.arange(0, M)[None, :, None]
    j = tl.arange(0, N)[None, None, :]
    turned = tl.load(x + b * (M * N) + j * M + i)
    tl.store(out + b * (M * N) + j * M + i, tl.exp2(turned) + tl.sum(turned, 2)[:, :, None])


def test_three_axes_and_a_reduction(engine, rng):
    x = rng.integers(0, 4, (2, 16, 8)).astype(np.float32)
    out = engine.empty((2, 16, 8), "float32")
    batches_kernel[(1,)](engine.array(x, "float32"), out, B=2, M=8, N=16)
    np.testing.assert_array_equal(engine.numpy(out), np.exp2(x) + x.sum(1, keepdims=True))


@triton.jit
def two_stores_kernel(x, straight, turned, N: tl.constexpr):
    i = tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + i[None, :]) + 1
    tl.store(straight + i[:, None] * N + i[None, :], tile)
    tl.store(turned + i[None, :] * N + i[:, None], tile, mask=i[:, None] <= i[None, :])


def test_a_value_stored_both_ways_under_a_mask_of_both_axes(engine, rng):
    x = rng.integers(0, 100, (32, 32))
    straight, turned = engine.array(np.zeros((32, 32)), "int32"), engine.array(np.zeros((32, 32)), "int32")
    two_stores_kernel[(1,)](engine.array(x, "int32"), straight, turned, N=32)
    np.testing.assert_array_equal(engine.numpy(straight), x + 1)
    np.testing.assert_array_equal(engine.numpy(turned), np.triu(x + 1).T)
