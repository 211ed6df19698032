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
