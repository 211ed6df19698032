"""Meaning, "Functions" and "Tuples": calls of other kernels' functions, and the values that hold several."""

from typing import NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved, refused


@triton.jit
def weighted(a, b=10, c=100, *, d=1000):
    return a + 2 * b + 3 * c + 4 * d


@triton.jit
def arguments_kernel(n, out_ptr):
    tl.store(out_ptr + 0, weighted(n))
    tl.store(out_ptr + 1, weighted(n, 1))
    tl.store(out_ptr + 2, weighted(n, c=2, b=1))
    tl.store(out_ptr + 3, weighted(b=1, a=n, d=5))
    tl.store(out_ptr + 4, weighted(1, 2, 3, d=4))


def test_positional_keyword_and_default_arguments(engine):
    """As Python binds them, keyword-only parameters too."""

    def plain(a, b=10, c=100, *, d=1000):
        return a + 2 * b + 3 * c + 4 * d

    n = 7
    expected = [plain(n), plain(n, 1), plain(n, c=2, b=1), plain(b=1, a=n, d=5), plain(1, 2, 3, d=4)]
    np.testing.assert_array_equal(computed(engine, arguments_kernel, 5, "int32", n), expected)


@triton.jit
def total(first, *rest):
    result = first
    for item in tl.static_range(len(rest)):
        result += rest[item]
    return result


@triton.jit
def forwarded(*items):
    return total(*items)


@triton.jit
def star_kernel(n, x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    pair = (n, x)
    tl.store(out_ptr + tl.arange(0, 4), total(n, x, 5))
    tl.store(out_ptr + 4 + tl.arange(0, 4), forwarded(n, *pair, x))


def test_star_arguments(engine):
    """Collected by `*rest` and spread by `*items`, tiles and scalars mixed."""
    x = np.arange(4)
    got = computed(engine, star_kernel, 8, "int32", 7, counting(engine, count=4))
    np.testing.assert_array_equal(got, np.concatenate([x + 12, 2 * x + 14]))


@triton.jit
def shaped(EXTENT: tl.constexpr, value, pair):
    low, (high, step) = pair
    return tl.full((EXTENT,), value, tl.int32) + low + high * step


@triton.jit
def constexpr_and_tuple_kernel(n, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), shaped(BLOCK, n, (1, (2, n))))
    tl.store(out_ptr + BLOCK + tl.arange(0, BLOCK // 2), shaped(EXTENT=BLOCK // 2, value=1, pair=(n, (1, 1))))


def test_constexpr_and_tuple_arguments(engine):
    """A constexpr stays one inside; a tuple, nested too, arrives as a tuple."""
    np.testing.assert_array_equal(computed(engine, constexpr_and_tuple_kernel, 12, "int32", 7, BLOCK=8), [22] * 8 + [9] * 4)


@triton.jit
def run_time_for_constexpr_kernel(n, out_ptr):
    tl.store(out_ptr + tl.arange(0, 4), shaped(n, 1, (1, (1, 1))))


@pytest.mark.ours("other classes of errors")
def test_a_run_time_value_for_a_constexpr_parameter(engine):
    """Is an error where the function needs a constexpr: an extent."""
    refused(engine, run_time_for_constexpr_kernel, 7, engine.zeros(4, "int32"), words="constexpr")


@triton.jit
def extremes(x):
    return tl.min(x, 0), tl.max(x, 0), x * 2


@triton.jit
def several_kernel(x_ptr, out_ptr):
    low, high, doubled = extremes(tl.load(x_ptr + tl.arange(0, 4)))
    result = extremes(doubled)
    tl.store(out_ptr + tl.arange(0, 4), doubled + low + high + result[1])


def test_several_results(engine):
    """Come back as a tuple, unpacked or indexed."""
    np.testing.assert_array_equal(computed(engine, several_kernel, 4, "int32", counting(engine, count=4)), np.arange(4) * 2 + 9)


@triton.jit
def classified(n):
    if n < 0:
        return -1
    if n == 0:
        return 0
    elif n > 100:
        return 2
    for i in range(10):
        if i * i == n:
            return 100 + i
    while n > 10:
        n -= 10
        if n == 5:
            return 7
    return 1


@triton.jit
def early_kernel(x_ptr, out_ptr):
    i = tl.program_id(0)
    if i >= 8:
        return
    tl.store(out_ptr + i, classified(tl.load(x_ptr + i)))


@pytest.mark.ours("returns inside loops")
def test_early_returns(engine):
    """A function leaves at the first return it meets; a kernel too."""
    x = np.array([-3, 0, 101, 16, 5, 25, 35, 12], np.int32)
    out = engine.zeros(10, "int32")
    early_kernel[(10,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), [-1, 0, 2, 104, 1, 105, 7, 1, 0, 0])


@triton.jit
def nothing(x_ptr, flag):
    if flag > 3:
        return
    tl.store(x_ptr, 5)


@triton.jit
def procedure_kernel(flag, out_ptr):
    nothing(out_ptr, flag)


@pytest.mark.parametrize("flag, expected", [(2, 5), (4, 0)])
def test_a_function_that_returns_nothing(engine, flag, expected):
    """May return early."""
    out = engine.zeros(1, "int32")
    procedure_kernel[(1,)](flag, out)
    assert engine.numpy(out)[0] == expected


@triton.jit
def pruned(x, MODE: tl.constexpr):
    if MODE == 0:
        return x + 1
    elif MODE == 1:
        return tl.dot(x, x, no_such_parameter=3)
    else:
        return x.no_such_method().of_nothing[1, 2, 3]


@triton.jit
def pruned_kernel(x_ptr, out_ptr, MODE: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    if MODE != 0:
        x = x + "text"
    tl.store(out_ptr + tl.arange(0, 4), pruned(x, MODE))


def test_a_constexpr_if_prunes_before_type_checking(engine):
    """What stands in the dead branch is never looked at; the live one decides the type of the result."""
    np.testing.assert_array_equal(computed(engine, pruned_kernel, 4, "int32", counting(engine, count=4), MODE=0), np.arange(4) + 1)


@triton.jit
def one_type_or_other(x, WIDE: tl.constexpr):
    if WIDE:
        return x.to(tl.float64)
    return x


@triton.jit
def pruned_types_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.static_assert(one_type_or_other(x, True).dtype == tl.float64)
    tl.static_assert(one_type_or_other(x, False).dtype == tl.int32)
    tl.store(out_ptr, 1)


def test_a_pruned_return_has_no_type(engine):
    """Two returns of two types are fine where a constexpr chooses between them."""
    proved(engine, pruned_types_kernel, counting(engine))


class Point(NamedTuple):
    x: tl.tensor
    y: tl.tensor


@triton.jit
def tuples_kernel(n, out_ptr):
    a = (1, n)
    b = a + (3, 4)
    tl.static_assert(len(b) == 4)
    c = (n, 2) * 2
    tl.static_assert(len(c) == 4)
    tl.store(out_ptr + 0, b[1] * 100 + b[2] * 10 + b[3])
    tl.store(out_ptr + 1, c[0] + c[1] * 10 + c[2] * 100 + c[3] * 1000)
    tl.static_assert(len(b[1:3]) == 2)
    tl.store(out_ptr + 2, b[1:3][0] * 10 + b[1:3][1])
    tl.store(out_ptr + 3, b[-1] * 10 + b[:2][0])
    tl.store(out_ptr + 4, b[::2][1] * 10 + b[::-1][0])
    tl.static_assert((1, 2) == (1, 2))
    tl.static_assert((1, 2) != (1, 3))


def test_operations_of_tuples(engine):
    """`+` joins, `*` repeats, `==` compares, `[i]` and `[a:b]` take parts."""
    np.testing.assert_array_equal(computed(engine, tuples_kernel, 5, "int32", 7), [734, 2727, 73, 41, 34])


@triton.jit
def tuple_item_kernel(n, out_ptr):
    a = (1, n)
    a[0] = 5
    tl.store(out_ptr, a[0])


@pytest.mark.ours("other classes of errors")
def test_tuples_are_immutable(engine):
    """An item cannot be assigned."""
    refused(engine, tuple_item_kernel, 7, engine.zeros(1, "int32"), words="assign", error=(triton.TritonError, TypeError))


@triton.jit
def moved(point, step):
    return Point(point.x + step, point.y - step)


@triton.jit
def named_kernel(n, out_ptr):
    p = Point(n, y=5)
    q = moved(p, 2)
    tl.store(out_ptr, p.x + p.y * 10 + q.x * 100 + q.y * 1000 + q[0] * 10000)


def test_named_fields(engine):
    """Are read by name and by place, through functions too."""
    assert computed(engine, named_kernel, 1, "int32", 7)[0] == 7 + 50 + 900 + 3000 + 90000


@triton.jit
def nested_argument_kernel(arguments, out_ptr):
    (x_ptr, n), point, (deep,) = arguments
    tl.store(out_ptr, tl.load(x_ptr + 3) + n * 10 + point.x * 100 + point.y * 1000 + deep[1] * 10000)


def test_nested_tuples_as_arguments(engine):
    """Of a launch, named ones too, with pointers, numbers and tuples inside."""
    arguments = ((counting(engine), 2), Point(3, 4), ((5, 6),))
    assert computed(engine, nested_argument_kernel, 1, "int32", arguments)[0] == 3 + 20 + 300 + 4000 + 60000
