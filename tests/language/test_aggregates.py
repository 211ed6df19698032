"""Aggregates, named tuples and nested tuples: as arguments, as results, through loops and branches."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import triton
import triton.language as tl


@triton.language.core._aggregate
class Interval:
    start: tl.tensor
    SIZE: tl.constexpr

    @triton.constexpr_function
    def __init__(self, start, SIZE):
        self.start = start
        self.SIZE = tl.constexpr(SIZE)

    @triton.jit
    def offsets(self):
        return self.start + tl.arange(0, self.SIZE)

    @triton.jit
    def moved(self, by):
        return Interval(self.start + by, self.SIZE)

    @triton.constexpr_function
    def doubled_size(self):
        size = self.SIZE
        return size * 2


def run(engine, kernel, count=8, *args):
    out = engine.zeros(count, "int32")
    kernel[(1,)](out, *args)
    return engine.numpy(out)


def test_fields_and_methods(engine):
    @triton.jit
    def kernel(out_ptr, start):
        interval = Interval(start, 4)
        tl.static_assert(interval.SIZE == 4)
        tl.store(out_ptr + interval.offsets(), interval.start)

    np.testing.assert_array_equal(run(engine, kernel, 8, 2), [0, 0, 2, 2, 2, 2, 0, 0])


def test_a_method_makes_another(engine):
    @triton.jit
    def kernel(out_ptr, start):
        interval = Interval(start, SIZE=2).moved(3)
        tl.store(out_ptr + interval.offsets(), 1)

    np.testing.assert_array_equal(run(engine, kernel, 8, 2), [0, 0, 0, 0, 0, 1, 1, 0])


def test_a_constexpr_method(engine):
    @triton.jit
    def kernel(out_ptr):
        interval = Interval(tl.program_id(0), 4)
        tl.store(out_ptr + tl.arange(0, interval.doubled_size()), 7)

    np.testing.assert_array_equal(run(engine, kernel), [7] * 8)


@triton.jit
def shift(interval, by):
    return Interval(interval.start + by, interval.SIZE)


def test_loops_and_branches_carry_them(engine):
    @triton.jit
    def kernel(out_ptr, count, big):
        interval = Interval(0, 2)
        for i in range(count):
            tl.store(out_ptr + interval.offsets(), i + 1)
            interval = shift(interval, 2)
        if big > 0:
            interval = shift(interval, 1)
        else:
            interval = interval.moved(0)
        tl.store(out_ptr + interval.offsets(), 9)

    np.testing.assert_array_equal(run(engine, kernel, 8, 2, 0), [1, 1, 2, 2, 9, 9, 0, 0])
    np.testing.assert_array_equal(run(engine, kernel, 8, 2, 3), [1, 1, 2, 2, 0, 9, 9, 0])


@triton.language.core._aggregate
class Pair:
    first: tl.tensor
    second: Interval
    SCALE: tl.constexpr = 10

    @triton.jit
    def total(self):
        return (self.first + self.second.start) * self.SCALE


def test_fields_are_the_parameters_without_an_init(engine):
    @triton.jit
    def kernel(out_ptr, x):
        plain = Pair(x, Interval(x + 1, 2))
        scaled = Pair(first=x, second=plain.second, SCALE=100)
        tl.store(out_ptr, plain.total())
        tl.store(out_ptr + 1, scaled.total())
        tl.static_assert(isinstance(plain, Pair) and not isinstance(plain.second, Pair))

    np.testing.assert_array_equal(run(engine, kernel, 2, 3), [70, 700])


def test_a_copy_with_other_fields(engine):
    @triton.jit
    def kernel(out_ptr, start):
        interval = Interval(start, 2)
        moved = tl.aggregate_replace(interval, start=start + 4)
        grown = tl.core.aggregate_replace(moved, SIZE=4)
        tl.store(out_ptr + grown.offsets(), 1)
        tl.store(out_ptr + interval.offsets(), 2)

    np.testing.assert_array_equal(run(engine, kernel, 8, 0), [2, 2, 0, 0, 1, 1, 1, 1])


class Point(NamedTuple):
    x: tl.tensor
    y: tl.tensor


Bounds = namedtuple("Bounds", ["low", "high"])


@triton.jit
def mirrored(point):
    return Point(x=point.y, y=point.x)


def test_named_tuples_as_arguments_and_results(engine):
    @triton.jit
    def kernel(out_ptr, point, bounds):
        other = mirrored(point)
        tl.store(out_ptr, other.x)
        tl.store(out_ptr + 1, other.y)
        tl.store(out_ptr + 2, bounds.low + bounds[1])
        low, high = bounds
        tl.store(out_ptr + 3, high - low)

    np.testing.assert_array_equal(run(engine, kernel, 4, Point(3, 4), Bounds(low=10, high=25)), [4, 3, 35, 15])


def test_named_tuples_through_a_loop(engine):
    @triton.jit
    def kernel(out_ptr, count):
        point = Point(count, count + 1)
        for _ in range(count):
            point = Point(point.y, point.x + point.y)
        tl.store(out_ptr, point.x)
        tl.store(out_ptr + 1, point.y)

    a, b = 5, 6
    for _ in range(5):
        a, b = b, a + b
    np.testing.assert_array_equal(run(engine, kernel, 2, 5), [a, b])


def test_nested_tuples_at_launch(engine):
    @triton.jit
    def kernel(out_ptr, nested):
        (x_ptr, y_ptr), (count, (scale, nothing)) = nested
        tl.static_assert(nothing is None)
        offsets = tl.arange(0, 4)
        mask = offsets < count
        x = tl.load(x_ptr + offsets, mask=mask, other=0)
        y = tl.load(y_ptr + offsets, mask=mask, other=0)
        tl.store(out_ptr + offsets, x * scale + y)

    x, y = np.array([1, 2, 3, 4], np.int32), np.array([5, 6, 7, 8], np.int32)
    found = run(engine, kernel, 4, ((engine.array(x), engine.array(y)), (3, (10, None))))
    np.testing.assert_array_equal(found, [15, 26, 37, 0])


@triton.constexpr_function
def digits(n):
    count = 0
    while n:
        n //= 10
        count += 1
    return count


@triton.constexpr_function
def factorial(n):
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def test_constexpr_functions(engine):
    @triton.jit
    def kernel(out_ptr, N: tl.constexpr):
        tl.static_assert(digits(N) == 3)
        tl.store(out_ptr + tl.arange(0, factorial(3)), digits(12345))

    np.testing.assert_array_equal(run(engine, kernel, 8, 123), [5] * 6 + [0, 0])


@triton.language.core._aggregate
class View:
    """A matrix in memory, made by the host."""

    ptr: tl.tensor
    stride_0: tl.tensor
    stride_1: tl.tensor
    SHAPE: tl.constexpr

    @triton.jit
    def pointers(self):
        rows, columns = tl.arange(0, self.SHAPE[0]), tl.arange(0, self.SHAPE[1])
        return self.ptr + rows[:, None] * self.stride_0 + columns[None, :] * self.stride_1

    @triton.jit
    def load(self):
        return tl.load(self.pointers())


@triton.language.core._aggregate
class Scaled(View):
    """A view whose elements are scaled when they are read."""

    scale: tl.tensor
    offset: tl.tensor = 0

    @triton.jit
    def load(self):
        return tl.load(self.pointers()) * self.scale + self.offset

    @triton.jit
    def stepped(self):
        return Scaled(self.ptr, self.stride_0 + 1, self.stride_1, self.SHAPE, self.scale, self.offset)


@triton.jit
def copy_view(out_ptr, view):
    tile = view.load()
    width: tl.constexpr = tile.shape[1]
    offsets = tl.arange(0, tile.shape[0])[:, None] * width + tl.arange(0, width)[None, :]
    tl.store(out_ptr + offsets, tile)


def test_as_an_argument_of_a_launch(engine):
    values = np.arange(12, dtype=np.int32).reshape(3, 4)
    x, out = engine.array(values), engine.zeros(12, "int32")
    copy_view[(1,)](out, View(x, 4, 1, (3, 4)))
    np.testing.assert_array_equal(engine.numpy(out).reshape(3, 4), values)
    copy_view[(1,)](out, View(x, 1, 4, tl.constexpr((4, 3))))  # strides and a constexpr of other values
    np.testing.assert_array_equal(engine.numpy(out).reshape(4, 3), values.T)
    copy_view[(1,)](out, view=Scaled(x, 4, 1, (3, 4), 10, offset=7))  # another class has another method
    np.testing.assert_array_equal(engine.numpy(out).reshape(3, 4), values * 10 + 7)


def test_in_tuples_and_other_aggregates_of_a_launch(engine):
    @triton.language.core._aggregate
    class Both:
        views: tl.tuple
        factor: tl.tensor
        NAME: tl.constexpr

    @triton.jit
    def kernel(out_ptr, both, rest):
        tl.static_assert(both.NAME == "both" and rest[1] is None)
        first, second = both.views
        total = first.load() * both.factor + second.load() + rest[0].load()
        tl.store(out_ptr + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :], total)

    x = engine.array(np.array([[1, 2], [3, 4]], np.int32))
    views = View(x, 2, 1, (2, 2)), Scaled(x, 2, 1, (2, 2), 100)
    found = run(engine, kernel, 4, Both(views, 1000, "both"), (View(x, 1, 2, (2, 2)), None))
    np.testing.assert_array_equal(found, [1101, 2203, 3302, 4404])


def test_a_field_of_a_launch_that_is_1_is_a_run_time_value(engine):
    @triton.jit
    def kernel(out_ptr, interval, count):
        tl.static_assert(isinstance(interval.start, tl.tensor) and isinstance(interval.SIZE, tl.constexpr))
        for i in range(count):
            tl.store(out_ptr + interval.offsets(), i + 1)
            interval = interval.moved(2)

    np.testing.assert_array_equal(run(engine, kernel, 8, Interval(1, 2), 3), [0, 1, 1, 2, 2, 3, 3, 0])


def test_as_a_constexpr_argument(engine):
    @triton.language.core._aggregate
    class Shape:
        ROWS: tl.constexpr
        COLUMNS: tl.constexpr = 2

        @triton.constexpr_function
        def size(self):
            return self.ROWS * self.COLUMNS

    @triton.jit
    def kernel(out_ptr, SHAPE: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, SHAPE.size()), SHAPE.COLUMNS)

    np.testing.assert_array_equal(run(engine, kernel, 8, Shape(2)), [2] * 4 + [0] * 4)
    np.testing.assert_array_equal(run(engine, kernel, 8, Shape(2, 3)), [3] * 6 + [0] * 2)


def test_inheritance(engine):
    @triton.jit
    def kernel(out_ptr, x_ptr, stride):
        view = Scaled(x_ptr, stride, 1, SHAPE=(1, 2), scale=3).stepped()
        tl.static_assert(isinstance(view, View) and isinstance(view, Scaled) and not isinstance(view, Interval))
        tl.static_assert(not isinstance(View(x_ptr, stride, 1, (1, 2)), Scaled))
        tl.store(out_ptr + tl.arange(0, 2)[None, :], view.load())
        tl.store(out_ptr + 2, view.stride_0)

    x = engine.array(np.array([5, 6], np.int32))
    np.testing.assert_array_equal(run(engine, kernel, 3, x, 8), [15, 18, 9])
    assert Scaled.__aggregate_fields__ == ("ptr", "stride_0", "stride_1", "SHAPE", "scale", "offset")
    try:

        @triton.language.core._aggregate
        class Wrong(NamedTuple):
            x: tl.tensor

    except TypeError as error:
        assert "inherit" in str(error)
    else:
        raise AssertionError("a class that is no aggregate was inherited from")


def test_methods_may_have_any_name(engine):
    @triton.language.core._aggregate
    class Named:
        value: tl.tensor

        @triton.jit
        def fields(self):
            return self.value + 1

        @triton.jit
        def init(self):
            return self.value + 2

    @triton.jit
    def kernel(out_ptr, x):
        named = Named(x)
        tl.store(out_ptr, named.fields())
        tl.store(out_ptr + 1, named.init())

    np.testing.assert_array_equal(run(engine, kernel, 2, 3), [4, 5])


def test_fields_are_run_time_values_unless_they_say_constexpr(engine):
    @triton.jit
    def kernel(out_ptr):
        plain = Interval(-7, 4)
        pair = Pair(-9, plain)
        tl.static_assert(isinstance(plain.start, tl.tensor) and isinstance(pair.first, tl.tensor) and pair.SCALE == 10)
        tl.store(out_ptr, plain.start // 2)  # toward zero: a run-time value's
        tl.store(out_ptr + 1, pair.first // 2)
        tl.store(out_ptr + 2, tl.aggregate_replace(plain, start=-5).start // 2)
        held = Pair((1, 2), plain)
        tl.static_assert(isinstance(held.first[0], tl.constexpr) and isinstance(held.second.start, tl.tensor))
        tl.static_assert(not isinstance(plain, tl.constexpr))

    np.testing.assert_array_equal(run(engine, kernel, 3), [-3, -4, -2])
