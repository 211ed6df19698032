"""The order of loads and stores within a program: lane by lane by itself, across lanes with a barrier.

Each kernel would give something else if a load were repeated after a store, or moved past one.
"""

import numpy as np
import pytest
import triton
import triton.language as tl


def run(engine, kernel, x, *arguments, **meta):
    buffer = engine.array(x)
    kernel[(1,)](buffer, *arguments, **meta)
    return engine.numpy(buffer)


@triton.jit
def used_after_store_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, 0)
    tl.store(out_ptr, tl.sum(x, axis=0))
    tl.store(out_ptr + 1, tl.max(x * 2, axis=0))


@pytest.mark.parametrize("n", [1, 16, 1024])
def test_a_value_used_after_its_place_was_overwritten(engine, rng, n):
    x = rng.integers(1, 100, n).astype(np.int32)
    out = engine.zeros(2, "int32")
    after = run(engine, used_after_store_kernel, x, out, N=n)
    assert (after == 0).all()
    np.testing.assert_array_equal(engine.numpy(out), [x.sum(), 2 * x.max()])


@triton.jit
def two_names_kernel(x_ptr, y_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    y = x + 1
    tl.store(y_ptr + offsets, y)
    tl.store(x_ptr + offsets, x + y + tl.load(y_ptr + offsets))


def test_two_names_for_one_buffer(engine):
    x = np.arange(64, dtype=np.int32)
    buffer = engine.array(x)
    two_names_kernel[(1,)](buffer, buffer, N=64)
    np.testing.assert_array_equal(engine.numpy(buffer), x + 2 * (x + 1))


@triton.jit
def repeated_kernel(x_ptr, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    for i in range(n):
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2 + i)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_memory_carried_by_a_loop(engine, n):
    x = np.arange(64, dtype=np.int32)
    expected = x
    for i in range(n):
        expected = expected * 2 + i
    np.testing.assert_array_equal(run(engine, repeated_kernel, x, n, N=64), expected)


@triton.jit
def shift_kernel(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.debug_barrier()
    tl.store(x_ptr + offsets + 1, x)


@triton.jit
def reverse_kernel(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.debug_barrier()
    tl.store(x_ptr + (N - 1 - offsets), x)


@triton.jit
def transpose_kernel(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + i[None, :])
    tl.debug_barrier()
    tl.store(x_ptr + i[None, :] * N + i[:, None], x)


def test_shift_in_place(engine):
    x = np.arange(65, dtype=np.int32)
    np.testing.assert_array_equal(run(engine, shift_kernel, x, N=64), np.append(0, x[:64]))


def test_reverse_in_place(engine):
    x = np.arange(256, dtype=np.int32)
    np.testing.assert_array_equal(run(engine, reverse_kernel, x, N=256), x[::-1])


@pytest.mark.parametrize("n", [4, 32])
def test_transpose_in_place(engine, n):
    x = np.arange(n * n, dtype=np.int32).reshape(n, n)
    np.testing.assert_array_equal(run(engine, transpose_kernel, x, N=n), x.T)


@triton.jit
def through_memory_kernel(x_ptr, scratch_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(scratch_ptr + i, x * 10)
    tl.debug_barrier()
    neighbour = tl.load(scratch_ptr + (i + 1) % N)
    tl.store(out_ptr + i, x + neighbour)


def test_lanes_that_read_what_others_wrote(engine):
    x = np.arange(128, dtype=np.int32)
    out = engine.empty(128, "int32")
    through_memory_kernel[(1,)](engine.array(x), engine.empty(128, "int32"), out, N=128)
    np.testing.assert_array_equal(engine.numpy(out), x + np.roll(x, -1) * 10)


@triton.jit
def prefix_kernel(x_ptr, n):
    for i in range(1, n):
        tl.store(x_ptr + i, tl.load(x_ptr + i) + tl.load(x_ptr + i - 1))


def test_scalars_one_after_the_other(engine, rng):
    x = rng.integers(-9, 9, 100).astype(np.int32)
    np.testing.assert_array_equal(run(engine, prefix_kernel, x, 100), np.cumsum(x))


@triton.jit
def atomic_then_load_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    before = tl.load(x_ptr + offsets)
    tl.atomic_add(x_ptr + offsets, 5)
    after = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, after * 1000 + before)


def test_loads_around_an_atomic(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    run(engine, atomic_then_load_kernel, x, out, N=64)
    np.testing.assert_array_equal(engine.numpy(out), (x + 5) * 1000 + x)


@triton.jit
def branch_store_kernel(x_ptr, out_ptr, flag, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    if flag > 0:
        tl.store(x_ptr + offsets, x + 100)
    y = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x * 1000 + y)


@pytest.mark.parametrize("flag", [0, 2])
def test_a_store_in_a_branch(engine, flag):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    run(engine, branch_store_kernel, x, out, flag, N=64)
    np.testing.assert_array_equal(engine.numpy(out), x * 1000 + x + (100 if flag else 0))


@triton.jit
def chosen_pointer_kernel(a_ptr, b_ptr, out_ptr, flag, N: tl.constexpr):
    offsets = tl.arange(0, N)
    if flag > 0:
        pointer = a_ptr
    else:
        pointer = b_ptr
    pointers = tl.where(offsets % 2 == 0, pointer + offsets, a_ptr + (N - 1 - offsets))
    tl.store(out_ptr + offsets, tl.load(pointers))


@pytest.mark.parametrize("flag", [0, 2])
def test_pointers_chosen_at_run_time(engine, flag):
    a, b = np.arange(64, dtype=np.int32), np.arange(100, 164, dtype=np.int32)
    out = engine.empty(64, "int32")
    chosen_pointer_kernel[(1,)](engine.array(a), engine.array(b), out, flag, N=64)
    np.testing.assert_array_equal(engine.numpy(out), np.where(a % 2 == 0, a if flag else b, a[::-1]))


@triton.jit
def last_store_wins_kernel(out_ptr, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, 1)
    tl.store(out_ptr + offsets, 2, mask=offsets < n)
    tl.store(out_ptr + offsets, offsets, mask=offsets % 3 == 0)


def test_the_last_store_wins(engine):
    lanes = np.arange(64)
    got = run(engine, last_store_wins_kernel, np.zeros(64, np.int32), 10, N=64)
    np.testing.assert_array_equal(got, np.where(lanes % 3 == 0, lanes, np.where(lanes < 10, 2, 1)))


@triton.jit
def moving_window_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    pointers = x_ptr + tl.arange(0, N)
    previous = tl.load(pointers)
    total = tl.zeros((N,), dtype=tl.int32)
    for i in range(n):
        pointers += 1
        current = tl.load(pointers)
        total += (current - previous) * (i + 1)
        previous = current
        tl.store(pointers - 1, -1)
    tl.store(out_ptr + tl.arange(0, N), total)


def test_a_window_that_overwrites_behind_itself(engine, rng):
    """A tile of one lane: it reads ahead and writes behind."""
    x = rng.integers(-100, 100, 80).astype(np.int32)
    out = engine.empty(1, "int32")
    run(engine, moving_window_kernel, x, out, 20, N=1)
    expected, previous = 0, int(x[0])
    for i in range(20):
        expected += (int(x[i + 1]) - previous) * (i + 1)
        previous = int(x[i + 1])
    assert engine.numpy(out)[0] == expected


@triton.jit
def broadcast_in_place_kernel(x_ptr, n, ADD: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.arange(0, COLUMNS)
    first = tl.load(x_ptr + columns, mask=columns < n, other=0.0)
    pointers = x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + columns[None, :]
    if ADD:
        tl.store(pointers, tl.load(pointers) + first[None, :])
    else:
        tl.store(pointers, tl.exp(first)[None, :] + 1.0)


@pytest.mark.parametrize("rows, columns", [(8, 32), (32, 64), (4, 8), (16, 128)])
@pytest.mark.parametrize("add", [True, False])
def test_a_row_is_read_before_its_place_is_written(engine, rng, rows, columns, add):
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    array = engine.array(x)
    broadcast_in_place_kernel[(1,)](array, columns, add, rows, columns)
    expected = x + x[0] if add else np.broadcast_to(np.exp(x[0]) + 1, x.shape)
    np.testing.assert_allclose(engine.numpy(array), expected, rtol=1e-6)


@triton.jit
def transpose_in_place_kernel(x_ptr, SIZE: tl.constexpr):
    pointers = x_ptr + tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(pointers, tl.trans(tl.load(pointers)))


@pytest.mark.parametrize("size", [4, 16, 64])
def test_a_tile_is_read_before_its_transpose_is_written(engine, rng, size):
    x = rng.standard_normal((size, size)).astype(np.float32)
    array = engine.array(x)
    transpose_in_place_kernel[(1,)](array, size)
    np.testing.assert_array_equal(engine.numpy(array), x.T)


@triton.jit
def uniform_load_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    same = tl.load(x_ptr + tl.zeros((N,), tl.int32)) + 1
    line = tl.load(x_ptr + tl.zeros((N,), tl.int32)) + i
    turned, turned_line = tl.flip(same, 0), tl.flip(line, 0)
    tl.store(x_ptr + i, 0)
    tl.debug_barrier()
    tl.store(out_ptr + i, same * 3 + turned)
    tl.store(out_ptr + N + i, line * 3 + turned_line)
    tl.store(out_ptr + 2 * N + i, tl.load(x_ptr + 1000 + line - 1007 + N, mask=line >= 7, other=-1))


@pytest.mark.parametrize("n", [8, 64])
def test_what_all_lanes_load_from_one_place_is_loaded_once(engine, n):
    x = np.arange(2 * n, dtype=np.int32) * 3 + 7
    out = engine.zeros(3 * n, "int32")
    uniform_load_kernel[(1,)](engine.array(x), out, N=n)
    i = np.arange(n)
    line = 7 + i
    after = np.where(np.arange(2 * n) < n, 0, x)
    expected = [np.full(n, (7 + 1) * 4), line * 3 + line[::-1], after[line - 7 + n]]
    np.testing.assert_array_equal(engine.numpy(out), np.concatenate(expected))


@triton.jit
def one_lane_wide_kernel(first_ptr, second_ptr, out_ptr):
    first = tl.load(tl.broadcast_to(first_ptr + tl.arange(8, 9)[None, :] % 7, (1, 8)))
    a = first - tl.load(tl.broadcast_to(second_ptr, (1, 8)))
    tl.store(out_ptr + tl.arange(0, 16)[None, :], tl.interleave(a, a))


def test_uniform_loads_in_both_halves_of_a_tile(engine):
    x = np.arange(20, dtype=np.int32) * 3 + 7
    out = engine.zeros(16, "int32")
    one_lane_wide_kernel[(1,)](engine.array(x), engine.array(x[5:].copy()), out)
    np.testing.assert_array_equal(engine.numpy(out), np.full(16, x[1] - x[5]))


@triton.jit
def costly_mask_kernel(x_ptr, out_ptr, limit, C: tl.constexpr):
    r, c = tl.arange(0, 4)[:, None], tl.arange(0, C)[None, :]
    mask = tl.broadcast_to((r % 3 < limit) & (r // 3 < limit), (4, C))
    x = tl.load(x_ptr + r * C + c, mask=mask, other=1.5)
    y = tl.dot(tl.trans(x), x, input_precision="ieee")
    z = tl.load(x_ptr + c * 4 + r, mask=mask, other=2.5)
    tl.store(out_ptr + tl.arange(0, C)[:, None] * C + c, y + tl.sum(z))


@triton.jit
def uniform_mask_kernel(x_ptr, out_ptr, limit):
    j = tl.broadcast_to(tl.arange(0, 1)[:, None] - tl.arange(1, 2)[:, None] % 3, (1, 32))
    mask = (j >= 0) & (j < 33) & (tl.arange(0, 1)[:, None] + 1 <= limit)
    tl.store(out_ptr + tl.arange(0, 32)[None, :], tl.load(x_ptr + j, mask=mask, other=1.5))


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_masks_the_same_in_all_lanes(engine, limit):
    x = np.arange(128, dtype=np.float32)
    out = engine.zeros((32, 32), "float32")
    costly_mask_kernel[(1,)](engine.array(x), out, limit, C=32)
    r = np.arange(4)[:, None]
    mask = np.broadcast_to((r % 3 < limit) & (r // 3 < limit), (4, 32))
    a, b = np.where(mask, x.reshape(4, 32), 1.5), np.where(mask, x.reshape(32, 4).T, 2.5)
    np.testing.assert_array_equal(engine.numpy(out), a.T @ a + b.sum())
    flat = engine.zeros(32, "float32")
    uniform_mask_kernel[(1,)](engine.array(x), flat, limit)
    np.testing.assert_array_equal(engine.numpy(flat), np.full(32, 1.5))


@triton.jit
def first_lane_kernel(x_ptr, out_ptr, TYPE: tl.constexpr, KEPT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(TYPE), mask=i < KEPT)


@pytest.mark.parametrize("to", ["int8", "int16", "int32"])
@pytest.mark.parametrize("n, kept", [(4, 1), (8, 1), (8, 3), (16, 5), (16, 0)])
def test_narrowed_elements_stay_in_their_lanes(engine, to, n, kept):
    x = np.arange(1, n + 1, dtype=np.int64) * 1001
    out = engine.array(np.full(n, 7, to))
    first_lane_kernel[(1,)](engine.array(x), out, TYPE=getattr(tl, to), KEPT=kept, N=n)
    np.testing.assert_array_equal(engine.numpy(out), np.where(np.arange(n) < kept, x.astype(to), 7))


@triton.jit
def other_loaded_kernel(x_ptr, other_ptr, out_ptr, n, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    other = tl.load(other_ptr + i)
    x = tl.load(x_ptr + i, mask=i < n, other=other)
    total = tl.sum(x, 0)
    for _ in range(steps):
        total = total * 3 + 1
    tl.store(out_ptr + i, x + total)


@pytest.mark.parametrize("n", [0, 5, 16])
@pytest.mark.parametrize("size", [1, 16])
def test_a_load_read_again_whose_other_is_loaded(engine, n, size):
    x, other = np.arange(size, dtype=np.int32) + 3, np.arange(size, dtype=np.int32) * 10
    out = engine.zeros(size, "int32")
    other_loaded_kernel[(1,)](engine.array(x), engine.array(other), out, n, 2, N=size)
    kept = np.where(np.arange(size) < n, x, other)
    np.testing.assert_array_equal(engine.numpy(out), kept + (kept.sum() * 3 + 1) * 3 + 1)
