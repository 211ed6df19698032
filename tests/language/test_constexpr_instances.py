"""Which values are constexprs: isinstance(x, tl.constexpr) says the same on every engine."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def helper(x, C: tl.constexpr, FLAG: tl.constexpr = True):
    tl.static_assert(isinstance(C, tl.constexpr) and isinstance(FLAG, tl.constexpr))
    return isinstance(x, tl.constexpr)


@triton.jit
def kernel(out, n, one, nothing, pair, COUNT: tl.constexpr, NAME: tl.constexpr, KIND: tl.constexpr, DEFAULT: tl.constexpr = 3):
    tl.static_assert(isinstance(COUNT, tl.constexpr) and isinstance(COUNT, tl.core.constexpr))
    tl.static_assert(isinstance(NAME, tl.constexpr) and isinstance(KIND, tl.constexpr) and isinstance(DEFAULT, tl.constexpr))
    tl.static_assert(isinstance(COUNT, (tl.tensor, tl.constexpr)) and not isinstance(COUNT, tl.tensor))
    tl.static_assert(isinstance(COUNT, int) and isinstance(NAME, str) and isinstance(KIND, tl.dtype))
    tl.static_assert(not isinstance(n, tl.constexpr) and isinstance(n, tl.tensor))
    tl.static_assert(isinstance(one, tl.constexpr) and isinstance(nothing, tl.constexpr))  # specialized: 1 and None
    tl.static_assert(not isinstance(pair[0], tl.constexpr) and isinstance(pair[1], tl.constexpr))
    tl.static_assert(isinstance(COUNT + 1, tl.constexpr) and isinstance(2, tl.constexpr) and not isinstance(n + 1, tl.constexpr))
    local = 2
    kept: tl.constexpr = 2
    tl.static_assert(not isinstance(local, tl.constexpr) and isinstance(kept, tl.constexpr))
    tl.static_assert(helper(COUNT, 1) and helper(2.5, C=2) and not helper(n, COUNT) and not helper(local, kept))
    tile = tl.arange(0, COUNT)
    tl.static_assert(not isinstance(tile, tl.constexpr) and isinstance(tile.shape[0], tl.constexpr))
    tl.store(out + tile, COUNT if isinstance(COUNT, tl.constexpr) else 0)


def test_which_values_are_constexprs(engine):
    out = engine.zeros(4, "int32")
    kernel[(1,)](out, 5, 1, None, (7, 1), COUNT=4, NAME="name", KIND=tl.float32)
    np.testing.assert_array_equal(engine.numpy(out), [4] * 4)
    kernel[(1,)](out, 5, 1, None, (7, 1), COUNT=tl.constexpr(2), NAME="name", KIND=tl.float32)
    np.testing.assert_array_equal(engine.numpy(out), [2, 2, 4, 4])


@triton.jit
def annotated(out, n, COUNT: tl.constexpr):
    product: tl.constexpr = COUNT * n
    tl.static_assert(not isinstance(product, tl.constexpr))
    tile = tl.arange(0, COUNT)
    tl.store(out + tile, tile + product)


def test_a_run_time_value_stays_one_under_a_constexpr_annotation(engine):
    out = engine.zeros(4, "int32")
    annotated[(1,)](out, 3, COUNT=4)
    np.testing.assert_array_equal(engine.numpy(out), [12, 13, 14, 15])
