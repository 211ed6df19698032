"""What the compiler keeps between programs, or leaves out of the caches, must never show."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)) % N
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n[None, :], mask=k[:, None] < K, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + m[:, None] * N + columns[None, :], total, mask=(m[:, None] < M) & (columns[None, :] < N))


def test_an_operand_that_changes_between_launches(engine, rng):
    M, N, K = 96, 48, 40
    a = rng.integers(-4, 5, (M, K))
    for _ in range(3):
        b = rng.integers(-4, 5, (K, N))
        b_array, out = engine.array(b, "float32"), engine.empty((M, N), "float32")
        for _ in range(2):
            product_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
                engine.array(a, "float32"), b_array, out, M, N, K, BLOCK=16, BLOCK_K=16
            )
            np.testing.assert_array_equal(engine.numpy(out), a @ b)


@triton.jit
def rescale_kernel(x_ptr, out_ptr, count, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(out_ptr + offsets, x / scale, mask=offsets < count)


def check_quotients(engine, found, expected):
    """`/` is rounded on the host; a GPU's may be 2 ulp off."""
    if engine.is_cuda:
        finite = np.isfinite(expected)
        np.testing.assert_array_max_ulp(found[finite], expected[finite], 2)
        found, expected = found[~finite], expected[~finite]
    np.testing.assert_array_equal(found, expected)


def test_an_output_larger_than_the_caches(engine, rng):
    count = (1 << 23) + 77
    x = rng.standard_normal(count).astype(np.float32)
    out = engine.empty((count,), "float32")
    rescale_kernel[(triton.cdiv(count, 65536),)](engine.array(x, "float32"), out, count, 3.7, BLOCK=65536)
    check_quotients(engine, engine.numpy(out), x / np.float32(3.7))


def test_division_by_one_number(engine):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 49.0, 1e30, -1e-25, 3.4e38, 7.0, 1e-20], np.float32)
    for scale in (49.0, -3.0, 1e-30, 1e30, 1e-38, 2.5e38, float("inf")):
        out = engine.empty((len(x),), "float32")
        rescale_kernel[(1,)](engine.array(x, "float32"), out, len(x), scale, BLOCK=16)
        with np.errstate(all="ignore"):
            expected = x / np.float32(scale)
        check_quotients(engine, engine.numpy(out), expected)
        signed = [i for i in range(4) if not np.isnan(expected[i])]  # the sign of a NaN means nothing
        np.testing.assert_array_equal(np.signbit(engine.numpy(out))[signed], np.signbit(expected)[signed])
