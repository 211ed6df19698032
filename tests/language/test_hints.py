"""Hints change no result: multiple_of, max_contiguous, max_constancy, assume, debug_barrier."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def hints_kernel(x_ptr, out_ptr, n, COUNT: tl.constexpr):
    tl.assume(n > 0)
    tl.assume(n % 16 == 0)
    offsets = tl.max_contiguous(tl.multiple_of(tl.arange(0, COUNT), 16), 16)
    groups = tl.max_constancy(offsets // 4, 4)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-1)
    tl.debug_barrier()
    tl.store(out_ptr + offsets, x + tl.multiple_of(groups, 1))


def test_hints_keep_the_values(engine):
    out = engine.empty(64, "int32")
    hints_kernel[(1,)](engine.array(np.arange(64, dtype=np.int32) * 100), out, 48, COUNT=64)
    x = np.where(np.arange(64) < 48, np.arange(64) * 100, -1)
    np.testing.assert_array_equal(engine.numpy(out), x + np.arange(64) // 4)


@triton.jit
def matrix_hints_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    places = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    places = tl.multiple_of(tl.max_contiguous(places, [1, C]), [C, 1])
    tl.store(out_ptr + places, tl.load(x_ptr + tl.max_constancy(places, [1, 1])))


def test_one_hint_an_axis(engine):
    x = np.arange(64, dtype=np.int32).reshape(4, 16)
    out = engine.empty((4, 16), "int32")
    matrix_hints_kernel[(1,)](engine.array(x), out, R=4, C=16)
    np.testing.assert_array_equal(engine.numpy(out), x)


@triton.jit(do_not_specialize=["step"])
def promised_step_kernel(x_ptr, out_ptr, step, n, COUNT: tl.constexpr):
    tl.assume(step == 1)
    places = tl.arange(0, COUNT) * step
    x = tl.load(x_ptr + places, mask=places < n, other=-1)
    tl.store(out_ptr + places, x)


def test_a_step_promised_to_be_one(engine):
    out = engine.empty(64, "int32")
    promised_step_kernel[(1,)](engine.array(np.arange(64, dtype=np.int32) * 100), out, 1, 40, COUNT=64)
    np.testing.assert_array_equal(engine.numpy(out), np.where(np.arange(64) < 40, np.arange(64) * 100, -1))
