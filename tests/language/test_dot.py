"""dot: shapes, types, accumulators, precision, batches, transposed operands, loops over K."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import rounded, sample


@triton.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HOW: tl.constexpr, OUT: tl.constexpr
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    c_ptrs = c_ptr + m[:, None] * N + n[None, :]
    if HOW == "plain":
        c = tl.dot(a, b)
    elif HOW == "ieee":
        c = tl.dot(a, b, input_precision="ieee")
    elif HOW == "accumulator":
        c = tl.dot(a, b, tl.load(c_ptrs), input_precision="ieee")
    elif HOW == "accumulator by name":
        c = tl.dot(a, b, acc=tl.load(c_ptrs), allow_tf32=False)
    elif HOW == "added":
        c = tl.load(c_ptrs) + tl.dot(a, b, input_precision="ieee")
    elif HOW == "added in place":
        c = tl.load(c_ptrs)
        c += tl.dot(a, b, input_precision="ieee")
    else:
        c = tl.dot(a, b, out_dtype=OUT)
        tl.static_assert(c.dtype == OUT)
    tl.store(c_ptrs, c)


def run(engine, a, b, name, out_name, how="ieee", c=None):
    m, k = a.shape
    n = b.shape[1]
    out = engine.empty((m, n), out_name) if c is None else engine.array(c, out_name)
    dot_kernel[(1,)](engine.array(a, name), engine.array(b, name), out, M=m, N=n, K=k, HOW=how, OUT=getattr(tl, out_name))
    return engine.numpy(out)


def whole_numbers(rng, shape, bound=5):
    """Small whole numbers: every product and sum is exact in each type, so results must be equal."""
    return rng.integers(-bound, bound + 1, shape).astype(np.float64)


SHAPES = [(16, 16, 16), (32, 16, 64), (16, 64, 32), (64, 64, 64), (128, 32, 16), (128, 128, 32)]
ODD_SHAPES = [
    (1, 1, 1), (1, 64, 64), (64, 1, 64), (64, 64, 1), (2, 3, 4), (5, 7, 3), (17, 16, 16), (16, 17, 16), (16, 16, 17), (31, 33, 35),
    (100, 50, 20), (7, 100, 64), (65, 66, 67),
]  # fmt: skip


@pytest.mark.parametrize("name, out_name", [("float32", "float32"), ("float16", "float32"), ("bfloat16", "float32"), ("int8", "int32"), ("float64", "float64")])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_dot(engine, rng, shape, name, out_name):
    m, n, k = shape
    a, b = whole_numbers(rng, (m, k)), whole_numbers(rng, (k, n))
    np.testing.assert_array_equal(run(engine, a, b, name, out_name), a @ b)


@pytest.mark.ours("any M, N and K")
@pytest.mark.parametrize("name, out_name", [("float32", "float32"), ("float16", "float32"), ("bfloat16", "float32"), ("int8", "int32")])
@pytest.mark.parametrize("shape", ODD_SHAPES, ids=str)
def test_dot_of_odd_shapes(engine, rng, shape, name, out_name):
    m, n, k = shape
    a, b = whole_numbers(rng, (m, k)), whole_numbers(rng, (k, n))
    np.testing.assert_array_equal(run(engine, a, b, name, out_name), a @ b)


@pytest.mark.parametrize("how", ["accumulator", "accumulator by name", "added", "added in place"])
@pytest.mark.parametrize("name, out_name", [("float32", "float32"), ("float16", "float32"), ("int8", "int32")])
def test_accumulators(engine, rng, name, out_name, how):
    a, b, c = whole_numbers(rng, (32, 16)), whole_numbers(rng, (16, 64)), whole_numbers(rng, (32, 64), 1000)
    np.testing.assert_array_equal(run(engine, a, b, name, out_name, how, c), c + a @ b)


@pytest.mark.parametrize("k", [16, 64, 256])
def test_float32_is_accurate(engine, rng, k):
    """The default precision may round operands on hardware that has it; "ieee" may not."""
    a, b = sample(rng, "float32", (32, k)), sample(rng, "float32", (k, 32))
    a, b = rounded(a, "float32").astype(np.float64), rounded(b, "float32").astype(np.float64)
    error = np.abs(run(engine, a, b, "float32", "float32", "ieee") - a @ b)
    assert (error <= 2e-7 * k * (np.abs(a) @ np.abs(b)) / np.sqrt(k)).all()
    np.testing.assert_allclose(run(engine, a, b, "float32", "float32", "plain"), a @ b, rtol=1e-2, atol=2e-2 * np.sqrt(k))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_small_floats_accumulate_in_float32(engine, name):
    """4096 + 1 + 1 + ... is lost in sixteen bits and kept in thirty-two."""
    a = np.ones((16, 64))
    b = np.ones((64, 16))
    b[0] = 4096
    np.testing.assert_array_equal(run(engine, a, b, name, "float32"), np.full((16, 16), 4096 + 63))


@pytest.mark.ours("Triton's interpreter rounds each product")
def test_products_of_small_floats_are_exact(engine, rng):
    a, b = sample(rng, "float16", (16, 16)), sample(rng, "float16", (16, 16))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(run(engine, a, b, "float16", "float32"), expected, rtol=1e-5, atol=1e-5)


def test_int8_at_its_limits(engine):
    a, b = np.full((16, 64), -128), np.full((64, 16), -128)
    np.testing.assert_array_equal(run(engine, a, b, "int8", "int32"), np.full((16, 16), 128 * 128 * 64))


@triton.jit
def int8_layouts_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEPS: tl.constexpr, COMPUTED: tl.constexpr):
    """B is contiguous along k; A is computed, or read where it lies; several steps are summed onto what is in c."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.load(c_ptr + m[:, None] * N + n[None, :])
    for step in range(STEPS):
        a = tl.load(a_ptr + m[:, None] * (K * STEPS) + (step * K + k)[None, :])
        if COMPUTED:
            a = (a ^ 3).to(tl.int8)
        b = tl.load(b_ptr + n[None, :] * (K * STEPS) + (step * K + k)[:, None])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@pytest.mark.ours("any sizes")
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("shape", [(16, 16, 32), (17, 20, 36), (5, 4, 4), (33, 68, 64), (16, 18, 32), (16, 16, 30)], ids=str)
def test_int8_of_any_size_and_layout(engine, rng, shape, computed):
    m, n, k = shape
    a, b = rng.integers(-128, 128, (m, 3 * k)), rng.integers(-128, 128, (n, 3 * k))
    a[0], b[0], b[-1] = -128, -128, 127
    c = rng.integers(-(2**31), 2**31, (m, n))
    out = engine.array(c, "int32")
    int8_layouts_kernel[(1,)](engine.array(a, "int8"), engine.array(b, "int8"), out, M=m, N=n, K=k, STEPS=3, COMPUTED=computed)
    expected = (c + (a ^ 3 if computed else a) @ b.T).astype(np.int32)  # sums wrap
    np.testing.assert_array_equal(engine.numpy(out), expected)


@pytest.mark.ours("Triton's interpreter differs")
def test_a_float16_result(engine, rng):
    a, b = whole_numbers(rng, (16, 16)), whole_numbers(rng, (16, 16))
    np.testing.assert_array_equal(run(engine, a, b, "float16", "float16", "out_dtype"), a @ b)


@triton.jit
def fp8_dot_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    offsets = i[:, None] * N + i[None, :]
    tl.store(c_ptr + offsets, tl.dot(tl.load(a_ptr + offsets), tl.load(b_ptr + offsets), out_dtype=tl.float32))


@pytest.mark.ours("Triton's interpreter has no fp8 dot")
@pytest.mark.parametrize("left, right", [("float8e4nv", "float8e4nv"), ("float8e5", "float8e5"), ("float8e4nv", "float8e5")])
def test_fp8(engine, rng, left, right):
    a, b = rounded(whole_numbers(rng, (32, 32), 3), left), rounded(whole_numbers(rng, (32, 32), 3), right)
    out = engine.empty((32, 32), "float32")
    fp8_dot_kernel[(1,)](engine.array(a, left), engine.array(b, right), out, N=32)
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


@triton.jit
def batched_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + (batch * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (batch * K + k[None, :, None]) * N + n[None, None, :])
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + (batch * M + m[None, :, None]) * N + n[None, None, :], c)


@pytest.mark.parametrize("name, out_name", [("float32", "float32"), ("float16", "float32"), ("int8", "int32")])
@pytest.mark.parametrize("shape", [(1, 16, 16, 16), (2, 16, 32, 16), (4, 32, 16, 64)], ids=str)
def test_batches(engine, rng, shape, name, out_name):
    batch, m, n, k = shape
    a, b = whole_numbers(rng, (batch, m, k)), whole_numbers(rng, (batch, k, n))
    out = engine.empty((batch, m, n), out_name)
    batched_kernel[(1,)](engine.array(a, name), engine.array(b, name), out, *shape)
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


@pytest.mark.ours("any sizes")
@pytest.mark.parametrize("shape", [(3, 5, 7, 9), (5, 1, 3, 2), (3, 17, 16, 31)], ids=str)
def test_odd_batches(engine, rng, shape):
    batch, m, n, k = shape
    a, b = whole_numbers(rng, (batch, m, k)), whole_numbers(rng, (batch, k, n))
    out = engine.empty((batch, m, n), "float32")
    batched_kernel[(1,)](engine.array(a, "float32"), engine.array(b, "float32"), out, *shape)
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


@triton.jit
def transposed_batches_kernel(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """a is stored as (B, K, M) and b as (B, N, K)."""
    batch = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + (batch * K + k[None, :, None]) * M + m[None, None, :])
    b = tl.load(b_ptr + (batch * N + n[None, :, None]) * K + k[None, None, :])
    c = tl.dot(tl.trans(a, (0, 2, 1)), tl.trans(b, (0, 2, 1)))
    tl.store(c_ptr + (batch * M + m[None, :, None]) * N + n[None, None, :], c)


@pytest.mark.parametrize("name, out_name", [("float32", "float32"), ("float16", "float32"), ("int8", "int32")])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 16, 32, 16), (4, 32, 16, 64)], ids=str)
def test_transposed_batches(engine, rng, shape, name, out_name):
    batch, m, n, k = shape
    a, b = whole_numbers(rng, (batch, m, k)), whole_numbers(rng, (batch, k, n))
    out = engine.empty((batch, m, n), out_name)
    stored = [np.ascontiguousarray(x.transpose(0, 2, 1)) for x in (a, b)]
    transposed_batches_kernel[(1,)](engine.array(stored[0], name), engine.array(stored[1], name), out, *shape)
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


@triton.jit
def transposed_kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """a is stored as (K, M) and b as (N, K); one is transposed in registers, the other by its strides."""
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + k[:, None] * M + m[None, :])
    b = tl.load(b_ptr + n[None, :] * K + k[:, None])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(tl.trans(a), b, input_precision="ieee"))


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_transposed_operands(engine, rng, name):
    a, b = whole_numbers(rng, (16, 32)), whole_numbers(rng, (64, 16))
    out = engine.empty((32, 64), "float32")
    transposed_kernel[(1,)](engine.array(a, name), engine.array(b, name), out, M=32, N=64, K=16)
    np.testing.assert_array_equal(engine.numpy(out), a.T @ b.T)


@triton.jit
def computed_operands_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    offsets = i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + offsets)
    b = tl.load(b_ptr + offsets)
    a = tl.where(i[:, None] >= i[None, :], a * 2, 0.0)
    first = tl.dot(a, b + 1, input_precision="ieee")
    second = tl.dot(first, a, input_precision="ieee")
    tl.store(c_ptr + offsets, second - first)


def test_operands_computed_in_the_kernel(engine, rng):
    a, b = whole_numbers(rng, (32, 32), 2), whole_numbers(rng, (32, 32), 2)
    out = engine.empty((32, 32), "float32")
    computed_operands_kernel[(1,)](engine.array(a, "float32"), engine.array(b, "float32"), out, N=32)
    lower = np.tril(a) * 2
    first = lower @ (b + 1)
    np.testing.assert_array_equal(engine.numpy(out), first @ lower - first)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, STYLE: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if STYLE == "moving pointers":
        a_ptrs = a_ptr + (m % M)[:, None] * K + k[None, :]
        b_ptrs = b_ptr + k[:, None] * N + (n % N)[None, :]
        for step in range(0, tl.cdiv(K, BLOCK_K)):
            a = tl.load(a_ptrs, mask=k[None, :] < K - step * BLOCK_K, other=0.0)
            b = tl.load(b_ptrs, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
            total = tl.dot(a, b, total, input_precision="ieee")
            a_ptrs += BLOCK_K
            b_ptrs += BLOCK_K * N
    else:
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * K + start + k[None, :], mask=(m[:, None] < M) & (start + k[None, :] < K), other=0.0)
            b = tl.load(b_ptr + (start + k[:, None]) * N + n[None, :], mask=(start + k[:, None] < K) & (n[None, :] < N), other=0.0)
            total += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("style", ["moving pointers", "masks"])
@pytest.mark.parametrize("block", [(16, 16, 16), (32, 64, 16), (64, 32, 32), (128, 128, 32)], ids=str)
@pytest.mark.parametrize("shape", [(64, 64, 64), (100, 77, 55), (1, 1, 1), (130, 70, 200), (33, 1, 17)], ids=str)
def test_matmul(engine, rng, shape, block, style):
    m, n, k = shape
    a, b = whole_numbers(rng, (m, k)), whole_numbers(rng, (k, n))
    out = engine.empty((m, n), "float32")
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
    matmul_kernel[grid](engine.array(a, "float32"), engine.array(b, "float32"), out, m, n, k, *block, STYLE=style)
    np.testing.assert_array_equal(engine.numpy(out), a @ b)


def test_the_code_of_a_large_dot_stays_small(engine, rng):
    if engine.name != "cpu":
        pytest.skip("object code and scratch memory of the CPU target")
    a, b = whole_numbers(rng, (256, 64)), whole_numbers(rng, (64, 256))
    out = engine.empty((256, 256), "float32")
    kernel = dot_kernel[(1,)](
        engine.array(a, "float32"), engine.array(b, "float32"), out, M=256, N=256, K=64, HOW="ieee", OUT=tl.float32
    )
    np.testing.assert_array_equal(engine.numpy(out), a @ b)
    assert len(kernel.asm["obj"]) < 200_000
    assert kernel.metadata.scratch_bytes < 4 << 20


@triton.jit
def mismatch_kernel(a_ptr, c_ptr):
    i = tl.arange(0, 16)
    a = tl.load(a_ptr + i[:, None] * 16 + i[None, :])
    b = tl.load(a_ptr + tl.arange(0, 32)[:, None] * 16 + i[None, :])
    tl.store(c_ptr + i[:, None] * 16 + i[None, :], tl.dot(a, b))


@triton.jit
def two_types_kernel(a_ptr, c_ptr):
    i = tl.arange(0, 16)
    a = tl.load(a_ptr + i[:, None] * 16 + i[None, :])
    tl.store(c_ptr + i[:, None] * 16 + i[None, :], tl.dot(a, a.to(tl.float16)))


@triton.jit
def vector_kernel(a_ptr, c_ptr):
    a = tl.load(a_ptr + tl.arange(0, 16))
    tl.store(c_ptr, tl.dot(a, a))


@triton.jit
def unsigned_kernel(a_ptr, c_ptr):
    i = tl.arange(0, 16)
    a = tl.load(a_ptr + i[:, None] * 16 + i[None, :]).to(tl.uint8)
    tl.store(c_ptr + i[:, None] * 16 + i[None, :], tl.dot(a, a))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize("kernel", [mismatch_kernel, two_types_kernel, vector_kernel, unsigned_kernel], ids=lambda kernel: kernel.__name__)
def test_errors(engine, kernel):
    with pytest.raises(triton.TritonError):
        kernel[(1,)](engine.zeros(512, "float32"), engine.zeros(256, "float32"))
