"""num_ctas: a program that several blocks of a GPU run together does what it does in one. Blocks share the work of every tile;
where they need each other's elements they exchange them through distributed shared memory. Elsewhere the option changes nothing."""

import re

import numpy as np
import pytest
import triton
import triton.language as tl

CTAS = (1, 2, 4)


@pytest.fixture(autouse=True)
def clusters(engine):
    if engine.is_hip:
        pytest.skip("AMD's GPUs have no clusters")
    if engine.device == "cuda":
        import torch

        if torch.cuda.get_device_capability() < (9, 0):
            pytest.skip("the GPU has no clusters")


def integers(rng, *shape, most=100):
    return rng.integers(-most, most, shape).astype(np.int32)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask, other=7), mask=mask)


@pytest.mark.parametrize("num_ctas", [1, 2, 4, 8])
@pytest.mark.parametrize("block", [1, 4, 64, 1024])
def test_elements_and_masks(engine, rng, num_ctas, block):
    n = 3 * block - block // 2
    x, y, out = integers(rng, n), integers(rng, n), engine.empty(n, "int32")
    add_kernel[(triton.cdiv(n, block),)](engine.array(x), engine.array(y), out, n, BLOCK=block, num_ctas=num_ctas, num_warps=2)
    np.testing.assert_array_equal(engine.numpy(out), x + y)


@triton.jit
def programs_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    width, height = tl.num_programs(0), tl.num_programs(1)
    place = out_ptr + 4 * ((z * height + y) * width + x)
    tl.store(place, x + 1)
    tl.store(place + 1, y + 1)
    tl.store(place + 2, z + 1)
    tl.store(place + 3, width * 100 + height * 10 + tl.num_programs(2))


@pytest.mark.parametrize("num_ctas", CTAS)
def test_programs_are_clusters(engine, num_ctas):
    out = engine.zeros((2, 4, 3, 4), "int32")
    programs_kernel[(3, 4, 2)](out, num_ctas=num_ctas)
    z, y, x = np.indices((2, 4, 3))
    np.testing.assert_array_equal(engine.numpy(out), np.stack([x + 1, y + 1, z + 1, np.full_like(x, 342)], axis=-1))


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


@triton.jit
def second(a, b):
    return b


@triton.jit
def reduce_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, HOW: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if HOW == "sum":
        y = tl.sum(x, axis=AXIS)
    elif HOW == "max":
        y = tl.reduce(x, AXIS, largest)
    elif HOW == "argmin":
        y = tl.argmin(x, axis=AXIS)
    else:
        y = tl.reduce(x, AXIS, second)
    if AXIS is None:
        tl.store(out_ptr, y)
    else:
        tl.store(out_ptr + tl.arange(0, N if AXIS == 0 else M), y)


REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis),
    "max": lambda x, axis: x.max(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "last": lambda x, axis: x.take(-1, axis),
}


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("shape, axis", [((32, 64), 0), ((32, 64), 1), ((1, 256), 1), ((256, 1), 0), ((2, 2), 1)])
def test_reductions(engine, rng, num_ctas, how, shape, axis):
    x, out = integers(rng, *shape), engine.empty(shape[1 - axis], "int32")
    reduce_kernel[(1,)](engine.array(x), out, M=shape[0], N=shape[1], AXIS=axis, HOW=how, num_ctas=num_ctas)
    np.testing.assert_array_equal(engine.numpy(out), REDUCTIONS[how](x, axis))


@pytest.mark.parametrize("num_ctas", CTAS)
def test_a_sum_of_all(engine, rng, num_ctas):
    x, out = integers(rng, 64, 32), engine.empty(1, "int32")
    reduce_kernel[(1,)](engine.array(x), out, M=64, N=32, AXIS=None, HOW="sum", num_ctas=num_ctas)
    assert engine.numpy(out)[0] == x.sum()


@triton.jit
def scan_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + places, tl.cumsum(tl.load(x_ptr + places), AXIS, reverse=REVERSE))


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("shape, axis", [((16, 64), 0), ((16, 64), 1), ((1, 512), 1), ((512, 1), 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(engine, rng, num_ctas, shape, axis, reverse):
    x, out = integers(rng, *shape), engine.empty(shape, "int32")
    scan_kernel[(1,)](engine.array(x), out, M=shape[0], N=shape[1], AXIS=axis, REVERSE=reverse, num_ctas=num_ctas)
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def turn_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, HOW: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if HOW == "transpose":
        tl.store(out_ptr + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(x))
    elif HOW == "reshape":
        y = tl.reshape(x, (N // 2, M * 2)) + tl.arange(0, M * 2)[None, :]
        tl.store(out_ptr + tl.arange(0, N // 2)[:, None] * (M * 2) + tl.arange(0, M * 2)[None, :], y)
    elif HOW == "sums":
        y = x + tl.sum(x, 0)[None, :] * tl.sum(x, 1)[:, None]
        tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], y)
    elif HOW == "flip":
        tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.flip(x, 1))
    else:
        y = tl.sort(x)
        tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], y)


TURNS = {
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(x.shape[1] // 2, -1) + np.arange(x.shape[0] * 2),
    "sums": lambda x: x + x.sum(0)[None, :] * x.sum(1)[:, None],
    "flip": lambda x: x[:, ::-1],
    "sort": lambda x: np.sort(x, 1),
}


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("how", TURNS)
@pytest.mark.parametrize("shape", [(16, 64), (128, 4), (1, 128)])
def test_elements_that_move(engine, rng, num_ctas, how, shape):
    x, out = integers(rng, *shape), engine.empty(shape[0] * shape[1], "int32")
    turn_kernel[(1,)](engine.array(x), out, M=shape[0], N=shape[1], HOW=how, num_ctas=num_ctas)
    np.testing.assert_array_equal(engine.numpy(out), TURNS[how](x).ravel())


@triton.jit
def gather_kernel(x_ptr, index_ptr, bins_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    index = tl.load(index_ptr + places)
    tl.store(out_ptr + places, tl.gather(tl.load(x_ptr + places), index, axis=AXIS))
    tl.store(bins_ptr + tl.arange(0, 64), tl.histogram(tl.reshape(index, (M * N,)), 64))


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("axis", [0, 1])
def test_gathers_and_histograms(engine, rng, num_ctas, axis):
    x, index = integers(rng, 32, 64), rng.integers(0, 32, (32, 64)).astype(np.int32)
    bins, out = engine.empty(64, "int32"), engine.empty((32, 64), "int32")
    gather_kernel[(1,)](engine.array(x), engine.array(index), bins, out, M=32, N=64, AXIS=axis, num_ctas=num_ctas)
    np.testing.assert_array_equal(engine.numpy(out), np.take_along_axis(x, index, axis))
    np.testing.assert_array_equal(engine.numpy(bins), np.bincount(index.ravel(), minlength=64))


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEP: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, K, STEP):
        a = tl.load(a_ptr + m[:, None] * K + (k + start)[None, :])
        b = tl.load(b_ptr + (k + start)[:, None] * N + n[None, :])
        sums = tl.dot(a, b, sums, input_precision=PRECISION)
    tl.store(out_ptr + m[:, None] * N + n[None, :], sums)


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("name, precision", [("float16", "tf32"), ("float32", "tf32"), ("float32", "ieee")])
@pytest.mark.parametrize("m, n, k", [(128, 64, 64), (32, 128, 64), (16, 16, 32), (64, 32, 32)])
def test_products(engine, rng, num_ctas, name, precision, m, n, k):
    a, b = (rng.integers(-4, 4, shape).astype(name) for shape in [(m, k), (k, n)])
    out = engine.empty((m, n), "float32")
    dot_kernel[(1,)](engine.array(a), engine.array(b), out, M=m, N=n, K=k, STEP=32, PRECISION=precision, num_ctas=num_ctas)
    np.testing.assert_array_equal(engine.numpy(out), a.astype(np.float32) @ b.astype(np.float32))


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    scores = tl.dot(q, tl.trans(k))
    weights = (scores == tl.max(scores, 1)[:, None]).to(tl.float16)
    tl.store(out_ptr + m[:, None] * D + d[None, :], tl.dot(weights, v))


@pytest.mark.parametrize("num_ctas", CTAS)
def test_products_of_products(engine, rng, num_ctas):
    q, k, v = (rng.integers(-3, 4, (rows, 32)).astype(np.float16) for rows in (128, 64, 64))
    out = engine.empty((128, 32), "float32")
    attention_kernel[(1,)](engine.array(q), engine.array(k), engine.array(v), out, M=128, N=64, D=32, num_ctas=num_ctas)
    scores = q.astype(np.float32) @ k.T.astype(np.float32)
    weights = (scores == scores.max(1, keepdims=True)).astype(np.float32)
    np.testing.assert_array_equal(engine.numpy(out), weights @ v.astype(np.float32))


@triton.jit
def atomics_kernel(count_ptr, sums_ptr, scalar_ptr, tile_ptr, cas_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    before = tl.atomic_add(count_ptr, 1)
    tl.store(scalar_ptr + tl.program_id(0) * N + offsets, before)
    old = tl.atomic_add(sums_ptr + offsets, offsets + 1)
    tl.store(tile_ptr + tl.program_id(0) * N + offsets, old)
    tl.atomic_max(sums_ptr + N + offsets % 4, offsets)
    found = tl.atomic_cas(cas_ptr + offsets, tl.zeros((N,), tl.int32), tl.full((N,), 1, tl.int32) + tl.program_id(0))
    tl.store(cas_ptr + N * (1 + tl.program_id(0)) + offsets, found)


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("n", [1, 4, 16, 512])
def test_atomics_happen_once(engine, num_ctas, n):
    programs = 3
    count, sums = engine.zeros(1, "int32"), engine.zeros(n + 4, "int32")
    scalar, tile = engine.zeros((programs, n), "int32"), engine.zeros((programs, n), "int32")
    cas = engine.zeros((1 + programs, n), "int32")
    atomics_kernel[(programs,)](count, sums, scalar, tile, cas, N=n, num_ctas=num_ctas)
    assert engine.numpy(count)[0] == programs
    np.testing.assert_array_equal(engine.numpy(sums)[:n], programs * (np.arange(n) + 1))
    np.testing.assert_array_equal(engine.numpy(sums)[n:], [max(range(i, n, 4), default=0) for i in range(4)])
    before = engine.numpy(scalar)
    assert (before == before[:, :1]).all() and sorted(before[:, 0]) == list(range(programs))
    np.testing.assert_array_equal(np.sort(engine.numpy(tile), 0), np.arange(programs)[:, None] * (np.arange(n) + 1))
    first = engine.numpy(cas)[0]
    assert ((engine.numpy(cas)[1:] == 0).sum(0) == 1).all() and (first > 0).all()


@triton.jit
def lock_kernel(lock_ptr, sum_ptr, N: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    offsets = tl.arange(0, N)
    tl.store(sum_ptr + offsets, tl.load(sum_ptr + offsets) + tl.program_id(0) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("num_ctas", CTAS)
def test_a_lock_is_the_programs(engine, num_ctas):
    lock, sums = engine.zeros(1, "int32"), engine.zeros(256, "int32")
    lock_kernel[(6,)](lock, sums, N=256, num_ctas=num_ctas)
    assert (engine.numpy(sums) == 21).all() and engine.numpy(lock)[0] == 0


@triton.jit
def through_memory_kernel(x_ptr, N: tl.constexpr, STEPS: tl.constexpr):
    offsets = tl.arange(0, N)
    for _ in range(STEPS):
        x = tl.load(x_ptr + (N - 1 - offsets))
        tl.debug_barrier()
        tl.store(x_ptr + offsets, x + offsets)
        tl.debug_barrier()
    if tl.load(x_ptr) > 0:
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + tl.sum(tl.load(x_ptr + offsets)))


@pytest.mark.parametrize("num_ctas", CTAS)
def test_what_one_block_stores_the_others_load(engine, rng, num_ctas):
    values = integers(rng, 256) + 100
    x = engine.array(values)
    through_memory_kernel[(1,)](x, N=256, STEPS=3, num_ctas=num_ctas)
    expected = values.copy()
    for _ in range(3):
        expected = expected[::-1] + np.arange(256, dtype=np.int32)
    if expected[0] > 0:
        expected = expected + expected.sum(dtype=np.int32)
    np.testing.assert_array_equal(engine.numpy(x), expected)


@triton.jit
def boxes_kernel(x_ptr, out_ptr, sum_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    total = tl.make_tensor_descriptor(sum_ptr, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    tile = x.load([row, column])
    out.store([row, column], tile * 2)
    total.atomic_add([row, column], tile)
    total.atomic_add([0, 0], tl.full((BM, BN), 1, tl.int32))


@pytest.mark.parametrize("num_ctas", CTAS)
@pytest.mark.parametrize("block", [(8, 32), (64, 16), (1, 64), (2, 8)])
def test_descriptors(engine, rng, num_ctas, block):
    shape = (2 * block[0] - 1, 2 * block[1] - 4)
    x, out, total = integers(rng, *shape), engine.zeros(shape, "int32"), engine.zeros(shape, "int32")
    with_allocator = getattr(triton, "set_allocator", None)
    if with_allocator and engine.device == "cuda":
        import torch

        with_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    boxes_kernel[(2, 2)](engine.array(x), out, total, *shape, BM=block[0], BN=block[1], num_ctas=num_ctas)
    np.testing.assert_array_equal(engine.numpy(out), 2 * x)
    expected = x.copy()
    expected[: block[0], : block[1]] += 4
    np.testing.assert_array_equal(engine.numpy(total), expected)


@triton.jit
def print_kernel(x_ptr, N: tl.constexpr):
    tl.device_print("program", tl.program_id(0))
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, N)))


@pytest.mark.parametrize("num_ctas", CTAS)
def test_each_element_is_printed_once(engine, capfd, num_ctas):
    print_kernel[(2,)](engine.array(np.arange(100, 108, dtype=np.int32)), N=8, num_ctas=num_ctas)
    engine.finish()
    lines = capfd.readouterr().out.splitlines()
    assert len([line for line in lines if "program" in line and "x" not in line.split("program")[1]]) == 2
    text = "\n".join(lines)
    for value in range(100, 108):
        assert len(re.findall(rf"\b{value}\b", text)) == 2


@pytest.mark.parametrize("num_ctas", CTAS)
def test_an_assertion_of_any_block_ends_the_program(engine, num_ctas):
    if engine.device == "cuda":
        pytest.skip("it ends the process's use of the GPU")
    x, out = engine.array(np.arange(64, dtype=np.int32)), engine.zeros(64, "int32")
    with pytest.raises(Exception, match="below 63"):
        assert_kernel[(1,)](x, out, N=64, num_ctas=num_ctas, debug=True)
    assert not engine.numpy(out).any()


@triton.jit
def assert_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x < 63, "below 63")
    tl.store(out_ptr + tl.arange(0, N), x)
