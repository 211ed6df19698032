"""program_id, num_programs, and the grid: one to three axes, a function of the meta-parameters, nothing at all."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def coordinates_kernel(out_ptr):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(axis=2)
    index = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out_ptr + index * 6 + 0, x)
    tl.store(out_ptr + index * 6 + 1, y)
    tl.store(out_ptr + index * 6 + 2, z)
    tl.store(out_ptr + index * 6 + 3, tl.num_programs(0))
    tl.store(out_ptr + index * 6 + 4, tl.num_programs(1))
    tl.store(out_ptr + index * 6 + 5, tl.num_programs(axis=2))


@pytest.mark.parametrize("grid", [(1,), (7,), (3, 5), (2, 3, 4), (1, 1, 9), (1000,)], ids=str)
def test_coordinates(engine, grid):
    sizes = (*grid, 1, 1)[:3]
    out = engine.empty((int(np.prod(sizes)), 6), "int32")
    coordinates_kernel[grid](out)
    z, y, x = np.meshgrid(*(np.arange(n) for n in reversed(sizes)), indexing="ij")
    expected = np.stack([x.ravel(), y.ravel(), z.ravel()] + [np.full(x.size, n) for n in sizes], axis=1)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def count_kernel(counter_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(counter_ptr, 1)


def test_grid_from_meta_parameters(engine):
    counter = engine.zeros(1, "int32")
    count_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](counter, BLOCK=64)
    assert engine.numpy(counter)[0] == 16


@pytest.mark.parametrize("grid", [(0,), (0, 3), (4, 0), (2, 2, 0)], ids=str)
def test_an_empty_grid_runs_nothing(engine, grid):
    counter = engine.zeros(1, "int32")
    count_kernel[grid](counter, BLOCK=1)
    assert engine.numpy(counter)[0] == 0


def test_launches_follow_one_another(engine):
    counter = engine.zeros(1, "int32")
    for _ in range(20):
        count_kernel[(3,)](counter, BLOCK=1)
    assert engine.numpy(counter)[0] == 60


@triton.jit
def type_of_id_kernel(out_ptr):
    tl.static_assert(tl.program_id(0).dtype == tl.int32)
    tl.static_assert(tl.num_programs(0).dtype == tl.int32)
    tl.store(out_ptr, 1)


def test_ids_are_int32(engine):
    out = engine.empty(1, "int32")
    type_of_id_kernel[(1,)](out)
    assert engine.numpy(out)[0] == 1


@triton.jit
def target_kernel(out_ptr):
    if tl.target_info.is_cuda():
        tl.store(out_ptr, 1)
    else:
        tl.store(out_ptr, 2)
    tl.store(out_ptr + 1, tl.target_info.cuda_capability_geq(9, 0))


@pytest.mark.ours("asks about this engine's target")
def test_what_the_target_is(engine):
    out = engine.empty(2, "int32")
    target_kernel[(1,)](out)
    expected = [1, engine.numpy(out)[1]] if engine.device == "cuda" else [2, 0]
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def machine_kernel(out_ptr, WARPS: tl.constexpr, THREADS: tl.constexpr):
    before = tl.extra.cuda.globaltimer()
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out_ptr, tl.extra.cuda.smid())
    tl.static_assert(tl.extra.cuda.num_warps() == WARPS)
    tl.static_assert(tl.extra.cuda.num_threads() == THREADS)
    tl.store(out_ptr + 1, before)
    tl.store(out_ptr + 2, tl.extra.cuda.globaltimer())


@pytest.mark.ours("Triton's interpreter has none of these")
def test_what_the_machine_says(engine):
    out = engine.zeros(3, "int64")
    warps, threads = (4, 128) if engine.device == "cuda" else (1, 1)
    machine_kernel[(1,)](out, warps, threads, num_warps=4)
    processor, before, after = engine.numpy(out).tolist()
    assert 0 <= processor < 4096
    assert 0 < before <= after < before + 10**12  # nanoseconds


@triton.jit
def elapsed_kernel(out_ptr, counter_ptr):
    start = tl.extra.cuda.globaltimer()
    while tl.extra.cuda.globaltimer() < start + 3000000:
        tl.atomic_add(counter_ptr, 1)
    tl.store(out_ptr, tl.extra.cuda.globaltimer() - start)


@pytest.mark.ours("Triton's interpreter has none of these")
def test_every_reading_of_the_clock_is_new(engine):
    out, counter = engine.zeros(1, "int64"), engine.zeros(1, "int32")
    elapsed_kernel[(1,)](out, counter)
    assert engine.numpy(out)[0] >= 3000000 and engine.numpy(counter)[0] > 0
