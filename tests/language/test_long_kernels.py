"""Kernels that unrolled loops make very long: what they repeat may be shared and what is long cut in parts, with the same results."""

import importlib.util

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def functions_kernel(x_ptr, y_ptr, N: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for _ in tl.static_range(ROUNDS):
        x = tl.exp(-x) + tl.sin(x)
    tl.store(y_ptr + i, x)


def test_a_function_repeated_many_times(engine):
    x = np.linspace(0.0, 2.0, 64, dtype=np.float32)
    y = engine.zeros(64, "float32")
    functions_kernel[(1,)](engine.array(x), y, N=64, ROUNDS=40)
    expected = x.astype(np.float64)
    for _ in range(40):
        expected = np.exp(-expected) + np.sin(expected)
    np.testing.assert_allclose(engine.numpy(y), expected, rtol=1e-4)


@triton.jit
def products_kernel(x_ptr, y_ptr, N: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.arange(0, N)
    offsets = i[:, None] * N + i[None, :]
    m = tl.load(x_ptr + offsets)
    c = m
    for _ in tl.static_range(ROUNDS):
        c = tl.dot(c, m)
    tl.store(y_ptr + offsets, c)


def test_a_product_repeated_many_times(engine):
    shift = np.roll(np.eye(16, dtype=np.float32), 1, axis=1)  # a permutation: its powers are exact
    y = engine.zeros((16, 16), "float32")
    products_kernel[(1,)](engine.array(shift), y, N=16, ROUNDS=8)
    np.testing.assert_array_equal(engine.numpy(y), np.linalg.matrix_power(shift, 9))


@triton.jit
def chain_kernel(x_ptr, y_ptr, n, N: tl.constexpr, ROUNDS: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.load(x_ptr + i)
    for k in tl.static_range(ROUNDS):
        total += tl.load(x_ptr + i + k, mask=i + k < n, other=0) * (k % 5)
        if k % 100 == 99:
            tl.store(y_ptr + i, total)  # what is loaded next is not moved past it, nor what was loaded before
            total -= tl.load(y_ptr + i) // 2
    tl.store(y_ptr + i, total)


def test_a_long_chain_of_loads_and_stores(engine):
    n, rounds = 300, 300
    x = np.arange(n, dtype=np.int32)
    y = engine.zeros(64, "int32")
    chain_kernel[(1,)](engine.array(x), y, n, N=64, ROUNDS=rounds)
    i = np.arange(64)
    total = x[:64].copy()
    for k in range(rounds):
        total += np.where(i + k < n, x[np.minimum(i + k, n - 1)], 0) * (k % 5)
        if k % 100 == 99:
            total -= total // 2
    np.testing.assert_array_equal(engine.numpy(y), total)


@pytest.fixture
def written(tmp_path):
    """A kernel of these lines, on (x_ptr, y_ptr, n)."""

    def write(*lines):
        path = tmp_path / "written.py"
        head = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, y_ptr, n):\n    i = tl.arange(0, 64)\n"
        path.write_text(head + "".join(f"    {line}\n" for line in lines))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel

    return write


def test_more_tiles_carried_than_registers_hold(engine, written):
    """Each step reads every tile as the step before left it, the first one also after its new value is there."""
    count, steps = 24, 3
    names = [f"c{k}" for k in range(count)]
    kernel = written(
        *(f"{name} = tl.load(x_ptr + i) * {k + 1}" for k, name in enumerate(names)),
        "for _ in range(n):",
        f"    {', '.join(names)} = {', '.join(f'{name} + {names[(k + 1) % count]}' for k, name in enumerate(names))}",
        *(f"tl.store(y_ptr + {64 * k} + i, {name})" for k, name in enumerate(names)),
    )
    x = np.arange(64, dtype=np.int32)
    y = engine.zeros((count, 64), "int32")
    kernel[(1,)](engine.array(x), y, steps)
    expected = np.arange(1, count + 1)[:, None] * x
    for _ in range(steps):
        expected = expected + np.roll(expected, -1, axis=0)
    np.testing.assert_array_equal(engine.numpy(y), expected)


@pytest.mark.parametrize("entered", [0, 30, 50])
def test_branches_many_levels_deep(engine, written, entered):
    depth = 50
    kernel = written(
        "a = tl.load(x_ptr + i)",
        *("    " * k + f"if n > {k}:" for k in range(depth)),
        "    " * depth + "a += 100",
        *("    " * k + f"a += {k}" for k in range(depth - 1, 0, -1)),
        "tl.store(y_ptr + i, a)",
    )
    x = np.arange(64, dtype=np.int32)
    y = engine.zeros(64, "int32")
    kernel[(1,)](engine.array(x), y, entered)
    np.testing.assert_array_equal(engine.numpy(y), x + sum(range(min(entered, depth - 1) + 1)) + (100 if entered >= depth else 0))
