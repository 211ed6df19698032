"""Offsets that wrap (`%`), and what is computed from them: remainders of remainders, quotients, bound checks."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def nested_kernel(x_ptr, first_ptr, out_ptr, n, ROW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    batch = offsets // (n * ROW)
    inside = offsets % (n * ROW)
    row = inside // ROW
    column = inside % ROW
    valid = batch < 2
    x = tl.load(x_ptr + batch * (n * ROW) + row * ROW + column, mask=valid, other=0.0)
    first = tl.load(first_ptr + batch * ROW + column, mask=(row < 1) & valid, other=0.0)
    tl.store(out_ptr + offsets, x + first, mask=valid)


@pytest.mark.parametrize("block", [16, 32, 64, 256])
@pytest.mark.parametrize("row, n", [(32, 3), (5, 7), (16, 1)])
def test_remainder_of_a_remainder(engine, rng, row, n, block):
    x = rng.standard_normal((2, n, row)).astype(np.float32)
    first = rng.standard_normal((2, row)).astype(np.float32)
    out = engine.zeros(x.size, "float32")
    nested_kernel[(triton.cdiv(x.size, block),)](engine.array(x), engine.array(first), out, n, row, block)
    expected = x.copy()
    expected[:, 0] += first
    np.testing.assert_array_equal(engine.numpy(out), expected.reshape(-1))


@triton.jit
def bounded_remainder_kernel(x_ptr, out_ptr, period, limit, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = offsets % period
    x = tl.load(x_ptr + wrapped, mask=wrapped < limit, other=-1.0)
    tl.store(out_ptr + offsets, x, mask=(offsets < n) & (wrapped <= limit))


@pytest.mark.parametrize("block", [16, 64, 256])
@pytest.mark.parametrize("period, limit", [(48, 20), (7, 7), (100, 3), (16, 16), (33, 32)])
def test_bound_check_of_a_remainder(engine, rng, period, limit, block):
    n = 200
    x = rng.standard_normal(period).astype(np.float32)
    out = engine.zeros(n, "float32")
    bounded_remainder_kernel[(triton.cdiv(n, block),)](engine.array(x), out, period, limit, n, block)
    wrapped = np.arange(n) % period
    expected = np.where(wrapped < limit, x[wrapped], -1.0).astype(np.float32)
    np.testing.assert_array_equal(engine.numpy(out), np.where(wrapped <= limit, expected, 0))
