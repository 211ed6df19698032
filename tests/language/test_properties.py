"""Whole kernels at random shapes, block sizes and types, against NumPy."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import TYPES, rounded, sample

ROUNDS = range(12)


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, out_ptr, count, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask, other=1)
    tl.store(out_ptr + offsets, tl.where(x > y, x * scale - y, tl.maximum(x, y) + 1), mask=mask)


@pytest.mark.parametrize("round_", ROUNDS)
def test_elementwise(engine, rng, round_):
    name = rng.choice(["int8", "int32", "int64", "uint8", "float32", "float64"])
    count, block = int(rng.integers(1, 5000)), 2 ** int(rng.integers(0, 12))
    x, y = sample(rng, name, count), sample(rng, name, count)
    wide = "float32" if name == "float32" else name if TYPES[name].bits >= 32 else "int32"
    out = engine.empty(count, wide)
    elementwise_kernel[(triton.cdiv(count, block),)](engine.array(x, name), engine.array(y, name), out, count, 3, BLOCK=block)
    # The scale is an int32 run-time scalar, so that small integers are computed in int32.
    common = TYPES[wide].numpy
    a, b = x.astype(common), y.astype(common)
    with np.errstate(over="ignore"):
        largest_plus_one = (np.maximum(x, y) + x.dtype.type(1)).astype(common)  # in the tiles' own type: wraps there
        expected = np.where(x > y, a * common(3) - b, largest_plus_one)
    if TYPES[name].is_float:
        np.testing.assert_allclose(engine.numpy(out), expected, rtol=1e-6, atol=1e-6)  # may be one fma
    else:
        np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def rows_kernel(x_ptr, sum_ptr, max_ptr, arg_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    total = tl.zeros((R,), dtype=tl.int32)
    largest = tl.full((R,), -1000000, dtype=tl.int32)
    place = tl.zeros((R,), dtype=tl.int32)
    for start in range(0, columns, C):
        c = start + tl.arange(0, C)
        inside = (r[:, None] < rows) & (c[None, :] < columns)
        x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=inside, other=-1000000)
        total += tl.sum(tl.where(inside, x, 0), axis=1)
        value, index = tl.max(x, axis=1, return_indices=True)
        better = value > largest
        place = tl.where(better, start + index, place)
        largest = tl.where(better, value, largest)
    mask = r < rows
    tl.store(sum_ptr + r, total, mask=mask)
    tl.store(max_ptr + r, largest, mask=mask)
    tl.store(arg_ptr + r, place, mask=mask)


@pytest.mark.parametrize("round_", ROUNDS)
def test_rows(engine, rng, round_):
    rows, columns = int(rng.integers(1, 70)), int(rng.integers(1, 300))
    block = (2 ** int(rng.integers(0, 6)), 2 ** int(rng.integers(0, 8)))
    x = rng.integers(-50, 50, (rows, columns)).astype(np.int32)
    outs = [engine.empty(rows, "int32") for _ in range(3)]
    rows_kernel[(triton.cdiv(rows, block[0]),)](engine.array(x), *outs, rows, columns, *block)
    for out, expected in zip(outs, (x.sum(1), x.max(1), x.argmax(1))):
        np.testing.assert_array_equal(engine.numpy(out), expected)


@pytest.mark.ours("blocks that are not powers of two")
@pytest.mark.parametrize("round_", ROUNDS)
def test_rows_in_odd_blocks(engine, rng, round_):
    rows, columns = int(rng.integers(1, 70)), int(rng.integers(1, 300))
    block = (int(rng.integers(1, 40)), int(rng.integers(1, 200)))
    x = rng.integers(-50, 50, (rows, columns)).astype(np.int32)
    outs = [engine.empty(rows, "int32") for _ in range(3)]
    rows_kernel[(triton.cdiv(rows, block[0]),)](engine.array(x), *outs, rows, columns, *block)
    for out, expected in zip(outs, (x.sum(1), x.max(1), x.argmax(1))):
        np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0
        )
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def check_matmul(engine, rng, shape, block, name):
    M, N, K = shape
    a, b = rng.integers(-4, 5, (M, K)), rng.integers(-4, 5, (K, N))
    transpose_a, transpose_b = rng.integers(0, 2, 2)
    a_stored, b_stored = (a.T if transpose_a else a), (b.T if transpose_b else b)
    out = engine.empty((M, N), "float32")
    matmul_kernel[(triton.cdiv(M, block[0]), triton.cdiv(N, block[1]))](
        engine.array(np.ascontiguousarray(a_stored), name), engine.array(np.ascontiguousarray(b_stored), name), out, M, N, K,
        *((1, M) if transpose_a else (K, 1)), *((1, K) if transpose_b else (N, 1)), *block,
    )  # fmt: skip
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


@pytest.mark.parametrize("round_", ROUNDS)
def test_matmul(engine, rng, round_):
    shape = rng.integers(1, 150, 3).tolist()
    block = (2 ** rng.integers(4, 8, 3)).tolist()
    check_matmul(engine, rng, shape, block, rng.choice(["float32", "float16"]))


@pytest.mark.ours("blocks that are not powers of two, bfloat16")
@pytest.mark.parametrize("round_", ROUNDS)
def test_matmul_in_odd_blocks(engine, rng, round_):
    shape = rng.integers(1, 100, 3).tolist()
    block = rng.integers(1, 70, 3).tolist()
    check_matmul(engine, rng, shape, block, rng.choice(["float32", "float16", "bfloat16"]))


@triton.jit
def norm_kernel(x_ptr, weight_ptr, out_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * columns + offsets, centred / tl.sqrt(variance + epsilon) * weight, mask=mask)


@pytest.mark.parametrize("round_", ROUNDS)
def test_layer_norm(engine, rng, round_):
    name = rng.choice(["float16", "float32"])
    rows, columns = int(rng.integers(1, 20)), int(rng.integers(1, 2000))
    x, weight = sample(rng, name, (rows, columns)), sample(rng, name, columns)
    out = engine.empty((rows, columns), name)
    norm_kernel[(rows,)](
        engine.array(x, name), engine.array(weight, name), out, columns, 1e-5, BLOCK=triton.next_power_of_2(columns)
    )
    x = x.astype(np.float64)
    centred = x - x.mean(1, keepdims=True)
    expected = rounded(centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * weight, name)
    tolerance = 2e-3 if name == "float16" else 2e-5
    np.testing.assert_allclose(engine.numpy(out), expected, rtol=tolerance, atol=tolerance)


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns), other=0)
    tl.store(out_ptr + c[:, None] * rows + r[None, :], tl.trans(x), mask=(c[:, None] < columns) & (r[None, :] < rows))


@pytest.mark.parametrize("round_", ROUNDS)
def test_transpose(engine, rng, round_):
    name = rng.choice(["int8", "int16", "float32", "int64"])
    rows, columns = rng.integers(1, 200, 2).tolist()
    block = (2 ** rng.integers(0, 7, 2)).tolist()
    x = sample(rng, name, (rows, columns))
    out = engine.empty((columns, rows), name)
    transpose_kernel[(triton.cdiv(rows, block[0]), triton.cdiv(columns, block[1]))](engine.array(x, name), out, rows, columns, *block)
    np.testing.assert_array_equal(engine.numpy(out), x.T)
