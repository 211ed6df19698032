"""Meaning, "Memory": masks, `other`, shapes of pointers, casts on the way."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved, refused
from scalar_types import STANDARD, TYPES

FP8 = ["float8e4nv", "float8e5"]


@triton.jit
def masked_kernel(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n))


@pytest.mark.parametrize("n", [0, 1, 7, 16])
@pytest.mark.parametrize("name", [*STANDARD, *FP8])
def test_masked_lanes_read_zero(engine, name, n):
    """Where the mask is false and no `other` is given the value is 0."""
    out = engine.empty(16, name)
    masked_kernel[(1,)](engine.array(np.ones(16), name), out, n)
    np.testing.assert_array_equal(engine.numpy(out).astype(np.float64), np.arange(16) < n)


@triton.jit
def unmasked_other_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16), other=1))


@pytest.mark.ours("the interpreter of Triton raises other classes")
def test_other_without_mask(engine):
    """Is an error."""
    refused(engine, unmasked_other_kernel, counting(engine), engine.empty(16, "int32"), words=["other", "mask"])


@triton.jit
def mask_of_kernel(x_ptr, mask_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=tl.load(mask_ptr + offsets)))


@triton.jit
def store_mask_of_kernel(x_ptr, mask_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=tl.load(mask_ptr + offsets))


@pytest.mark.ours("the interpreter of Triton takes any mask")
@pytest.mark.parametrize("name", ["int8", "int32", "float32", "uint8"])
@pytest.mark.parametrize("kernel", [mask_of_kernel, store_mask_of_kernel], ids=["load", "store"])
def test_the_mask_is_int1(engine, kernel, name):
    """A mask of another type is an error, for loads and stores."""
    refused(engine, kernel, counting(engine), engine.zeros(16, name), engine.empty(16, "int32"), words=["mask", "int1"])


@triton.jit
def widened_kernel(x_ptr, out_ptr, n):
    rows, columns = tl.arange(0, 4), tl.arange(0, 8)
    x = tl.load(x_ptr + rows[:, None], mask=(rows[:, None] < n) & (columns[None, :] < 5), other=-1)
    tl.static_assert(x.shape[0] == 4 and x.shape[1] == 8)
    tl.store(out_ptr + rows[:, None] * 8 + columns[None, :], x)


def test_load_widens_the_pointer_to_the_mask(engine):
    """A pointer tile of [4, 1] and a mask of [4, 8] load [4, 8]."""
    out = engine.empty((4, 8), "int32")
    widened_kernel[(1,)](counting(engine, count=4), out, 3)
    rows, columns = np.arange(4)[:, None], np.arange(8)[None, :]
    np.testing.assert_array_equal(engine.numpy(out), np.where((rows < 3) & (columns < 5), rows, -1))


@triton.jit
def store_wider_mask_kernel(out_ptr):
    rows, columns = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out_ptr + rows[:, None], 1, mask=columns[None, :] < 5)


@triton.jit
def store_wider_value_kernel(out_ptr):
    rows, columns = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out_ptr + rows[:, None], columns[None, :] + rows[:, None])


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("kernel", [store_wider_mask_kernel, store_wider_value_kernel], ids=lambda kernel: kernel.__name__)
def test_store_never_widens_the_pointer(engine, kernel):
    """A value or a mask of more elements than the pointer is an error."""
    refused(engine, kernel, engine.zeros(64, "int32"), words=["[4, 1]", "8]"])


@triton.jit
def narrower_kernel(out_ptr):
    rows, columns = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out_ptr + rows[:, None] * 8 + columns[None, :], columns[None, :], mask=rows[:, None] < 3)


def test_store_widens_the_value_and_the_mask(engine):
    """To the pointer's shape."""
    got = computed(engine, narrower_kernel, (4, 8), "int32")
    np.testing.assert_array_equal(got[:3], np.arange(8) * np.ones((3, 1)))
    assert (got[3] == got[3][0]).all() and got[3][0] != 0


@triton.jit
def scalar_kernel(x_ptr, out_ptr, flag):
    x = tl.load(x_ptr + 3)
    tl.static_assert(x.shape == ())
    tl.store(out_ptr, x)
    tl.store(out_ptr + 1, tl.load(x_ptr + 5, mask=flag != 0, other=-7))
    tl.store(out_ptr + 2, 99, mask=flag != 0)


@pytest.mark.parametrize("flag", [0, 2])
def test_a_scalar_pointer_takes_scalars(engine, flag):
    """Scalar values, masks and others."""
    out = engine.zeros(3, "int32")
    scalar_kernel[(1,)](counting(engine), out, flag)
    np.testing.assert_array_equal(engine.numpy(out), [3, 5 if flag else -7, 99 if flag else 0])


@triton.jit
def scalar_store_of_a_tile_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + tl.arange(0, 16)))


@triton.jit
def scalar_load_with_a_tile_mask_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr, mask=tl.arange(0, 16) < 3)))


@triton.jit
def scalar_load_with_a_tile_other_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr, mask=True, other=tl.arange(0, 16))))


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize(
    "kernel", [scalar_store_of_a_tile_kernel, scalar_load_with_a_tile_mask_kernel, scalar_load_with_a_tile_other_kernel], ids=lambda kernel: kernel.__name__
)
def test_a_scalar_pointer_takes_no_tiles(engine, kernel):
    """A tile as its value, mask or other is an error."""
    refused(engine, kernel, counting(engine), engine.zeros(16, "int32"), words="scalar")


@triton.jit
def bool_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    tl.static_assert(x.dtype == tl.int1)
    tl.store(out_ptr + offsets, ~x)
    tl.store(out_ptr + 16, x.dtype.itemsize == 1)
    tl.store(out_ptr + 17, tl.load(x_ptr) == tl.load(x_ptr))


def test_bools_are_bytes(engine):
    """One byte each, read as int1, written as 0 or 1."""
    x = np.arange(16) % 3 == 0
    out = engine.zeros(18, "int1")
    bool_kernel[(1,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), [*~x, True, True])
    assert set(engine.bits(out).view(np.uint8)) <= {0, 1}


@triton.jit
def store_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16)))


@pytest.mark.parametrize(
    "source, target",
    [
        ("float32", "int32"), ("float32", "float16"), ("int32", "int8"), ("int32", "float32"), ("float64", "bfloat16"), ("int64", "int1"),
        ("float32", "float8e5"), ("uint8", "int64"), ("int1", "float32"),
    ],
)  # fmt: skip
def test_store_casts_to_the_element_type(engine, source, target):
    """As `.to` does: floats to integers truncate, integers wrap, to bool is not zero."""
    x = np.array([0, 1, 2, 3, 100, 300, -1, -2.5, 0.5, 7, 8, 9, 10, 11, 12, 13]) if source not in ("uint8", "int1") else np.arange(16) % 2
    stored = engine.array(x, source)
    out = engine.empty(16, target)
    store_kernel[(1,)](stored, out)
    values = engine.numpy(stored)
    expected = np.trunc(values).astype(TYPES[target].numpy) if TYPES[target].is_integer else engine.numpy(engine.array(values, target))
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def other_kernel(x_ptr, out_ptr, n, OTHER: tl.constexpr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=OTHER)
    tl.static_assert(x.dtype == x_ptr.dtype.element_ty)
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize(
    "name, other, expected",
    [
        ("int32", 2.75, 2), ("int8", 300, 44), ("float16", 3, 3.0), ("int1", 5, True), ("float32", float("-inf"), -np.inf),
        ("uint8", -1, 255), ("bfloat16", 1.00390625, 1.0),
    ],
)  # fmt: skip
def test_other_is_cast_to_the_element_type(engine, name, other, expected):
    """The loaded type is the pointer's, whatever the type of `other`."""
    got = engine.empty(16, name)
    other_kernel[(1,)](engine.array(np.zeros(16), name), got, 4, OTHER=other)
    np.testing.assert_array_equal(engine.numpy(got), np.where(np.arange(16) < 4, 0, expected))


@triton.jit
def other_tile_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets, mask=offsets < 4, other=offsets * 1.5)
    tl.static_assert(x.dtype == tl.int32)
    tl.store(out_ptr + offsets, x)


def test_other_as_a_tile_is_cast_too(engine):
    """Element by element."""
    got = computed(engine, other_tile_kernel, 16, "int32", counting(engine))
    np.testing.assert_array_equal(got, np.where(np.arange(16) < 4, np.arange(16), np.trunc(np.arange(16) * 1.5)))


@triton.jit
def nowhere_kernel(out_ptr):
    offsets = tl.arange(0, 16)
    nothing = (tl.program_id(0) * 0).to(tl.int64).to(tl.pointer_type(tl.int32))
    never = offsets < 0
    x = tl.load(nothing + offsets, mask=never, other=3)
    tl.store(nothing + offsets, x, mask=never)
    scalar = tl.load(nothing, mask=tl.program_id(0) > 0, other=4)
    tl.store(out_ptr, tl.sum(x) + scalar - 51)


@pytest.mark.ours("the interpreter of Triton reads one place of a masked load")
def test_a_mask_all_false_touches_nothing(engine):
    """Not even a null pointer."""
    proved(engine, nowhere_kernel)
