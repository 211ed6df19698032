"""Meaning, "Reductions": the types in which they compute, NaN, ties, sorts."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved, refused
from scalar_types import FLOATS, INTEGERS, TYPES, decode, encode


def summed_type(name):
    t = TYPES[name]
    if t.is_float or t.bits >= 32:
        return name
    return "uint32" if t.kind == "uint" else "int32"


def extreme_type(name):
    t = TYPES[name]
    if t.bits >= 32:
        return name
    return "float32" if t.is_float else "int32"


@triton.jit
def sums_kernel(x_ptr, out_ptr, EXPECTED: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(tl.sum(x, axis=0).dtype == EXPECTED)
    tl.static_assert(tl.cumsum(x, axis=0).dtype == EXPECTED)
    tl.static_assert(tl.cumprod(x, axis=0).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", [*INTEGERS, "int1"])
def test_sums_of_integers(engine, name):
    """sum, cumsum and cumprod of integers under 32 bits are int32 or uint32 (bools too: uint32); wider ones keep their type."""
    expected = "uint32" if name == "int1" else summed_type(name)
    proved(engine, sums_kernel, engine.zeros(16, name), EXPECTED=getattr(tl, expected))


@pytest.mark.parametrize("name", FLOATS)
def test_sums_of_floats(engine, name):
    """Of floats they keep their own type."""
    proved(engine, sums_kernel, engine.zeros(16, name), EXPECTED=getattr(tl, name))


@triton.jit
def small_sums_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 16), tl.cumsum(x, axis=0))
    tl.store(out_ptr + 16, tl.sum(x, axis=0))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_sums_of_small_floats_are_carried_in_fp32(engine, name):
    """To 4096 and fifteen ones: each alone would be rounded away."""
    if engine.is_reference_implementation:
        pytest.skip("Triton rounds each step")
    x = np.ones(16)
    x[0] = 4096
    got = computed(engine, small_sums_kernel, 17, name, engine.array(x, name))
    exact = np.append(np.cumsum(x), x.sum())
    np.testing.assert_array_equal(got, decode(encode(exact, name), name))


@triton.jit
def wide_sums_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 16), tl.cumsum(x, axis=0))
    tl.store(out_ptr + 16, tl.sum(x, axis=0))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16"])
def test_sums_of_narrow_integers_do_not_wrap(engine, name):
    """127 sixteen times is 2032 in int32."""
    largest = int(np.iinfo(TYPES[name].numpy).max)
    got = computed(engine, wide_sums_kernel, 17, "int64", engine.array(np.full(16, largest), name))
    np.testing.assert_array_equal(got, [*np.arange(1, 17) * largest, 16 * largest])


@triton.jit
def extremes_kernel(x_ptr, out_ptr, EXPECTED: tl.constexpr, FOR_TOPK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(tl.max(x, axis=0).dtype == EXPECTED)
    tl.static_assert(tl.min(x, axis=0).dtype == EXPECTED)
    tl.static_assert(tl.topk(x, 4).dtype == FOR_TOPK)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint32", "uint64", *FLOATS])
def test_types_of_extremes(engine, name):
    """max, min and topk of types under 32 bits are fp32 or int32, of wider ones their own."""
    expected = getattr(tl, extreme_type(name))
    proved(engine, extremes_kernel, engine.zeros(16, name), EXPECTED=expected, FOR_TOPK=expected)


@pytest.mark.parametrize("name", ["uint8", "uint16"])
def test_types_of_extremes_of_narrow_unsigned(engine, name):
    """Narrow unsigned types widen to int32, which holds every one of their values."""
    proved(engine, extremes_kernel, engine.zeros(16, name), EXPECTED=tl.int32, FOR_TOPK=tl.int32)


@triton.jit
def indexed_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    largest, place = tl.max(x, axis=0, return_indices=True)
    least, lower = tl.min(x, 0, return_indices=True)
    tl.static_assert(largest.dtype == x.dtype and least.dtype == x.dtype)
    tl.static_assert(place.dtype == tl.int32 and lower.dtype == tl.int32)
    tl.static_assert(tl.argmax(x, axis=0).dtype == tl.int32 and tl.argmin(x, 0).dtype == tl.int32)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_with_indices_the_type_is_kept(engine, name):
    """max and min with indices give the tile's own type and an int32 index; so argmax and argmin."""
    proved(engine, indexed_kernel, engine.zeros(16, name))


@triton.jit
def indexed_without_axis_kernel(x_ptr, out_ptr):
    value, place = tl.max(tl.load(x_ptr + tl.arange(0, 16)), return_indices=True)
    tl.store(out_ptr, value)


@triton.jit
def argmax_without_axis_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.argmax(tl.load(x_ptr + tl.arange(0, 16)), axis=None))


@pytest.mark.ours("other classes of errors")
@pytest.mark.parametrize("kernel", [indexed_without_axis_kernel, argmax_without_axis_kernel], ids=lambda kernel: kernel.__name__)
def test_with_indices_the_axis_is_required(engine, kernel):
    """Without an axis an index means nothing: an error."""
    refused(engine, kernel, counting(engine), engine.zeros(1, "int32"), words="axis")


@triton.jit
def nan_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr + 0, tl.max(x, axis=0))
    tl.store(out_ptr + 1, tl.min(x, axis=0))
    value, place = tl.max(x, axis=0, return_indices=True)
    tl.store(out_ptr + 2, value)
    value, place = tl.min(x, axis=0, return_indices=True)
    tl.store(out_ptr + 3, value)


@pytest.mark.parametrize("name", FLOATS)
def test_nan_is_ignored(engine, name):
    """By max and min, with indices too, wherever it stands but first."""
    x = np.array([3, np.nan, 1, np.nan, 7, 2, np.nan, 5])
    got = computed(engine, nan_kernel, 4, "float32", engine.array(x, name))
    np.testing.assert_array_equal(got, [7, 1, 7, 1])


@triton.jit
def first_nan_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr + 0, tl.max(x, axis=0))
    tl.store(out_ptr + 1, tl.min(x, axis=0))


@pytest.mark.parametrize("name", FLOATS)
def test_a_leading_nan_is_ignored(engine, name):
    """By max and min also when it comes first."""
    x = np.array([np.nan, 3, 1, np.nan, 7, 2, np.nan, 5])
    np.testing.assert_array_equal(computed(engine, first_nan_kernel, 2, "float32", engine.array(x, name)), [7, 1])


@triton.jit
def ties_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr + 0, tl.argmax(x, axis=0))
    tl.store(out_ptr + 1, tl.argmin(x, axis=0))
    tl.store(out_ptr + 2, tl.argmax(x, axis=0, tie_break_left=True))
    value, place = tl.max(x, axis=0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(out_ptr + 3, place)
    value, place = tl.min(x, axis=0, return_indices=True)
    tl.store(out_ptr + 4, place)
    either = tl.argmax(x, axis=0, tie_break_left=False)
    tl.store(out_ptr + 5, ((either == 2) | (either == 5)).to(tl.int32))
    value, place = tl.min(x, axis=0, return_indices=True, return_indices_tie_break_left=False)
    tl.store(out_ptr + 6, ((place == 1) | (place == 6)).to(tl.int32))


@pytest.mark.parametrize("name", ["int8", "int32", "uint64", "float16", "float32", "float64"])
def test_ties_go_left_by_default(engine, name):
    """The first of equal extremes wins by default; with tie_break_left=False any of them may."""
    x = np.array([4, 1, 9, 3, 5, 9, 1, 2])
    np.testing.assert_array_equal(computed(engine, ties_kernel, 7, "int32", engine.array(x, name)), [2, 1, 2, 2, 1, 1, 1])


@triton.jit
def sort_kernel(x_ptr, out_ptr):
    rows, columns = tl.arange(0, 4)[:, None], tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + rows * 8 + columns)
    tl.store(out_ptr + rows * 8 + columns, tl.sort(x))
    tl.store(out_ptr + 32 + rows * 8 + columns, tl.sort(x, dim=1, descending=True))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "int64", "float16", "float32"])
def test_sort_works_along_the_last_axis(engine, rng, name):
    """Without a dim each row is sorted by itself."""
    x = rng.integers(0, 100, (4, 8))
    got = computed(engine, sort_kernel, (2, 4, 8), name, engine.array(x, name))
    np.testing.assert_array_equal(got[0], np.sort(x, axis=1))
    np.testing.assert_array_equal(got[1], np.sort(x, axis=1)[:, ::-1])


@triton.jit
def sort_first_axis_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out_ptr + places, tl.sort(tl.load(x_ptr + places), dim=0))


@pytest.mark.ours("other classes of errors")
def test_sort_along_another_axis_is_an_error(engine):
    """Only the last axis is sorted."""
    refused(engine, sort_first_axis_kernel, counting(engine), engine.zeros(16, "int32"), words=["last"])


@triton.jit
def sort_line_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 8)
    tl.store(out_ptr + offsets, tl.sort(tl.load(x_ptr + offsets)))


def test_sort_keeps_nan_somewhere(engine):
    """NaN may come anywhere, but no element is lost or made."""
    x = np.array([3, np.nan, 1, 7, np.nan, 2, 5, 4], np.float32)
    got = computed(engine, sort_line_kernel, 8, "float32", engine.array(x))
    assert sorted(got[~np.isnan(got)]) == [1, 2, 3, 4, 5, 7] and np.isnan(got).sum() == 2


@triton.jit
def sum_dtype_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(tl.sum(x, axis=0, dtype=tl.int64).dtype == tl.int64)
    tl.static_assert(tl.sum(x, axis=0, dtype=tl.float32).dtype == tl.float32)
    tl.static_assert(tl.cumsum(x, axis=0, dtype=tl.int64).dtype == tl.int64)
    tl.store(out_ptr, 1)


@pytest.mark.ours("not in every version of the interpreter of Triton")
@pytest.mark.parametrize("name", ["int8", "int32"])
def test_a_type_can_be_named(engine, name):
    """`dtype=` overrides the type of the sum."""
    proved(engine, sum_dtype_kernel, engine.zeros(16, name))
