"""Tiles that a loop carries, and reads elsewhere than where it writes them: turned, spread, as an operand of a product, reshaped."""

import numpy as np
import pytest
import triton
import triton.language as tl

N = 16


@pytest.fixture
def matrices(rng):
    return [rng.integers(-2, 3, (N, N)).astype(np.float32) for _ in range(3)]


def run(engine, kernel, arrays, steps, out_shape=(N, N)):
    out = engine.zeros(out_shape, "float32")
    kernel[(1,)](*[engine.array(array) for array in arrays], out, steps, N=N)
    return engine.numpy(out)


@triton.jit
def recurrence_kernel(h_ptr, w_ptr, x_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    h, w, x = tl.load(h_ptr + at), tl.load(w_ptr + at), tl.load(x_ptr + at)
    for _ in range(steps):
        h = tl.dot(h * 0.5, w, input_precision="ieee") + x
    tl.store(out_ptr + at, h)


@triton.jit
def recurrence_in_sum_kernel(h_ptr, w_ptr, x_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    h, w, x = tl.load(h_ptr + at), tl.load(w_ptr + at).to(tl.float16), tl.load(x_ptr + at)
    for _ in range(steps):
        h = tl.dot(h.to(tl.float16) * 0.5, w, x)
    tl.store(out_ptr + at, h)


@triton.jit
def recurrence_on_the_right_kernel(h_ptr, w_ptr, x_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    h, w, x = tl.load(h_ptr + at), tl.load(w_ptr + at), tl.load(x_ptr + at)
    for _ in range(steps):
        h = tl.trans(tl.dot(tl.trans(w), tl.trans(h * 0.5), tl.trans(x), input_precision="ieee"))
    tl.store(out_ptr + at, h)


@pytest.mark.parametrize("kernel", [recurrence_kernel, recurrence_in_sum_kernel, recurrence_on_the_right_kernel])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_an_operand_of_the_product_that_replaces_it(engine, matrices, kernel, steps):
    h, w, x = matrices
    expected = h
    for _ in range(steps):
        expected = (expected * 0.5) @ w + x
    np.testing.assert_array_equal(run(engine, kernel, matrices, steps), expected)


@triton.jit
def power_iteration_kernel(a_ptr, v_ptr, out_ptr, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(a_ptr + i[:, None] * N + i[None, :])
    v = tl.load(v_ptr + i)
    for _ in range(steps):
        v = tl.sum(a * v[None, :], 1)
    tl.store(out_ptr + i, v)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_spread_along_the_axis_that_is_summed(engine, matrices, steps):
    a, v = matrices[0], matrices[1][0]
    expected = v
    for _ in range(steps):
        expected = a @ expected
    np.testing.assert_array_equal(run(engine, power_iteration_kernel, [a, v], steps, (N,)), expected)


@triton.jit
def turned_kernel(a_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at)
    for _ in range(steps):
        a = tl.trans(a) + 1
    tl.store(out_ptr + at, a)


@triton.jit
def turned_and_added_kernel(a_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at)
    for _ in range(steps):
        a = a + tl.trans(a) * 2
    tl.store(out_ptr + at, a)


@triton.jit
def reshaped_kernel(a_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at)
    for _ in range(steps):
        b = tl.reshape(a, (N // 2, N * 2))
        a = a + 1
        a = a + tl.reshape(tl.flip(b, 1), (N, N))
    tl.store(out_ptr + at, a)


@triton.jit
def outer_kernel(a_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at)
    for _ in range(steps):
        a = a + tl.sum(a, 0)[None, :] - tl.max(a, 1)[:, None]
    tl.store(out_ptr + at, a)


STEPS = {
    turned_kernel: lambda a: a.T + 1,
    turned_and_added_kernel: lambda a: a + a.T * 2,
    reshaped_kernel: lambda a: a + 1 + np.flip(a.reshape(N // 2, N * 2), 1).reshape(N, N),
    outer_kernel: lambda a: a + a.sum(0)[None, :] - a.max(1)[:, None],
}


@pytest.mark.parametrize("kernel", STEPS, ids=lambda kernel: kernel.fn.__name__)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_read_at_other_places_than_written(engine, matrices, kernel, steps):
    expected = matrices[0]
    for _ in range(steps):
        expected = STEPS[kernel](expected)
    np.testing.assert_array_equal(run(engine, kernel, matrices[:1], steps), expected)


@triton.jit
def two_tiles_kernel(a_ptr, b_ptr, out_ptr, steps, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)
    for _ in range(steps):
        c = a + b
        a = tl.trans(b) - 1
        b = c
    tl.store(out_ptr + at, a * 3 + b)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_two_tiles_that_read_each_other(engine, matrices, steps):
    a, b = matrices[:2]
    expected_a, expected_b = a, b
    for _ in range(steps):
        expected_a, expected_b = expected_b.T - 1, expected_a + expected_b
    np.testing.assert_array_equal(run(engine, two_tiles_kernel, [a, b], steps), expected_a * 3 + expected_b)


@triton.jit
def carried_pointers_kernel(a_ptr, out_ptr, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    p = a_ptr + at
    total = tl.zeros((N, N), tl.float32)
    for _ in range(steps):
        x = tl.load(p)
        p = a_ptr + (at + x.to(tl.int32) % N + N) % (N * N)
        total += x + tl.trans(tl.load(p))
    tl.store(out_ptr + at, total)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_pointers_that_follow_what_they_read(engine, rng, steps):
    a = rng.integers(0, 50, (N, N)).astype(np.float32)
    at = np.arange(N * N).reshape(N, N)
    place, expected = at, np.zeros((N, N), np.float32)
    for _ in range(steps):
        x = a.reshape(-1)[place]
        place = (at + x.astype(np.int32) % N + N) % (N * N)
        expected = expected + x + a.reshape(-1)[place].T
    np.testing.assert_array_equal(run(engine, carried_pointers_kernel, [a], steps), expected)
