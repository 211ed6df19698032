"""Rows that are stored and summed up in one loop, in either order, also over what they were read from; with numbers read in between."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def rows_kernel(out, x, g, means, sums, rows, columns, STORE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    first = tl.zeros((BLOCK,), tl.int32)
    second = tl.zeros((BLOCK,), tl.int32)
    for i in range(rows):
        row = tl.program_id(0) * rows + i
        value = tl.load(x + row * columns + at, mask=inside, other=0)
        grad = tl.load(g + row * columns + at, mask=inside, other=0)
        normal = tl.where(inside, value - tl.load(means + row), 0)
        total = tl.sum(normal * grad, 0)
        if STORE == "before":
            tl.store(out + row * columns + at, normal * total + value, mask=inside)
        first += grad * normal
        if STORE == "between":
            tl.store(out + row * columns + at, normal * total + value, mask=inside)
        second += grad + value
        if STORE == "after":
            tl.store(out + row * columns + at, normal * total + value, mask=inside)
    place = tl.program_id(0) * 2 * columns + at
    tl.store(sums + place, first, mask=inside)
    tl.store(sums + place + columns, second, mask=inside)


@pytest.mark.parametrize("columns", [64, 50, 1, 256])
@pytest.mark.parametrize("store", ["before", "between", "after"])
@pytest.mark.parametrize("where", ["elsewhere", "over x", "over g"])
def test_rows_and_sums(engine, rng, columns, store, where):
    programs, rows, block = 2, 3, 256
    shape = (programs, rows, columns)
    x, g, means = rng.integers(-9, 10, shape), rng.integers(-9, 10, shape), rng.integers(-9, 10, (programs, rows))
    given_x, given_g = engine.array(x, "int32"), engine.array(g, "int32")
    out = {"elsewhere": engine.empty(shape, "int32"), "over x": given_x, "over g": given_g}[where]
    sums = engine.empty((programs, 2, columns), "int32")
    rows_kernel[(programs,)](out, given_x, given_g, engine.array(means, "int32"), sums, rows, columns, STORE=store, BLOCK=block)
    normal = x - means[:, :, None]
    np.testing.assert_array_equal(engine.numpy(out), normal * (normal * g).sum(2, keepdims=True) + x)
    np.testing.assert_array_equal(engine.numpy(sums), np.stack([(g * normal).sum(1), (g + x).sum(1)], 1))


@triton.jit
def read_between_kernel(x, out, N: tl.constexpr):
    """A number that a store of this program has just written, and one that a later store overwrites."""
    at = tl.arange(0, N)
    value = tl.load(x + at)
    before = tl.load(x)
    tl.store(x + at, value + 1)
    tl.debug_barrier()
    after = tl.load(x)
    tl.store(out + at, value * 100 + before * 10 + after)


def test_a_number_read_before_and_after(engine):
    x, out = engine.array(np.arange(2, 34), "int32"), engine.empty((32,), "int32")
    read_between_kernel[(1,)](x, out, N=32)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(2, 34) * 100 + 2 * 10 + 3)
    np.testing.assert_array_equal(engine.numpy(x), np.arange(3, 35))
