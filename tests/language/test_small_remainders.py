"""Indices by remainders and quotients of small divisors, as an implicit GEMM has them: they wrap many times within a vector."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def taps_kernel(x, out, start, n, DIVISOR: tl.constexpr, N: tl.constexpr):
    k = start + tl.arange(0, N)
    tap = k % DIVISOR
    row = k // DIVISOR
    tl.store(out + tl.arange(0, N), tl.load(x + row * DIVISOR + tap, mask=(tap != 1) & (k < n), other=-1) + 1000 * (tap % 3) + 10 * (tap // 3))


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 9, 28, 63, 64, 100])
@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("n", [16, 128, 200])
def test_taps(engine, rng, divisor, start, n):
    size = 128
    x = rng.integers(0, 10, 300)
    out = engine.empty((size,), "int32")
    taps_kernel[(1,)](engine.array(x, "int32"), out, start, n, DIVISOR=divisor, N=size)
    k = start + np.arange(size)
    tap = k % divisor
    expected = np.where((tap != 1) & (k < n), x[k], -1) + 1000 * (tap % 3) + 10 * (tap // 3)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def negative_kernel(out, start, DIVISOR: tl.constexpr, N: tl.constexpr):
    k = start + tl.arange(0, N)
    tl.store(out + tl.arange(0, N), (k % DIVISOR) * 1000 + k // DIVISOR)


@pytest.mark.parametrize("divisor", [3, 9, 100])
def test_from_below_zero(engine, divisor):
    out = engine.empty((64,), "int32")
    negative_kernel[(1,)](out, -40, DIVISOR=divisor, N=64)
    k = -40 + np.arange(64)
    quotient = np.trunc(k / divisor).astype(int)  # toward zero, as in C
    np.testing.assert_array_equal(engine.numpy(out), (k - quotient * divisor) * 1000 + quotient)
