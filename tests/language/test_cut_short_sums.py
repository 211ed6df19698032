"""Sums that go on where a mask ends: what lies beyond adds zeros, to the last bit, with gathers and without."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def rows_kernel(values, columns, starts, x, out, GATHERS: tl.constexpr, START: tl.constexpr, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(starts + row)
    end = tl.load(starts + row + 1)
    total = tl.full((BLOCK,), START, tl.float32)
    for start in range(begin, end, BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = place < end
        value = tl.load(values + place, mask=mask, other=OTHER)
        if GATHERS:
            value *= tl.load(x + tl.load(columns + place, mask=mask, other=0), mask=mask, other=OTHER)
        total += value
    tl.store(out + row * BLOCK + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize("gathers", [False, True])
@pytest.mark.parametrize("start", [0.0, -0.0, 1.5])
@pytest.mark.parametrize("other", [0.0, -0.0, 2.0])
@pytest.mark.parametrize("block", [64, 16, 256])
def test_rows_of_any_length(engine, rng, gathers, start, other, block):
    lengths = np.array([0, 1, 15, 16, 17, 63, 64, 65, 130, 3, 300])
    starts = np.concatenate([[0], lengths.cumsum()])
    values = rng.integers(-4, 5, starts[-1]).astype(np.float32) * np.float32(-0.5)
    columns = rng.integers(0, 50, starts[-1])
    x = rng.integers(-3, 4, 50).astype(np.float32)
    out = engine.empty((len(lengths), block), "float32")
    rows_kernel[(len(lengths),)](
        engine.array(values, "float32"), engine.array(columns, "int32"), engine.array(starts, "int32"), engine.array(x, "float32"), out,
        GATHERS=gathers, START=start, OTHER=other, BLOCK=block)  # fmt: skip
    expected = np.full((len(lengths), block), start, np.float32)
    for row, (begin, end) in enumerate(zip(starts, starts[1:])):
        for first in range(begin, end, block):
            place = first + np.arange(block)
            inside = place < end
            near = np.where(inside, place, 0)
            value = np.where(inside, values[near], np.float32(other))
            if gathers:
                value = value * np.where(inside, x[columns[near]], np.float32(other))
            expected[row] += value
    np.testing.assert_array_equal(engine.numpy(out).view(np.int32), expected.view(np.int32))  # the signs of zeros too
