"""What Python would read differently is mended; what must still differ is listed at the end (and in docs/3-debugging.md)."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.usefixtures("interpret")

kept = []  # what kernels hand out, as text


@pytest.fixture(autouse=True)
def empty():
    kept.clear()


def keep(*values):
    kept.extend(repr(value) for value in values)


@triton.jit
def numbers_kernel(N: tl.constexpr):
    k = -7
    c: tl.constexpr = -7
    keep(k // 2, k % 2, -7 // 2, c // 2, c % 2, k / 2)
    half = 0.5
    keep(half, tl.full((1,), 1.0, tl.float16) * half, tl.full((1,), 1.0, tl.float16) * 0.5, N * 2)
    first, (second, third) = 1, (2.0, True)
    keep(first, second, third)
    keep((walrus := 3), walrus)
    first += 1
    keep(first)


def test_numbers_in_variables():
    numbers_kernel[(1,)](5)
    assert kept == [
        "tensor(-3, int32)", "tensor(-1, int32)", "-4", "-4", "1", "tensor(-3.5, fp32)", "tensor(0.5, fp32)",
        "tensor([0.5], fp32)", "tensor([0.5], fp16)", "10", "tensor(1, int32)", "tensor(2.0, fp32)", "tensor(True, int1)",
        "tensor(3, int32)", "tensor(3, int32)", "tensor(2, int32)",
    ]  # fmt: skip


@triton.jit
def logic_kernel(n, N: tl.constexpr):
    x = tl.arange(0, 4)
    keep(x > 0 and x < 3, x < 1 or x > 2, not (x > 1), 0 < x < 3)
    keep(N > 1 and x > 2, N > 9 and x.no_such_attribute, N > 1 or x.no_such_attribute, not N, 0 < N < 9)
    keep(1 if n > 3 else 2, 1 if N > 3 else 2, n is None, N is not None)


def test_and_or_not_and_chains():
    logic_kernel[(1,)](5, 5)
    assert kept == [
        "tensor([False  True  True False], int1)", "tensor([ True False False  True], int1)",
        "tensor([ True  True False False], int1)", "tensor([False  True  True False], int1)",
        "tensor([False False False  True], int1)", "False", "True", "False", "True",
        "tensor(1, int32)", "1", "False", "True",
    ]  # fmt: skip


@triton.jit
def count(total, n):
    for i in range(n):
        total += i
    return total


@triton.jit
def sign(x):
    if x > 0:
        return 1
    return 0


@triton.jit
def raised(n, x):
    if x > 0:
        n = n + 1
    return n


@triton.jit
def flow_kernel(n, wide):
    for i in range(3, n):
        keep(i)
    for i in tl.range(wide, wide + 1):
        keep(i)
    for i in tl.static_range(2):
        keep(i)
    for a, b in zip((1, 2), (3, 4)):
        keep(a + b)
    keep([i * 2 for i in range(3)])
    keep(count(0, 4), sign(n), sign(-n), raised(1, n), raised(1, -n), raised(1, 0))


def test_loops_and_branches():
    flow_kernel[(1,)](5, 2**40)
    assert kept == [
        "tensor(3, int32)", "tensor(4, int32)", f"tensor({2**40}, int64)", "0", "1", "4", "6", "[0, 2, 4]", "tensor(6, int32)",
        "tensor(1, int32)", "tensor(0, int32)", "tensor(2, int32)", "tensor(1, int32)", "1",
    ]  # fmt: skip


@triton.jit
def functions_kernel(n, one):
    x = tl.arange(0, 2)
    keep(min(n, 3), max(n, 9.0), min(4, 3), int(n * 1.5), float(n), int(2.9), bool(n), abs(-x))
    keep(isinstance(x, tl.tensor), isinstance(n, int), isinstance(one, int), isinstance(one, tl.constexpr), isinstance(x, tl.constexpr))
    keep(one, one.dtype, one.to(tl.int64), n.dtype, len(x))


def test_pythons_functions():
    functions_kernel[(1,)](5, 1)
    assert kept == [
        "tensor(3, int32)", "tensor(9.0, fp32)", "3", "tensor(7, int32)", "tensor(5.0, fp32)", "2", "tensor(True, int1)",
        "tensor([0 1], int32)", "True", "False", "True", "True", "False", "1", "triton.language.int32", "tensor(1, int64)",
        "triton.language.int32", "2",
    ]  # fmt: skip


def make_kernel(offset, function):
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, function(offset) + [i + offset for i in range(2)][1])

    return kernel


@triton.jit
def doubled(x):
    return x * 2


def test_variables_of_enclosing_functions():
    out = np.zeros(1, np.int32)
    for offset in (3, 10):
        make_kernel(tl.constexpr(offset), doubled)[(1,)](out)
        assert out[0] == 2 * offset + offset + 1


# What must still differ from compiled kernels ---------------------------------------------------------------------------


@triton.jit
def one_path_kernel(n):
    x = 1
    if n > 3:
        x = 0.5  # compiled, an error: the branches disagree
        y = 7  # compiled, not visible after the branch
    keep(x, y)


def test_python_takes_one_path():
    one_path_kernel[(1,)](5)
    assert kept == ["tensor(0.5, fp32)", "tensor(7, int32)"]
    with pytest.raises(UnboundLocalError):
        one_path_kernel[(1,)](2)


PLAIN = {"any": 5}


@triton.jit
def any_python_kernel():
    try:
        raise KeyError(PLAIN["any"])
    except KeyError as error:
        keep(error.args[0], (lambda x: x + 1)(2))


def test_all_of_python_works():
    any_python_kernel[(1,)]()
    assert kept == ["5", "3"]
