"""The step of a loop that is known only at run time: it counts up, and one that is not positive runs over nothing, whatever
leaves the loop."""

import numpy as np
import pytest
import triton
import triton.language as tl

NOT_POSITIVE = [0, -1, -2, -7, -(2**31)]


def run(engine, kernel, *scalars):
    """What the kernel leaves in an array of two numbers."""
    out = engine.array(np.array([-5, -5], np.int64))
    kernel[(1,)](out, *scalars)
    return list(engine.numpy(out))


@triton.jit
def plain_kernel(out_ptr, start, stop, step):
    rounds = 0
    last = -9
    for i in range(start, stop, step):
        rounds += 1
        last = i
    tl.store(out_ptr, rounds)
    tl.store(out_ptr + 1, last)


@triton.jit
def break_kernel(out_ptr, start, stop, step):
    rounds = 0
    last = -9
    for i in tl.range(start, stop, step):
        if rounds == 100:
            break
        rounds += 1
        last = i
    tl.store(out_ptr, rounds)
    tl.store(out_ptr + 1, last)


@triton.jit
def continue_kernel(out_ptr, start, stop, step):
    rounds = 0
    last = -9
    for i in range(start, stop, step):
        if i == 123456:
            continue
        rounds += 1
        last = i
    tl.store(out_ptr, rounds)
    tl.store(out_ptr + 1, last)


@triton.jit
def return_kernel(out_ptr, start, stop, step):
    rounds = 0
    last = -9
    tl.store(out_ptr, rounds)
    tl.store(out_ptr + 1, last)
    for i in range(start, stop, step):
        if rounds == 100:
            return
        rounds += 1
        tl.store(out_ptr, rounds)
        tl.store(out_ptr + 1, i)


@triton.jit
def first_at_least(start, stop, step, least):
    for i in range(start, stop, step):
        if i >= least:
            return i
    return -9


@triton.jit
def helper_kernel(out_ptr, start, stop, step):
    tl.store(out_ptr, 0)
    tl.store(out_ptr + 1, first_at_least(start, stop, step, stop - step))


@triton.jit
def tile_kernel(out_ptr, start, stop, step):
    total = tl.zeros((2,), tl.int64)
    for i in range(start, stop, step):
        total += tl.where(tl.arange(0, 2) == 0, 1, i)
        if tl.max(total, 0) > 1000000:
            break
    tl.store(out_ptr + tl.arange(0, 2), total)


@triton.jit
def nested_kernel(out_ptr, start, stop, step):
    outer = 0
    inner = 0
    for i in range(0, 3):
        for j in range(start, stop, step):
            if inner > 1000:
                break
            inner += 1
        for k in range(start, stop, step):
            if k == 123456:
                break
            for m in range(0, 2):
                outer += 1
    tl.store(out_ptr, outer)
    tl.store(out_ptr + 1, inner)


KERNELS = {
    "plain": (plain_kernel, lambda r: [len(r), r[-1] if r else -9]),
    "break": (break_kernel, lambda r: [len(r), r[-1] if r else -9]),
    "continue": (continue_kernel, lambda r: [len(r), r[-1] if r else -9]),
    "return": (return_kernel, lambda r: [len(r), r[-1] if r else -9]),
    "helper": (helper_kernel, lambda r: [0, r[-1] if r else -9]),
    "tile": (tile_kernel, lambda r: [len(r), sum(r)]),
    "nested": (nested_kernel, lambda r: [6 * len(r), 3 * len(r)]),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("step", NOT_POSITIVE)
@pytest.mark.parametrize("start, stop", [(2, 6), (6, 2), (3, 3)])
def test_a_step_that_is_not_positive_runs_over_nothing(engine, name, start, stop, step):
    kernel, expected = KERNELS[name]
    assert run(engine, kernel, start, stop, step) == expected([])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("step", [2, 3, 100])
@pytest.mark.parametrize("start, stop", [(2, 9), (9, 2), (-6, 6)])
def test_a_step_that_is_positive_counts_up(engine, name, start, stop, step):
    kernel, expected = KERNELS[name]
    assert run(engine, kernel, start, stop, step) == expected(range(start, stop, step))


@triton.jit
def unsigned_kernel(out_ptr, start, stop, step, LEAVES: tl.constexpr):
    rounds = 0
    for i in range(start, stop, step):
        rounds += 1
        if LEAVES and rounds == 100:
            break
    tl.store(out_ptr, rounds)


@pytest.mark.parametrize("leaves", [False, True])
def test_the_steps_own_type_says_its_sign(engine, leaves):
    large = 2**63 + 8  # an argument beyond int64 is a uint64, and the index with it
    assert run(engine, unsigned_kernel, large, large + 4, -1, leaves) == [0, -5]
    assert run(engine, unsigned_kernel, large, large + 4, 2, leaves) == [2, -5]
    assert run(engine, unsigned_kernel, 2, 5, large, leaves) == [1, -5]


@triton.jit
def constant_step_kernel(out_ptr, STEP: tl.constexpr):
    for i in range(0, 4, STEP):
        tl.store(out_ptr, i)


@pytest.mark.parametrize("step", [0, False])
def test_a_constexpr_step_of_zero_is_an_error(engine, step):
    with pytest.raises(triton.TritonError, match="the step of a range must not be zero"):
        run(engine, constant_step_kernel, step)


@triton.jit
def far_kernel(out_ptr, start, stop, step):
    count = 0
    last = start + tl.zeros((), tl.int64)
    for i in range(start, stop, step):
        count += 1
        last = i
    tl.store(out_ptr, count.to(tl.int64))
    tl.store(out_ptr + 1, last)


@pytest.mark.parametrize("start, stop, step", [(0, 2**63 - 1, 2**62), (-(2**63), 2**63 - 1, 2**62), (2**62, 2**63 - 1, 2**62 + 5),
                                               (3, 2**40, 2**39), (2**40, 3, 2**62), (2**40, 2**41, -(2**62))])  # fmt: skip
def test_steps_past_the_largest_integer(engine, start, stop, step):
    out = engine.zeros(2, "int64")
    far_kernel[(1,)](out, start, stop, step)
    run = range(start, stop, step) if step > 0 else range(0)
    np.testing.assert_array_equal(engine.numpy(out), [len(run), run[-1] if run else start])
