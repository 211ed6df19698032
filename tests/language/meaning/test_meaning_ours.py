"""The section "Ours beyond Triton": what goes beyond, point by point. (5, autotuning, is tested in tests/runtime.)"""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting
from scalar_types import rounded

pytestmark = pytest.mark.ours("beyond Triton")


@triton.jit
def leave_kernel(n, out_ptr):
    total = 0
    for i in range(100):
        if i == n:
            break
        if i % 2 == 1:
            continue
        for j in tl.static_range(3):
            if j == 1:
                continue
            total += i * j
    tl.store(out_ptr, total)
    while True:
        n -= 1
        if n < 0:
            break
        if n == 3:
            tl.store(out_ptr + 1, 33)
            return
    tl.store(out_ptr + 1, 44)


@pytest.mark.parametrize("n, expected", [(5, [12, 33]), (3, [4, 44]), (0, [0, 44])])
def test_1_break_continue_and_return(engine, n, expected):
    """Inside for, while and unrolled loops."""
    np.testing.assert_array_equal(computed(engine, leave_kernel, 2, "int32", n), expected)


@triton.jit
def odd_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + rows * N + columns)
    tl.store(out_ptr + rows * N + columns, x - tl.max(x, axis=1, keep_dims=True) + tl.sum(x, axis=0)[None, :])


@pytest.mark.parametrize("m, n", [(1, 1), (3, 5), (1, 781), (7, 1), (5, 1000), (17, 31)])
def test_2_extents_that_are_no_powers_of_two(engine, m, n):
    """Tiles of any shape."""
    x = np.arange(m * n, dtype=np.int32).reshape(m, n) * 7 % 31
    got = computed(engine, odd_kernel, (m, n), "int32", engine.array(x), M=m, N=n)
    np.testing.assert_array_equal(got, x - x.max(1, keepdims=True) + x.sum(0))


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + depth[None, :])
    b = tl.load(b_ptr + depth[:, None] * N + columns[None, :])
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], tl.dot(a, b))


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 7, 1), (3, 1, 9), (5, 6, 7), (33, 1, 17)])
def test_2_dots_of_any_size(engine, rng, m, n, k):
    """M, N, K of one and up."""
    a, b = rng.integers(-9, 9, (m, k)).astype(np.float32), rng.integers(-9, 9, (k, n)).astype(np.float32)
    np.testing.assert_array_equal(computed(engine, dot_kernel, (m, n), "float32", engine.array(a), engine.array(b), M=m, N=n, K=k), a @ b)


@triton.jit
def parts_kernel(x_ptr, n, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 6 + tl.arange(0, 6)[None, :])
    places = tl.arange(0, 6)
    tl.store(out_ptr + places, x[1])
    tl.store(out_ptr + 6 + places, x[n, :])
    tl.store(out_ptr + 12 + tl.arange(0, 4), x[:, n])
    tl.store(out_ptr + 16 + tl.arange(0, 2)[:, None] * 3 + tl.arange(0, 3)[None, :], x[1:3, 2:5])
    tl.store(out_ptr + 22, x[n, 3])
    tl.store(out_ptr + 23 + tl.arange(0, 4), x[..., 5])
    tl.store(out_ptr + 27 + tl.arange(0, 3), x[0, ::2])


def test_3_slices_and_elements(engine):
    """x[i], x[i, :], x[a:b], x[..., i], with run-time positions too."""
    x = np.arange(24, dtype=np.int32).reshape(4, 6) * 3
    got = computed(engine, parts_kernel, 30, "int32", engine.array(x), 2)
    expected = [*x[1], *x[2], *x[:, 2], *x[1:3, 2:5].ravel(), x[2, 3], *x[..., 5], *x[0, ::2]]
    np.testing.assert_array_equal(got, expected)


@triton.jit
def indirect_kernel(table_ptr, index_ptr, out_ptr):
    index = tl.load(index_ptr + tl.arange(0, 8))
    x = tl.load(table_ptr + index)
    tl.store(out_ptr + tl.arange(0, 8), x.to(tl.float32) * 3)


@pytest.mark.parametrize("name", ["bfloat16", "float8e4nv", "float8e5", "float8e4b8", "float8e5b16"])
def test_4_small_floats_through_indirect_loads(engine, rng, name):
    """The same values on every engine, gathered too."""
    table = rounded(rng.standard_normal(32) * 3, name)
    index = rng.integers(0, 32, 8).astype(np.int32)
    got = computed(engine, indirect_kernel, 8, "float32", engine.array(table, name), engine.array(index))
    np.testing.assert_array_equal(got, np.float32(table[index]) * 3)


@triton.jit
def wrong_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    y = tl.exp(x)  # an integer
    tl.store(out_ptr + tl.arange(0, 16), y)


@triton.jit
def wrong_helper(x):
    return x.no_such_method()


@triton.jit
def wrong_call_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, wrong_helper(tl.load(x_ptr)))


@pytest.mark.parametrize(
    "kernel, line, marked",
    [(wrong_kernel, "y = tl.exp(x)", "tl.exp"), (wrong_call_kernel, "return x.no_such_method()", "no_such_method")],
    ids=["kernel", "helper"],
)
def test_6_errors_show_the_line_with_a_caret(engine, kernel, line, marked):
    """The kernel's own line (a helper's, with where it was called from), the file, a caret beneath what is wrong."""
    if engine.name == "interpreter" and kernel is wrong_call_kernel:
        pytest.skip("CPython's own AttributeError, whose traceback shows the line")
    with pytest.raises(triton.TritonError) as caught:
        kernel[(1,)](counting(engine), engine.zeros(16, "float32"))
    rows = str(caught.value).splitlines()
    assert "test_meaning_ours.py:" in rows[0] and "error:" in rows[0]
    assert line in rows[1]
    assert rows[2].index("^") == rows[1].index(marked)
    if kernel is wrong_call_kernel:
        assert "called from" in rows[3] and "wrong_helper(tl.load(x_ptr))" in rows[4]


@triton.jit
def transposed_kernel(a_ptr, b_ptr, out_ptr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    tl.store(out_ptr + places, tl.dot(a, b, trans_a=True))
    tl.store(out_ptr + 256 + places, tl.dot(a, b, trans_b=True))
    tl.store(out_ptr + 512 + places, tl.dot(a, b, trans_a=True, trans_b=True))


def test_7_transposed_operands(engine, rng):
    """trans_a and trans_b in dot."""
    a, b = rng.integers(-5, 5, (16, 16)).astype(np.float32), rng.integers(-5, 5, (16, 16)).astype(np.float32)
    got = computed(engine, transposed_kernel, (3, 16, 16), "float32", engine.array(a), engine.array(b))
    np.testing.assert_array_equal(got, [a.T @ b, a @ b.T, a.T @ b.T])


@triton.jit
def softmax_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(out_ptr + places, tl.softmax(x, axis=1))
    tl.store(out_ptr + 32 + places, tl.softmax(x, dim=0))


def test_7_softmax_takes_axis(engine, rng):
    """axis= is another name of dim=."""
    x = rng.standard_normal((4, 8)).astype(np.float32)
    got = computed(engine, softmax_kernel, (2, 4, 8), "float32", engine.array(x))
    for axis, part in ((1, got[0]), (0, got[1])):
        e = np.exp(x - x.max(axis, keepdims=True))
        np.testing.assert_allclose(part, e / e.sum(axis, keepdims=True), rtol=1e-5)


@triton.heuristics({"EVEN": lambda arguments: {"EVEN": arguments["n"] % 2 == 0}, "BLOCK": lambda arguments: 8})
@triton.jit
def heuristic_kernel(n, out_ptr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), n * 10 + EVEN)


@pytest.mark.parametrize("n", [6, 7])
def test_7_heuristics_may_return_a_dict(engine, n):
    """The value, or a dict that holds it under its own name."""
    np.testing.assert_array_equal(computed(engine, heuristic_kernel, 8, "int32", n), np.full(8, n * 10 + (n % 2 == 0)))


@triton.jit
def program_kernel(out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.program_id(0)[0] + 1)


def test_7_interpret_mode_and_program_ids():
    """driver.active.set_interpret_mode(True) switches; there tl.program_id(0)[0] reads the number."""
    out = np.zeros(3, np.int32)
    triton.runtime.driver.active.set_interpret_mode(True)
    try:
        program_kernel[(3,)](out)
    finally:
        triton.runtime.driver.active.set_interpret_mode(False)
    np.testing.assert_array_equal(out, [1, 2, 3])
