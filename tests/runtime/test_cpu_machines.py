"""Kernels compiled for other machines than this one, as far as this one runs their code."""

import nacre
import nacre.language as tl
import numpy as np
import pytest


@nacre.jit
def masked_rows_kernel(one_ptr, x_ptr, one_out_ptr, out_ptr, n):
    row, column = tl.arange(0, 1)[:, None], tl.arange(0, 16)[None, :]
    one = tl.load(one_ptr + tl.arange(0, 1))
    inside = (1 - column < row) | ((row + tl.program_id(0) < 1) & (column >= n))
    x = tl.load(x_ptr + row * 16 + column, mask=inside, other=0)
    tl.store(one_out_ptr + tl.program_id(0) + tl.arange(0, 1), one)
    tl.store(out_ptr + tl.program_id(0) * 16 + row * 16 + column, x)


@pytest.mark.parametrize("machine", ["x86-64", "x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("n", [0, 1, 16])
def test_copies_of_masked_rows(machine, n):
    """LLVM's pass for forwarded stores could not bear the masked accesses of AVX2."""
    one, x = np.array([7], np.int32), np.arange(16, dtype=np.int32) + 1
    one_out, out = np.zeros(2, np.int32), np.full((2, 16), -1, np.int32)
    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_target = machine
        masked_rows_kernel[(2,)](one, x, one_out, out, n)
    column = np.arange(16)
    np.testing.assert_array_equal(out[0], np.where((1 - column < 0) | (column >= n), x, 0))
    np.testing.assert_array_equal(out[1], np.where(1 - column < 0, x, 0))
    np.testing.assert_array_equal(one_out, [7, 7])


@nacre.jit
def masked_columns_kernel(x_ptr, out_ptr, n):
    row, column = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    inside = ~((column < n) | (row + 1 > 8))
    x = tl.load(x_ptr + row + column * 64, mask=inside)
    tl.store(x_ptr + row + column * 64, x ^ tl.max(x, 1, keep_dims=True), mask=inside)
    tl.store(out_ptr + row * 64 + column, x)


@pytest.mark.parametrize("machine", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("n", [0, 3, 64])
def test_masks_that_are_false_in_half_of_a_step(machine, n):
    """AVX2 read such a half without its mask: a negated `or` with constants was not cut into registers."""
    x = np.random.default_rng(0).integers(-1000, 1000, (64, 64)).astype(np.int32)
    row, column = np.arange(64)[:, None], np.arange(64)[None, :]
    inside = ~((column < n) | (row + 1 > 8))
    wanted, out, changed = np.where(inside, x.T, 0), np.full((64, 64), 7, np.int32), x.copy()
    with nacre.knobs.compilation.scope():
        nacre.knobs.compilation.cpu_target = machine
        masked_columns_kernel[(1,)](changed, out, n)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(changed.T, np.where(inside, wanted ^ wanted.max(1, keepdims=True), x.T))
