"""Products that go on summing one another: in loops of any number of steps, one after another, with something in between."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("a size that is no power of two, and bf16, which Triton's interpreter gets wrong")


@triton.jit
def loop_kernel(a_ptr, b_ptr, c_ptr, K, FIRST: tl.constexpr, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    total = tl.zeros((M, N), tl.float32)
    for start in range(FIRST, K, STEP):
        inside = start + k < K
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :], mask=inside[None, :], other=0.0)
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("type_name", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("step", [32, 64])
@pytest.mark.parametrize("first, columns", [(0, 0), (0, 32), (0, 33), (0, 64), (0, 96), (0, 160), (64, 32), (16, 200)])
def test_loops_of_any_number_of_steps(engine, type_name, first, columns, step):
    generator = np.random.default_rng(columns)
    rows, others = 32, 48
    a = generator.integers(-4, 5, (rows, columns)).astype(np.float32)
    b = generator.integers(-4, 5, (columns, others)).astype(np.float32)
    c = engine.zeros((rows, others), "float32")
    if columns == 0:
        a, b = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)
    loop_kernel[(1,)](engine.array(a, type_name), engine.array(b, type_name), c, columns, FIRST=first, M=rows, N=others, STEP=step)
    expected = a[:, first:] @ b[first:] if first < columns else np.zeros((rows, others), np.float32)
    np.testing.assert_array_equal(engine.numpy(c), expected)


@triton.jit
def chain_kernel(a_ptr, b_ptr, c_ptr, WHAT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    total = tl.dot(a, b, tl.full((N, N), 1.0, tl.float32))
    if WHAT == "store":  # the operands' memory changes between the two
        tl.store(b_ptr + at, tl.zeros((N, N), b.dtype))
        b = tl.load(b_ptr + at) + 2
    if WHAT == "read":  # the first sum is wanted too
        tl.store(c_ptr + N * N + at, total)
    total = tl.dot(b, a, total)
    total = tl.dot(a, a, total)
    tl.store(c_ptr + at, total)


@pytest.mark.parametrize("type_name", ["bfloat16", "float32"])
@pytest.mark.parametrize("what", ["nothing", "store", "read"])
def test_one_after_another(engine, type_name, what):
    size = 32
    generator = np.random.default_rng(7)
    a, b = (generator.integers(-3, 4, (size, size)).astype(np.float32) for _ in range(2))
    c = engine.zeros((2, size, size), "float32")
    chain_kernel[(1,)](engine.array(a, type_name), engine.array(b, type_name), c, WHAT=what, N=size)
    first = a @ b + 1
    second = first + (np.full_like(b, 2) if what == "store" else b) @ a + a @ a
    np.testing.assert_array_equal(engine.numpy(c)[0], second)
    np.testing.assert_array_equal(engine.numpy(c)[1], first if what == "read" else 0)
