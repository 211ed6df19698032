"""Casts among all types: truncation, rounding to nearest even, saturation of fp8, bitcasts, and what is an error."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, FP8, INTEGERS, STANDARD, TYPES, decode, encode, rounded

ALL = [*STANDARD, *FP8]
COUNT = 256


@triton.jit
def cast_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, TO: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets).to(TO)
    tl.static_assert(x.dtype == TO)
    tl.store(out_ptr + offsets, x)


def values_for(rng, source, target):
    """Values of the source type whose cast has a meaning: a float beyond an integer's range has none."""
    s, t = TYPES[source], TYPES[target]
    if s.kind == "bool":
        return np.resize([0, 1], COUNT)
    if s.is_integer:
        info = np.iinfo(s.numpy)
        values = rng.integers(info.min, info.max, COUNT, dtype=s.numpy, endpoint=True)
        values[:6] = [info.min, info.max, 0, 1, info.max // 2, info.min // 2 + 1]
        return values
    if t.is_integer:
        info = np.iinfo(t.numpy)
        bound = min(float(info.max), 2.0 ** 62 if t.bits == 64 else float(info.max))
        low = max(float(info.min), -bound)
        values = rng.uniform(low, bound, COUNT) * rng.uniform(0, 1, COUNT)
        values[:8] = [0.0, 0.5, 1.5, 2.5, 0.99, low * 0.5, bound * 0.5, -0.0]
        values = rounded(values, source).astype(np.float64)  # the bounds are compared exactly
        return np.where((values >= low) & (values <= bound) & np.isfinite(values), values, 1.0)
    largest = float(np.nanmax(np.where(np.isfinite(decoded_extremes(source)), decoded_extremes(source), 0)))
    values = rng.standard_normal(COUNT) * np.exp(rng.standard_normal(COUNT) * 4)
    values[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, 1.0, 448.0, 57344.0]
    values[10:14] = [2.0**-10, 2.0**-17, 2.0**-25, 2.0**-130]
    return rounded(values, source)


def decoded_extremes(name):
    if TYPES[name].is_fp8:
        return decode(np.arange(256, dtype=np.uint8), name)
    return rounded(np.array([3.0e38, 65504.0, 1e300]), name)


def expected_cast(values, source, target):
    t = TYPES[target]
    if t.kind == "bool":
        return values != 0
    if t.is_integer:
        if TYPES[source].is_float:
            return np.trunc(values).astype(t.numpy)
        return values.astype(t.numpy)  # wraps
    return rounded(values, target)


def converts(source, target):
    """fp8 and integers do not: an error, tested below."""
    s, t = TYPES[source], TYPES[target]
    return not (s.is_fp8 and not t.is_float) and not (t.is_fp8 and not s.is_float)


@pytest.mark.parametrize("source, target", [(s, t) for s in ALL for t in ALL if converts(s, t)])
def test_cast(engine, rng, source, target):
    values = values_for(rng, source, target)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(values, source), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.numpy(out), expected_cast(values, source, target))


NARROWING = [(s, t) for s in ("float32", "float64") for t in (*FLOATS, *FP8) if TYPES[t].bits < TYPES[s].bits]


@pytest.mark.parametrize("source, target", NARROWING)
def test_ties_round_to_even(engine, source, target):
    t = TYPES[target]
    step = 2.0**-t.mantissa
    k = np.arange(COUNT)
    values = 1 + (k % 8 + 0.5) * step  # halfway between two neighbours
    nudge = np.where(k % 3 == 0, 0.0, np.where(k % 3 == 1, step / 64, -step / 64))
    values = rounded((values + nudge) * np.where(k % 2, -1, 1), source)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(values, source), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.numpy(out), rounded(values, target))


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_float64_rounds_once(engine, target):
    """Through float32 the tiny excess would be lost and the tie would fall to the even side."""
    half = 2.0 ** -(TYPES[target].mantissa + 1)
    values = np.resize([1 + half + 2.0**-40, 1 + half - 2.0**-40, 1 + 3 * half + 2.0**-45, 1 + 3 * half - 2.0**-45], COUNT)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(values, "float64"), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.numpy(out), rounded(values, target))


@pytest.mark.ours("Triton's interpreter does not saturate")
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("target", FP8)
def test_fp8_saturates(engine, source, target):
    values = np.resize([1e4, -1e4, 6e4, -6e4, np.inf, -np.inf, np.nan, 449.0, 480.0, 1e-9], COUNT)
    values = rounded(values, source)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(values, source), out, COUNT=COUNT, TO=getattr(tl, target))
    got = engine.numpy(out)
    np.testing.assert_array_equal(got, rounded(values, target))
    largest = {"float8e4nv": 448.0, "float8e5": 57344.0}[target]
    assert got[4] == largest and got[5] == -largest and np.isnan(got[6])


@pytest.mark.parametrize("target", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("source", ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"])
def test_every_fp8_code_widens(engine, source, target):
    codes = np.arange(256, dtype=np.uint8)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.from_bits(codes, source), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.numpy(out), decode(codes, source))


@pytest.mark.parametrize("target", ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"])
def test_every_fp8_code_returns(engine, target):
    """A value that the type holds comes back as the same bits."""
    codes = np.arange(256, dtype=np.uint8)
    values = decode(codes, target)
    codes = np.where(np.isfinite(values), codes, 0)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(decode(codes, target), "float32"), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.bits(out), codes)


@triton.jit
def narrow_with_rounding_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, TO: tl.constexpr, ROUNDING: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(TO, fp_downcast_rounding=ROUNDING))


@pytest.mark.ours("Triton's interpreter ignores the mode for float16")
@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_rounding_modes(engine, rng, target, rounding):
    values = rounded(rng.standard_normal(COUNT), "float32")
    out = engine.empty(COUNT, target)
    narrow_with_rounding_kernel[(1,)](
        engine.array(values, "float32"), out, COUNT=COUNT, TO=getattr(tl, target), ROUNDING=rounding
    )
    nearest = rounded(values, target)
    if rounding == "rtne":
        expected = nearest
    else:
        step = np.where(np.abs(nearest) > np.abs(values), 1, 0)
        bits = encode(nearest, target).view(np.uint16)
        expected = decode((bits - step).astype(np.uint16).view(TYPES[target].numpy), target)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def bitcast_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, TO: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(TO, bitcast=True))


@pytest.mark.parametrize(
    "source, target",
    [("int32", "float32"), ("float32", "uint32"), ("int64", "float64"), ("float64", "int64"), ("int16", "float16"),
     ("float16", "uint16"), ("uint16", "bfloat16"), ("bfloat16", "int16"), ("bfloat16", "float16"), ("uint8", "float8e5"),
     ("float8e4nv", "int8"), ("int8", "uint8"), ("float8e5", "float8e4nv"), ("uint32", "int32")],
)  # fmt: skip
def test_bitcast(engine, rng, source, target):
    bits = rng.integers(0, 256, COUNT * TYPES[source].bits // 8, dtype=np.uint8).view(TYPES[source].numpy)
    out = engine.empty(COUNT, target)
    bitcast_kernel[(1,)](engine.from_bits(bits, source), out, COUNT=COUNT, TO=getattr(tl, target))
    assert engine.bits(out).tobytes() == bits.tobytes()


@triton.jit
def cast_function_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.cast(x, tl.int16)
    tl.static_assert(y.dtype == tl.int16)
    z = tl.cast(y, tl.float32)
    tl.store(out_ptr + offsets, z)


def test_cast_as_a_function(engine, rng):
    x = rng.uniform(-100, 100, COUNT).astype(np.float32)
    out = engine.empty(COUNT, "float32")
    cast_function_kernel[(1,)](engine.array(x), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), np.trunc(x))


@triton.jit
def store_casts_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@pytest.mark.parametrize(
    "source, target",
    [("float32", "int8"), ("float32", "bfloat16"), ("int32", "float16"), ("int64", "uint8"), ("float16", "float64"), ("int32", "int1")],
)
def test_store_casts_to_the_element_type(engine, rng, source, target):
    values = rounded(rng.integers(-100, 100, COUNT), source)
    out = engine.empty(COUNT, target)
    store_casts_kernel[(1,)](engine.array(values, source), out, COUNT=COUNT)
    np.testing.assert_array_equal(engine.numpy(out), expected_cast(values, source, target))


@triton.jit
def pointer_bits_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, (x_ptr + 3).to(tl.int64) - x_ptr.to(tl.int64))


@pytest.mark.parametrize("type_name", ["int8", "float16", "int32", "float64"])
def test_a_pointer_as_an_integer(engine, type_name):
    out = engine.empty(1, "int64")
    pointer_bits_kernel[(1,)](engine.zeros(8, type_name), out)
    assert engine.numpy(out)[0] == 3 * TYPES[type_name].bits // 8


@triton.jit
def pointer_cast_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    bytes_ptr = x_ptr.to(tl.pointer_type(tl.uint8))
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(bytes_ptr + offsets))


def test_a_pointer_to_another_type(engine, rng):
    x = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
    out = engine.empty(256, "uint8")
    pointer_cast_kernel[(1,)](engine.array(x), out, COUNT=256)
    np.testing.assert_array_equal(engine.numpy(out), x.view(np.uint8))


@pytest.mark.ours("Triton's interpreter lets these through")
@pytest.mark.parametrize(
    "source, target",
    [("float8e4nv", "int32"), ("int8", "float8e5"), ("float8e5", "uint8"), ("int64", "float8e4nv")],
)
def test_fp8_and_integers_do_not_convert(engine, source, target):
    with pytest.raises(triton.TritonError):
        cast_kernel[(1,)](engine.zeros(COUNT, source), engine.empty(COUNT, target), COUNT=COUNT, TO=getattr(tl, target))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize("source, target", [("int32", "float16"), ("float32", "int64"), ("int8", "bfloat16")])
def test_bitcast_needs_equal_width(engine, source, target):
    with pytest.raises(triton.TritonError):
        bitcast_kernel[(1,)](engine.zeros(COUNT, source), engine.empty(COUNT, target), COUNT=COUNT, TO=getattr(tl, target))


@pytest.mark.ours("Triton's interpreter raises other classes")
def test_a_rounding_mode_when_widening_is_an_error(engine):
    with pytest.raises(triton.TritonError):
        narrow_with_rounding_kernel[(1,)](
            engine.zeros(COUNT, "float16"), engine.empty(COUNT, "float32"), COUNT=COUNT, TO=tl.float32, ROUNDING="rtz"
        )


INTEGERS_BY_SIZE = sorted(INTEGERS, key=lambda name: TYPES[name].bits)


@pytest.mark.parametrize("target", INTEGERS_BY_SIZE)
def test_float_to_integer_truncates_toward_zero(engine, target):
    values = np.resize([0.1, 0.9, 1.1, 1.9, 2.5, 3.5, 100.99], COUNT)
    if TYPES[target].kind == "int":
        values = values * np.where(np.arange(COUNT) % 2, -1, 1)
    out = engine.empty(COUNT, target)
    cast_kernel[(1,)](engine.array(values, "float32"), out, COUNT=COUNT, TO=getattr(tl, target))
    np.testing.assert_array_equal(engine.numpy(out), np.trunc(values.astype(np.float32)).astype(TYPES[target].numpy))
