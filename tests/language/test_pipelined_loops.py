"""Loops whose loads may be made ahead of the iteration that needs them: whatever num_stages says, results are the same."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def pointers(a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * stride_a + depth[None, :]
    b_ptrs = b_ptr + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (depth[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(depth[:, None] < K - k) & (columns[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BK
        b_ptrs += BK * stride_b
    tl.store(c_ptr + rows[:, None] * stride_c + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)


def whole_numbers(rng, shape):
    return rng.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(32, 32, 0), (32, 32, 16), (64, 48, 80), (40, 33, 70), (64, 64, 128)])
@pytest.mark.parametrize("name", ["float16", "float32"])
def test_matmul_by_pointers(engine, rng, name, shape, stages):
    M, N, K = shape
    a, b, c = whole_numbers(rng, (M, max(K, 1))), whole_numbers(rng, (max(K, 1), N)), engine.empty((M, N), "float32")
    pointers[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        engine.array(a, name), engine.array(b, name), c, M, N, K, max(K, 1), N, N, BM=32, BN=32, BK=16, num_stages=stages
    )
    np.testing.assert_array_equal(engine.numpy(c), a[:, :K] @ b[:K])


@triton.jit
def added_blocks(a, b, c, out, trips, N: tl.constexpr, AHEAD: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for i in range(trips):
        places = at + i * N * N
        if AHEAD:
            total += tl.dot(tl.load(a + places), tl.load(b + places), tl.load(c + places))
        else:
            total += tl.dot(tl.load(a + places), tl.load(b + places)) + tl.load(c + places)
    tl.store(out + at, total)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("size", [1, 16, 64])
def test_what_products_are_added_to_is_loaded_too(engine, rng, size, ahead, stages):
    a, b, c = (whole_numbers(rng, (3, size, size)) for _ in range(3))
    out = engine.empty((size, size), "float32")
    operands = engine.array(a, "float16"), engine.array(b, "float16"), engine.array(c, "float32")
    added_blocks[(1,)](*operands, out, 3, N=size, AHEAD=ahead, num_stages=stages)
    np.testing.assert_array_equal(engine.numpy(out), (a @ b + c).sum(0))


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(32, 32, 16), (64, 48, 80), (40, 32, 112)])
def test_matmul_by_descriptors(engine, rng, shape, stages):
    M, N, K = shape
    a, b, c = whole_numbers(rng, (M, K)), whole_numbers(rng, (K, N)), engine.empty((M, N), "float32")
    describe = lambda array, extents, block: TensorDescriptor(array, list(extents), [extents[1], 1], block)  # noqa: E731
    descriptors[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        describe(engine.array(a, "float16"), (M, K), [32, 16]), describe(engine.array(b, "float16"), (K, N), [16, 32]),
        describe(c, (M, N), [32, 32]), K, BM=32, BN=32, BK=16, num_stages=stages,
    )  # fmt: skip
    np.testing.assert_array_equal(engine.numpy(c), a @ b)


@triton.jit
def strided(a_ptr, b_ptr, c_ptr, outer, K, a_row, a_column, b_row, b_column, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for o in range(outer):
        total = tl.full((BM, BN), o, SUM)
        for start in range(0, K, BK):
            a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :] * a_column)
            b = tl.load(b_ptr + (start + k)[:, None] * b_row + n[None, :] * b_column)
            total = tl.dot(a, b, total, out_dtype=SUM)
        tl.store(c_ptr + o * BM * BN + m[:, None] * BN + n[None, :], total)


@pytest.mark.ours("Triton's interpreter has no fp8 dot")
@pytest.mark.parametrize("order", ["rows, rows", "rows, columns", "columns, rows", "columns, columns"])
@pytest.mark.parametrize("name, shape", [("float16", (64, 64, 32)), ("bfloat16", (128, 64, 64)), ("float32", (64, 128, 32)), ("float32", (128, 32, 8)),
                                         ("float8e4nv", (64, 64, 64)), ("int8", (128, 64, 32)), ("float16", (64, 16, 16))])  # fmt: skip
@pytest.mark.parametrize("stages, outer", [(1, 1), (2, 1), (3, 2), (4, 1)])
def test_large_products(engine, rng, name, shape, order, stages, outer):
    """Tiles large enough for instructions of several warps, from memory in either order."""
    M, N, K = shape[0], shape[1], 3 * shape[2]
    a, b = whole_numbers(rng, (M, K)), whole_numbers(rng, (K, N))
    by_rows = [part == "rows" for part in order.split(", ")]
    sum_name = "int32" if name == "int8" else "float32"
    x, y = (engine.array(np.ascontiguousarray(array if rows else array.T), name) for array, rows in zip((a, b), by_rows))
    c = engine.empty((outer, M, N), sum_name)
    strides = [stride for array, rows in zip((a, b), by_rows) for stride in ((array.shape[1], 1) if rows else (1, array.shape[0]))]
    strided[(1,)](x, y, c, outer, K, *strides, BM=M, BN=N, BK=shape[2], SUM=getattr(tl, sum_name), num_stages=stages, num_warps=8 if M > 64 else 4)
    np.testing.assert_array_equal(engine.numpy(c), a @ b + np.arange(outer)[:, None, None])


@pytest.mark.ours("Triton's interpreter has no fp8 dot")
@pytest.mark.parametrize("most", [32, 64, 128])
@pytest.mark.parametrize("stages", [1, 3])
def test_sums_that_may_lose_no_bits(engine, rng, most, stages):
    """Products of fp8 in a loop, added to sums of seventeen bits: the hardware of wgmma keeps thirteen of its own ones."""

    @triton.jit
    def kernel(a_ptr, b_ptr, c_ptr, K, MOST: tl.constexpr, BK: tl.constexpr):
        m, k = tl.arange(0, 64), tl.arange(0, BK)
        total = tl.load(c_ptr + m[:, None] * 64 + m[None, :])
        for start in range(0, K, BK):
            a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
            b = tl.load(b_ptr + m[None, :] * K + (start + k)[:, None])
            total = tl.dot(a, b, total, max_num_imprecise_acc=MOST)
        tl.store(c_ptr + m[:, None] * 64 + m[None, :], total)

    a, b = whole_numbers(rng, (64, 384)), whole_numbers(rng, (64, 384))
    c = rng.integers(60000, 100000, (64, 64)).astype(np.float32)
    sums = engine.array(c)
    kernel[(1,)](engine.array(a, "float8e4nv"), engine.array(b, "float8e4nv"), sums, 384, most, 128, num_stages=stages)
    np.testing.assert_array_equal(engine.numpy(sums), a @ b.T + c)


@pytest.mark.parametrize("stages", [2, 4])
def test_loops_that_ask_for_stages_themselves(engine, rng, stages):
    @triton.jit
    def kernel(x_ptr, out_ptr, n, STAGES: tl.constexpr):
        columns = tl.arange(0, 256)
        total = tl.zeros((256,), tl.float32)
        for i in tl.range(0, n, num_stages=STAGES):
            total = total * 2 + tl.load(x_ptr + i * 256 + columns)
        tl.store(out_ptr + columns, total)

    for count in (0, 1, 5):
        x, out = whole_numbers(rng, (max(count, 1), 256)), engine.empty(256, "float32")
        kernel[(1,)](engine.array(x), out, count, stages)
        expected = np.zeros(256, np.float32)
        for row in x[:count]:
            expected = expected * 2 + row
        np.testing.assert_array_equal(engine.numpy(out), expected)


def test_a_loop_within_a_loop(engine, rng):
    """The inner loop begins anew while the outer one goes on."""

    @triton.jit
    def kernel(a_ptr, b_ptr, out_ptr, outer, inner, BLOCK: tl.constexpr):
        i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
        for o in range(outer):
            total = tl.zeros((BLOCK, BLOCK), tl.float32)
            for k in range(inner):
                a = tl.load(a_ptr + (o * inner + k) * BLOCK * BLOCK + i * BLOCK + j)
                b = tl.load(b_ptr + k * BLOCK * BLOCK + i * BLOCK + j)
                total = tl.dot(a, b, total)
            tl.store(out_ptr + o * BLOCK * BLOCK + i * BLOCK + j, total)

    a, b = whole_numbers(rng, (3, 5, 32, 32)), whole_numbers(rng, (5, 32, 32))
    out = engine.empty((3, 32, 32), "float32")
    kernel[(1,)](engine.array(a, "float16"), engine.array(b, "float16"), out, 3, 5, BLOCK=32, num_stages=3)
    np.testing.assert_array_equal(engine.numpy(out), np.einsum("okij,kjl->oil", a, b))


@pytest.mark.parametrize("outer, inner", [(3, 5), (4, 1), (2, 0), (3, 4)])
def test_a_loop_over_blocks_within_a_loop(engine, rng, outer, inner):
    """Copies of one run of the inner loop do not count for the next."""

    @triton.jit
    def kernel(a, b, out, outer, inner, BLOCK: tl.constexpr):
        for o in range(outer):
            total = tl.zeros((BLOCK, BLOCK), tl.float32)
            for k in range(inner):
                total = tl.dot(a.load([o * BLOCK, k * BLOCK]), b.load([k * BLOCK, 0]), total)
            out.store([o * BLOCK, 0], total)

    a, b = whole_numbers(rng, (outer * 32, max(inner, 1) * 32)), whole_numbers(rng, (max(inner, 1) * 32, 32))
    out = engine.empty((outer * 32, 32), "float32")
    describe = lambda array, shape: TensorDescriptor(array, list(shape), [shape[1], 1], [32, 32])  # noqa: E731
    kernel[(1,)](describe(engine.array(a, "float16"), a.shape), describe(engine.array(b, "float16"), b.shape), describe(out, (outer * 32, 32)), outer, inner, BLOCK=32, num_stages=3)
    np.testing.assert_array_equal(engine.numpy(out), a[:, : inner * 32] @ b[: inner * 32])


def test_what_the_loop_writes_is_not_read_too_early(engine, rng):
    """Each iteration loads what the one before stored."""

    @triton.jit
    def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
        y = tl.load(y_ptr + i * BLOCK + j)
        for k in tl.range(0, n, num_stages=3):
            x = tl.load(x_ptr + k * BLOCK * BLOCK + i * BLOCK + j)
            tl.store(x_ptr + (k + 1) * BLOCK * BLOCK + i * BLOCK + j, tl.dot(x, y).to(tl.float16))

    step = np.eye(16, k=1, dtype=np.float32)
    x, y = np.zeros((5, 16, 16), np.float32), step
    x[0] = whole_numbers(rng, (16, 16))
    memory = engine.array(x, "float16")
    kernel[(1,)](memory, engine.array(y, "float16"), 4, BLOCK=16)
    expected = x[0]
    for k in range(4):
        expected = expected @ step
        np.testing.assert_array_equal(engine.numpy(memory)[k + 1], expected)


def test_addresses_that_the_loop_loads(engine, rng):
    """The places of the blocks come from memory: they are not known ahead, and the blocks are right all the same."""

    @triton.jit
    def kernel(places_ptr, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
        y = tl.load(y_ptr + i * BLOCK + j)
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for k in range(n):
            x = tl.load(x_ptr + tl.load(places_ptr + k) * BLOCK * BLOCK + i * BLOCK + j)
            total = tl.dot(x, y, total * 2)
        tl.store(out_ptr + i * BLOCK + j, total)

    places = np.array([3, 0, 2, 2, 1], np.int32)
    x, y, out = whole_numbers(rng, (4, 16, 16)), whole_numbers(rng, (16, 16)), engine.empty((16, 16), "float32")
    kernel[(1,)](engine.array(places), engine.array(x, "float16"), engine.array(y, "float16"), out, 5, BLOCK=16, num_stages=3)
    expected = np.zeros((16, 16))
    for place in places:
        expected = expected * 2 + x[place] @ y
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CARRIED: tl.constexpr):
    """The second product of an iteration needs nothing of the next one: it may run while that one computes."""
    rows, columns, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    queries = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    v_pointers = v_ptr + columns[:, None] * D + d[None, :]
    most = tl.full((BM,), -1.0e6, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        inside = start + columns < length
        keys = tl.load(k_ptr + (start + columns)[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        scores = tl.where(inside[None, :], tl.dot(queries, tl.trans(keys)) * scale, -1.0e6)
        larger = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        decay = tl.exp2(most - larger)
        total = total * decay + tl.sum(weights, 1)
        if CARRIED:
            values = tl.load(v_pointers, mask=inside[:, None], other=0.0)
            v_pointers += BN * D
        else:
            values = tl.load(v_ptr + (start + columns)[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        sums = tl.dot(weights.to(values.dtype), values, sums * decay[:, None])
        most = larger
    tl.store(out_ptr + rows[:, None] * D + d[None, :], sums / tl.maximum(total, 1.0e-30)[:, None])


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 32, 100])
def test_products_that_end_an_iteration(engine, rng, length, stages, carried):
    D, BM = 32, 64
    q, k, v = (rng.standard_normal((n, D)).astype(np.float32) for n in (BM, max(length, 1), max(length, 1)))
    q, k, v = (engine.array(x, "float16") for x in (q, k, v))
    out = engine.empty((BM, D), "float32")
    attention[(1,)](q, k, v, out, length, 0.3, D=D, BM=BM, BN=32, CARRIED=carried, num_stages=stages)
    q, k, v = (engine.numpy(x).astype(np.float64) for x in (q, k, v))
    powers = np.exp2(q @ k[:length].T * 0.3)
    expected = powers @ v[:length] / powers.sum(1, keepdims=True) if length else np.zeros((BM, D))
    np.testing.assert_allclose(engine.numpy(out), expected, rtol=5e-3, atol=5e-3)


def test_infinite_values_stay_where_they_are(engine, rng):
    """What the first iteration adds of an iteration before it is nothing, also where there are infinities."""
    D, BM, length = 32, 64, 64
    q, k, v = (rng.standard_normal((BM, D)).astype(np.float32) for _ in range(3))
    v[[0, 33], [3, 7]] = np.inf, np.nan
    out = engine.empty((BM, D), "float32")
    attention[(1,)](*(engine.array(x, "float16") for x in (q, k, v)), out, length, 0.3, D=D, BM=BM, BN=32, CARRIED=False, num_stages=3)
    out = engine.numpy(out)
    assert (out[:, 3] == np.inf).all() and np.isnan(out[:, 7]).all()
    assert np.isfinite(np.delete(out, [3, 7], axis=1)).all()


@triton.jit
def attention_by_descriptors(q, k, v, out_ptr, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    queries = q.load([tl.program_id(0) * BM, 0])
    most = tl.full((BM,), -1.0e6, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        scores = tl.dot(queries, k.load([start, 0]).T) * scale
        larger = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        decay = tl.exp2(most - larger)
        total = total * decay + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), v.load([start, 0]), sums * decay[:, None])
        most = larger
    tl.store(out_ptr + rows[:, None] * D + d[None, :], sums / total[:, None])


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("length", [32, 96])
def test_products_of_boxes_that_end_an_iteration(engine, rng, length, stages):
    D, BM = 32, 64
    q, k, v = (rng.standard_normal((n, D)).astype(np.float32) for n in (BM, length, length))
    q, k, v = (engine.array(x, "float16") for x in (q, k, v))
    out = engine.empty((BM, D), "float32")
    describe = lambda array, rows, block: TensorDescriptor(array, [rows, D], [D, 1], [block, D])  # noqa: E731
    attention_by_descriptors[(1,)](describe(q, BM, BM), describe(k, length, 32), describe(v, length, 32), out, length, 0.3, D=D, BM=BM, BN=32, num_stages=stages)
    q, k, v = (engine.numpy(x).astype(np.float64) for x in (q, k, v))
    powers = np.exp2(q @ k.T * 0.3)
    np.testing.assert_allclose(engine.numpy(out), powers @ v / powers.sum(1, keepdims=True), rtol=5e-3, atol=5e-3)


@triton.jit
def past_the_signed(x_ptr, out_ptr, n, DOWN: tl.constexpr):
    places = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    total = tl.zeros((32, 32), tl.float32)
    if DOWN:
        for i in range(2147483653, n, -3):
            x = tl.load(x_ptr + places + (2147483653 - i) // 3 * 1024)
            total = tl.dot(x, x, total)
    else:
        for i in range(n, 2147483653, 3):
            x = tl.load(x_ptr + places + (i - n) // 3 * 1024)
            total = tl.dot(x, x, total)
    tl.store(out_ptr + places, total)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("down", [False, True])
def test_bounds_that_only_an_unsigned_type_holds(engine, rng, down, stages):
    x, out = whole_numbers(rng, (3, 32, 32)), engine.empty((32, 32), "float32")
    past_the_signed[(1,)](engine.array(x, "float16"), out, 2147483646, DOWN=down, num_stages=stages)
    np.testing.assert_array_equal(engine.numpy(out), sum(block @ block for block in x))
