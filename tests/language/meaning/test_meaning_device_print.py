"""Meaning, "device_print": the lines, exactly."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("the interpreter of Triton prints in one piece")


@triton.jit
def tile_kernel(x_ptr, COUNT: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, COUNT)))


@triton.jit
def table_kernel(x_ptr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]))


@triton.jit
def two_kernel(x_ptr, n):
    tl.device_print("pair:", n, tl.load(x_ptr + tl.arange(0, 2)))


@triton.jit
def scalar_kernel(n, f):
    tl.device_print("n ", n)
    tl.device_print("f", f)


@triton.jit
def hex_kernel(x_ptr, n):
    tl.device_print("h", tl.load(x_ptr + tl.arange(0, 2)), hex=True)
    tl.device_print("n", n, hex=True)


@triton.jit
def program_kernel():
    tl.device_print("id", tl.program_id(0) * 100 + tl.program_id(1) * 10 + tl.program_id(2))


def lines(engine, capfd, kernel, *arguments, grid=(1,), **constants):
    capfd.readouterr()
    kernel[grid](*arguments, **constants)
    engine.finish()
    return sorted(capfd.readouterr().out.splitlines())


def compiled_only(engine):
    if engine.name == "interpreter":
        pytest.skip("the interpreter prints a tile in one piece")


def test_one_line_an_element(engine, capfd):
    """`pid (x, y, z) idx (i) prefix: value`, the index padded to the width of the largest."""
    compiled_only(engine)
    got = lines(engine, capfd, tile_kernel, engine.array(np.arange(12, dtype=np.float32)), COUNT=12)
    assert got == sorted(f"pid (0, 0, 0) idx ({i:2}) x: {float(i):f}" for i in range(12))


def test_the_example_of_the_contract(engine, capfd):
    """256 elements pad to three places: `idx (  7)`."""
    compiled_only(engine)
    got = lines(engine, capfd, tile_kernel, engine.array(np.ones(256, np.float32)), COUNT=256)
    assert "pid (0, 0, 0) idx (  7) x: 1.000000" in got and len(got) == 256


def test_two_axes(engine, capfd):
    """One index an axis."""
    compiled_only(engine)
    got = lines(engine, capfd, table_kernel, engine.array(np.arange(4, dtype=np.int32)))
    assert got == [f"pid (0, 0, 0) idx ({i}, {j}) x: {2 * i + j}" for i in range(2) for j in range(2)]


def test_several_values_name_their_operand(engine, capfd):
    """`(operand k)` when there are several; the prefix gets its colon and blank once."""
    compiled_only(engine)
    got = lines(engine, capfd, two_kernel, engine.array(np.array([5, 6], np.int32)), 7)
    assert got == [
        "pid (0, 0, 0) idx () pair: (operand 0) 7", "pid (0, 0, 0) idx (0) pair: (operand 1) 5",
        "pid (0, 0, 0) idx (1) pair: (operand 1) 6",
    ]  # fmt: skip


def test_scalars(engine, capfd):
    """`idx ()` for scalars."""
    compiled_only(engine)
    got = lines(engine, capfd, scalar_kernel, 7, 2.5)
    assert got == ["pid (0, 0, 0) idx () f: 2.500000", "pid (0, 0, 0) idx () n: 7"]


def test_hex(engine, capfd):
    """`0x%08x` for 32 bits, as wide as the type."""
    compiled_only(engine)
    got = lines(engine, capfd, hex_kernel, engine.array(np.array([255, -1], np.int64)), 48)
    assert got == ["pid (0, 0, 0) idx () n: 0x00000030", "pid (0, 0, 0) idx (0) h: 0x00000000000000ff", "pid (0, 0, 0) idx (1) h: 0xffffffffffffffff"]


def test_programs(engine, capfd):
    """Each program's own coordinates, three of them."""
    compiled_only(engine)
    got = lines(engine, capfd, program_kernel, grid=(2, 2, 2))
    assert got == sorted(f"pid ({x}, {y}, {z}) idx () id: {100 * x + 10 * y + z}" for x in range(2) for y in range(2) for z in range(2))


def test_the_interpreter_prints_in_one_piece(engine, capfd):
    """`(0, 0, 0)  x:  [...]`."""
    if engine.name != "interpreter":
        pytest.skip("of the interpreter alone")
    capfd.readouterr()
    tile_kernel[(1,)](engine.array(np.arange(4, dtype=np.float32)), COUNT=4)
    text = capfd.readouterr().out
    assert text.startswith("(0, 0, 0)") and "x:" in text and "[0. 1. 2. 3.]" in text and text.count("\n") == 1
