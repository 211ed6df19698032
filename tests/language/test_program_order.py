"""Programs of grids of several axes, whichever of them moves along memory: each runs once, with its own number."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def blocks_kernel(x, out, height, width, ROW_AXIS: tl.constexpr, COLUMN_AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(ROW_AXIS) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(COLUMN_AXIS) * COLUMNS + tl.arange(0, COLUMNS)
    place = row[:, None] * width + column[None, :]
    mask = (row[:, None] < height) & (column[None, :] < width)
    number = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(out + place, tl.load(x + place, mask=mask) + number, mask=mask)


@pytest.mark.parametrize("row_axis, column_axis", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
@pytest.mark.parametrize("height, width", [(32, 64), (37, 100), (5, 17)])
def test_blocks_of_a_matrix(engine, rng, row_axis, column_axis, height, width):
    rows, columns = 8, 16
    x = rng.integers(0, 100, (height, width))
    out = engine.empty((height, width), "int32")
    grid = [1, 1, 1]
    grid[row_axis], grid[column_axis] = triton.cdiv(height, rows), triton.cdiv(width, columns)
    blocks_kernel[tuple(grid)](
        engine.array(x, "int32"), out, height, width, ROW_AXIS=row_axis, COLUMN_AXIS=column_axis, ROWS=rows, COLUMNS=columns
    )
    place = {row_axis: np.arange(height)[:, None] // rows, column_axis: np.arange(width)[None, :] // columns}
    x_axis, y_axis, z_axis = (place.get(axis, 0) for axis in range(3))
    np.testing.assert_array_equal(engine.numpy(out), x + (z_axis * grid[1] + y_axis) * grid[0] + x_axis)


@triton.jit
def tickets_kernel(counter, out, width, N: tl.constexpr):
    """Programs that count each other: an order that others see is that of the numbers, on one thread."""
    ticket = tl.atomic_add(counter, 1)
    place = tl.program_id(0) * width + tl.program_id(1) * N + tl.arange(0, N)
    tl.store(out + place, ticket + tl.zeros((N,), tl.int32))


def test_each_program_runs_once(engine):
    counter, out = engine.array(np.zeros(1), "int32"), engine.empty((6, 32), "int32")
    tickets_kernel[(6, 4)](counter, out, 32, N=8)
    found = engine.numpy(out)
    assert engine.numpy(counter)[0] == 24
    assert sorted(found[:, ::8].ravel()) == list(range(24)) and (found.reshape(24, 8) == found.reshape(24, 8)[:, :1]).all()


@triton.jit
def rows_kernel(x, out, height, width, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """One axis of the grid for both: neighbours take turns along a row, and a run of them ends where the rows of blocks do."""
    row = tl.program_id(0) // columns * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % columns * COLUMNS + tl.arange(0, COLUMNS)
    place = row[:, None] * width + column[None, :]
    mask = (row[:, None] < height) & (column[None, :] < width)
    tl.store(out + place, tl.load(x + place, mask=mask) * 2 + tl.program_id(0), mask=mask)


@pytest.mark.parametrize("name", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("height, width", [(32, 640), (37, 1000), (9, 130), (70, 5000)])
@pytest.mark.parametrize("in_place", [False, True])
def test_rows_of_blocks(engine, rng, name, height, width, in_place):
    rows, columns = 16, 64
    blocks = triton.cdiv(width, columns)
    x = rng.integers(0, 100, (height, width))
    given = engine.array(x, name)
    out = given if in_place else engine.empty((height, width), name)
    rows_kernel[(triton.cdiv(height, rows) * blocks,)](given, out, height, width, blocks, ROWS=rows, COLUMNS=columns)
    program = np.arange(height)[:, None] // rows * blocks + np.arange(width)[None, :] // columns
    np.testing.assert_array_equal(engine.numpy(out), (2 * x + program).astype(name))
