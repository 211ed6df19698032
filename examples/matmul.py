"""Matrix multiplication: a naive kernel with masks on every side, and the grouped one that users write for speed.

The grouped kernel walks the output in an order that reuses what is in the cache (tl.swizzle2d), wraps rows and columns
with `%` instead of masking them, and moves its pointers along K.
"""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def naive_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn, mask=b_mask, other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    c_mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn, total, mask=c_mask)


@triton.jit
def grouped_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0)
    block_m, block_n = tl.swizzle2d(program // blocks_n, program % blocks_n, blocks_m, blocks_n, GROUP)

    m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_ptrs, mask=k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < left, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    m = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def naive_matmul(a, b, out=None, block=64, block_k=32):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=a.device) if out is None else out
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    naive_matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=block, BLOCK_N=block, BLOCK_K=block_k
    )
    return c


def grouped_matmul(a, b, out=None, block=128, block_k=32, group=8):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device) if out is None else out
    grid = (triton.cdiv(M, block) * triton.cdiv(N, block),)
    grouped_matmul_kernel[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(),
        BLOCK_M=block, BLOCK_N=block, BLOCK_K=block_k, GROUP=group,
    )  # fmt: skip
    return c


def main(M=512, N=512, K=512, odd=(500, 333, 277)):
    for rows, columns, inner in ((M, N, K), odd):
        a = torch.randn(rows, inner, device=DEVICE)
        b = torch.randn(inner, columns, device=DEVICE)
        shape = f"{rows}x{columns}x{inner} f32"
        compare(f"naive matmul, {shape}", lambda: naive_matmul(a, b), lambda: a @ b, tolerance=3e-4)
        compare(f"grouped matmul, {shape}", lambda: grouped_matmul(a, b), lambda: a @ b, tolerance=3e-4)
    a = torch.randn(M, K, device=DEVICE).to(torch.bfloat16)
    b = torch.randn(K, N, device=DEVICE).to(torch.bfloat16)
    compare(f"grouped matmul, {M}x{N}x{K} bf16", lambda: grouped_matmul(a, b), lambda: a @ b, tolerance=0.6)


if __name__ == "__main__":
    main()
