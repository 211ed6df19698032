"""Tiles larger than a GPU's shared memory: what moves elements between threads goes in parts."""

import numpy as np
import pytest
import triton
import triton.language as tl

SHAPES = [(12, 65, 15), (16, 128, 16)]  # int64: 92 and 256 KiB, both 256 KiB when padded to powers of two


@triton.jit
def load3(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    return tl.load(x + (a * B + b) * C + c)


@triton.jit
def store3(x, tile):
    A: tl.constexpr = tile.shape[0]
    B: tl.constexpr = tile.shape[1]
    C: tl.constexpr = tile.shape[2]
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    tl.store(x + (a * B + b) * C + c, tile)


@triton.jit
def scanned(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    tile = tl.cumsum(load3(x, A, B, C), AXIS)
    store3(y, tl.permute(tile, (2, 1, 0)))


@triton.jit
def flipped(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    store3(y, tl.flip(load3(x, A, B, C), AXIS))


@triton.jit
def gathered(x, index, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    store3(y, tl.gather(load3(x, A, B, C), load3(index, A, B, C), AXIS))


@triton.jit
def flat(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    tl.store(y + tl.arange(0, A * B * C), tl.reshape(load3(x, A, B, C), (A * B * C,)))


def numbers(shape, below=1000):
    return np.random.default_rng(sum(shape)).integers(-below, below, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_scan_and_a_transposition(engine, shape, axis):
    x = numbers(shape)
    y = engine.empty(shape[::-1], "int64")
    scanned[(1,)](engine.array(x), y, *shape, axis, num_warps=16)
    np.testing.assert_array_equal(engine.numpy(y), x.cumsum(axis).transpose(2, 1, 0))


@pytest.mark.parametrize("warps", [4, 16])
def test_elements_in_reverse(engine, warps):
    x = numbers((16, 128, 16))
    y = engine.empty(x.shape, "int64")
    flipped[(1,)](engine.array(x), y, *x.shape, 1, num_warps=warps)
    np.testing.assert_array_equal(engine.numpy(y), x[:, ::-1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_elements_by_index(engine, shape, axis):
    x = numbers(shape)
    index = np.random.default_rng(3).integers(0, shape[axis], shape, dtype=np.int32)
    y = engine.empty(shape, "int64")
    gathered[(1,)](engine.array(x), engine.array(index), y, *shape, axis, num_warps=8)
    np.testing.assert_array_equal(engine.numpy(y), np.take_along_axis(x, index.astype(np.int64), axis))


def test_another_shape(engine):
    x = numbers((12, 65, 15))
    y = engine.empty(x.size, "int64")
    flat[(1,)](engine.array(x), y, *x.shape)
    np.testing.assert_array_equal(engine.numpy(y), x.ravel())


def test_two_tiles_as_one(engine):
    @triton.jit
    def kernel(x, y, A: tl.constexpr, B: tl.constexpr):
        both = tl.cat(tl.load(x + tl.arange(0, A)), tl.load(x + A + tl.arange(0, B)), can_reorder=False)
        tl.store(y + tl.arange(0, A + B), both)

    x = numbers((13000,))
    y = engine.empty(x.size, "int64")
    kernel[(1,)](engine.array(x), y, 5000, 8000)
    np.testing.assert_array_equal(engine.numpy(y), x)


def test_sums_of_rows_that_many_warps_have(engine):
    @triton.jit
    def kernel(x, sums, largest, A: tl.constexpr, B: tl.constexpr):
        tile = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
        tl.store(sums + tl.arange(0, B), tl.sum(tile, 0))
        value, place = tl.max(tile, 0, return_indices=True)
        tl.store(largest + tl.arange(0, B), value * 100 + place)

    x = numbers((32, 1024))
    sums, largest = engine.empty(1024, "int64"), engine.empty(1024, "int64")
    kernel[(1,)](engine.array(x), sums, largest, *x.shape, num_warps=32)
    np.testing.assert_array_equal(engine.numpy(sums), x.sum(0))
    np.testing.assert_array_equal(engine.numpy(largest), x.max(0) * 100 + x.argmax(0))


def test_many_bins(engine):
    @triton.jit
    def kernel(x, y, N: tl.constexpr, BINS: tl.constexpr):
        tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))

    x = np.random.default_rng(1).integers(0, 40000, 4096, dtype=np.int32)
    y = engine.empty(32768, "int32")
    kernel[(1,)](engine.array(x), y, x.size, 32768)
    np.testing.assert_array_equal(engine.numpy(y), np.bincount(x[x < 32768], minlength=32768))


def test_a_sorted_row(engine):
    @triton.jit
    def kernel(x, y, N: tl.constexpr):
        tl.store(y + tl.arange(0, N), tl.sort(tl.load(x + tl.arange(0, N))))

    x = numbers((16384,), 1 << 40)
    y = engine.empty(x.size, "int64")
    kernel[(1,)](engine.array(x), y, x.size, num_warps=8)
    np.testing.assert_array_equal(engine.numpy(y), np.sort(x))
