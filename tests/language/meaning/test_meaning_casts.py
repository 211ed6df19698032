"""Meaning, "Casts": values to other types, bits to other types, pointers."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved, refused
from scalar_types import FLOATS, INTEGERS, TYPES, decode, encode

FP8 = ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"]


@triton.jit
def cast_kernel(x_ptr, out_ptr, TO: tl.constexpr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(TO))


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_int_truncates(engine, source, target):
    """Toward zero, from either side."""
    x = np.array([0.9, 1.5, 2.5, 99.9375, 0.0, -0.0, 3.0, 7.75])
    if TYPES[target].kind == "int":
        x = np.concatenate([x, -x])
    got = computed(engine, cast_kernel, len(x), target, engine.array(x, source), TO=getattr(tl, target), COUNT=len(x))
    np.testing.assert_array_equal(got, np.trunc(engine.numpy(engine.array(x, source)).astype(np.float64)).astype(TYPES[target].numpy))


@pytest.mark.parametrize("source", ["int8", "uint16", "int32", "int64", *FLOATS])
def test_to_bool_asks_for_not_zero(engine, source):
    """To int1: everything but zero is true, halves and negative numbers and NaN too."""
    x = np.array([0, 1, 2, 4, 100, 64, 3, 0]) if TYPES[source].is_integer else np.array([0, 0.5, 2, -0.25, np.nan, np.inf, -0.0, 1e-3])
    got = computed(engine, cast_kernel, 8, "int1", engine.array(x, source), TO=tl.int1, COUNT=8)
    np.testing.assert_array_equal(got, x != 0)


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("small", FP8)
def test_fp8_and_integers(engine, small, integer):
    """fp8 to an integer and back are errors that say to go through a float."""
    refused(
        engine, cast_kernel, engine.zeros(8, small), engine.zeros(8, integer), TO=getattr(tl, integer), COUNT=8,
        words=[small.replace("float", "fp"), integer],
    )  # fmt: skip
    refused(
        engine, cast_kernel, engine.zeros(8, integer), engine.zeros(8, small), TO=getattr(tl, small), COUNT=8,
        words=[small.replace("float", "fp"), integer],
    )  # fmt: skip


NARROWING = [("float64", "float32"), ("float64", "float16"), ("float64", "bfloat16"), ("float32", "float16"), ("float32", "bfloat16")]


@pytest.mark.parametrize("source, target", NARROWING)
def test_narrowing_rounds_to_nearest_even(engine, source, target):
    """Halfway goes to the even neighbour; no mode named and "rtne" are one."""
    step = 2.0 ** -TYPES[target].mantissa
    x = np.array([1 + step / 2, 1 + 3 * step / 2, 1 + step / 4, 1 + 3 * step / 4, -1 - step / 2, -1 - 3 * step / 2, 1, 0])
    got = computed(engine, cast_kernel, 8, target, engine.array(x, source), TO=getattr(tl, target), COUNT=8)
    np.testing.assert_array_equal(got, [1, 1 + 2 * step, 1, 1 + step, -1, -1 - 2 * step, 1, 0])
    np.testing.assert_array_equal(computed(engine, rounding_kernel, 8, target, engine.array(x, source), TO=getattr(tl, target), MODE="rtne"), got)


@triton.jit
def rounding_kernel(x_ptr, out_ptr, TO: tl.constexpr, MODE: tl.constexpr):
    offsets = tl.arange(0, 8)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(TO, fp_downcast_rounding=MODE))


@pytest.mark.parametrize("source, target", [("float32", "float16"), ("float32", "bfloat16"), ("float64", "float32"), ("float64", "bfloat16")])
@pytest.mark.ours("the interpreter of Triton has this for fp32 alone")
def test_narrowing_toward_zero(engine, source, target):
    """With "rtz" the fraction is cut off."""
    step = 2.0 ** -TYPES[target].mantissa
    x = np.array([1 + step / 2, 1 + 3 * step / 2, 1 + step / 4, 1 + 7 * step / 8, -1 - step / 2, -1 - 3 * step / 2, 1, 0])
    got = computed(engine, rounding_kernel, 8, target, engine.array(x, source), TO=getattr(tl, target), MODE="rtz")
    np.testing.assert_array_equal(got, [1, 1 + step, 1, 1, -1, -1 - step, 1, 0])


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("mode", ["rtz", "rtne"])
@pytest.mark.parametrize("source, target", [("float16", "float32"), ("bfloat16", "float64"), ("int32", "float32"), ("float8e5", "float16")])
def test_a_rounding_mode_when_nothing_narrows(engine, source, target, mode):
    """A rounding mode on a cast that is no narrowing of floats is an error."""
    refused(engine, rounding_kernel, engine.zeros(8, source), engine.zeros(8, target), TO=getattr(tl, target), MODE=mode, words="rounding")


@pytest.mark.ours("the interpreter of Triton does not hold every fp8 type")
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("target", FP8)
def test_fp8_saturates(engine, source, target):
    """Beyond the largest value, infinities too, is the largest; NaN stays NaN."""
    codes = np.arange(128, dtype=np.uint8)
    table = decode(codes, target)
    largest = table[np.isfinite(table)].max()
    x = np.array([np.inf, -np.inf, largest, -largest, 65000.0, -65000.0, np.nan, 1.0])
    got = computed(engine, cast_kernel, 8, target, engine.array(x, source), TO=getattr(tl, target), COUNT=8)
    np.testing.assert_array_equal(got, [largest, -largest] * 3 + [np.nan, 1])


@triton.jit
def bits_kernel(x_ptr, out_ptr, TO: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 8)).to(TO, bitcast=True)
    tl.static_assert(x.dtype == TO)
    tl.store(out_ptr + tl.arange(0, 8), x)


@pytest.mark.parametrize(
    "source, target", [("float32", "int32"), ("int64", "float64"), ("float16", "uint16"), ("bfloat16", "float16"), ("uint8", "int8")],
)  # fmt: skip
def test_bitcast_keeps_the_bits(engine, source, target):
    """Of equal width the bits are the same."""
    x = engine.array(np.array([0, 1, 2, 3.5, 100, 64, 5, 7]), source)
    out = engine.empty(8, target)
    bits_kernel[(1,)](x, out, TO=getattr(tl, target))
    assert engine.bits(out).tobytes() == engine.bits(x).tobytes()


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("source, target", [("float32", "int16"), ("int8", "float32"), ("float64", "int32"), ("float16", "float8e5")])
def test_bitcast_of_two_widths(engine, source, target):
    """Of unequal width it is an error that says both widths."""
    widths = [str(TYPES[source].bits), str(TYPES[target].bits)]
    refused(engine, bits_kernel, engine.zeros(8, source), engine.zeros(8, target), TO=getattr(tl, target), words=widths)


@triton.jit
def pointer_cast_kernel(x_ptr, out_ptr):
    address = x_ptr.to(tl.int64)
    tl.static_assert(address.dtype == tl.int64)
    tl.static_assert(x_ptr.to(tl.uint64).dtype == tl.uint64)
    tl.store(out_ptr + 0, (x_ptr + 3).to(tl.int64) - address)
    tl.store(out_ptr + 1, x_ptr.to(tl.int1).to(tl.int64))
    tl.store(out_ptr + 2, (x_ptr + tl.arange(0, 2)).to(tl.uint64).to(tl.int64).sum() - 2 * address)
    halves = x_ptr.to(tl.pointer_type(tl.int16))
    tl.static_assert(halves.dtype == tl.pointer_type(tl.int16))
    tl.store(out_ptr + 3, tl.load(halves + 2).to(tl.int64))
    back = address.to(tl.pointer_type(tl.int32))
    tl.store(out_ptr + 4, tl.load(back + 5).to(tl.int64))


def test_casts_of_pointers(engine):
    """To 64-bit integers (the address), to int1 (not null), to other pointers (the same address), and from an integer."""
    x = engine.array(np.arange(1, 9, dtype=np.int32))
    np.testing.assert_array_equal(computed(engine, pointer_cast_kernel, 5, "int64", x), [12, 1, 4, 2, 6])


@triton.jit
def pointer_to_kernel(x_ptr, out_ptr, TO: tl.constexpr):
    tl.store(out_ptr, x_ptr.to(TO).to(tl.int64))


@pytest.mark.ours("the interpreter of Triton raises other classes")
@pytest.mark.parametrize("target", ["int8", "int16", "int32", "uint32", "float32", "float64"])
def test_pointers_cast_to_nothing_else(engine, target):
    """Any other target is an error."""
    refused(
        engine, pointer_to_kernel, engine.zeros(8, "int32"), engine.zeros(1, "int64"), TO=getattr(tl, target),
        words=["pointer", target.replace("float", "fp")],
    )  # fmt: skip


@triton.jit
def compare_pointers_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, (x_ptr == y_ptr).to(tl.int32))


@triton.jit
def order_pointers_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, (x_ptr < y_ptr + 1).to(tl.int32))


@triton.jit
def subtract_pointers_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, x_ptr - y_ptr)


@triton.jit
def add_pointers_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + y_ptr))


@pytest.mark.ours("the interpreter of Triton compares addresses")
@pytest.mark.parametrize(
    "kernel", [compare_pointers_kernel, order_pointers_kernel, subtract_pointers_kernel, add_pointers_kernel],
    ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_no_comparison_or_difference_of_pointers(engine, kernel):
    """Two pointers are neither compared nor subtracted nor added."""
    refused(engine, kernel, engine.zeros(8, "int32"), engine.zeros(8, "int32"), engine.zeros(1, "int32"), words="pointer")


@triton.jit
def offset_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, (x_ptr + 3).to(tl.int64) - x_ptr.to(tl.int64))
    tl.store(out_ptr + 1, (x_ptr - 1).to(tl.int64) - x_ptr.to(tl.int64))
    tl.store(out_ptr + 2, (2 + x_ptr).to(tl.int64) - x_ptr.to(tl.int64))


@pytest.mark.parametrize("name", ["int1", "int8", "uint16", "float32", "float64", "float8e5"])
def test_offsets_count_elements(engine, name):
    """`pointer + 3` is three elements on, from either side; a bool takes a byte."""
    width = max(TYPES[name].bits // 8, 1)
    np.testing.assert_array_equal(computed(engine, offset_kernel, 3, "int64", engine.zeros(8, name)), [3 * width, -width, 2 * width])


@triton.jit
def typed_offset_kernel(x_ptr, offset_ptr, out_ptr):
    scalar = tl.load(offset_ptr)
    tile = tl.load(offset_ptr + tl.arange(0, 2))
    tl.store(out_ptr, (x_ptr + scalar).to(tl.int64) - x_ptr.to(tl.int64))
    tl.store(out_ptr + 1 + tl.arange(0, 2), (x_ptr + tile).to(tl.int64) - x_ptr.to(tl.int64))


@pytest.mark.parametrize("name", INTEGERS)
def test_offsets_of_every_width(engine, name):
    """Signed offsets keep their sign, narrow unsigned ones are extended with zeros."""
    info = np.iinfo(TYPES[name].numpy)
    offset = {"uint64": 2**40}.get(name, info.max if info.min == 0 else max(info.min, -(2**40)))
    got = computed(engine, typed_offset_kernel, 3, "int64", engine.zeros(8, "int16"), engine.array(np.full(2, offset, TYPES[name].numpy)))
    np.testing.assert_array_equal(got, np.full(3, 2 * int(offset)))


def test_rounding_of_every_bf16_neighbour(engine):
    """Each halfway point between two neighbours of bf16 rounds to the even one (the encoding is the tests' own)."""
    halves = (np.arange(0x3F80, 0x3F80 + 256, dtype=np.uint32) << 16) | 0x8000
    x = halves.view(np.float32)
    out = engine.empty(256, "bfloat16")
    cast_kernel[(1,)](engine.array(x), out, TO=tl.bfloat16, COUNT=256)
    np.testing.assert_array_equal(engine.bits(out), encode(x.astype(np.float64), "bfloat16"))


@triton.jit
def one_kernel(x_ptr, out_ptr):
    tl.static_assert(tl.load(x_ptr).to(tl.int32).dtype == tl.int32)
    tl.store(out_ptr, 1)


def test_a_cast_to_its_own_type(engine):
    """Changes nothing."""
    proved(engine, one_kernel, counting(engine))
