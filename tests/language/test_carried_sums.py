"""Sums and products of fp16 and bf16 are carried in fp32 and rounded once, at the end: by sum, cumsum and cumprod, and by reduce and
associative_scan with a function that does nothing but add or multiply."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import decode, encode

NARROW = ["float16", "bfloat16"]


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def add_backwards(left, right):
    total = right + left
    return total


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def add_twice(a, b):
    return a + b + b * 0


@triton.jit
def scan_kernel(x_ptr, out_ptr, HOW: tl.constexpr, REVERSE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    place = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + place)
    if HOW == "cumsum":
        out = tl.cumsum(x, 1, REVERSE)
    elif HOW == "cumprod":
        out = tl.cumprod(x, 1, REVERSE)
    elif HOW == "add":
        out = tl.associative_scan(x, 1, add, REVERSE)
    elif HOW == "backwards":
        out = tl.associative_scan(x, 1, add_backwards, REVERSE)
    elif HOW == "multiply":
        out = tl.associative_scan(x, 1, multiply, REVERSE)
    tl.static_assert(out.dtype == x.dtype)
    tl.store(out_ptr + place, out)


@triton.jit
def reduce_kernel(x_ptr, out_ptr, HOW: tl.constexpr, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if HOW == "sum":
        out = tl.sum(x, AXIS)
    elif HOW == "typed sum":
        out = tl.sum(x, AXIS, dtype=x.dtype)
    elif HOW == "add":
        out = tl.reduce(x, AXIS, add)
    elif HOW == "backwards":
        out = tl.reduce(x, AXIS, add_backwards)
    elif HOW == "multiply":
        out = tl.reduce(x, AXIS, multiply)
    tl.static_assert(out.dtype == x.dtype)
    if AXIS is None:
        tl.store(out_ptr, out)
    elif AXIS == 0:
        tl.store(out_ptr + tl.arange(0, COLUMNS), out)
    else:
        tl.store(out_ptr + tl.arange(0, ROWS), out)


def numbers(type_name, shape, product):
    """Numbers whose sums and products fp32 holds exactly, and which 16 bits do not: any order gives one result."""
    generator = np.random.default_rng(7)
    if product:
        exponent = generator.integers(-1, 2, shape).astype(np.float64)
        x = 2.0**exponent
        x[..., ::9] *= 1.25  # at most 1.25^8: 16 bits of mantissa
        x[..., 1::7] *= -1
    else:
        x = generator.integers(-40, 200, shape) / 8
    return decode(encode(x, type_name), type_name).astype(np.float64)


def rounded(values, type_name):
    with np.errstate(over="ignore"):
        return decode(encode(values.astype(np.float32), type_name), type_name)


@pytest.mark.parametrize("type_name", NARROW)
@pytest.mark.parametrize("shape", [(3, 64), (16, 50), (1, 512)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("how", ["cumsum", "cumprod", "add", "backwards", "multiply"])
def test_scans(engine, type_name, shape, reverse, how):
    if engine.is_reference_implementation:
        pytest.skip("Triton rounds each step")
    product = how in ("cumprod", "multiply")
    if product:
        shape = shape[0], min(shape[1], 64)
    x = numbers(type_name, shape, product)
    out = engine.empty(shape, type_name)
    scan_kernel[(1,)](engine.array(x, type_name), out, how, reverse, *shape)
    scan = np.cumprod if product else np.cumsum
    exact = scan(x[:, ::-1], 1)[:, ::-1] if reverse else scan(x, 1)
    np.testing.assert_array_equal(engine.numpy(out), rounded(exact, type_name))


@pytest.mark.parametrize("type_name", NARROW)
@pytest.mark.parametrize("shape", [(8, 64), (5, 50), (512, 1)])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("how", ["sum", "typed sum", "add", "backwards", "multiply"])
def test_reductions(engine, type_name, shape, axis, how):
    if engine.is_reference_implementation:
        pytest.skip("Triton rounds each step")
    if how == "multiply":
        shape = 1, 64
    x = numbers(type_name, shape, how == "multiply")
    exact = (np.prod if how == "multiply" else np.sum)(x, axis=axis)
    out = engine.empty(np.shape(exact) or 1, type_name)
    reduce_kernel[(1,)](engine.array(x, type_name), out, how, axis, *shape)
    np.testing.assert_array_equal(engine.numpy(out), np.atleast_1d(rounded(exact, type_name)))


@triton.jit
def other_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, COUNT))
    tl.store(out_ptr, tl.reduce(x, 0, add_twice))


def test_other_functions_are_called_on_the_type_itself(engine):
    """What does more than add sees fp16, and each of its results is rounded: 2048 + 1 is 2048."""
    out = engine.empty(1, "float16")
    other_kernel[(1,)](engine.array(np.array([2048.0, 1.0]), "float16"), out, 2)
    assert engine.numpy(out)[0] == 2048
    reduce_kernel[(1,)](engine.array(np.array([[2048.0, 1.0, 1.0, 0.0]]), "float16"), out, "add", None, 1, 4)
    assert engine.numpy(out)[0] == 2050


@triton.jit
def printing_add(a, b):
    tl.static_print("combine", a.dtype)
    return a + b


@triton.jit
def printing_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 2)), 0, printing_add))


def test_a_function_that_adds_and_prints_prints_once(engine, capfd):
    if engine.name != "cpu":
        pytest.skip("the interpreter prints at each call")
    out = engine.empty(1, "float16")
    printing_kernel[(1,)](engine.array(np.array([2048.0, 1.0]), "float16"), out)
    captured = capfd.readouterr()
    assert (captured.out + captured.err).count("combine fp16") == 1
