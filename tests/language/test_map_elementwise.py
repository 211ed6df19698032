"""map_elementwise: functions of single elements that branch, return early and loop."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit
def collatz_step(x):
    if x % 2 == 0:
        result = x // 2
    else:
        result = 3 * x + 1
    return result


@triton.jit
def safe_divide(x, y):
    if y == 0:
        return x
    return x // y


@triton.jit
def nested(x):
    result = x
    if x > 10:
        if x > 100:
            return -x
        result = x * 2
    elif x < -10:
        result = 0
    result += 1
    return result


@triton.jit
def looped(x):
    total = 0
    for i in range(5):
        if x > i:
            total += i
        else:
            total -= 1
    return total


@triton.jit
def conditional(x):
    return x if x > 3 else 3


@triton.jit
def helper_inside(x):
    return sign(x) * collatz_step(x)


@triton.jit
def apply_kernel(x_ptr, y_ptr, out_ptr, FN: tl.constexpr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if COUNT == 1:
        result = tl.map_elementwise(FN, x)
    else:
        result = tl.map_elementwise(FN, x, tl.load(y_ptr + offsets))
    tl.store(out_ptr + offsets, result)


def c_divide(a, b):
    return int(a / b)


CASES = {
    sign: lambda x: (x > 0) - (x < 0),
    collatz_step: lambda x: c_divide(x, 2) if x % 2 == 0 else 3 * x + 1,
    nested: lambda x: -x if x > 100 else x * 2 + 1 if x > 10 else 1 if x < -10 else x + 1,
    looped: lambda x: sum(i if x > i else -1 for i in range(5)),
    conditional: lambda x: max(x, 3),
    helper_inside: lambda x: ((x > 0) - (x < 0)) * (c_divide(x, 2) if x % 2 == 0 else 3 * x + 1),
}


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_one_argument(engine, rng, function):
    x = rng.integers(-200, 200, 64, dtype=np.int32)
    x[:5] = [0, 1, -1, 3, 100]
    out = engine.empty(64, "int32")
    apply_kernel[(1,)](engine.array(x), engine.array(x), out, function, 1, 64)
    np.testing.assert_array_equal(engine.numpy(out), [CASES[function](int(v)) for v in x])


def test_a_division_that_is_not_taken(engine, rng):
    x, y = rng.integers(-100, 100, 64, dtype=np.int32), rng.integers(-2, 3, 64, dtype=np.int32)
    out = engine.empty(64, "int32")
    apply_kernel[(1,)](engine.array(x), engine.array(y), out, safe_divide, 2, 64)
    np.testing.assert_array_equal(engine.numpy(out), [a if b == 0 else c_divide(a, b) for a, b in zip(x, y, strict=True)])


def test_two_results_of_two_axes(engine, rng):
    @triton.jit
    def order(x, y):
        if x < y:
            return x, y
        return y, x

    @triton.jit
    def kernel(x_ptr, y_ptr, low_ptr, high_ptr):
        offsets = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
        low, high = tl.map_elementwise(order, tl.load(x_ptr + offsets), tl.load(y_ptr + offsets))
        tl.store(low_ptr + offsets, low)
        tl.store(high_ptr + offsets, high)

    x, y = rng.standard_normal((2, 4, 8)).astype(np.float32)
    low, high = engine.empty((4, 8), "float32"), engine.empty((4, 8), "float32")
    kernel[(1,)](engine.array(x), engine.array(y), low, high)
    np.testing.assert_array_equal(engine.numpy(low), np.minimum(x, y))
    np.testing.assert_array_equal(engine.numpy(high), np.maximum(x, y))


@triton.jit
def collatz_length(x):
    length = 0
    while x > 1:
        x = collatz_step(x)
        length += 1
    return length


@triton.jit
def smallest_divisor(x):
    for d in range(2, x):
        if x % d == 0:
            return d
        if d * d > x:
            break
    return x


@triton.jit
def odd_digits(x):
    count = 0
    while x != 0:
        digit = x % 10
        x = x // 10
        if digit % 2 == 0:
            continue
        count += 1
    return count


@triton.jit
def escape(x):
    """Steps of the Mandelbrot iteration on a line, as long as each point stays near."""
    z = 0.0
    c = x.to(tl.float32) / 40
    steps = 0
    while steps < 50:
        z = z * z + c
        if z > 4.0:
            break
        steps += 1
    return steps


@triton.jit
def sum_of_lengths(x):
    total = 0
    for i in range(x % 5):
        inner = 0
        while inner < i:
            total += collatz_length(inner + 2)
            inner += 1
    return total


def collatz(x):
    length = 0
    while x > 1:
        x, length = (x // 2 if x % 2 == 0 else 3 * x + 1), length + 1
    return length


def mandelbrot(x):
    z, c = np.float32(0), np.float32(x) / np.float32(40)
    for steps in range(50):
        z = np.float32(np.float64(z) * np.float64(z) + np.float64(c))
        if z > 4:
            return steps
    return 50


LOOPS = {
    collatz_length: collatz,
    smallest_divisor: lambda x: next((d for d in range(2, x) if x % d == 0 and (d - 1) ** 2 <= x), x),
    odd_digits: lambda x: sum(int(digit) % 2 for digit in str(x)),
    escape: mandelbrot,
    sum_of_lengths: lambda x: sum(collatz(inner + 2) for i in range(x % 5) for inner in range(i)),
}


@pytest.mark.parametrize("function", LOOPS, ids=lambda function: function.__name__)
def test_loops_that_each_element_runs_by_itself(engine, rng, function):
    x = rng.integers(0, 300, 64, dtype=np.int32)
    x[:4] = [0, 1, 2, 97]
    out = engine.empty(64, "int32")
    apply_kernel[(1,)](engine.array(x), engine.array(x), out, function, 1, 64)
    np.testing.assert_array_equal(engine.numpy(out), [LOOPS[function](int(v)) for v in x])


@triton.jit
def exchanged(a0, a1):
    return a1, a0


@triton.jit
def ordered(a0, a1, a2, b0, b1, b2):
    """Three elements of each: their sum at the first place, and the largest of the first three everywhere."""
    largest = a0
    if a1 > largest:
        largest = a1
    if a2 > largest:
        largest = a2
    return a0 + a1 + a2, b0 + b1 + b2, 0, largest, largest, largest


@pytest.mark.parametrize("count", [1, 7, 64])
def test_a_pack_of_two(engine, rng, count):
    @triton.jit
    def kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
        offsets = tl.arange(0, COUNT)
        (result,) = tl.map_elementwise(exchanged, tl.load(x_ptr + offsets), pack=2)
        tl.store(out_ptr + offsets, result)

    x = rng.standard_normal(count).astype(np.float32)
    out = engine.empty(count, "float32")
    kernel[(1,)](engine.array(x), out, count)
    expected = x.copy()
    expected[: count // 2 * 2] = x[: count // 2 * 2].reshape(-1, 2)[:, ::-1].ravel()
    np.testing.assert_array_equal(engine.numpy(out), expected)


def test_a_pack_of_three_with_two_results_and_two_axes(engine, rng):
    @triton.jit
    def kernel(x_ptr, y_ptr, sums_ptr, largest_ptr, scalar_ptr):
        offsets = tl.arange(0, 4)[:, None] * 6 + tl.arange(0, 6)[None, :]
        sums, largest = tl.map_elementwise(ordered, tl.load(x_ptr + offsets), tl.load(y_ptr + offsets), pack=3)
        tl.store(sums_ptr + offsets, sums)
        tl.store(largest_ptr + offsets, largest)
        first, other = tl.map_elementwise(ordered, 5, 7, pack=3)
        tl.store(scalar_ptr, first)

    x, y = rng.integers(-50, 50, (2, 4, 6), dtype=np.int32)
    sums, largest, scalar = engine.empty((4, 6), "int32"), engine.empty((4, 6), "int32"), engine.empty(1, "int32")
    kernel[(1,)](engine.array(x), engine.array(y), sums, largest, scalar)
    a, b = x.reshape(8, 3), y.reshape(8, 3)
    expected = np.stack([a.sum(1), b.sum(1), np.zeros(8, int)], axis=1)
    np.testing.assert_array_equal(engine.numpy(sums), expected.reshape(4, 6))
    np.testing.assert_array_equal(engine.numpy(largest), np.repeat(a.max(1), 3).reshape(4, 6))
    assert engine.numpy(scalar)[0] == 15


def test_a_pack_needs_as_many_results(engine):
    @triton.jit
    def kernel(out_ptr):
        offsets = tl.arange(0, 4)
        tl.store(out_ptr + offsets, tl.map_elementwise(exchanged, offsets, offsets, pack=3))

    @triton.jit
    def single(a0, a1):
        return a0 + a1

    @triton.jit
    def single_kernel(out_ptr):
        offsets = tl.arange(0, 4)
        tl.store(out_ptr + offsets, tl.map_elementwise(single, offsets, pack=2))

    with pytest.raises(Exception, match="takes 2 elements at once and returns 1 value"):
        single_kernel[(1,)](engine.empty(4, "int32"))
    with pytest.raises(Exception, match="exchanged"):
        kernel[(1,)](engine.empty(4, "int32"))


def test_memory_in_a_branch(engine):
    """What only some elements do, only they do: the pointers of the others lead nowhere."""

    @triton.jit
    def looked_up(x, pointer, out_pointer):
        result = -1
        if x % 2 == 0:
            result = tl.load(pointer)
            tl.store(out_pointer, result * 10)
        return result

    @triton.jit
    def kernel(x_ptr, table_ptr, out_ptr, seen_ptr):
        offsets = tl.arange(0, 8)
        x = tl.load(x_ptr + offsets)
        result = tl.map_elementwise(looked_up, x, table_ptr + tl.where(x % 2 == 0, x, 1 << 30), seen_ptr + offsets)
        tl.store(out_ptr + offsets, result)

    x, table = np.arange(8, dtype=np.int32), np.arange(100, 108, dtype=np.int32)
    out, seen = engine.empty(8, "int32"), engine.array(np.full(8, -5, np.int32))
    kernel[(1,)](engine.array(x), engine.array(table), out, seen)
    even = x % 2 == 0
    np.testing.assert_array_equal(engine.numpy(out), np.where(even, table, -1))
    np.testing.assert_array_equal(engine.numpy(seen), np.where(even, table * 10, -5))
