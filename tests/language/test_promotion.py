"""The type of a result: two tensors, a tensor and a run-time scalar, a tensor and a number."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, FP8, INTEGERS, STANDARD, TYPES

ALL = [*STANDARD, *FP8]


def promoted(a, b):
    """The table of the language, for two run-time values; None where it is an error."""
    s, t = TYPES[a], TYPES[b]
    if a == b:
        return a
    if s.is_float and t.is_float:
        for wide in ("float64", "float32", "float16"):
            if wide in (a, b):
                return wide
        return "float32" if "bfloat16" in (a, b) else "float16"
    if s.is_float or t.is_float:
        (number, other) = (s, t) if s.is_float else (t, s)
        if number.is_fp8:
            return None
        return "float32" if number.name == "bfloat16" else number.name
    if "int1" in (a, b):
        return b if a == "int1" else a
    if s.bits != t.bits:
        return a if s.bits > t.bits else b
    return a if s.kind == "uint" else b


@triton.jit
def tensors_kernel(x_ptr, y_ptr, out_ptr, EXPECTED: tl.constexpr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.static_assert((x + y).dtype == EXPECTED)
    tl.static_assert((y * x).dtype == EXPECTED)
    tl.static_assert((tl.where(x == x, x, y)).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


PAIRS = [(a, b) for i, a in enumerate(ALL) for b in ALL[i:]]


@pytest.mark.parametrize("a, b", [pair for pair in PAIRS if promoted(*pair) and not any(TYPES[t].is_fp8 for t in pair)])
def test_two_tensors(engine, a, b):
    out = engine.zeros(1, "int32")
    tensors_kernel[(1,)](engine.zeros(16, a), engine.zeros(16, b), out, EXPECTED=getattr(tl, promoted(a, b)))
    assert engine.numpy(out)[0] == 1


@triton.jit
def fp8_tensors_kernel(x_ptr, y_ptr, out_ptr, EXPECTED: tl.constexpr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.static_assert((tl.where(offsets < 8, x, y)).dtype == EXPECTED)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("a, b", [pair for pair in PAIRS if promoted(*pair) and any(TYPES[t].is_fp8 for t in pair)])
def test_two_tensors_with_fp8(engine, a, b):
    out = engine.zeros(1, "int32")
    fp8_tensors_kernel[(1,)](engine.zeros(16, a), engine.zeros(16, b), out, EXPECTED=getattr(tl, promoted(a, b)))
    assert engine.numpy(out)[0] == 1


@pytest.mark.ours("Triton's interpreter lets these through")
@pytest.mark.parametrize("integer", ["int8", "int32", "uint64"])
@pytest.mark.parametrize("small", FP8)
def test_fp8_with_an_integer_tensor_is_an_error(engine, small, integer):
    with pytest.raises(triton.TritonError):
        add_kernel[(1,)](engine.zeros(16, small), engine.zeros(16, integer), engine.empty(16, "float32"))


@triton.jit
def scalars_kernel(x_ptr, integer, real, out_ptr, WITH_INTEGER: tl.constexpr, WITH_REAL: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x + integer).dtype == WITH_INTEGER)
    tl.static_assert((real * x).dtype == WITH_REAL)
    tl.static_assert((tl.load(x_ptr) + integer).dtype == WITH_INTEGER)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", STANDARD)
def test_run_time_scalars_take_part(engine, name):
    """An int argument is int32 and a float argument float32, whatever their value."""
    out = engine.zeros(1, "int32")
    scalars_kernel[(1,)](
        engine.zeros(16, name), 3, 2.5, out,
        WITH_INTEGER=getattr(tl, promoted(name, "int32")), WITH_REAL=getattr(tl, promoted(name, "float32")),
    )  # fmt: skip
    assert engine.numpy(out)[0] == 1


@triton.jit
def numbers_kernel(x_ptr, out_ptr, BOOLEAN: tl.constexpr, INTEGER: tl.constexpr, REAL: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x + True).dtype == BOOLEAN)
    tl.static_assert((x + 3).dtype == INTEGER)
    tl.static_assert((3 * x).dtype == INTEGER)
    tl.static_assert((x + 2.5).dtype == REAL)
    tl.static_assert((2.5 - x).dtype == REAL)
    tl.store(out_ptr, 1)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_numbers_of_lower_or_equal_kind_do_not_take_part(engine, name):
    t = TYPES[name]
    out = engine.zeros(1, "int32")
    real = name if t.is_float else "float32"
    numbers_kernel[(1,)](
        engine.zeros(16, name), out, BOOLEAN=getattr(tl, name), INTEGER=getattr(tl, name), REAL=getattr(tl, real)
    )
    assert engine.numpy(out)[0] == 1


@triton.jit
def bool_numbers_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(x.dtype == tl.int1)
    tl.static_assert((x + 3).dtype == tl.int32)
    tl.static_assert((x + 3000000000).dtype == tl.uint32)
    tl.static_assert((x + 5000000000).dtype == tl.int64)
    tl.static_assert((x + 10000000000000000000).dtype == tl.uint64)
    tl.static_assert((x + 2.5).dtype == tl.float32)
    tl.static_assert((x * 1e300).dtype == tl.float64)
    tl.store(out_ptr, 1)


def test_a_number_of_higher_kind_takes_the_smallest_type(engine):
    out = engine.zeros(1, "int32")
    bool_numbers_kernel[(1,)](engine.zeros(16, "int1"), out)
    assert engine.numpy(out)[0] == 1


@triton.jit
def add_constant_kernel(x_ptr, out_ptr, CONSTANT: tl.constexpr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + CONSTANT)


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize(
    "name, constant", [("int8", 200), ("int8", -129), ("uint8", -1), ("uint8", 256), ("int16", 40000), ("uint64", -5), ("int32", 2**31)]
)
def test_a_number_out_of_range_is_an_error(engine, name, constant):
    with pytest.raises(triton.TritonError):
        add_constant_kernel[(1,)](engine.zeros(16, name), engine.empty(16, name), CONSTANT=constant)


@pytest.mark.parametrize("name, constant", [("int8", 127), ("int8", -128), ("uint8", 255), ("int64", 2**62), ("uint64", 2**64 - 1)])
def test_a_number_at_the_edge_of_its_range(engine, name, constant):
    out = engine.empty(16, name)
    add_constant_kernel[(1,)](engine.zeros(16, name), out, CONSTANT=constant)
    np.testing.assert_array_equal(engine.numpy(out), np.full(16, constant, TYPES[name].numpy))


@triton.jit
def locals_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert((x * 2.0).dtype == tl.float16)
    c = 2.0
    tl.static_assert((x * c).dtype == tl.float32)
    d: tl.constexpr = 2.0
    tl.static_assert((x * d).dtype == tl.float16)
    tl.store(out_ptr, 1)


@pytest.mark.ours("Triton's interpreter keeps Python's numbers")
def test_a_local_number_is_a_run_time_scalar(engine):
    out = engine.zeros(1, "int32")
    locals_kernel[(1,)](engine.zeros(16, "float16"), out)
    assert engine.numpy(out)[0] == 1


@triton.jit
def times_two_kernel(x):
    return x * 2


@triton.jit
def scaled(x, factor):
    return x * factor


@triton.jit
def literal_argument_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(scaled(x, 2.0).dtype == tl.float16)
    tl.static_assert(times_two_kernel(x).dtype == tl.float16)
    tl.store(out_ptr, 1)


def test_a_literal_passed_to_a_function_stays_a_number(engine):
    out = engine.zeros(1, "int32")
    literal_argument_kernel[(1,)](engine.zeros(16, "float16"), out)
    assert engine.numpy(out)[0] == 1
