"""Products whose left operand is a masked product: elements of it, and of the sums, may be one constant, and must not share a register."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def load_as(pointer, at, TYPE: tl.constexpr):
    loaded = tl.load(pointer + at)
    if TYPE == tl.int8:
        result = loaded.to(tl.int8)
    else:
        result = loaded.to(tl.float32).to(TYPE)
    return result


@triton.jit
def masked_kernel(q, k, v, o, B: tl.constexpr, TYPE: tl.constexpr, SUM: tl.constexpr, MASKED: tl.constexpr, START: tl.constexpr):
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    s = tl.dot(load_as(q, at, TYPE), load_as(k, at, TYPE))
    s = tl.where(r[:, None] >= r[None, :], s, MASKED)
    sums = tl.full((B, B), START, SUM)
    tl.store(o + at, tl.dot(s.to(TYPE), load_as(v, at, TYPE), sums).to(tl.int32))


@pytest.mark.parametrize("masked, start", [(0, 0), (1, 1), (0, 1), (2, 0)])
@pytest.mark.parametrize("size, warps", [(64, 4), (128, 8)])
@pytest.mark.parametrize("name", ["float16", "bfloat16", "int8", "float8e5"])
def test_a_masked_product_is_multiplied(engine, rng, name, size, warps, masked, start):
    """Whole numbers that every type holds: q picks rows of k."""
    q = np.eye(size, dtype=np.int32)[rng.permutation(size)]
    k, v = (rng.integers(-2, 3, (size, size), dtype=np.int32) for _ in range(2))
    out = engine.empty((size, size), "int32")
    masked_kernel[(1,)](engine.array(q), engine.array(k), engine.array(v), out, B=size, TYPE=getattr(tl, name),
                        SUM=tl.int32 if name == "int8" else tl.float32, MASKED=masked, START=start, num_warps=warps)  # fmt: skip
    rows = np.arange(size)
    expected = np.where(rows[:, None] >= rows[None, :], q @ k, masked) @ v + start
    np.testing.assert_array_equal(engine.numpy(out), expected)
