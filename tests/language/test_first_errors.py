"""The mistakes of a first afternoon with the language: each error says what to do instead."""

import math

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def numpy_kernel(x_ptr):
    tl.store(x_ptr + tl.arange(0, 4), np.sqrt(tl.load(x_ptr + tl.arange(0, 4))))


@triton.jit
def power_kernel(x_ptr):
    tl.store(x_ptr, math.pow(tl.load(x_ptr), 2.0))


@triton.jit
def append_kernel(x_ptr):
    values = []
    for i in tl.static_range(3):
        values.append(i)
    tl.store(x_ptr, values[0])


@triton.jit
def plus_kernel(x_ptr):
    values = []
    for i in tl.static_range(3):
        values = values + [i]
    tl.store(x_ptr, values[0] + values[1] + values[2])


@triton.jit
def add_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + n)


@triton.jit
def loop_kernel(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        tl.store(x_ptr, i)


@triton.jit
def compare_kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1, mask=tl.arange(0, BLOCK) < n)


@triton.jit
def scale_kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, n * 2)


def test_a_function_of_numpy(engine):
    with pytest.raises(triton.TritonError, match="tl.sqrt"):
        numpy_kernel[(1,)](engine.zeros(4, "float32"))


def test_a_function_of_math_that_libdevice_has(engine):
    if engine.name == "interpreter":
        pytest.skip("Python's own functions take a scalar that Python runs on")
    with pytest.raises(triton.TritonError, match="tl.extra.libdevice.pow"):
        power_kernel[(1,)](engine.zeros(1, "float32"))


def test_a_list_that_is_appended_to(engine):
    if engine.name == "interpreter":
        pytest.skip("in interpreter mode lists are Python's own")
    with pytest.raises(triton.TritonError, match=r"do not change in a kernel; make a new one: values = values \+ \[x\]"):
        append_kernel[(1,)](engine.zeros(1, "int32"))


def test_what_the_error_advises_works(engine):
    x = engine.zeros(1, "int32")
    plus_kernel[(1,)](x)
    assert engine.numpy(x)[0] == 3


@pytest.mark.parametrize("grid", [(4 / 2,), (1, 2.5), lambda meta: (meta["BLOCK"] / 2,), ("a",)])
def test_a_grid_that_is_not_of_integers(engine, grid):
    with pytest.raises(TypeError, match="the dimensions of a grid are integers, found (2.0|2.5|'a')") as caught:
        add_kernel[grid](engine.zeros(4, "float32"), 2, BLOCK=4)
    assert ("triton.cdiv" in str(caught.value)) == ("'a'" not in str(caught.value))


def tuned(count):
    configs = [triton.Config({"BLOCK": 4}, num_warps=warps) for warps in (1, 2)[:count]]
    return triton.autotune(configs, key=["n"])(add_kernel)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("how", ["keyword", "position", "option"])
def test_a_tuned_parameter_that_is_passed_again(engine, count, how):
    x = engine.zeros(4, "float32")
    name = "num_warps" if how == "option" else "BLOCK"
    with pytest.raises(ValueError, match=f"Conflicting meta-parameters.*'{name}', which @autotune sets; leave it out of the launch"):
        if how == "keyword":
            tuned(count)[(1,)](x, 2, BLOCK=4)
        elif how == "position":
            tuned(count)[(1,)](x, 2, 4)
        else:
            tuned(count)[(1,)](x, 2, num_warps=4)


@pytest.mark.parametrize("kernel", [add_kernel, loop_kernel, compare_kernel, scale_kernel])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_a_tensor_without_axes_in_place_of_a_number(engine, kernel, kind):
    number = np.array(3) if kind == "numpy" else pytest.importorskip("torch").tensor(3)
    # Beside arrays of a GPU it is one that is elsewhere.
    with pytest.raises(ValueError if engine.name == "cuda" else triton.TritonError, match=r"x\.item\(\)"):
        kernel[(1,)](engine.zeros(4, "float32"), number, BLOCK=4)
    kernel[(1,)](engine.zeros(4, "float32"), number.item(), BLOCK=4)


@pytest.mark.parametrize("kind", ["numpy", "torch", "array"])
def test_an_array_as_a_constexpr(engine, kind):
    value = {"numpy": lambda: np.array(4), "array": lambda: np.arange(4), "torch": lambda: pytest.importorskip("torch").tensor(4)}[kind]()
    with pytest.raises(TypeError, match=r"argument 'BLOCK': an array .* cannot be a tl.constexpr.*x\.item\(\)"):
        add_kernel[(1,)](engine.zeros(4, "float32"), 2, BLOCK=value)
    add_kernel[(1,)](engine.zeros(4, "float32"), 2, BLOCK=np.int64(4))  # NumPy's numbers are numbers


def test_a_structured_array(engine):
    with pytest.raises(TypeError, match="a structured array cannot be passed to a kernel; pass its fields as arrays of their own"):
        add_kernel[(1,)](np.zeros(4, [("a", "f4"), ("b", "i4")]), 2, BLOCK=4)


def test_an_array_in_the_other_byte_order(engine):
    with pytest.raises(TypeError, match="byte order"):
        add_kernel[(1,)](np.zeros(4, ">f4"), 2, BLOCK=4)


@pytest.mark.parametrize("where", [0, 1])
def test_a_list_as_an_argument(engine, where):
    args = [engine.zeros(4, "float32"), 2]
    args[where] = [1.0, 2.0]
    with pytest.raises(TypeError, match=r"a list cannot be passed to a kernel; make it an array, with numpy.array\(x\)"):
        add_kernel[(1,)](*args, BLOCK=4)


@pytest.mark.parametrize("given, meant", [("num_warp", "num_warps"), ("num_stage", "num_stages"), ("maxnregs", "maxnreg"), ("block", "BLOCK")])
def test_a_mistyped_option(engine, given, meant):
    with pytest.raises(KeyError, match=f"no launch option named '{given}'; did you mean '{meant}'"):
        add_kernel[(1,)](engine.zeros(4, "float32"), 2, **{"BLOCK": 4, given: 4})


def test_an_option_that_is_like_no_other(engine):
    with pytest.raises(KeyError) as caught:
        add_kernel[(1,)](engine.zeros(4, "float32"), 2, BLOCK=4, tiles_in_flight=2)
    assert "tiles_in_flight" in str(caught.value) and "did you mean" not in str(caught.value)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_complex_numbers(engine, kind):
    x = np.zeros(4, np.complex64) if kind == "numpy" else pytest.importorskip("torch").zeros(4, dtype=pytest.importorskip("torch").complex64)
    with pytest.raises(TypeError, match="its elements may be bool, int8 to int64, .*bfloat16, float32, .*torch.view_as_real"):
        add_kernel[(1,)](x, 2, BLOCK=4)
    with pytest.raises(TypeError, match=r"argument 'n': a complex number .*pass x.real and x.imag"):
        add_kernel[(1,)](engine.zeros(4, "float32"), 2j, BLOCK=4)


def test_a_string_as_an_argument(engine):
    with pytest.raises(TypeError, match="a value of type str cannot be passed to a kernel; annotate the parameter with tl.constexpr"):
        add_kernel[(1,)](engine.zeros(4, "float32"), "two", BLOCK=4)
