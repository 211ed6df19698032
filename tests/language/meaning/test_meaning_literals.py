"""Meaning, "Literals and locals": when a number has a type, and when it stays a number."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved
from scalar_types import FLOATS, INTEGERS


@triton.jit
def float_local_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    c = 2.0
    tl.static_assert(c.dtype == tl.float32)
    tl.static_assert((x * c).dtype == tl.float32)
    tl.static_assert((c * x).dtype == tl.float32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_a_float_bound_to_a_name_is_a_run_time_fp32(engine, name):
    """`c = 2.0` has the type fp32, and widens an fp16 tile that it meets."""
    proved(engine, float_local_kernel, engine.zeros(16, name))


@triton.jit
def other_locals_kernel(out_ptr):
    truth = True
    small = 5
    large = 3000000000
    larger = 5000000000
    largest = 10000000000000000000
    wide = 1e300
    tl.static_assert(truth.dtype == tl.int1)
    tl.static_assert(small.dtype == tl.int32)
    tl.static_assert(large.dtype == tl.uint32)
    tl.static_assert(larger.dtype == tl.int64)
    tl.static_assert(largest.dtype == tl.uint64)
    tl.static_assert(wide.dtype == tl.float64)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_other_numbers_bound_to_a_name(engine):
    """A bool, an int and a float that is too large become the smallest type that holds them, as run-time scalars."""
    proved(engine, other_locals_kernel)


@triton.jit
def literal_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x * 2.0).dtype == x.dtype)
    tl.static_assert((2.0 * x + 1.0 - 3.0).dtype == x.dtype)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_literal_takes_the_type_of_the_tile(engine, name):
    """`x16 * 2.0` stays fp16."""
    proved(engine, literal_kernel, engine.zeros(16, name))


@triton.jit
def constexpr_local_kernel(x_ptr, out_ptr):
    c: tl.constexpr = 2
    x = tl.load(x_ptr + tl.arange(0, 8 * c))
    tl.static_assert(c == 2)
    tl.static_assert(c // -3 == -1)
    tl.static_assert((x * c).dtype == x.dtype)
    half: tl.constexpr = c / 4
    tl.static_assert(half == 0.5)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", ["int8", "uint16", "float16", "float64"])
def test_an_annotated_local_stays_constexpr(engine, name):
    """`c: tl.constexpr = 2` is a constant: it can be an extent, divides as Python does, and takes no part in promotion."""
    proved(engine, constexpr_local_kernel, engine.zeros(16, name))


@triton.jit
def scale(x, factor, length=16):
    y = x * factor + tl.arange(0, length).to(x.dtype)
    return y


@triton.jit
def literal_argument_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(scale(x, 2.0).dtype == tl.float16)
    tl.static_assert(scale(x, factor=3, length=16).dtype == tl.float16)
    tl.static_assert(scale(x, -(1 + 1)).dtype == tl.float16)
    tl.store(out_ptr, 1)


def test_a_literal_passed_to_a_function_stays_constexpr(engine):
    """Given as an argument (or a default) a number keeps no type, and can be an extent inside the function."""
    proved(engine, literal_argument_kernel, engine.zeros(16, "float16"))


@triton.jit
def local_argument_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    factor = 2.0
    tl.static_assert(scale(x, factor).dtype == tl.float32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_a_local_passed_to_a_function_is_a_run_time_value(engine):
    """The name's type goes with it into the function."""
    proved(engine, local_argument_kernel, engine.zeros(16, "float16"))


@triton.jit
def division_kernel(out_ptr):
    k = -7
    tl.store(out_ptr + 0, k // 2)
    tl.store(out_ptr + 1, -7 // 2)
    tl.store(out_ptr + 2, k % 2)
    tl.store(out_ptr + 3, -7 % 2)
    c: tl.constexpr = -7
    tl.store(out_ptr + 4, c // 2)
    two = 2
    tl.store(out_ptr + 5, -7 // two)
    k //= 2
    tl.store(out_ptr + 6, k)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_numbers_divide_as_c_and_literals_as_python(engine):
    """`k = -7; k // 2` is -3, `-7 // 2` is -4, on every engine; so with % and //=."""
    got = computed(engine, division_kernel, 7, "int32")
    np.testing.assert_array_equal(got, [-3, -4, -1, 1, -4, -3, -3])


@triton.jit
def scalar_promotion_kernel(x_ptr, wide_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    scalar = tl.load(wide_ptr)
    tl.static_assert(scalar.shape == ())
    tl.static_assert((x + scalar).dtype == scalar.dtype)
    tl.static_assert((scalar * x).dtype == scalar.dtype)
    tl.static_assert((x + (scalar + 1)).dtype == scalar.dtype)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name, wide", [("int8", "int64"), ("float16", "float32"), ("float32", "float64"), ("int32", "float16"), ("uint8", "int16")])
def test_scalars_promote_as_tiles_do(engine, name, wide):
    """A 0-d value has its type's full weight."""
    proved(engine, scalar_promotion_kernel, engine.zeros(16, name), engine.zeros(1, wide))


@triton.jit
def annotated_kernel(x_ptr, out_ptr):
    a: tl.float16 = tl.load(x_ptr)
    b: tl.int64 = 3
    c: "any text" = 2.5
    d: tl.tensor = tl.arange(0, 4)
    tl.static_assert(a.dtype == tl.int32)
    tl.static_assert(b.dtype == tl.int32)
    tl.static_assert(c.dtype == tl.float32)
    tl.static_assert(d.dtype == tl.int32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_other_annotations_cast_nothing(engine):
    """`a: tl.float16 = value` leaves the value's type alone."""
    proved(engine, annotated_kernel, counting(engine))


@triton.jit
def tuple_of_literals_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x * (2, 3)[0]).dtype == tl.int8)
    pair = (2, 3)
    tl.static_assert((x * pair[0]).dtype == tl.int32)
    a, b = 2, 3
    tl.static_assert(a.dtype == tl.int32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_literals_inside_a_tuple(engine):
    """The items of a tuple bound to a name become run-time values, as a single number does; of a tuple without a name they stay literals."""
    proved(engine, tuple_of_literals_kernel, engine.zeros(16, "int8"))


@triton.jit
def carried_kernel(x_ptr, n, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    total = 0.0
    for i in range(n):
        total += 1.5
    tl.static_assert(total.dtype == tl.float32)
    tl.static_assert((x * total).dtype == tl.float32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
@pytest.mark.parametrize("n", [0, 3])
def test_a_number_carried_by_a_loop(engine, n):
    """A local that a loop changes has its type from the start, also when the loop runs zero times."""
    proved(engine, carried_kernel, engine.zeros(16, "float16"), n)


@triton.jit
def integer_literal_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x + 1).dtype == x.dtype)
    one = 1
    tl.static_assert((x + one).dtype == (x + tl.full((16,), 1, tl.int32)).dtype)
    tl.store(out_ptr, 1)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
@pytest.mark.parametrize("name", [*INTEGERS, "float16", "float32"])
def test_integers_as_literals_and_as_locals(engine, name):
    """`x + 1` keeps the tile's type, `one = 1; x + one` promotes with int32."""
    proved(engine, integer_literal_kernel, engine.zeros(16, name))
