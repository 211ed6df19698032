"""Tiles whose memory is contiguous along another axis than the last: columns, axes of extent 1, transpositions."""

import numpy as np
import pytest
import triton
import triton.language as tl

DTYPES = ["float32", "float16", "int8", "int64", "float64"]


def made(rng, shape, dtype):
    return rng.integers(-9, 10, shape).astype(dtype)


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, rows, columns, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[:, None]
    total = tl.full([COLUMNS, ROWS], 0, x_ptr.dtype.element_ty)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)[None, :]
        mask = (row < rows) & (column < columns)
        total = tl.where(mask, total + tl.load(x_ptr + column + columns * row, mask, other=0), total)
    tl.store(out_ptr + column, tl.sum(total, 1)[:, None], column < columns)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [(64, 1), (16, 8), (4, 1), (1, 16), (128, 4)])
def test_columns_that_are_summed(engine, rng, dtype, block):
    x = made(rng, (21, 100), dtype)
    out = engine.zeros((100,), dtype)
    column_sum_kernel[(triton.cdiv(100, block[0]),)](engine.array(x), out, 21, 100, COLUMNS=block[0], ROWS=block[1])
    np.testing.assert_array_equal(engine.numpy(out), x.sum(0, dtype=dtype))


@triton.jit
def transposed_sum_kernel(x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, MASKED: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    mask = ((row < rows) & (column < columns)) if MASKED else None
    x = tl.load(x_ptr + row * columns + column, mask)
    y = tl.load(y_ptr + column * rows + row, mask)
    tl.store(out_ptr + row * columns + column, x + y, mask)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [(16, 16), (32, 16), (8, 64), (64, 4), (2, 32), (128, 1)])
@pytest.mark.parametrize("shape", [(128, 64), (100, 61)])
def test_a_matrix_and_a_transposed_one(engine, rng, dtype, block, shape):
    x, y = made(rng, shape, dtype), made(rng, shape[::-1], dtype)
    out = engine.zeros(shape, dtype)
    masked = shape == (100, 61)
    grid = (triton.cdiv(shape[1], block[1]), triton.cdiv(shape[0], block[0]))
    transposed_sum_kernel[grid](engine.array(x), engine.array(y), out, *shape, ROWS=block[0], COLUMNS=block[1], MASKED=masked)
    np.testing.assert_array_equal(engine.numpy(out), x + y.T)


@triton.jit
def channels_last_kernel(x_ptr, out_ptr, C: tl.constexpr, S: tl.constexpr):
    channel, place = tl.arange(0, C)[None, :, None], tl.arange(0, S)[None, None, :]
    image = tl.arange(0, 2)[:, None, None]
    x = tl.load(x_ptr + place + S * channel + S * C * image)
    tl.store(out_ptr + channel + C * place + S * C * image, x * 2)


def test_a_store_along_another_axis_than_its_load(engine, rng):
    x = made(rng, (2, 16, 32), "float32")
    out = engine.zeros((2, 32, 16), "float32")
    channels_last_kernel[(1,)](engine.array(x), out, C=16, S=32)
    np.testing.assert_array_equal(engine.numpy(out), 2 * x.transpose(0, 2, 1))


@triton.jit
def transposed_users_kernel(x_ptr, out_ptr, sums_ptr, N: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + row + N * column)
    rows = tl.sum(x, 1)
    tl.store(sums_ptr + tl.arange(0, N), rows)
    tl.store(sums_ptr + N + tl.arange(0, N), tl.max(x, 0))
    tl.store(out_ptr + row * N + column, x - rows[:, None] + tl.trans(x))


def test_a_transposed_tile_that_is_read_again(engine, rng):
    x = made(rng, (32, 32), "float32")
    out, sums = engine.zeros((32, 32), "float32"), engine.zeros((2, 32), "float32")
    transposed_users_kernel[(1,)](engine.array(x), out, sums, N=32)
    y = x.T
    np.testing.assert_array_equal(engine.numpy(sums), [y.sum(1), y.max(0)])
    np.testing.assert_array_equal(engine.numpy(out), y - y.sum(1)[:, None] + y.T)


@triton.jit
def in_place_kernel(x_ptr, N: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + row * N + column)
    tl.debug_barrier()
    tl.store(x_ptr + column * N + row, x)


@pytest.mark.parametrize("n", [4, 16, 64])
def test_a_matrix_transposed_in_place(engine, rng, n):
    x = made(rng, (n, n), "float32")
    array = engine.array(x)
    in_place_kernel[(1,)](array, N=n)
    np.testing.assert_array_equal(engine.numpy(array), x.T)


@triton.jit
def indirect_kernel(index_ptr, x_ptr, out_ptr, N: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    start = tl.load(index_ptr + column)  # of a column: known once it is loaded
    x = tl.load(x_ptr + start * N + row, mask=start >= 0, other=-1)
    tl.store(out_ptr + row * N + column, x)


def test_columns_whose_places_are_loaded(engine, rng):
    n = 16
    index = rng.integers(-1, n, n).astype(np.int32)
    x = made(rng, (n, n), "float32")
    out = engine.zeros((n, n), "float32")
    indirect_kernel[(1,)](engine.array(index), engine.array(x), out, N=n)
    np.testing.assert_array_equal(engine.numpy(out), np.where(index >= 0, x[index].T, -1))


@triton.jit
def column_scan_kernel(x_ptr, out_ptr, rows, columns, COLUMNS: tl.constexpr, ROWS: tl.constexpr, REVERSE: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[:, None]
    carried = tl.full([COLUMNS, 1], 0, x_ptr.dtype.element_ty)
    for start in range(0, rows, ROWS):
        row = (rows - ROWS - start if REVERSE else start) + tl.arange(0, ROWS)[None, :]
        mask = (row >= 0) & (row < rows) & (column < columns)
        x = tl.load(x_ptr + column + columns * row, mask, other=0)
        running = tl.associative_scan(x * 2, 1, add, reverse=REVERSE) + carried
        carried += tl.sum(x * 2, 1)[:, None].to(carried.dtype)
        tl.store(out_ptr + column + columns * row, running, mask)


@triton.jit
def add(a, b):
    return a + b


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("block", [(64, 16), (16, 8), (4, 32), (1, 16)])
@pytest.mark.parametrize("reverse", [False, True])
def test_columns_that_are_scanned(engine, rng, dtype, block, reverse):
    x = rng.integers(-2, 3, (32, 100)).astype(dtype)
    out = engine.zeros((32, 100), dtype)
    grid = (triton.cdiv(100, block[0]),)
    column_scan_kernel[grid](engine.array(x), out, 32, 100, COLUMNS=block[0], ROWS=block[1], REVERSE=reverse)
    twice = 2 * (x[::-1] if reverse else x)
    expected = np.cumsum(twice, 0, dtype=dtype)
    np.testing.assert_array_equal(engine.numpy(out), expected[::-1] if reverse else expected)


@triton.jit
def handed_over_kernel(x_ptr, out_ptr, steps, N: tl.constexpr, M: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, M)[None, :]
    last = tl.zeros([N, M], tl.float32)
    before = tl.zeros([N, M], tl.float32)
    for step in range(steps):
        x = tl.load(x_ptr + step * N * M + row + N * column)
        before = last * 2
        last = x
        if step % 2 == 1:
            last = x + before
    tl.store(out_ptr + row * M + column, last)
    tl.store(out_ptr + N * M + row + N * column, before)
    tl.store(out_ptr + 2 * N * M + tl.arange(0, N * M), tl.reshape(last, [N * M]))


@pytest.mark.parametrize("shape", [(16, 8), (4, 32), (32, 32)])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_transposed_tiles_that_a_loop_hands_on(engine, rng, shape, steps):
    n, m = shape
    x = made(rng, (5, m, n), "float32")
    out = engine.zeros((3, n * m), "float32")
    handed_over_kernel[(1,)](engine.array(x), out, steps, N=n, M=m)
    last, before = np.zeros((n, m), "float32"), np.zeros((n, m), "float32")
    for step in range(steps):
        before, last = 2 * last, x[step].T
        if step % 2:
            last = last + before
    np.testing.assert_array_equal(engine.numpy(out), [last.ravel(), before.T.ravel(), last.ravel()])


@triton.jit
def reshaped_scan_kernel(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    row, column = tl.arange(0, N)[:, None, None], tl.arange(0, M)[None, :, None]
    x = tl.load(x_ptr + row * M + column + tl.arange(0, 1)[None, None, :])
    running = tl.cumsum(x.to(tl.int8), 0)
    tl.store(out_ptr + tl.arange(0, N * M), tl.reshape(running, [N * M]))


@pytest.mark.parametrize("shape", [(4, 2), (8, 16), (32, 4)])
def test_running_values_that_are_reshaped(engine, rng, shape):
    x = rng.integers(-2, 3, shape).astype("float32")
    out = engine.zeros(shape, "int32")
    reshaped_scan_kernel[(1,)](engine.array(x), out, N=shape[0], M=shape[1])
    np.testing.assert_array_equal(engine.numpy(out), np.cumsum(x, 0))
