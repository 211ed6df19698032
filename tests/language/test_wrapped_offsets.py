"""Offsets that wrap (`%`), and what is computed from them: remainders of remainders, quotients, bound checks."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def nested_kernel(x_ptr, first_ptr, out_ptr, n, ROW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    batch = offsets // (n * ROW)
    inside = offsets % (n * ROW)
    row = inside // ROW
    column = inside % ROW
    valid = batch < 2
    x = tl.load(x_ptr + batch * (n * ROW) + row * ROW + column, mask=valid, other=0.0)
    first = tl.load(first_ptr + batch * ROW + column, mask=(row < 1) & valid, other=0.0)
    tl.store(out_ptr + offsets, x + first, mask=valid)


@pytest.mark.parametrize("block", [16, 32, 64, 256])
@pytest.mark.parametrize("row, n", [(32, 3), (5, 7), (16, 1)])
def test_remainder_of_a_remainder(engine, rng, row, n, block):
    x = rng.standard_normal((2, n, row)).astype(np.float32)
    first = rng.standard_normal((2, row)).astype(np.float32)
    out = engine.zeros(x.size, "float32")
    nested_kernel[(triton.cdiv(x.size, block),)](engine.array(x), engine.array(first), out, n, row, block)
    expected = x.copy()
    expected[:, 0] += first
    np.testing.assert_array_equal(engine.numpy(out), expected.reshape(-1))


@triton.jit
def bounded_remainder_kernel(x_ptr, out_ptr, period, limit, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = offsets % period
    x = tl.load(x_ptr + wrapped, mask=wrapped < limit, other=-1.0)
    tl.store(out_ptr + offsets, x, mask=(offsets < n) & (wrapped <= limit))


@pytest.mark.parametrize("block", [16, 64, 256])
@pytest.mark.parametrize("period, limit", [(48, 20), (7, 7), (100, 3), (16, 16), (33, 32)])
def test_bound_check_of_a_remainder(engine, rng, period, limit, block):
    n = 200
    x = rng.standard_normal(period).astype(np.float32)
    out = engine.zeros(n, "float32")
    bounded_remainder_kernel[(triton.cdiv(n, block),)](engine.array(x), out, period, limit, n, block)
    wrapped = np.arange(n) % period
    expected = np.where(wrapped < limit, x[wrapped], -1.0).astype(np.float32)
    np.testing.assert_array_equal(engine.numpy(out), np.where(wrapped <= limit, expected, 0))


@triton.jit
def scaled_matmul_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, step, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    inner = tl.program_id(2) * BK + tl.arange(0, BK)
    a_pointers = a_ptr + (rows[:, None] * (K * step) + inner[None, :] * step)
    b_pointers = b_ptr + (inner[:, None] * N + columns[None, :])
    # Read before the loop, used after it: what they are kept in must not be where the rows are.
    a_scale = tl.load(a_scale_ptr + rows * step, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    sums = tl.zeros((BM, BN), dtype=tl.int32)
    for start in range(0, K, BK):
        a = tl.load(a_pointers, mask=inner[None, :] < K - start, other=0)
        b = tl.load(b_pointers, mask=inner[:, None] < K - start, other=0)
        sums += tl.dot(a, b)
        a_pointers += BK * step
        b_pointers += BK * N
    c = sums.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("blocks", [(128, 32, 32), (64, 64, 32), (128, 256, 64)])
def test_wrapped_rows_live_as_long_as_pointers_made_of_them(engine, rng, blocks, step):
    M, N, K = 37, 30, 45
    a = rng.integers(-9, 9, (M, K, step), dtype=np.int8)
    b = rng.integers(-9, 9, (K, N), dtype=np.int8)
    a_scale, b_scale = rng.uniform(1, 2, (M, step)).astype(np.float32), rng.uniform(1, 2, N).astype(np.float32)
    c = engine.zeros((M, N), "float32")
    scaled_matmul_kernel[(1,)](*map(engine.array, (a, a_scale, b, b_scale)), c, M, N, K, step, *blocks)
    expected = (a[:, :, 0].astype(np.float32) @ b.astype(np.float32)) * a_scale[:, :1] * b_scale
    np.testing.assert_allclose(engine.numpy(c), expected, rtol=1e-5)


@triton.jit
def steps_that_go_round(x_ptr, out_ptr, START, KIND: tl.constexpr, COUNT: tl.constexpr):
    row, column = tl.arange(0, 8)[:, None], tl.arange(0, 16)[None, :]
    if KIND == "shift":
        index = (column + row) << 29
    elif KIND == "shift of each row":
        index = (column + row) << (16 + 2 * row)
    elif KIND == "shift of an argument":
        index = (column + row + START) << 28
    elif KIND == "product with an argument":
        index = (column + row) * ((START - 4) << 30)
    elif KIND == "products of small numbers":
        index = (column + row) * 32768 * 32768
    else:
        index = (column + row) * 1073741824
    x = tl.load(x_ptr + index, mask=(index >= 0) & (index < COUNT), other=-1)
    tl.store(out_ptr + row * 16 + column, x)


KINDS = ["shift", "shift of each row", "shift of an argument", "product", "product with an argument", "products of small numbers"]


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_whose_steps_go_round_within_a_row(engine, kind):
    row, column = np.arange(8, dtype=np.int32)[:, None], np.arange(16, dtype=np.int32)[None, :]
    with np.errstate(over="ignore"):
        index = {
            "shift": (column + row) << 29, "shift of each row": (column + row) << (16 + 2 * row),
            "shift of an argument": (column + row + np.int32(5)) << 28,
        }.get(kind, (column + row) * np.int32(1 << 30))  # fmt: skip
    x = np.arange(7, dtype=np.int32) + 100
    out = engine.empty((8, 16), "int32")
    steps_that_go_round[(1,)](engine.array(x), out, 5, kind, len(x))
    inside = (index >= 0) & (index < len(x))
    assert inside.sum() > 1  # a lane whose offset went round
    np.testing.assert_array_equal(engine.numpy(out), np.where(inside, x[np.where(inside, index, 0)], -1))


@triton.jit
def wrapped_columns_kernel(x_ptr, out_ptr, back, N, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) - back) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.load(x_ptr + N + offsets % N))


@pytest.mark.parametrize("back", [0, 2, 4])
@pytest.mark.parametrize("period", [16, 48, 64, 33])
def test_remainders_of_negative_numbers_have_their_sign(engine, rng, period, back):
    """Neighbours wrap to neighbours only from 0 on: -32, -31 % 32 is 0, -31."""
    x = rng.standard_normal(2 * period).astype(np.float32)
    out = engine.zeros(6 * 32, "float32")
    wrapped_columns_kernel[(6,)](engine.array(x), out, back, period, BLOCK=32)
    offsets = np.arange(6 * 32) - back * 32
    np.testing.assert_array_equal(engine.numpy(out), x[period + np.fmod(offsets, period)])


@triton.jit
def wrapped_matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, back, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    row, column = tl.program_id(0) // columns, tl.program_id(0) % columns
    m = row * BM + tl.arange(0, BM)
    n = column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_pointers = a_ptr + (m % M)[:, None] * K + k[None, :]
    b_pointers = b_ptr + (1 + k)[:, None] * N + ((n - back * N) % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_pointers, mask=k[None, :] < K - start * BK, other=0.0)
        b = tl.load(b_pointers, mask=k[:, None] < K - start * BK, other=0.0)
        total = tl.dot(a, b, total)
        a_pointers += BK
        b_pointers += BK * N
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("shape", [(32, 64, 64), (48, 80, 48), (40, 33, 20)])
@pytest.mark.parametrize("back", [0, 1])
def test_wrapped_operands_of_a_product(engine, rng, shape, back):
    """With `back` the columns' remainders are 0 and then negative: of the row above, but for the first column."""
    M, N, K = shape
    a, b = rng.integers(-3, 4, (M, K)).astype(np.float32), rng.integers(-3, 4, (K + 1, N)).astype(np.float32)
    c = engine.zeros((M, N), "float32")
    grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32),)
    wrapped_matmul_kernel[grid](engine.array(a, "float16"), engine.array(b, "float16"), c, M, N, K, back, BM=32, BN=32, BK=16, num_stages=3)
    expected = b[1:].copy()
    if back:
        expected[:, 1:] = b[:-1, 1:]
    np.testing.assert_array_equal(engine.numpy(c), a @ expected)
