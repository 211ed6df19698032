"""Quotients and remainders of whole tiles, where they are hardest to get right: at multiples of the divisor and beside them, with
large quotients and large divisors, one divisor for all or one for each element."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import INTEGERS, TYPES

COUNT = 1024


@triton.jit
def by_elements_kernel(x_ptr, y_ptr, quotient_ptr, remainder_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(quotient_ptr + offsets, x // y)
    tl.store(remainder_ptr + offsets, x % y)


@triton.jit
def by_one_kernel(x_ptr, y_ptr, quotient_ptr, remainder_ptr, COUNT: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * COUNT + tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + program)
    tl.store(quotient_ptr + offsets, x // y)
    tl.store(remainder_ptr + offsets, x % y)


def expected(x, y):
    """By Python's integers, of any size: toward zero; // 0 is all bits set, % 0 is x."""
    wide = [(int(a), int(b)) for a, b in zip(x.flat, y.flat)]
    quotients = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1 for a, b in wide]
    remainders = [a - q * b if b else a for (a, b), q in zip(wide, quotients)]
    mask = (1 << 8 * x.itemsize) - 1
    unsigned = np.dtype(f"u{x.itemsize}")
    return [np.array([v & mask for v in values], unsigned).view(x.dtype) for values in (quotients, remainders)]


def divisors(rng, dtype, count):
    info = np.iinfo(dtype)
    edges = [info.min, info.max, 0, 1, 2, 3, 7, info.max - 1, info.max // 2, info.max // 2 + 1]
    if info.min < 0:
        edges += [-1, -2, -3, info.min + 1]
    values = [int(v) >> int(s) for v, s in zip(rng.integers(info.min, info.max, count, dtype, endpoint=True), rng.integers(0, info.bits, count))]
    return np.array((edges + values)[:count], dtype)


def dividends(rng, y, dtype):
    """For each divisor a multiple of it, one less, one more, or anything."""
    info = np.iinfo(dtype)
    out = []
    for divisor, kind in zip(y.flat, rng.integers(0, 8, y.size)):
        value = int(rng.integers(info.min, info.max, dtype=dtype, endpoint=True))
        if kind < 6:
            size = abs(int(divisor)) or 1
            quotient = int(rng.integers(0, info.max // size, endpoint=True, dtype=np.uint64)) >> int(rng.choice([0, 0, info.bits // 2]))
            value = (-1 if kind >= 3 and info.min < 0 else 1) * quotient * size + int(kind) % 3 - 1
        out.append(min(max(value, info.min), info.max))
    return np.array(out, dtype).reshape(y.shape)


@pytest.mark.parametrize("name", INTEGERS)
def test_one_divisor_for_each_element(engine, rng, name):
    dtype = TYPES[name].numpy
    y = rng.permutation(divisors(rng, dtype, COUNT))
    x = dividends(rng, y, dtype)
    quotient, remainder = engine.empty(COUNT, name), engine.empty(COUNT, name)
    by_elements_kernel[(1,)](engine.array(x), engine.array(y), quotient, remainder, COUNT=COUNT)
    wanted = expected(x, y)
    np.testing.assert_array_equal(engine.numpy(quotient), wanted[0])
    np.testing.assert_array_equal(engine.numpy(remainder), wanted[1])


@pytest.mark.parametrize("name", INTEGERS)
def test_one_divisor_for_all(engine, rng, name):
    dtype = TYPES[name].numpy
    y = divisors(rng, dtype, 40)
    spread = np.repeat(y, COUNT)
    x = dividends(rng, spread, dtype)
    quotient, remainder = engine.empty(x.size, name), engine.empty(x.size, name)
    by_one_kernel[(y.size,)](engine.array(x), engine.array(y), quotient, remainder, COUNT=COUNT)
    wanted = expected(x, spread)
    np.testing.assert_array_equal(engine.numpy(quotient), wanted[0])
    np.testing.assert_array_equal(engine.numpy(remainder), wanted[1])
