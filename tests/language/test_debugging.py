"""static_print, static_assert, device_print, device_assert, and Python's print and assert in kernels."""

import contextlib
import io
import re

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("Triton's interpreter prints whole tiles its own way")


def printed(engine, capfd):
    engine.finish()
    return capfd.readouterr().out


@triton.jit
def print_tile_kernel(x_ptr, COUNT: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, COUNT)))


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("pid ")]


def skip_other_formats(engine):
    if engine.name == "interpreter":
        pytest.skip("the interpreter prints a tile in one piece")


def test_one_line_an_element(engine, capfd):
    skip_other_formats(engine)
    x = np.arange(128, dtype=np.float32) / 2
    print_tile_kernel[(1,)](engine.array(x), COUNT=128)
    assert sorted(lines_of(printed(engine, capfd))) == sorted(f"pid (0, 0, 0) idx ({i:3d}) x: {x[i]:.6f}" for i in range(128))


@pytest.mark.parametrize("name, value, text", [
    ("int8", -7, "-7"), ("uint8", 200, "200"), ("int32", -123456, "-123456"), ("int64", 2**40, str(2**40)), ("uint64", 2**64 - 1, str(2**64 - 1)),
    ("float16", 1.5, "1.500000"), ("bfloat16", -2.0, "-2.000000"), ("float32", 0.25, "0.250000"), ("float64", 1e10, "10000000000.000000"),
    ("float32", float("inf"), "inf"), ("float32", float("-inf"), "-inf"),
])  # fmt: skip
def test_how_values_look(engine, capfd, name, value, text):
    skip_other_formats(engine)
    print_tile_kernel[(1,)](engine.array(np.array([value] * 2, dtype=None if name != "uint64" else np.uint64), name), COUNT=2)
    assert lines_of(printed(engine, capfd)) == [f"pid (0, 0, 0) idx ({i}) x: {text}" for i in range(2)]


@triton.jit
def print_matrix_kernel(R: tl.constexpr, C: tl.constexpr):
    tl.device_print("m", tl.arange(0, R)[:, None] * 100 + tl.arange(0, C)[None, :])


def test_indices_of_two_axes(engine, capfd):
    skip_other_formats(engine)
    print_matrix_kernel[(1,)](R=2, C=16)
    expected = [f"pid (0, 0, 0) idx ({r}, {c:2d}) m: {r * 100 + c}" for r in range(2) for c in range(16)]
    assert sorted(lines_of(printed(engine, capfd))) == sorted(expected)


@triton.jit
def print_scalar_kernel(n):
    tl.device_print("n", n + tl.program_id(1))


def test_a_scalar_of_each_program(engine, capfd):
    skip_other_formats(engine)
    print_scalar_kernel[(2, 3)](10)
    expected = [f"pid ({x}, {y}, 0) idx () n: {10 + y}" for x in range(2) for y in range(3)]
    assert sorted(lines_of(printed(engine, capfd))) == sorted(expected)


@triton.jit
def print_several_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 2))
    tl.device_print("both", x, x * 2)


def test_several_values_name_their_operand(engine, capfd):
    skip_other_formats(engine)
    print_several_kernel[(1,)](engine.array(np.array([3, 4], dtype=np.int32)))
    lines = lines_of(printed(engine, capfd))
    assert sorted(lines) == sorted(
        [f"pid (0, 0, 0) idx ({i}) both: (operand 0) {v}" for i, v in enumerate((3, 4))]
        + [f"pid (0, 0, 0) idx ({i}) both: (operand 1) {v}" for i, v in enumerate((6, 8))]
    )


@triton.jit
def print_hex_kernel(x_ptr):
    tl.device_print("h", tl.load(x_ptr + tl.arange(0, 1)), hex=True)


@pytest.mark.parametrize("name, value, text", [("int32", 255, "0x000000ff"), ("int32", -1, "0xffffffff"), ("int64", 16, "0x0000000000000010"), ("uint8", 171, "0xab")])
def test_hex(engine, capfd, name, value, text):
    skip_other_formats(engine)
    print_hex_kernel[(1,)](engine.array(np.array([value]), name))
    assert lines_of(printed(engine, capfd)) == [f"pid (0, 0, 0) idx (0) h: {text}"]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "float8e5"])
def test_hex_of_floats_is_exact(engine, capfd, name):
    """As C's %a writes them; on every engine, whatever stands around the numbers."""
    values = [1.0, 1.5, -0.0, -0.25, 6.0, 2.0**-14] + ([] if name == "float8e5" else [float("inf")])
    for value in values:
        print_hex_kernel[(1,)](engine.array(np.array([value]), name))
    found = re.findall(r"h: +\[?(-?(?:0x[0-9a-f.]+p[+-]\d+|inf))", printed(engine, capfd))
    assert [float.fromhex(word).hex() for word in found] == [value.hex() for value in values]


@triton.jit
def print_without_words_kernel(n):
    tl.device_print("", n)
    tl.device_print("", n, n + 1)
    tl.device_print("no value")


def test_prints_without_words_or_without_values(engine, capfd):
    skip_other_formats(engine)
    print_without_words_kernel[(1,)](7)
    assert sorted(lines_of(printed(engine, capfd))) == [
        "pid (0, 0, 0) idx (): (operand 0) 7", "pid (0, 0, 0) idx (): (operand 1) 8", "pid (0, 0, 0) idx (): 7", "pid (0, 0, 0) no value",
    ]  # fmt: skip


@triton.jit
def print_twice_kernel(x_ptr):
    program = tl.program_id(0) + 10 * tl.program_id(1)
    tl.device_print("first", program)
    tl.store(x_ptr + program, 1)
    tl.device_print("second", program, tl.arange(0, 4))


def test_a_programs_prints_stay_together(engine, capfd):
    skip_other_formats(engine)
    print_twice_kernel[(10, 20)](engine.zeros(200, "int32"))
    lines = lines_of(printed(engine, capfd))
    assert len(lines) == 200 * 6
    if engine.name == "cuda":  # which prints line by line
        lines.sort(key=lambda line: (re.match("pid [^)]*", line).group(), ") second: (operand 1)" in line, "second" in line, line))
    for place in range(0, len(lines), 6):
        x, y = map(int, re.match(r"pid \((\d+), (\d+), 0\)", lines[place]).groups())
        pid = f"pid ({x}, {y}, 0) idx"
        assert lines[place : place + 6] == [
            f"{pid} () first: {x + 10 * y}", f"{pid} () second: (operand 0) {x + 10 * y}",
            *[f"{pid} ({i}) second: (operand 1) {i}" for i in range(4)],
        ]  # fmt: skip


def test_prints_go_to_pythons_stdout(engine):
    if engine.name == "cuda":
        pytest.skip("a GPU's driver prints to the process's")
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print_scalar_kernel[(1,)](10)
        static_print_kernel[(1,)](engine.zeros(1, "int32"), N=78)
        python_print_kernel[(1,)](41)
    shown = text.getvalue()
    assert "10" in shown and "N is 78" in shown and "41" in shown


def test_lines_of_many_programs_stay_whole(engine, capfd):
    skip_other_formats(engine)
    x = np.arange(64, dtype=np.int32)
    print_tile_kernel[(50,)](engine.array(x), COUNT=64)
    lines = printed(engine, capfd).splitlines()
    assert len(lines) == 50 * 64
    assert all(re.fullmatch(r"pid \( *\d+, 0, 0\) idx \( *\d+\) x: \d+", line) for line in lines)


@triton.jit
def python_print_kernel(n):
    print("value", n)


def test_python_print(engine, capfd):
    python_print_kernel[(1,)](41)
    assert "41" in printed(engine, capfd)


@triton.jit
def static_print_kernel(out_ptr, N: tl.constexpr):
    tl.static_print("N is", N, "and the type", out_ptr.dtype.element_ty)
    tl.store(out_ptr, N)


def test_static_print(engine, capfd):
    static_print_kernel[(1,)](engine.zeros(1, "int32"), N=77)
    text = printed(engine, capfd)
    assert "N is 77" in text and "int32" in text


@triton.jit
def static_assert_kernel(out_ptr, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, "N must be even")
    tl.store(out_ptr, N)


def test_static_assert(engine):
    out = engine.zeros(1, "int32")
    static_assert_kernel[(1,)](out, N=4)
    assert engine.numpy(out)[0] == 4
    with pytest.raises(triton.TritonError, match="N must be even"):
        static_assert_kernel[(1,)](out, N=5)


@triton.jit
def assert_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.device_assert(x < 100, "a value is too large")
    tl.store(out_ptr + offsets, x)


def test_device_assert_is_silent_without_debug(engine):
    out = engine.zeros(32, "int32")
    assert_kernel[(1,)](engine.array(np.full(32, 500, np.int32)), out, COUNT=32)
    assert (engine.numpy(out) == 500).all()


def test_device_assert_under_debug(engine):
    x = np.arange(32, dtype=np.int32)
    out = engine.zeros(32, "int32")
    assert_kernel[(1,)](engine.array(x), out, COUNT=32, debug=True)
    np.testing.assert_array_equal(engine.numpy(out), x)
    x[7] = 100
    with pytest.raises(Exception, match="a value is too large"):
        assert_kernel[(1,)](engine.array(x), out, COUNT=32, debug=True)
    with pytest.raises(RuntimeError) as raised:  # as torch says it of its devices
        assert_kernel[(1,)](engine.array(x), out, COUNT=32, debug=True)
    assert isinstance(raised.value, AssertionError)
    # The process goes on, and so does the kernel.
    assert_kernel[(1,)](engine.array(x * 0), out, COUNT=32, debug=True)
    assert (engine.numpy(out) == 0).all()


@pytest.mark.parametrize("decorated", [False, True])
def test_what_a_launch_switches_off(engine, decorated):
    kernel = triton.jit(assert_kernel.fn, debug=decorated)
    x, out = engine.array(np.full(32, 500, np.int32)), engine.zeros(32, "int32")
    kernel[(1,)](x, out, COUNT=32, debug=False)  # what the decorator says
    assert (engine.numpy(out) == 500).all()
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.debug = True
        with pytest.raises(Exception, match="a value is too large"):
            kernel[(1,)](x, out, COUNT=32, debug=False)  # not what holds for all kernels


@triton.jit
def masked_assert_kernel(x_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.device_assert(tl.load(x_ptr + offsets) < 100, "masked", mask=offsets < 4)


def test_device_assert_with_a_mask(engine):
    x = np.zeros(32, np.int32)
    x[8] = 1000
    masked_assert_kernel[(1,)](engine.array(x), COUNT=32, debug=True)
    x[3] = 1000
    with pytest.raises(Exception, match="masked"):
        masked_assert_kernel[(1,)](engine.array(x), COUNT=32, debug=True)


@triton.jit
def python_assert_kernel(x_ptr, n):
    x = tl.load(x_ptr)
    assert x == n, "x is not n"


def test_python_assert(engine):
    python_assert_kernel[(1,)](engine.array(np.array([3], np.int32)), 3, debug=True)
    with pytest.raises(Exception, match="x is not n"):
        python_assert_kernel[(1,)](engine.array(np.array([4], np.int32)), 3, debug=True)


@triton.jit
def assert_in_one_program_kernel(limit):
    tl.device_assert(tl.program_id(0) != limit, "this program fails")


def test_a_failed_assert_in_one_of_many_programs(engine):
    assert_in_one_program_kernel[(500,)](1000, debug=True)
    with pytest.raises(Exception, match="this program fails"):
        assert_in_one_program_kernel[(500,)](321, debug=True)


@triton.jit
def checked(x, n):
    for i in range(3):
        tl.device_assert(x < n - i, "a value is too large")
    return x


@triton.jit
def assert_in_a_helper_kernel(x_ptr, out_ptr, n, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, checked(tl.load(x_ptr + offsets), n))


def test_a_device_assert_in_a_loop_of_a_helper(engine):
    x, out = engine.array(np.arange(8, dtype=np.int32)), engine.zeros(8, "int32")
    assert_in_a_helper_kernel[(1,)](x, out, 10, COUNT=8, debug=True)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(8))
    with pytest.raises(AssertionError, match="a value is too large") as raised:
        assert_in_a_helper_kernel[(1,)](x, out, 9, COUNT=8, debug=True)
    error = raised.value
    assert error.filename == __file__ and error.program == (0, 0, 0)
    line = '        tl.device_assert(x < n - i, "a value is too large")'
    assert str(error).endswith(f"device_assert failed in program (0, 0, 0): a value is too large\n{line}\n        ^")


@triton.jit
def overflow_kernel(out_ptr, n):
    offset = 7 + tl.program_id(0) * n
    tl.store(out_ptr + tl.program_id(0), offset)


def test_an_overflow_shows_its_line(engine):
    out = engine.zeros(3, "int32")
    overflow_kernel[(3,)](out, 2**30 - 8, debug=True, sanitize_overflow=True)
    with pytest.raises(AssertionError, match="overflow") as raised:
        overflow_kernel[(3,)](out, 2**30, debug=True, sanitize_overflow=True)
    assert raised.value.program == (2, 0, 0)
    assert str(raised.value).endswith("    offset = 7 + tl.program_id(0) * n\n                 ^")


@triton.jit
def print_pointer_kernel(x_ptr):
    tl.device_print("one", x_ptr)
    tl.device_print("two", x_ptr + tl.arange(0, 2))


def test_addresses_are_hexadecimal(engine, capfd):
    x = engine.zeros(2, "int32")
    print_pointer_kernel[(1,)](x)
    address = x.data_ptr() if hasattr(x, "data_ptr") else x.ctypes.data
    found = re.findall("0x[0-9a-f]+", printed(engine, capfd))
    assert [int(word, 16) for word in found] == [address, address, address + 4]
