"""Loops, branches and returns: what they carry, what survives them, and leaving them early."""

import numpy as np
import pytest
import triton
import triton.language as tl

COUNT = 64


def run(engine, kernel, *scalars, x=None, count=COUNT, name="int32", **meta):
    x = np.arange(count, dtype=name) if x is None else x
    out = engine.empty(count, name)
    kernel[(1,)](engine.array(x), out, *scalars, **meta)
    return engine.numpy(out)


@triton.jit
def carried_tile_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    total = tl.zeros((64,), dtype=tl.int32)
    for i in range(n):
        total += tl.load(x_ptr + offsets) * i
    tl.store(out_ptr + offsets, total)


@pytest.mark.parametrize("n", [0, 1, 2, 17])
def test_a_tile_carried_by_a_loop(engine, n):
    np.testing.assert_array_equal(run(engine, carried_tile_kernel, n), np.arange(COUNT) * (n * (n - 1) // 2))


@triton.jit
def several_carried_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    previous = tl.load(x_ptr + offsets)
    current = previous + 1
    steps = 0
    for i in range(0, n):
        following = previous + current
        previous = current
        current = following
        steps += i
    tl.store(out_ptr + offsets, current + steps)


@pytest.mark.parametrize("n", [0, 1, 10])
def test_several_values_carried(engine, n):
    previous = np.arange(COUNT)
    current = previous + 1
    for _ in range(n):
        previous, current = current, previous + current
    np.testing.assert_array_equal(run(engine, several_carried_kernel, n), current + sum(range(n)))


@triton.jit
def carried_pointers_kernel(x_ptr, out_ptr, n, stride):
    pointers = x_ptr + tl.arange(0, 8)
    total = tl.zeros((8,), dtype=tl.int32)
    for i in range(n):
        total += tl.load(pointers)
        pointers += stride
    tl.store(out_ptr + tl.arange(0, 64), tl.broadcast_to(total[:, None], (8, 8)).reshape(64))


def test_pointers_carried_by_a_loop(engine):
    expected = np.repeat(np.arange(COUNT).reshape(8, 8).sum(0), 8)
    np.testing.assert_array_equal(run(engine, carried_pointers_kernel, 8, 8), expected)


@triton.jit
def bounds_kernel(x_ptr, out_ptr, start, stop, STEP: tl.constexpr, HOW: tl.constexpr):
    total = 0
    weight = 1
    if HOW == "range":
        for i in range(start, stop, STEP):
            total += i * weight
            weight += 1
    elif HOW == "hints":
        for i in range(start, stop, STEP, warp_specialize=True):  # which Triton takes there too
            total += i * weight
            weight += 1
    else:
        for i in tl.range(start, stop, STEP, num_stages=2, loop_unroll_factor=2):
            total += i * weight
            weight += 1
    tl.store(out_ptr + tl.arange(0, 64), total)


@pytest.mark.parametrize("how", ["range", "hints", "tl.range"])
@pytest.mark.parametrize("start, stop, step", [(0, 10, 1), (3, 20, 4), (5, 5, 1), (9, 2, 1), (-7, 8, 3), (10, 0, -1), (10, -3, -4), (0, 5, -1)])
def test_bounds_and_steps(engine, start, stop, step, how):
    expected = sum(i * (n + 1) for n, i in enumerate(range(start, stop, step)))
    got = run(engine, bounds_kernel, start, stop, STEP=step, HOW=how)
    np.testing.assert_array_equal(got, np.full(COUNT, expected))


@triton.jit
def runtime_step_kernel(x_ptr, out_ptr, stop, step):
    total = 0
    for i in range(0, stop, step):
        total += i
    tl.store(out_ptr + tl.arange(0, 64), total)


@pytest.mark.parametrize("step", [1, 2, 7])
def test_a_run_time_step(engine, step):
    np.testing.assert_array_equal(run(engine, runtime_step_kernel, 30, step), np.full(COUNT, sum(range(0, 30, step))))


@triton.jit
def wide_bounds_kernel(x_ptr, out_ptr, start, stop):
    total = 0
    for i in range(start, stop):
        tl.static_assert(i.dtype == tl.int64)
        total += (i - start).to(tl.int32)
    tl.store(out_ptr + tl.arange(0, 64), total)


@pytest.mark.ours("the index is a Python int in Triton's interpreter")
def test_the_index_has_the_type_of_the_bounds(engine):
    start = 5_000_000_000
    np.testing.assert_array_equal(run(engine, wide_bounds_kernel, start, start + 5), np.full(COUNT, 10))


@triton.jit
def nested_kernel(x_ptr, out_ptr, n, m):
    offsets = tl.arange(0, 64)
    total = tl.zeros((64,), dtype=tl.int32)
    for i in range(n):
        row = tl.zeros((64,), dtype=tl.int32)
        for j in range(i, m):
            row += offsets + j
        total = total * 2 + row
    tl.store(out_ptr + offsets, total)


@pytest.mark.parametrize("n, m", [(0, 5), (3, 0), (4, 6)])
def test_nested_loops(engine, n, m):
    total = np.zeros(COUNT, np.int64)
    for i in range(n):
        total = total * 2 + sum((np.arange(COUNT) + j for j in range(i, m)), np.zeros(COUNT, np.int64))
    np.testing.assert_array_equal(run(engine, nested_kernel, n, m), total)


@triton.jit
def unrolled_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    for i in tl.static_range(N):
        tl.static_assert(i >= 0)
        if i % 2 == 0:
            x += i
        else:
            x *= i
    for i in tl.static_range(6, 0, -2):
        x -= i
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_an_unrolled_loop(engine, n):
    x = np.arange(COUNT)
    for i in range(n):
        x = x + i if i % 2 == 0 else x * i
    np.testing.assert_array_equal(run(engine, unrolled_kernel, N=n), x - 12)


@triton.jit
def while_kernel(x_ptr, out_ptr, n):
    steps = 0
    while n != 1 and steps < 1000:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out_ptr + tl.arange(0, 64), steps)


@pytest.mark.parametrize("n, steps", [(2, 1), (7, 16), (27, 111)])
def test_while(engine, n, steps):
    np.testing.assert_array_equal(run(engine, while_kernel, n), np.full(COUNT, steps))


@triton.jit
def while_tile_kernel(x_ptr, out_ptr, limit):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets) + 1
    rounds = 0
    while tl.max(x, axis=0) < limit:
        x = x * 2
        rounds += 1
    tl.store(out_ptr + offsets, x + rounds)


@pytest.mark.parametrize("limit", [1, 64, 65, 10000])
def test_while_over_a_tile(engine, limit):
    x, rounds = np.arange(COUNT) + 1, 0
    while x.max() < limit:
        x, rounds = x * 2, rounds + 1
    np.testing.assert_array_equal(run(engine, while_tile_kernel, limit), x + rounds)


@triton.jit
def branches_kernel(x_ptr, out_ptr, flag):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    if flag == 0:
        x = x + 10
        y = x * 2
    elif flag == 2:
        y = x - 5
    else:
        x = -x
        y = x
        y += 1
    tl.store(out_ptr + offsets, x * 1000 + y)


@pytest.mark.parametrize("flag", [0, 2, 3])
def test_branches_that_give_tiles(engine, flag):
    x = np.arange(COUNT)
    x, y = {0: (x + 10, (x + 10) * 2), 2: (x, x - 5), 3: (-x, -x + 1)}[flag]
    np.testing.assert_array_equal(run(engine, branches_kernel, flag), x * 1000 + y)


@triton.jit
def branch_without_else_kernel(x_ptr, out_ptr, flag):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    if flag > 2:
        x += 1
        if flag > 4:
            x *= 3
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("flag", [2, 3, 5])
def test_a_branch_without_else(engine, flag):
    x = np.arange(COUNT)
    x = x if flag <= 2 else x + 1 if flag <= 4 else (x + 1) * 3
    np.testing.assert_array_equal(run(engine, branch_without_else_kernel, flag), x)


@triton.jit
def store_in_branch_kernel(x_ptr, out_ptr):
    program = tl.program_id(0)
    if program % 2 == 0:
        tl.store(out_ptr + program, tl.load(x_ptr + program) * 2)
    else:
        tl.store(out_ptr + program, -1)


def test_memory_touched_in_branches(engine):
    x = np.arange(COUNT, dtype=np.int32)
    out = engine.empty(COUNT, "int32")
    store_in_branch_kernel[(COUNT,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), np.where(x % 2 == 0, x * 2, -1))


@triton.jit
def branch_in_loop_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    low = tl.zeros((64,), dtype=tl.int32)
    high = tl.zeros((64,), dtype=tl.int32)
    for i in range(n):
        x = tl.load(x_ptr + offsets) + i
        if i < 3:
            low += x
        else:
            high = tl.maximum(high, x)
    tl.store(out_ptr + offsets, low + 100 * high)


@pytest.mark.parametrize("n", [0, 2, 3, 8])
def test_a_branch_in_a_loop(engine, n):
    x = np.arange(COUNT)
    low = sum((x + i for i in range(min(n, 3))), np.zeros(COUNT, np.int64))
    high = np.maximum.reduce([x + i for i in range(3, n)]) if n > 3 else 0
    np.testing.assert_array_equal(run(engine, branch_in_loop_kernel, n), low + 100 * high)


@triton.jit
def one_element_condition_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 64)
    flag = tl.load(x_ptr + tl.arange(0, 1)) == 0
    if flag:
        tl.store(out_ptr + offsets, 1)
    else:
        tl.store(out_ptr + offsets, 2)


def test_a_tile_of_one_element_as_a_condition(engine):
    np.testing.assert_array_equal(run(engine, one_element_condition_kernel), np.full(COUNT, 1))


@triton.jit
def conditional_expression_kernel(x_ptr, out_ptr, n, FLAG: tl.constexpr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    y = x + (5 if n > 3 else 9)
    z = y * 2 if FLAG else tl.undefined_name_never_looked_up
    tl.store(out_ptr + offsets, z)


@pytest.mark.parametrize("n", [2, 4])
def test_conditional_expressions(engine, n):
    expected = (np.arange(COUNT) + (5 if n > 3 else 9)) * 2
    np.testing.assert_array_equal(run(engine, conditional_expression_kernel, n, FLAG=True), expected)


@triton.jit
def pruned_kernel(x_ptr, out_ptr, MODE: tl.constexpr, NOTHING: tl.constexpr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    if NOTHING is not None:
        x += NOTHING.no_such_attribute
    if MODE == "double" and NOTHING is None:
        x = x * 2
    elif MODE == "wrong":
        x = tl.dot(x, "not even the right type")
    else:
        x = x.to(tl.float32)
    tl.store(out_ptr + offsets, x)


def test_a_constexpr_branch_is_pruned(engine):
    np.testing.assert_array_equal(run(engine, pruned_kernel, MODE="double", NOTHING=None), np.arange(COUNT) * 2)
    np.testing.assert_array_equal(run(engine, pruned_kernel, MODE="float", NOTHING=None), np.arange(COUNT))


@triton.jit
def early_return_kernel(x_ptr, out_ptr, count):
    program = tl.program_id(0)
    if program >= count:
        return
    tl.store(out_ptr + program, tl.load(x_ptr + program) + 1)


@pytest.mark.parametrize("count", [0, 2, 33, 64])
def test_an_early_return(engine, count):
    x = np.arange(COUNT, dtype=np.int32)
    out = engine.zeros(COUNT, "int32")
    early_return_kernel[(COUNT,)](engine.array(x), out, count)
    np.testing.assert_array_equal(engine.numpy(out), np.where(x < count, x + 1, 0))


@triton.jit
def break_kernel(x_ptr, out_ptr, limit):
    offsets = tl.arange(0, 64)
    total = tl.zeros((64,), dtype=tl.int32)
    last = -1
    for i in range(0, 100):
        if i * i > limit:
            break
        total += offsets * i
        last = i
    tl.store(out_ptr + offsets, total + last)


@pytest.mark.ours("break")
@pytest.mark.parametrize("limit", [-1, 0, 50, 100000])
def test_break(engine, limit):
    total, last = np.zeros(COUNT, np.int64), -1
    for i in range(100):
        if i * i > limit:
            break
        total, last = total + np.arange(COUNT) * i, i
    np.testing.assert_array_equal(run(engine, break_kernel, limit), total + last)


@triton.jit
def continue_kernel(x_ptr, out_ptr, n, divisor):
    offsets = tl.arange(0, 64)
    total = tl.zeros((64,), dtype=tl.int32)
    for i in range(n):
        total += 1
        if i % divisor == 0:
            continue
        total += offsets * i
        if i > 10:
            continue
        total += 1000
    tl.store(out_ptr + offsets, total)


@pytest.mark.ours("continue")
@pytest.mark.parametrize("n, divisor", [(0, 2), (1, 2), (20, 3), (15, 100)])
def test_continue(engine, n, divisor):
    total = np.zeros(COUNT, np.int64)
    for i in range(n):
        total = total + 1
        if i % divisor == 0:
            continue
        total = total + np.arange(COUNT) * i
        if i > 10:
            continue
        total = total + 1000
    np.testing.assert_array_equal(run(engine, continue_kernel, n, divisor), total)


@triton.jit
def break_and_continue_kernel(x_ptr, out_ptr, n, stop):
    offsets = tl.arange(0, 64)
    total = tl.zeros((64,), dtype=tl.int32)
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i % 3 == 0:
            continue
        for j in range(i):
            if j == stop:
                break
            if (i + j) % 2 == 0:
                continue
            total += offsets + j
    tl.store(out_ptr + offsets, total + i)


@pytest.mark.ours("break and continue")
@pytest.mark.parametrize("n, stop", [(0, 3), (5, 0), (8, 3), (10, 100)])
def test_break_and_continue_in_nested_loops(engine, n, stop):
    total, i = np.zeros(COUNT, np.int64), 0
    while True:
        i += 1
        if i > n:
            break
        if i % 3 == 0:
            continue
        for j in range(i):
            if j == stop:
                break
            if (i + j) % 2 == 0:
                continue
            total = total + np.arange(COUNT) + j
    np.testing.assert_array_equal(run(engine, break_and_continue_kernel, n, stop), total + i)


@triton.jit
def return_in_loop_kernel(x_ptr, out_ptr, wanted):
    for i in range(64):
        if tl.load(x_ptr + i) == wanted:
            tl.store(out_ptr, i)
            return
        tl.store(out_ptr + 1 + i, 1)
    tl.store(out_ptr, -1)


@pytest.mark.ours("return in a loop")
@pytest.mark.parametrize("wanted", [0, 1, 40, 1000])
def test_return_in_a_loop(engine, wanted):
    x = np.arange(COUNT, dtype=np.int32)[::-1].copy()
    out = engine.zeros(COUNT + 1, "int32")
    return_in_loop_kernel[(1,)](engine.array(x), out, wanted)
    got = engine.numpy(out)
    place = int(np.flatnonzero(x == wanted)[0]) if wanted in x else -1
    assert got[0] == place
    assert got[1:].sum() == (place if place >= 0 else COUNT)


@triton.jit
def first_multiple(start, divisor):
    for i in range(start, 1000):
        if i % divisor == 0:
            return i
    return -1


@triton.jit
def helper_with_loop_kernel(x_ptr, out_ptr, start, divisor):
    tl.store(out_ptr + tl.arange(0, 64), first_multiple(start, divisor))


@pytest.mark.ours("return in a loop")
@pytest.mark.parametrize("start, divisor, expected", [(10, 7, 14), (2, 2, 2), (999, 1000, -1)])
def test_return_from_a_loop_of_a_helper(engine, start, divisor, expected):
    np.testing.assert_array_equal(run(engine, helper_with_loop_kernel, start, divisor), np.full(COUNT, expected))


@triton.jit
def sequence_kernel(x_ptr, out_ptr, SHIFTS: tl.constexpr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    for i in tl.static_range(len(SHIFTS)):
        x += SHIFTS[i] << i
    tl.store(out_ptr + offsets, x)


def test_a_tuple_walked_at_compile_time(engine):
    np.testing.assert_array_equal(run(engine, sequence_kernel, SHIFTS=(1, 5, 7)), np.arange(COUNT) + 1 + 10 + 28)


@triton.jit
def swapped_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    a = tl.load(x_ptr + offsets)
    b = a * 100
    for i in range(n):
        a, b = b, a
    tl.store(out_ptr + offsets, a)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_tiles_swapped_in_a_loop(engine, n):
    np.testing.assert_array_equal(run(engine, swapped_kernel, n), np.arange(COUNT) * (100 if n % 2 else 1))


@triton.jit
def reduction_in_loop_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    for i in range(n):
        x = x + tl.sum(x, axis=0) // 64 - tl.max(x, axis=0) // 2
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_reductions_inside_a_loop(engine, n):
    x = np.arange(COUNT)
    for _ in range(n):
        x = x + int(x.sum() / COUNT) - int(x.max() / 2)
    np.testing.assert_array_equal(run(engine, reduction_in_loop_kernel, n), x)


@triton.jit
def type_change_kernel(x_ptr, out_ptr, n):
    total = 0
    for i in range(n):
        total = total + 0.5
    tl.store(out_ptr, total)


@triton.jit
def shape_change_kernel(x_ptr, out_ptr, n):
    total = tl.zeros((16,), dtype=tl.int32)
    if n > 3:
        total = tl.zeros((32,), dtype=tl.int32)
    tl.store(out_ptr, tl.sum(total))


@triton.jit
def one_branch_kernel(x_ptr, out_ptr, n):
    if n > 3:
        y = 5
    tl.store(out_ptr, y)


@pytest.mark.ours("Triton's interpreter runs these as Python does")
@pytest.mark.parametrize("kernel", [type_change_kernel, shape_change_kernel, one_branch_kernel], ids=lambda kernel: kernel.__name__)
def test_errors(engine, kernel):
    if engine.name == "interpreter":
        pytest.skip("types at joins are a matter of the compiler; CPython takes one path")
    with pytest.raises(triton.TritonError):
        kernel[(1,)](engine.zeros(16, "int32"), engine.zeros(16, "int32"), 5)


@triton.jit
def condition_kernel(out_ptr, n):
    steps = 0
    while tl.condition(n > 1, disable_licm=True):
        n = n // 2
        steps += 1
    tl.store(out_ptr, steps)


@pytest.mark.ours("new in Triton 3.6; the interpreter does not know it")
@pytest.mark.parametrize("n, steps", [(0, 0), (1, 0), (2, 1), (1000, 9)])
def test_a_condition_with_hints(engine, n, steps):
    out = engine.empty(1, "int32")
    condition_kernel[(1,)](out, n)
    assert engine.numpy(out)[0] == steps


@triton.jit
def unknown_range_hint_kernel(out_ptr, n):
    for i in tl.range(0, n, unroll=2):
        tl.store(out_ptr, i)


@triton.jit
def unknown_python_range_hint_kernel(out_ptr, n):
    for i in range(0, n, num_steps=2):
        tl.store(out_ptr, i)


@triton.jit
def unknown_condition_hint_kernel(out_ptr, n):
    while tl.condition(n > 1, unroll=True):
        n = n // 2
        tl.store(out_ptr, n)


@triton.jit
def negative_hint_kernel(out_ptr, n):
    for i in tl.range(0, n, num_stages=-2):
        tl.store(out_ptr, i)


@pytest.mark.ours("Triton's interpreter takes any hint")
@pytest.mark.parametrize("kernel, message", [
    (unknown_range_hint_kernel, "tl.range has no parameter `unroll`"), (unknown_python_range_hint_kernel, "tl.range has no parameter `num_steps`"),
    (unknown_condition_hint_kernel, "tl.condition has no parameter `unroll`"), (negative_hint_kernel, "`num_stages` of tl.range must be"),
], ids=["range", "python range", "condition", "negative"])  # fmt: skip
def test_a_hint_that_means_nothing_is_an_error(engine, kernel, message):
    with pytest.raises(triton.TritonError, match=message):
        kernel[(1,)](engine.empty(1, "int32"), 4)


@triton.jit
def halved_until_small_kernel(x_ptr, out_ptr, most_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    while tl.max(x) > 20:
        x = tl.where(x > 20, tl.flip(x, 0) // 2, x // 2)
    tl.store(out_ptr + tl.arange(0, N), x)
    tl.store(most_ptr, tl.max(x))


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [64, 65, 256])
def test_what_a_condition_shares_is_read_before_what_follows_the_loop(engine, rng, n, warps):
    """Both reductions use the same shared memory on a GPU, and the loop is left right after the first one."""
    x = rng.integers(0, 100, n).astype(np.int32)
    out, most = engine.empty(n, "int32"), engine.empty(1, "int32")
    halved_until_small_kernel[(1,)](engine.array(x), out, most, n, num_warps=warps)
    while x.max() > 20:
        x = np.where(x > 20, x[::-1] // 2, x // 2)
    np.testing.assert_array_equal(engine.numpy(out), x)
    assert engine.numpy(most)[0] == x.max()
