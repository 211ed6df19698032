"""Products of operands at places of images that are numbered through: row and column by // and %, where a row, or an image, ends in a vector."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def convolution_kernel(x, weight, out, places, height, width, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, CHANNELS: tl.constexpr,
                       FILTERS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, BY_LAUNCH: tl.constexpr):  # fmt: skip
    """3x3, padded by one: x [image, CHANNELS, HEIGHT, WIDTH], weight [FILTERS, CHANNELS, 3, 3]."""
    if BY_LAUNCH:
        h, w = height, width
    else:
        h, w = HEIGHT, WIDTH
    place = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    filters = tl.arange(0, FILTERS)
    image = place // (h * w)
    row = place // w % h
    column = place % w
    total = tl.zeros((BLOCK_M, FILTERS), dtype=tl.float32)
    for start in range(0, CHANNELS * 9, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        channel, tap = k // 9, k % 9
        y = row[:, None] + (tap // 3)[None, :] - 1
        z = column[:, None] + (tap % 3)[None, :] - 1
        mask = (y >= 0) & (y < h) & (z >= 0) & (z < w) & (k < CHANNELS * 9)[None, :] & (place < places)[:, None]
        left = tl.load(x + ((image[:, None] * CHANNELS + channel[None, :]) * h + y) * w + z, mask=mask, other=0.0)
        right = tl.load(weight + filters[None, :] * (CHANNELS * 9) + k[:, None], mask=(k < CHANNELS * 9)[:, None], other=0.0)
        total = tl.dot(left, right, total)
    target = (image * FILTERS * h * w + row * w + column)[:, None] + filters[None, :] * (h * w)
    tl.store(out + target, total, mask=(place < places)[:, None])


def convolved(x, weight):
    images, channels, height, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((images, weight.shape[0], height, width))
    for dy in range(3):
        for dx in range(3):
            out += np.einsum("nchw,fc->nfhw", padded[:, :, dy:dy + height, dx:dx + width], weight[:, :, dy, dx])
    return out


@pytest.mark.parametrize("height, width", [(28, 28), (5, 16), (3, 7), (1, 40)])
@pytest.mark.parametrize("block_m, block_k", [(64, 32), (16, 16), (32, 8)])
@pytest.mark.parametrize("by_launch", [False, True])
def test_channels_first(engine, rng, height, width, block_m, block_k, by_launch):
    images, channels, filters = 2, 3, 16
    x, weight = rng.integers(-4, 5, (images, channels, height, width)), rng.integers(-4, 5, (filters, channels, 3, 3))
    out = engine.empty((images, filters, height, width), "float32")
    places = images * height * width
    convolution_kernel[(triton.cdiv(places, block_m),)](
        engine.array(x, "float32"), engine.array(weight, "float32"), out, places, height, width, HEIGHT=height, WIDTH=width,
        CHANNELS=channels, FILTERS=filters, BLOCK_M=block_m, BLOCK_K=block_k, BY_LAUNCH=by_launch)  # fmt: skip
    np.testing.assert_array_equal(engine.numpy(out), convolved(x, weight))


@triton.jit
def strided_kernel(x, weight, out, STEP: tl.constexpr, M: tl.constexpr, K: tl.constexpr, WIDTH: tl.constexpr):
    """Pixels of each second row of an image, or of each row: runs that end within a vector."""
    place = tl.arange(0, M)
    pixel = place // WIDTH * (STEP * WIDTH) + place % WIDTH
    k = tl.arange(0, K)
    left = tl.load(x + pixel[:, None] + k[None, :] * (STEP * M))
    right = tl.load(weight + k[:, None] * K + k[None, :])
    tl.store(out + place[:, None] * K + k[None, :], tl.dot(left, right))


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("width", [4, 7, 16, 24])
@pytest.mark.parametrize("name", ["float32", "float16"])
def test_rows_with_gaps(engine, rng, step, width, name):
    m, k = 64, 16
    x, weight = rng.integers(-3, 4, 2 * step * m * k), rng.integers(-3, 4, (k, k))
    out = engine.empty((m, k), "float32")
    strided_kernel[(1,)](engine.array(x, name), engine.array(weight, name), out, STEP=step, M=m, K=k, WIDTH=width)
    place = np.arange(m)
    left = x[(place // width * (step * width) + place % width)[:, None] + np.arange(k)[None, :] * (step * m)]
    np.testing.assert_array_equal(engine.numpy(out), left @ weight)
