"""Indices taken apart by a width that is no power of two: rows that lie one after the other, walked by one arange."""

import numpy as np
import pytest
import triton
import triton.language as tl

DTYPES = ["float32", "int8", "int64"]


def made(rng, shape, dtype):
    return rng.integers(-9, 10, shape).astype(dtype)


@triton.jit
def pool_kernel(x_ptr, out_ptr, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = i % WIDTH, i // WIDTH
    corner = x_ptr + 2 * column + 4 * WIDTH * row
    mask = i < n
    above = tl.load(corner, mask) + tl.load(corner + 1, mask, other=3)
    below = tl.load(corner + 2 * WIDTH, mask) + tl.load(corner + 2 * WIDTH + 1, mask)
    tl.store(out_ptr + i, above + below, mask)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [3, 7, 8, 14, 28, 56, 100, 600])
@pytest.mark.parametrize("block", [16, 256])
def test_pooling(engine, rng, dtype, width, block):
    height = 12
    x = made(rng, (2 * height, 2 * width), dtype)
    out = engine.zeros((height, width), dtype)
    pool_kernel[(triton.cdiv(height * width, block),)](engine.array(x), out, height * width, WIDTH=width, BLOCK=block)
    np.testing.assert_array_equal(engine.numpy(out), x.reshape(height, 2, width, 2).sum((1, 3), dtype=dtype))


@triton.jit
def edges_kernel(x_ptr, out_ptr, n, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = i % WIDTH, i // WIDTH % HEIGHT
    best = tl.full([BLOCK], -100, tl.float32)
    for down in tl.static_range(-1, 2):
        for right in tl.static_range(-1, 2):
            inside = (row + down >= 0) & (row + down < HEIGHT) & (column + right >= 0) & (column + right < WIDTH) & (i < n)
            best = tl.maximum(best, tl.load(x_ptr + i + down * WIDTH + right, inside, other=-100))
    tl.store(out_ptr + i, best, i < n)


@pytest.mark.parametrize("shape", [(3, 5, 28), (2, 9, 13), (4, 4, 4), (2, 3, 100)])
def test_neighbours_within_an_image(engine, rng, shape):
    x = made(rng, shape, "float32")
    out = engine.zeros(shape, "float32")
    edges_kernel[(triton.cdiv(x.size, 128),)](engine.array(x), out, x.size, HEIGHT=shape[1], WIDTH=shape[2], BLOCK=128)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)), constant_values=-100)
    expected = np.max([padded[:, a : a + shape[1], b : b + shape[2]] for a in range(3) for b in range(3)], axis=0)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def run_time_kernel(x_ptr, quotient_ptr, rest_ptr, start, divisor, N: tl.constexpr):
    i = tl.arange(0, N)
    index = start + i
    quotient, rest = index // divisor, index % divisor
    tl.store(quotient_ptr + i, quotient)
    tl.store(rest_ptr + i, rest + tl.load(x_ptr + (i & 7)))


@pytest.mark.parametrize("start", [0, 5, -3, -100, 2**31 - 128, 1000])
@pytest.mark.parametrize("divisor", [1, 2, 7, 20, 33, 500, -5, -40])
def test_divisors_that_only_the_launch_knows(engine, start, divisor):
    n = 128
    quotient, rest = engine.zeros(n, "int32"), engine.zeros(n, "int32")
    run_time_kernel[(1,)](engine.zeros(8, "int32"), quotient, rest, start, divisor, N=n)
    index = start + np.arange(n)
    expected = np.trunc(index / divisor).astype(np.int64)
    np.testing.assert_array_equal(engine.numpy(quotient), expected)
    np.testing.assert_array_equal(engine.numpy(rest), index - expected * divisor)


@triton.jit
def bias_kernel(x_ptr, bias_ptr, scale_ptr, sums_ptr, CHANNELS: tl.constexpr, PLACES: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    channel, image = i // PLACES % CHANNELS, i // (PLACES * CHANNELS)
    x = tl.load(x_ptr + i)
    y = (x + tl.load(bias_ptr + channel)) * tl.load(scale_ptr + image)
    tl.store(x_ptr + i, y)  # where it was read
    tl.store(sums_ptr + tl.program_id(0), tl.sum(y))


@pytest.mark.parametrize("channels, places", [(4, 28), (3, 49), (5, 11), (16, 20)])
def test_two_divisors_in_place(engine, rng, channels, places):
    n = 256
    images = -(-3 * n // (channels * places))
    x = made(rng, 3 * n, "float32")
    bias, scale = made(rng, channels, "float32"), made(rng, images, "float32")
    array, sums = engine.array(x), engine.zeros(3, "float32")
    bias_kernel[(3,)](array, engine.array(bias), engine.array(scale), sums, CHANNELS=channels, PLACES=places, N=n)
    i = np.arange(3 * n)
    expected = (x + bias[i // places % channels]) * scale[i // (places * channels)]
    np.testing.assert_array_equal(engine.numpy(array), expected)
    np.testing.assert_array_equal(engine.numpy(sums), expected.reshape(3, n).sum(1))


@triton.jit
def spread_kernel(x_ptr, out_ptr, WIDTH: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + 3 * (i % WIDTH) + 1000 * (i // WIDTH), x)
    tl.store(out_ptr + 30000 + (WIDTH - 1 - i % WIDTH) + WIDTH * (i // WIDTH), x)  # each row backwards


@pytest.mark.parametrize("width", [10, 24, 50])
def test_rows_written_elsewhere(engine, rng, width):
    n = 256
    x = made(rng, n, "float32")
    out = engine.zeros(31000, "float32")
    spread_kernel[(1,)](engine.array(x), out, WIDTH=width, N=n)
    i = np.arange(n)
    expected = np.zeros(31000, "float32")
    expected[3 * (i % width) + 1000 * (i // width)] = x
    expected[30000 + width - 1 - i % width + width * (i // width)] = x
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def channels_last_kernel(x_ptr, out_ptr, PLACES: tl.constexpr, CHANNELS: tl.constexpr, Y: tl.constexpr, X: tl.constexpr, n):
    y = tl.program_id(0) * Y + tl.arange(0, Y)[:, None]
    x = tl.arange(0, X)[None, :]
    mask = (y < n) & (x < CHANNELS)
    place, image = y % PLACES, y // PLACES
    tl.store(out_ptr + x + CHANNELS * y, 2 * tl.load(x_ptr + place + PLACES * x + PLACES * CHANNELS * image, mask), mask)


@pytest.mark.parametrize("places, channels", [(64, 16), (49, 16), (196, 24), (48, 3)])
def test_channels_last(engine, rng, places, channels):
    images = 3
    x = made(rng, (images, channels, places), "float32")
    out = engine.zeros((images, places, channels), "float32")
    grid = (triton.cdiv(images * places, 32),)
    channels_last_kernel[grid](engine.array(x), out, PLACES=places, CHANNELS=channels, Y=32, X=triton.next_power_of_2(channels), n=images * places)
    np.testing.assert_array_equal(engine.numpy(out), 2 * x.transpose(0, 2, 1))
