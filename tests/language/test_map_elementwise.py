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
