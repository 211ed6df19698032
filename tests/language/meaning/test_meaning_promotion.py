"""Meaning, "Promotion": the type in which two values meet. The whole table of pairs is in test_promotion.py; here are its rules one by one."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import proved, refused
from scalar_types import FLOATS, INTEGERS, TYPES

FP8 = ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16"]


@triton.jit
def meet_kernel(x_ptr, y_ptr, out_ptr, EXPECTED: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    y = tl.load(y_ptr + tl.arange(0, 16))
    tl.static_assert(tl.where(tl.arange(0, 16) < 8, x, y).dtype == EXPECTED)
    tl.static_assert(tl.where(tl.arange(0, 16) < 8, y, x).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


def meet(engine, a, b, expected):
    proved(engine, meet_kernel, engine.zeros(16, a), engine.zeros(16, b), EXPECTED=getattr(tl, expected))


@pytest.mark.parametrize("name", [*INTEGERS, "float16", "float32", "float64"])
def test_a_bool_gives_way(engine, name):
    """Kind first: int1 with any integer or float gives that type."""
    meet(engine, "int1", name, name)


@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("real", ["float16", "float32", "float64"])
def test_an_integer_gives_way_to_a_float(engine, integer, real):
    """Kind before width: int64 with fp16 is fp16."""
    meet(engine, integer, real, real)


@pytest.mark.parametrize("a, b", [(a, b) for a in INTEGERS for b in INTEGERS if TYPES[a].bits < TYPES[b].bits])
def test_the_wider_integer_wins(engine, a, b):
    """Width within a kind, whatever the signs."""
    meet(engine, a, b, b)


@pytest.mark.parametrize(
    "a, b", [("float16", "float32"), ("bfloat16", "float32"), ("float16", "float64"), ("bfloat16", "float64"), ("float32", "float64")],
)  # fmt: skip
def test_the_wider_float_wins(engine, a, b):
    """Width within a kind."""
    meet(engine, a, b, b)


def test_fp16_with_bf16(engine):
    """The two 16-bit floats meet in fp16."""
    meet(engine, "float16", "bfloat16", "float16")


@pytest.mark.parametrize("a, b", [(a, b) for i, a in enumerate(FP8) for b in FP8[i + 1 :]])
@pytest.mark.ours("the interpreter of Triton does not hold every fp8 type")
def test_two_fp8_types(engine, a, b):
    """Two different fp8 types meet in fp16."""
    meet(engine, a, b, "float16")


@pytest.mark.parametrize("name", FP8)
@pytest.mark.ours("the interpreter of Triton does not hold every fp8 type")
def test_one_fp8_type(engine, name):
    """One fp8 type on both sides stays."""
    meet(engine, name, name, name)


@pytest.mark.parametrize("name", ["int1", *INTEGERS])
def test_bf16_with_an_integer_tensor(engine, name):
    """bf16 with integers gives fp32."""
    meet(engine, "bfloat16", name, "float32")


@pytest.mark.parametrize("name", FP8)
@pytest.mark.ours("the interpreter of Triton does not hold every fp8 type")
def test_bf16_with_fp8(engine, name):
    """bf16 with fp8 gives fp32."""
    meet(engine, "bfloat16", name, "float32")


@pytest.mark.parametrize("integer", ["int1", *INTEGERS])
@pytest.mark.parametrize("small", FP8)
@pytest.mark.ours("the interpreter of Triton lets these through")
def test_fp8_with_an_integer_tensor(engine, small, integer):
    """fp8 with an integer tensor is an error."""
    refused(engine, add_kernel, engine.zeros(16, small), engine.zeros(16, integer), engine.empty(16, "float32"), words=["fp8", "int"])


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_one_width_and_two_signs(engine, bits):
    """Of two integers of one width the unsigned type wins."""
    meet(engine, f"int{bits}", f"uint{bits}", f"uint{bits}")


@triton.jit
def number_kernel(x_ptr, out_ptr, NUMBER: tl.constexpr, EXPECTED: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x + NUMBER).dtype == EXPECTED)
    tl.static_assert((NUMBER * x).dtype == EXPECTED)
    tl.static_assert((tl.load(x_ptr) - NUMBER).dtype == EXPECTED)
    tl.store(out_ptr, 1)


def number(engine, name, value, expected):
    proved(engine, number_kernel, engine.zeros(16, name), NUMBER=value, EXPECTED=getattr(tl, expected))


@pytest.mark.parametrize("value", [True, 3, 100])
@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_a_number_of_lower_or_equal_kind_does_not_count(engine, name, value):
    """Bools and integers beside integers or floats leave the tensor's type alone."""
    number(engine, name, value, name)


@pytest.mark.parametrize("value", [0.5, 1e300, float("inf"), 2.0**-140])
@pytest.mark.parametrize("name", FLOATS)
def test_a_float_beside_a_float_tensor_does_not_count(engine, name, value):
    """Whatever its size: fp16 with 1e300 stays fp16."""
    number(engine, name, value, name)


@triton.jit
def constant_kernel(x_ptr, out_ptr, NUMBER: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16)) + NUMBER)


OUT_OF_RANGE = [(f"int{b}", v) for b in (8, 16, 32, 64) for v in (2 ** (b - 1), -(2 ** (b - 1)) - 1)] + [(f"uint{b}", 2**b) for b in (8, 16, 32)]


@pytest.mark.parametrize("name, value", OUT_OF_RANGE)
@pytest.mark.ours("the interpreter of Triton raises other classes")
def test_a_number_out_of_range(engine, name, value):
    """A literal that the integer type cannot hold is an error that names both."""
    refused(
        engine, constant_kernel, engine.zeros(16, name), engine.empty(16, name), NUMBER=value,
        words=[str(value), "does not fit" if value < -(2**63) else name],
    )  # fmt: skip


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.ours("the interpreter of Triton raises other classes")
def test_a_negative_number_with_unsigned(engine, bits):
    """So is a negative literal beside an unsigned tensor."""
    refused(engine, constant_kernel, engine.zeros(16, f"uint{bits}"), engine.empty(16, f"uint{bits}"), NUMBER=-1, words=["-1", f"uint{bits}"])


HIGHER = [(5, "int32"), (-5, "int32"), (2**31 - 1, "int32"), (2**31, "uint32"), (2**32 - 1, "uint32"), (2**32, "int64"), (-(2**31) - 1, "int64"),
          (2**63 - 1, "int64"), (2**63, "uint64"), (2**64 - 1, "uint64")]  # fmt: skip


@pytest.mark.parametrize("value, expected", HIGHER)
def test_an_integer_beside_bools(engine, value, expected):
    """Of higher kind, an integer becomes the first of int32, uint32, int64, uint64 that holds it."""
    number(engine, "int1", value, expected)


REAL = [(0.5, "float32"), (0.0, "float32"), (float("inf"), "float32"), (float("-inf"), "float32"), (float("nan"), "float32"), (3.0e38, "float32"),
        (2.0**-126, "float32"), (2.0**-127, "float64"), (1e-40, "float64"), (1e39, "float64"), (1e300, "float64")]  # fmt: skip


@pytest.mark.parametrize("value, expected", REAL, ids=[str(value) for value, _ in REAL])
@pytest.mark.parametrize("name", ["int1", "int8", "int32", "uint64"])
def test_a_float_beside_bools_or_integers(engine, name, value, expected):
    """Of higher kind, a float becomes fp32 or, where that cannot hold it (a subnormal of fp32 too), fp64."""
    number(engine, name, value, expected)


def test_values_follow_the_promoted_type(engine):
    """int8 100 + uint8 200 is computed in uint8, int32 -1 + uint32 1 in uint32."""
    out = engine.empty(16, "int64")
    add_kernel[(1,)](engine.array(np.full(16, 100), "int8"), engine.array(np.full(16, 200), "uint8"), out)
    np.testing.assert_array_equal(engine.numpy(out), 300 - 256)
    add_kernel[(1,)](engine.array(np.full(16, -1), "int32"), engine.array(np.full(16, 0), "uint32"), out)
    np.testing.assert_array_equal(engine.numpy(out), 2**32 - 1)
