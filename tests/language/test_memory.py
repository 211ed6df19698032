"""load and store: masks, other, scalars, strides, indirection, aliasing within a program, every element type."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FP8, STANDARD, rounded, sample


@triton.jit
def copy_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


COUNTS = [(name, count) for name in (*STANDARD, *FP8) for count in (1, 17, 1000)] + [
    (name, count) for name in ("int8", "bfloat16", "float32") for count in (2, 15, 16, 63, 64, 65, 100, 1024, 1025)
]


@pytest.mark.parametrize("name, count", COUNTS)
def test_masked_copy(engine, rng, name, count):
    x = sample(rng, name, count)
    out = engine.empty(count + 64, name)
    before = engine.bits(out).copy()
    copy_kernel[(triton.cdiv(count, 64),)](engine.array(x, name), out, count, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(out)[:count], x)
    assert engine.bits(out)[count:].tobytes() == before[count:].tobytes(), "wrote where the mask is off"


@pytest.mark.parametrize("block", [1, 2, 8, 128, 2048])
def test_copy_in_blocks_of(engine, rng, block):
    x = sample(rng, "float32", 3001)
    out = engine.empty(3001, "float32")
    copy_kernel[(triton.cdiv(3001, block),)](engine.array(x, "float32"), out, 3001, BLOCK=block)
    np.testing.assert_array_equal(engine.numpy(out), x)


@pytest.mark.ours("blocks that are not powers of two")
@pytest.mark.parametrize("block", [3, 7, 100, 781])
def test_copy_in_odd_blocks_of(engine, rng, block):
    x = sample(rng, "float32", 3001)
    out = engine.empty(3001, "float32")
    copy_kernel[(triton.cdiv(3001, block),)](engine.array(x, "float32"), out, 3001, BLOCK=block)
    np.testing.assert_array_equal(engine.numpy(out), x)


@triton.jit
def other_kernel(x_ptr, out_ptr, count, other, BLOCK: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if HOW == "none":
        x = tl.load(x_ptr + offsets, mask=offsets < count)
    elif HOW == "number":
        x = tl.load(x_ptr + offsets, mask=offsets < count, other=7)
    elif HOW == "scalar":
        x = tl.load(x_ptr + offsets, mask=offsets < count, other=other)
    else:
        x = tl.load(x_ptr + offsets, offsets < count, offsets)
    tl.store(out_ptr + offsets, x)


@pytest.mark.parametrize("how", ["none", "number", "scalar", "tile"])
@pytest.mark.parametrize("name", STANDARD)
def test_other(engine, rng, name, how):
    """Masked-off lanes read zero without `other`; `other` is cast to the element type."""
    count, block = 10, 32
    x = sample(rng, name, block)
    out = engine.empty(block, name)
    other_kernel[(1,)](engine.array(x, name), out, count, 5, BLOCK=block, HOW=how)
    lanes = np.arange(block)
    fill = {"none": 0, "number": 7, "scalar": 5, "tile": lanes}[how] * np.ones(block)
    fill = (fill != 0) if name == "int1" else rounded(fill, name)
    np.testing.assert_array_equal(engine.numpy(out), np.where(lanes < count, x, fill))


def test_other_of_infinity(engine):
    @triton.jit
    def kernel(x_ptr, out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 3, other=-float("inf")))

    out = engine.empty(16, "float32")
    kernel[(1,)](engine.array(np.arange(16.0), "float32"), out)
    np.testing.assert_array_equal(engine.numpy(out), [0.0, 1.0, 2.0] + [-np.inf] * 13)


@triton.jit
def scalar_kernel(x_ptr, out_ptr, index):
    x = tl.load(x_ptr + index)
    tl.store(out_ptr, x)
    tl.store(out_ptr + 1, x, mask=index > 100)
    tl.store(out_ptr + 2, tl.load(x_ptr + index, mask=index > 100, other=3))


@pytest.mark.parametrize("name", STANDARD)
def test_scalars(engine, rng, name):
    x = sample(rng, name, 16)
    out = engine.zeros(3, name)
    scalar_kernel[(1,)](engine.array(x, name), out, 5)
    np.testing.assert_array_equal(engine.numpy(out), [x[5], 0, 1 if name == "int1" else 3])


@triton.jit
def strided_kernel(x_ptr, out_ptr, rows, columns, row_stride, column_stride, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    mask = (r < rows) & (c < columns)
    x = tl.load(x_ptr + r * row_stride + c * column_stride, mask=mask, other=0)
    tl.store(out_ptr + r * columns + c, x, mask=mask)


@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("row_stride, column_stride", [(20, 1), (1, 13), (64, 3), (40, 2), (0, 1), (1, 0), (7, 50)])
def test_strides(engine, rng, name, row_stride, column_stride):
    rows, columns = 13, 17
    x = sample(rng, name, 2000)
    out = engine.empty((rows, columns), name)
    strided_kernel[(1,)](engine.array(x, name), out, rows, columns, row_stride, column_stride, R=16, C=32)
    r, c = np.indices((rows, columns))
    np.testing.assert_array_equal(engine.numpy(out), x[r * row_stride + c * column_stride])


@triton.jit
def negative_stride_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + (count - 1 - offsets), mask=mask), mask=mask)


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
@pytest.mark.parametrize("count", [1, 31, 64, 1000])
def test_negative_strides(engine, rng, name, count):
    x = sample(rng, name, count)
    out = engine.empty(count, name)
    negative_stride_kernel[(triton.cdiv(count, 64),)](engine.array(x, name), out, count, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(out), x[::-1])


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    index = tl.load(index_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index, mask=mask), mask=mask)


@pytest.mark.parametrize("index_type", ["int32", "int64", "uint8", "int16", "uint32"])
@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64", "bfloat16"])
def test_indirect_loads(engine, rng, name, index_type):
    """Narrow unsigned offsets zero-extend: 200 as uint8 is not -56."""
    x = sample(rng, name, 250)
    index = rng.integers(0, 120 if index_type == "int16" else 250, 1000)
    out = engine.empty(1000, name)
    gather_kernel[(triton.cdiv(1000, 128),)](engine.array(x, name), engine.array(index, index_type), out, 1000, BLOCK=128)
    np.testing.assert_array_equal(engine.numpy(out), x[index])


@triton.jit
def scatter_kernel(x_ptr, index_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + tl.load(index_ptr + offsets, mask=mask), tl.load(x_ptr + offsets, mask=mask), mask=mask)


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "float64"])
def test_indirect_stores(engine, rng, name):
    x = sample(rng, name, 1000)
    index = rng.permutation(1000)
    out = engine.empty(1000, name)
    scatter_kernel[(triton.cdiv(1000, 128),)](engine.array(x, name), engine.array(index.astype(np.int32)), out, 1000, BLOCK=128)
    expected = np.empty_like(x)
    expected[index] = x
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def double_gather_kernel(x_ptr, first_ptr, second_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    index = tl.load(first_ptr + tl.load(second_ptr + offsets))
    tl.store(out_ptr + offsets, tl.load(x_ptr + index * 2 + 1))


def test_a_chain_of_indirect_loads(engine, rng):
    x, first, second = sample(rng, "float32", 200), rng.integers(0, 99, 64), rng.integers(0, 64, 128)
    out = engine.empty(128, "float32")
    double_gather_kernel[(1,)](
        engine.array(x, "float32"), engine.array(first.astype(np.int32)), engine.array(second.astype(np.int32)), out, COUNT=128
    )
    np.testing.assert_array_equal(engine.numpy(out), x[first[second] * 2 + 1])


@triton.jit
def pointer_table_kernel(table_ptr, out_ptr, COUNT: tl.constexpr):
    row = tl.program_id(0)
    row_ptr = tl.load(table_ptr + row).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + row * COUNT + offsets, tl.load(row_ptr + offsets))


def test_a_table_of_pointers(engine, rng):
    x = sample(rng, "float32", (4, 32))
    rows = [engine.array(row, "float32") for row in x]
    addresses = [row.data_ptr() if hasattr(row, "data_ptr") else row.ctypes.data for row in rows]
    out = engine.empty((4, 32), "float32")
    pointer_table_kernel[(4,)](engine.array(np.array(addresses, np.int64)), out, COUNT=32)
    np.testing.assert_array_equal(engine.numpy(out), x)


@triton.jit
def mask_widens_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    c = tl.arange(0, C)[None, :]
    r = tl.arange(0, R)[:, None]
    x = tl.load(x_ptr + c, mask=(r % 2 == 0) & (c < 20), other=-1)
    tl.static_assert(x.shape[0] == R)
    tl.store(out_ptr + r * C + c, x)


def test_load_widens_the_pointer_to_the_mask(engine):
    out = engine.empty((8, 32), "int32")
    mask_widens_kernel[(1,)](engine.array(np.arange(32, dtype=np.int32)), out, R=8, C=32)
    r, c = np.indices((8, 32))
    np.testing.assert_array_equal(engine.numpy(out), np.where((r % 2 == 0) & (c < 20), c, -1))


@triton.jit
def row_mask_kernel(x_ptr, out_ptr, rows, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + r * C + c, mask=r < rows, other=0.5)
    tl.store(out_ptr + r * C + c, x + 1, mask=c > 3)


def test_a_mask_of_one_axis(engine, rng):
    x = sample(rng, "float32", (16, 8))
    out = engine.zeros((16, 8), "float32")
    row_mask_kernel[(1,)](engine.array(x, "float32"), out, 5, R=16, C=8)
    r, c = np.indices((16, 8))
    expected = np.where(c > 3, np.where(r < 5, x, 0.5).astype(np.float32) + np.float32(1), 0)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def uniform_mask_kernel(x_ptr, out_ptr, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=flag > 1, other=9)
    tl.store(out_ptr + offsets, x, mask=flag > 0)


@pytest.mark.parametrize("flag", [0, 2, 5])
def test_a_scalar_mask(engine, flag):
    x = np.arange(32, dtype=np.int32)
    out = engine.zeros(32, "int32")
    uniform_mask_kernel[(1,)](engine.array(x), out, flag, BLOCK=32)
    np.testing.assert_array_equal(engine.numpy(out), x if flag > 1 else np.full(32, 9 if flag > 0 else 0))


@triton.jit
def constant_mask_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, MASK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=MASK))


@pytest.mark.parametrize("mask", [None, True])
def test_no_mask_in_words(engine, mask):
    x = np.arange(32, dtype=np.int32)
    out = engine.zeros(32, "int32")
    constant_mask_kernel[(1,)](engine.array(x), out, BLOCK=32, MASK=mask)
    np.testing.assert_array_equal(engine.numpy(out), x)


@triton.jit
def in_place_kernel(x_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, x * 2, mask=mask)
    again = tl.load(x_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, again + x, mask=mask)


def test_a_load_sees_the_store_before_it(engine, rng):
    """The first load is not repeated after the store; the second one is not moved before it."""
    x = rng.integers(-1000, 1000, 500).astype(np.int32)
    buffer = engine.array(x)
    in_place_kernel[(8,)](buffer, 500, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(buffer), x * 3)


@triton.jit
def swap_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(x_ptr + offsets, y)
    tl.store(y_ptr + offsets, x)


def test_swap(engine, rng):
    x, y = sample(rng, "float32", 256), sample(rng, "float32", 256)
    a, b = engine.array(x, "float32"), engine.array(y, "float32")
    swap_kernel[(1,)](a, b, BLOCK=256)
    np.testing.assert_array_equal(engine.numpy(a), y)
    np.testing.assert_array_equal(engine.numpy(b), x)


@triton.jit
def store_number_kernel(out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 3, mask=offsets % 2 == 0)
    tl.store(out_ptr + offsets, -1.75, mask=offsets % 4 == 1)


def test_store_of_numbers(engine):
    out = engine.zeros(32, "float32")
    store_number_kernel[(1,)](out, BLOCK=32)
    lanes = np.arange(32)
    np.testing.assert_array_equal(engine.numpy(out), np.where(lanes % 2 == 0, 3, np.where(lanes % 4 == 1, -1.75, 0)))


@triton.jit
def interleaved_kernel(x_ptr, out_ptr, count, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    for channel in tl.static_range(STRIDE):
        total += (channel + 1) * tl.load(x_ptr + offsets * STRIDE + channel, mask=mask).to(tl.int32)
    tl.store(out_ptr + offsets, total, mask=mask)


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["uint8", "int16", "int32"])
def test_interleaved_channels(engine, rng, name, stride):
    x = sample(rng, name, (777, stride), 0, 100)
    out = engine.empty(777, "int32")
    interleaved_kernel[(triton.cdiv(777, 128),)](engine.array(x, name), out, 777, STRIDE=stride, BLOCK=128)
    np.testing.assert_array_equal(engine.numpy(out), (x.astype(np.int32) * np.arange(1, stride + 1)).sum(1))


@triton.jit
def interleaved_store_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + 2 * offsets, x, mask=mask)
    tl.store(out_ptr + 2 * offsets + 1, -x, mask=mask)


@pytest.mark.parametrize("name", ["int8", "float32", "float64"])
def test_interleaved_stores(engine, rng, name):
    x = sample(rng, name, 777)
    out = engine.empty((777, 2), name)
    interleaved_store_kernel[(triton.cdiv(777, 128),)](engine.array(x, name), out, 777, BLOCK=128)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(engine.numpy(out), np.stack([x, -x], axis=1))


@triton.jit
def wrap_kernel(x_ptr, out_ptr, modulus, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets % modulus) + 1000 * tl.load(x_ptr + offsets // modulus))


@pytest.mark.parametrize("modulus", [1, 5, 32, 100, 128, 1000])
def test_wrapped_offsets(engine, modulus):
    out = engine.empty(512, "int32")
    wrap_kernel[(4,)](engine.array(np.arange(1000, dtype=np.int32)), out, modulus, BLOCK=128)
    lanes = np.arange(512)
    np.testing.assert_array_equal(engine.numpy(out), lanes % modulus + 1000 * (lanes // modulus))


@triton.jit
def unused_lanes_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < 4
    wild = tl.where(mask, offsets, 1 << 30)
    tl.store(out_ptr + wild, tl.load(x_ptr + wild, mask=mask), mask=mask)


def test_masked_off_lanes_touch_no_memory(engine):
    """Their addresses point nowhere: reading or writing one would end the process."""
    out = engine.zeros(8, "int64")
    unused_lanes_kernel[(1,)](engine.array(np.arange(8, dtype=np.int64)), out, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(out), [0, 1, 2, 3, 0, 0, 0, 0])


@triton.jit
def options_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, cache_modifier=".cg", eviction_policy="evict_first")
    x += tl.load(x_ptr + offsets, cache_modifier=".ca", eviction_policy="evict_last")
    x += tl.load(x_ptr + offsets, volatile=True)
    tl.store(out_ptr + offsets, x, cache_modifier=".wb", eviction_policy="evict_first")


def test_cache_options_change_nothing(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    options_kernel[(1,)](engine.array(x), out, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(out), 3 * x)


@triton.jit
def hints_kernel(x_ptr, out_ptr, start, BLOCK: tl.constexpr):
    start = tl.multiple_of(start, 16)
    offsets = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    tl.store(out_ptr + offsets - start, tl.load(x_ptr + offsets))


def test_hints_change_nothing(engine):
    x = np.arange(256, dtype=np.int32)
    out = engine.empty(64, "int32")
    hints_kernel[(1,)](engine.array(x), out, 64, BLOCK=64)
    np.testing.assert_array_equal(engine.numpy(out), x[64:128])


@triton.jit
def other_without_mask_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, other=1))


@triton.jit
def integer_mask_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets))


@triton.jit
def tile_at_a_scalar_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + tl.arange(0, 16)))


@triton.jit
def store_wider_mask_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, 1, mask=(offsets[:, None] < 3) & (offsets[None, :] < 5))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize(
    "kernel", [other_without_mask_kernel, tile_at_a_scalar_kernel, store_wider_mask_kernel, integer_mask_kernel],
    ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_errors(engine, kernel):
    with pytest.raises(triton.TritonError):
        kernel[(1,)](engine.zeros(16, "int32"), engine.zeros(16, "int32"))


def test_bools_are_bytes(engine):
    x = np.array([True, False, True, True] * 8)
    out = engine.empty(32, "uint8")
    copy_kernel[(1,)](engine.array(x), out, 32, BLOCK=32)
    np.testing.assert_array_equal(engine.numpy(out), x.astype(np.uint8))
