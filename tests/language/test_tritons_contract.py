"""What Triton's own unit tests ask of a kernel, where it is easily missed: shapes and lists, named tuples, functions as arguments,
changed source text, narrow atomics, and the words and causes of errors."""

import re
from typing import NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl


def result(engine, kernel, *args, **meta):
    out = engine.zeros(1, "int32")
    kernel[(1,)](out, *args, **meta)
    return int(engine.numpy(out)[0])


# ---- shapes


@triton.jit
def shape_kernel(out_ptr):
    x = tl.zeros((4, 8), tl.float32)
    tl.static_assert(x.shape == [4, 8])
    tl.static_assert([4, 8] == x.shape)
    tl.static_assert(x.shape == (4, 8))
    tl.static_assert(x.shape != [8, 4])
    tl.static_assert(not (x.shape != [4, 8]))
    tl.static_assert(tl.sum(x, 0).shape == [8])
    extents: tl.constexpr = [4, 8]
    tl.static_assert(x.shape == extents)
    shape = x.shape
    tl.store(out_ptr, shape[0] * shape[1])


def test_a_shape_is_equal_to_a_list(engine):
    assert result(engine, shape_kernel) == 32


# ---- functions and named tuples


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def multiply(a, b):
    return a * b


class Operation(NamedTuple):
    function: object
    operand: object


class Both(NamedTuple):
    first: Operation
    second: Operation


@triton.jit
def operation_kernel(out_ptr, operation):
    tl.store(out_ptr, operation.function(operation.operand, 3))


@triton.jit
def nested_kernel(out_ptr, both, functions):
    x = both.first.function(both.first.operand, 2)
    x = both.second.function(both.second.operand, x)
    for i in tl.static_range(len(functions)):
        x = functions[i](x, 5)
    tl.store(out_ptr, x)


@pytest.mark.parametrize("function, expected", [(add, 7), (multiply, 12)])
def test_named_tuples_with_functions_as_arguments(engine, function, expected):
    assert result(engine, operation_kernel, Operation(function, 4)) == expected


def test_named_tuples_with_functions_in_named_tuples(engine):
    both = Both(Operation(add, 4), Operation(multiply, 10))
    assert result(engine, nested_kernel, both, (add, multiply)) == (10 * (4 + 2) + 5) * 5


class Pair(NamedTuple):
    first: int
    second: int


@triton.constexpr_function
def make_pair(n):
    return Pair(n, 2 * n)


@triton.constexpr_function
def total(pair):
    assert isinstance(pair, Pair)
    return pair.first + pair.second


@triton.jit
def pair_kernel(out_ptr, given, N: tl.constexpr):
    pair: tl.constexpr = make_pair(N)
    other = make_pair(N + 1)
    tl.static_assert(pair.first == N and pair.second == 2 * N)
    tl.static_assert(total(pair) == 3 * N)
    tl.static_assert(total(make_pair(7)) == 21)
    tl.static_assert(total(Pair(1, 2)) == 3)
    tl.store(out_ptr, other.first + other.second + given.second)


def test_named_tuples_of_constexpr_functions_keep_their_fields(engine):
    assert result(engine, pair_kernel, Pair(3, 40), N=5) == 18 + 40


# ---- the text of functions


@triton.jit
def inner(i):
    return i + 1


@triton.jit
def outer(i):
    return inner(i)


@triton.jit
def combine(a, b):
    return tl.maximum(a, b)


@triton.jit
def changing_kernel(out_ptr, i):
    tl.store(out_ptr, outer(i) + tl.reduce(tl.arange(0, 4), 0, combine))


@pytest.mark.parametrize("function, before, after, expected", [
    (inner, "i + 1", "i + 20", 43), (combine, "maximum", "minimum", 21), (changing_kernel, "outer(i) +", "outer(i) -", 18),
])  # fmt: skip
def test_a_function_whose_text_is_replaced(engine, function, before, after, expected):
    """Kernels that call it are compiled anew, and their keys differ."""
    assert result(engine, changing_kernel, 20) == 24
    key = changing_kernel.cache_key
    changing_kernel.hash = None
    function._unsafe_update_src(function.src.replace(before, after))
    try:
        assert changing_kernel.cache_key != key
        assert result(engine, changing_kernel, 20) == expected
    finally:
        function._unsafe_update_src(function.src.replace(after, before))
    assert changing_kernel.cache_key == key
    assert result(engine, changing_kernel, 20) == 24


# ---- narrow atomics


@triton.jit
def poll_kernel(out_ptr, flag_ptr, EXPECTED: tl.constexpr):
    found = tl.atomic_poll(flag_ptr + tl.arange(0, 2), EXPECTED)
    late = tl.atomic_poll(flag_ptr, EXPECTED + 1, timeout_ns=1000)
    tl.store(out_ptr, tl.sum(found.to(tl.int32), 0) + 10 * late.to(tl.int32))


@pytest.mark.parametrize("name, value", [("int16", -3), ("uint16", 65000), ("int32", -3), ("int64", 2**40)])
def test_atomic_poll(engine, name, value):
    assert result(engine, poll_kernel, engine.array(np.full(2, value, name)), value) == 2


def test_atomic_poll_of_bytes_is_refused(engine):
    with pytest.raises(triton.TritonError, match="16, 32 or 64 bits"):
        result(engine, poll_kernel, engine.array(np.zeros(2, np.int8)), 0)


@triton.jit
def waiting_kernel(out_ptr, flag_ptr):
    if tl.program_id(0) == 0:
        tl.atomic_store(flag_ptr, 77)
    else:
        tl.atomic_poll(flag_ptr, 77)
        tl.store(out_ptr, tl.atomic_load(flag_ptr).to(tl.int32))


@pytest.mark.parametrize("name", ["int16", "uint16"])
def test_programs_wait_for_a_narrow_flag(engine, name):
    out, flag = engine.zeros(1, "int32"), engine.zeros(1, name)
    waiting_kernel[(2,)](out, flag)
    assert engine.numpy(out)[0] == 77


@triton.jit
def load_and_store_kernel(x_ptr, out_ptr):
    offsets = tl.arange(0, 4)
    x = tl.atomic_load(x_ptr + offsets, mask=offsets < 3)
    tl.static_assert(x.dtype == x_ptr.dtype.element_ty)
    tl.atomic_store(out_ptr + offsets, x, mask=offsets < 3)


@pytest.mark.parametrize("name", ["int1", "int8", "uint8", "int16", "uint16", "float16", "bfloat16", "int32", "float32", "int64", "float64"])
def test_atomic_loads_and_stores_of_every_width(engine, name):
    x = np.array([1, 0, 1, 1]) if name == "int1" else np.array([1, 2, 3, 4])
    out = engine.zeros(4, name)
    load_and_store_kernel[(1,)](engine.array(x, name), out)
    np.testing.assert_array_equal(engine.numpy(out).astype(int), [*x[:3], 0])


# ---- errors


@triton.jit
def bits_kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) & 1)


@triton.jit
def shift_kernel(x_ptr):
    tl.store(x_ptr, 1 << tl.load(x_ptr))


@pytest.mark.parametrize("kernel", [bits_kernel, shift_kernel])
def test_bits_of_floats(engine, kernel):
    with pytest.raises(triton.TritonError, match="invalid operands of type"):
        kernel[(1,)](engine.zeros(1, "float32"))


@triton.jit
def divide_kernel(x_ptr, y_ptr, HOW: tl.constexpr):
    x, y = tl.load(x_ptr), tl.load(y_ptr)
    if HOW == "/":
        tl.store(x_ptr, (x / y).to(tl.int32))
    elif HOW == "//":
        tl.store(x_ptr, x // y)
    else:
        tl.store(x_ptr, x % y)


@pytest.mark.parametrize("how", ["/", "//", "%"])
def test_division_of_mixed_signs(engine, how):
    with pytest.raises(triton.TritonError, match="Cannot use .* because they have different signedness"):
        divide_kernel[(1,)](engine.zeros(1, "int32"), engine.array(np.ones(1, np.uint32)), how)


@triton.jit
def math_kernel(x_ptr):
    tl.store(x_ptr, tl.exp(tl.load(x_ptr)))


@triton.jit
def slice_kernel(x_ptr):
    x_ptr[10:]


@triton.jit
def axis_kernel(x_ptr, AXIS: tl.constexpr):
    x = tl.expand_dims(tl.arange(0, 8), AXIS)
    tl.store(x_ptr, tl.sum(tl.sum(x, 0), 0))


@triton.jit
def reduction_axis_kernel(x_ptr):
    tl.store(x_ptr, tl.sum(tl.arange(0, 8), 2))


def test_math_of_other_types(engine):
    with pytest.raises(triton.TritonError, match="Expected dtype") as caught:
        math_kernel[(1,)](engine.zeros(1, "float16"))
    assert "Expected dtype" in str(caught.value.__cause__)


def test_a_slice_of_a_pointer(engine):
    with pytest.raises(triton.TritonError, match="unsupported tensor index"):
        slice_kernel[(1,)](engine.zeros(16, "float32"))


@pytest.mark.parametrize("axis", [-3, 2, 5])
def test_an_axis_that_there_is_not(engine, axis):
    with pytest.raises(triton.TritonError) as caught:
        axis_kernel[(1,)](engine.zeros(1, "int32"), axis)
    assert f"invalid axis {axis}" in str(caught.value) and f"invalid axis {axis}" in str(caught.value.__cause__)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_reduction_over_an_axis_that_there_is_not(engine):
    with pytest.raises(triton.TritonError, match="invalid axis 2") as caught:
        reduction_axis_kernel[(1,)](engine.zeros(1, "int32"))
    assert "invalid axis 2" in str(caught.value.__cause__)


def test_two_axes_that_are_one(engine):
    with pytest.raises(triton.TritonError) as caught:
        axis_kernel[(1,)](engine.zeros(1, "int32"), (0, -3))
    assert re.search("duplicate axes", str(caught.value.__cause__))


@triton.jit
def descriptor_kernel(x_ptr, COLUMNS: tl.constexpr):
    descriptor = tl.make_tensor_descriptor(x_ptr, [16, 64], [64, 1], [4, COLUMNS])
    descriptor.store([0, 0], descriptor.load([0, 0]) + 1)


@pytest.mark.parametrize("name, columns", [("float32", 2), ("float16", 4), ("int8", 8), ("float64", 1)])
def test_a_descriptor_of_narrow_blocks_is_refused(engine, name, columns):
    x = engine.zeros((16, 64), name)
    with pytest.raises(triton.TritonError, match="Descriptor block shape must have at least 16 bytes in the last dimension") as caught:
        descriptor_kernel[(1,)](x, columns)
    assert "at least 16 bytes" in str(caught.value.__cause__)
    descriptor_kernel[(1,)](x, 2 * columns)
    assert engine.numpy(x)[0, 2 * columns - 1] == 1


# What the compiler alone does: an interpreted kernel is called by Python.


@triton.jit
def wrong_helper(x):
    return tl.expand_dims(x, 4)


@triton.jit
def calling_kernel(x_ptr):
    tl.store(x_ptr, wrong_helper(tl.arange(0, 8)))


@triton.jit
def asserting_kernel(x_ptr):
    tl.static_assert(1 == 2)


@triton.jit
def operator_kernel(x_ptr):
    tl.store(x_ptr, 1.5 << 2)


def caught(kernel):
    with pytest.raises(triton.CompilationError) as error:
        kernel[(1,)](np.zeros(8, np.int32))
    return error.value


def test_the_cause_of_an_error_in_a_called_function_is_the_error_there():
    error = caught(calling_kernel)
    assert isinstance(error.__cause__, triton.CompilationError) and "invalid axis 4" in str(error.__cause__)
    assert isinstance(error.__cause__.__cause__, ValueError)


@pytest.mark.parametrize("kernel", [asserting_kernel, operator_kernel])
def test_errors_of_the_kernels_own_text_have_no_cause(kernel):
    assert caught(kernel).__cause__ is None


def test_a_cause_can_be_given():
    reason = KeyError("why")
    with pytest.raises(triton.CompilationError) as error:
        try:
            axis_kernel[(1,)](np.zeros(8, np.int32), 9)
        except triton.CompilationError as inner:
            raise inner from reason
    assert error.value.__cause__ is reason
