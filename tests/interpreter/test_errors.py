"""Errors inside kernels that Python runs: the traceback and the message show the kernel's line."""

import mmap
import re
import sys
import traceback

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.errors import DeviceAssertError, OutOfBoundsError

pytestmark = pytest.mark.usefixtures("interpret")


def lines_of(error):
    """(function, the line's text) of the traceback."""
    return [(frame.name, frame.line) for frame in traceback.extract_tb(error.__traceback__)]


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def shapes_kernel(N: tl.constexpr):
    x = tl.arange(0, N)
    y = add(x, tl.arange(0, 3))
    return y


def test_a_traceback_ends_at_the_kernels_line():
    with pytest.raises(triton.CompilationError, match=r"shapes \[4\] and \[3\] do not go together") as raised:
        shapes_kernel[(1,)](4)
    assert lines_of(raised.value)[1:] == [("shapes_kernel", "y = add(x, tl.arange(0, 3))"), ("add", "return x + y")]
    error = raised.value
    assert error.filename == __file__ and error.source_line.strip() == "return x + y"
    assert "    return x + y\n           ^~~~~" in str(error)


@triton.jit
def library_kernel():
    x = tl.zeros((4, 4), tl.float32)
    return tl.sum(x, axis=5)


def test_an_error_inside_the_library_is_the_callers():
    with pytest.raises(triton.CompilationError, match="tl.sum") as raised:
        library_kernel[(1,)]()
    assert raised.value.filename == __file__ and raised.value.source_line.strip() == "return tl.sum(x, axis=5)"


@triton.jit
def python_error_kernel(n):
    x = n + 1
    raise ValueError(f"n is {n}, x is {x}")


def test_pythons_own_errors():
    with pytest.raises(ValueError, match="n is 5, x is 6") as raised:
        python_error_kernel[(1,)](5)
    assert lines_of(raised.value)[-1] == ("python_error_kernel", 'raise ValueError(f"n is {n}, x is {x}")')


@triton.jit
def bounds_kernel(x_ptr, out_ptr, n, COUNT: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.program_id(0) * COUNT + tl.arange(0, COUNT)
    mask = offsets < n
    if HOW == "load":
        x = tl.load(x_ptr + offsets)
    else:
        x = tl.load(x_ptr + offsets, mask=mask)
    if HOW == "store":
        tl.store(out_ptr + offsets, x)
    elif HOW == "atomic":
        tl.atomic_add(out_ptr + offsets, x)
    else:
        tl.store(out_ptr + offsets, x, mask=mask)


@pytest.mark.parametrize("how, line, array", [
    ("load", "x = tl.load(x_ptr + offsets)", "x_ptr"), ("store", "tl.store(out_ptr + offsets, x)", "out_ptr"),
    ("atomic", "tl.atomic_add(out_ptr + offsets, x)", "out_ptr"),
])  # fmt: skip
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_out_of_bounds(library, how, line, array):
    make = np.zeros if library == "numpy" else pytest.importorskip("torch").zeros
    dtype = np.float32 if library == "numpy" else sys.modules["torch"].float32
    x, out = make(100, dtype=dtype), make(100, dtype=dtype)
    bounds_kernel[(2,)](x, out, 100, COUNT=64, HOW="masked")
    message = rf"element 100 of '{array}' \(valid: 0 to 99\); 28 of 64 lanes, first \(36\), \(37\), \(38\), \(39\)$"
    with pytest.raises(OutOfBoundsError, match=re.compile(message, re.MULTILINE)) as raised:
        bounds_kernel[(2,)](x, out, 100, COUNT=64, HOW=how)
    error = raised.value
    assert isinstance(error, triton.InterpreterError) and isinstance(error, IndexError)
    assert error.program == (1, 0, 0) and "program (1, 0, 0)" in str(error)
    assert line in str(error) and lines_of(error)[-1] == ("bounds_kernel", line)


@triton.jit
def negative_kernel(x_ptr):
    tl.load(x_ptr - 2)


def test_before_the_beginning_and_views():
    x = np.zeros(64, np.float32)
    with pytest.raises(OutOfBoundsError, match=r"element -2 of 'x_ptr' \(valid: 0 to 63\)"):
        negative_kernel[(1,)](x)
    negative_kernel[(1,)](x[2:])  # a part of an array: the whole of it is known
    with pytest.raises(OutOfBoundsError, match=r"element -2 of 'x_ptr' \(valid: -1 to 62\)"):
        negative_kernel[(1,)](x[1:])
    with pytest.raises(OutOfBoundsError, match=r"element -2 of 'x_ptr' \(it has none\)"):
        negative_kernel[(1,)](x[:0].copy())


@triton.jit
def far_kernel(x_ptr, y_ptr, distance, HOW: tl.constexpr):
    pointers = x_ptr + tl.arange(0, 4)[:, None]
    if HOW == "moved":
        pointers = tl.broadcast_to(pointers, (4, 2)).trans().reshape(8) + distance
    elif HOW == "chosen":
        pointers = tl.where(distance > 0, pointers, pointers + 1) + distance
    elif HOW == "cast":
        pointers = pointers.to(tl.pointer_type(tl.int32), bitcast=True) + distance
    elif HOW == "back":
        pointers = pointers + 1000000 * distance - 1000000 * distance
    else:
        pointers = tl.where(tl.arange(0, 4)[:, None] < 2, pointers, y_ptr)
    tl.load(pointers)


@pytest.mark.parametrize("how", ["moved", "chosen", "cast"])
def test_one_array_does_not_reach_into_another(how):
    memory = memoryview(bytearray(1024))
    x, y = np.frombuffer(memory[:256], np.float32), np.frombuffer(memory[512:768], np.float32)
    distance = (y.ctypes.data - x.ctypes.data) // 4
    with pytest.raises(OutOfBoundsError, match=rf"element {distance} of 'x_ptr' \(valid: 0 to 63\); . of . lanes"):
        far_kernel[(1,)](x, y, distance, how)


def test_pointers_that_come_back_and_pointers_into_several_arrays():
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    far_kernel[(1,)](x, y, 5, "back")
    far_kernel[(1,)](x, y, 5, "either")


@triton.jit
def address_kernel(table_ptr, out_ptr):
    inner = tl.load(table_ptr).to(tl.pointer_type(tl.int32))
    tl.store(out_ptr, tl.load(inner + 1))


def test_an_address_from_memory_is_not_checked():
    data, out = np.array([5, 6], np.int32), np.zeros(1, np.int32)
    address_kernel[(1,)](np.array([data.ctypes.data], np.int64), out)
    assert out[0] == 6


@triton.jit
def number_kernel(out_ptr, address, STORE: tl.constexpr):
    pointer = address.to(tl.pointer_type(tl.int32))
    if STORE:
        tl.store(pointer, 1)
    else:
        tl.store(out_ptr, tl.load(pointer + tl.arange(0, 4), mask=tl.arange(0, 4) > 1).sum())


def test_an_address_of_no_memory_is_no_crash():
    out = np.zeros(1, np.int32)
    for store in (False, True):
        with pytest.raises(OutOfBoundsError, match="no memory of this process") as raised:
            number_kernel[(1,)](out, 64, store)
        assert raised.value.program == (0, 0, 0) and lines_of(raised.value)[-1][0] == "number_kernel"


def test_read_only_memory_is_read_and_not_written():
    text = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    place = np.frombuffer(text, np.int32).ctypes.data
    out = np.ones(1, np.int32)
    number_kernel[(1,)](out, place, False)
    assert out[0] == 0
    with pytest.raises(OutOfBoundsError, match="which is read-only memory"):
        number_kernel[(1,)](out, place, True)


class Opaque:
    """An array whose extent nobody can ask for."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self):
        return self.array.ctypes.data


def test_known_arrays_are_checked_beside_unknown_ones():
    x, out = np.zeros(64, np.float32), Opaque(np.zeros(64, np.float32))
    bounds_kernel[(1,)](x, out, 64, COUNT=64, HOW="masked")
    with pytest.raises(OutOfBoundsError, match=r"element 64 of 'x_ptr' \(valid: 0 to 63\)"):
        bounds_kernel[(2,)](x, out, 64, COUNT=64, HOW="load")


@triton.jit
def assert_kernel(n):
    tl.device_assert(tl.program_id(0) < n, "too many programs")


def test_device_assert():
    assert_kernel[(5,)](3)
    with pytest.raises(DeviceAssertError, match="too many programs") as raised:
        assert_kernel[(5,)](3, debug=True)
    assert raised.value.program == (3, 0, 0) and lines_of(raised.value)[-1][0] == "assert_kernel"
    assert '    tl.device_assert(tl.program_id(0) < n, "too many programs")\n    ^' in str(raised.value)


@triton.jit
def letters_kernel():
    größe = "ü" + "é"; tl.arange(0, 4) + tl.arange(0, 3)  # fmt: skip


def test_the_caret_counts_letters():
    with pytest.raises(triton.CompilationError) as raised:
        letters_kernel[(1,)]()
    line, caret = str(raised.value).splitlines()[1:3]
    assert line[caret.index("^"):].startswith("tl.arange(0, 4) + tl.arange(0, 3)") and caret.count("~") == 32


def test_builtins_outside_of_kernels():
    with pytest.raises(RuntimeError, match="works inside a kernel only"):
        tl.arange(0, 4)
    with pytest.raises(RuntimeError, match="launch it with"):
        add(1, 2)


@triton.jit
def places_kernel(WHERE: tl.constexpr):
    x, y = tl.arange(0, 4), tl.arange(0, 3)
    if WHERE == "and":
        x < 2 and y < 2
    if WHERE == "chain":
        x < 2 < y
    if WHERE == "call":
        tl.sum(x) + tl.where(x > 1, x, y)
    if WHERE == "assigned":
        x += y
    if WHERE == "condition":
        if x > 2:
            pass
    if WHERE == "lines":
        z = (x +
             y)  # fmt: skip


@pytest.mark.parametrize("where, underlined", [
    ("and", "x < 2 and y < 2"), ("chain", "x < 2 < y"), ("call", "tl.where(x > 1, x, y)"), ("assigned", "x += y"),
    ("condition", "x > 2"), ("lines", "x +"),
])  # fmt: skip
def test_the_caret_is_under_what_is_meant(where, underlined):
    with pytest.raises(triton.CompilationError) as raised:
        places_kernel[(1,)](where)
    line, caret = str(raised.value).splitlines()[1:3]
    assert line[caret.index("^") : len(caret)] == underlined
    if sys.version_info >= (3, 11):  # Python's own marks agree
        frame = traceback.extract_tb(raised.value.__traceback__)[-1]
        assert frame.colno == caret.index("^")


def test_a_read_only_array_is_read_and_not_written():
    x, out = np.frombuffer(bytes(256), np.float32), np.zeros(64, np.float32)
    bounds_kernel[(1,)](x, out, 64, COUNT=64, HOW="masked")
    for how in ("masked", "atomic"):
        with pytest.raises(OutOfBoundsError, match="of fp32 to 'out_ptr', which is a read-only array; 64 of 64 lanes"):
            bounds_kernel[(1,)](out, x, 64, COUNT=64, HOW=how)
