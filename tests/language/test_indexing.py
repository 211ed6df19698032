"""Parts of a tile by constant places, and functions that move elements: gather, interleave, swizzle2d."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, PART: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if PART == "row":
        y = x[1]
    elif PART == "column":
        y = x[:, -1]
    elif PART == "rows":
        y = x[1:3].reshape(2 * N)
    elif PART == "steps":
        y = x[..., 1:N:2].ravel()
    elif PART == "backward":
        y = x[::-1, ::-1].ravel()
    elif PART == "new axis":
        y = x[0, None, :].ravel()
    else:
        y = x[2, 1]
    tl.store(out_ptr + tl.arange(0, y.numel) if y.numel > 1 else out_ptr, y)


@pytest.mark.ours("slices and reads of a tile")
@pytest.mark.parametrize("part, expected", [
    ("row", lambda x: x[1]), ("column", lambda x: x[:, -1]), ("rows", lambda x: x[1:3]), ("steps", lambda x: x[:, 1::2]),
    ("backward", lambda x: x[::-1, ::-1]), ("new axis", lambda x: x[0]), ("element", lambda x: x[2, 1]),
])  # fmt: skip
def test_parts_of_a_tile(engine, rng, part, expected):
    x = rng.standard_normal((4, 6)).astype(np.float32)
    expected = np.ravel(expected(x))
    out = engine.empty(len(expected), "float32")
    part_kernel[(1,)](engine.array(x), out, M=4, N=6, PART=part)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def move_kernel(x_ptr, out_ptr, N: tl.constexpr, OP: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    if OP == "interleave":
        tl.store(out_ptr + tl.arange(0, 2 * N), tl.interleave(x, -x))
    else:
        tl.store(out_ptr + at, tl.gather(x, (at * 3) % N, 0))


def test_interleave_and_gather(engine, rng):
    x = rng.integers(-100, 100, 32).astype(np.int32)
    out = engine.empty(64, "int32")
    move_kernel[(1,)](engine.array(x), out, N=32, OP="interleave")
    np.testing.assert_array_equal(engine.numpy(out), np.stack([x, -x], axis=1).ravel())
    out = engine.empty(32, "int32")
    move_kernel[(1,)](engine.array(x), out, N=32, OP="gather")
    np.testing.assert_array_equal(engine.numpy(out), x[np.arange(32) * 3 % 32])


@triton.jit
def swizzle_kernel(out_ptr, rows, columns, group):
    i, j = tl.program_id(0), tl.program_id(1)
    new_i, new_j = tl.swizzle2d(i, j, rows, columns, group)
    tl.store(out_ptr + i * columns + j, new_i * columns + new_j)


@pytest.mark.parametrize("rows, columns, group", [(4, 4, 2), (5, 3, 2), (7, 5, 4), (3, 3, 1)])
def test_swizzle2d_walks_groups_of_rows_by_columns(engine, rows, columns, group):
    out = engine.empty((rows, columns), "int32")
    swizzle_kernel[(rows, columns)](out, rows, columns, group)
    order = [i * columns + j for first in range(0, rows, group) for j in range(columns) for i in range(first, min(first + group, rows))]
    np.testing.assert_array_equal(engine.numpy(out).ravel(), order)


@triton.jit
def scalar_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tile = tl.load(x_ptr + offsets)[None, :] * tl.load(x_ptr)[:, None]
    tl.static_assert(tl.load(x_ptr)[None, :].shape[0] == 1 and len(tl.load(x_ptr)[:, None].shape) == 1)
    tl.store(out_ptr + offsets[None, :], tile)


@pytest.mark.ours("its compiler takes this, its interpreter does not")
def test_a_scalar_in_the_place_of_a_tile(engine, rng):
    x = rng.standard_normal(16).astype(np.float32)
    out = engine.empty(16, "float32")
    scalar_kernel[(1,)](engine.array(x), out, 16)
    np.testing.assert_array_equal(engine.numpy(out), x * x[0])
