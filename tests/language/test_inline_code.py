"""map_elementwise, inline assembly, external functions."""

import platform

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def distance(a, b):
    return tl.abs(a - b)


@triton.jit
def quotient_and_remainder(a, b):
    return a // b, a % b


@triton.jit
def map_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.map_elementwise(distance, x, y))
    q, r = tl.map_elementwise(quotient_and_remainder, x, y)
    tl.store(out_ptr + COUNT + offsets, q)
    tl.store(out_ptr + 2 * COUNT + offsets, r)


@pytest.mark.ours("Triton's interpreter has no map_elementwise")
def test_map_elementwise(engine, rng):
    x, y = rng.integers(0, 1000, 32, dtype=np.int32), rng.integers(1, 50, 32, dtype=np.int32)
    out = engine.empty((3, 32), "int32")
    map_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=32)
    np.testing.assert_array_equal(engine.numpy(out), np.stack([np.abs(x - y), x // y, x % y]))


@triton.jit
def assembly_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("leal 3($1), $0", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + offsets, y)


@pytest.mark.ours("assembly of this machine's processor")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the assembly is x86's")
def test_assembly_of_the_target(engine):
    if engine.name != "cpu":
        pytest.skip("this engine runs no machine code of the host")
    x = np.arange(32, dtype=np.int32)
    out = engine.empty(32, "int32")
    assembly_kernel[(1,)](engine.array(x), out, COUNT=32)
    np.testing.assert_array_equal(engine.numpy(out), x + 3)


@triton.jit
def external_kernel(out_ptr):
    table: tl.constexpr = None
    tl.store(out_ptr, tl.core.extern_elementwise("lib", "path", [1.0], table, is_pure=True))


@pytest.mark.ours("what is not supported says so")
def test_external_functions_are_an_error(engine):
    with pytest.raises(Exception, match="external libraries are not supported"):
        external_kernel[(1,)](engine.zeros(1, "float32"))
