"""Flash attention, forward: softmax(Q K^T) V without ever storing the matrix of scores.

A program holds one block of queries and walks the keys. It keeps each row's largest score so far, the sum of its
exponentials and its weighted values, and rescales them whenever the largest score grows. Base 2 throughout: log2(e) is
folded into the scale of the scores.
"""

import math

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale_log2,
    CAUSAL: tl.constexpr, DIMENSION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head_start = tl.program_id(1) * length * DIMENSION
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, DIMENSION)
    q_offsets = head_start + m[:, None] * DIMENSION + d[None, :]
    q = tl.load(q_ptr + q_offsets, mask=m[:, None] < length, other=0.0)

    largest = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    values = tl.zeros((BLOCK_M, DIMENSION), dtype=tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(length, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + head_start + n[None, :] * DIMENSION + d[:, None], mask=n[None, :] < length, other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale_log2
        visible = n[None, :] < length
        if CAUSAL:
            visible = visible & (m[:, None] >= n[None, :])
        scores = tl.where(visible, scores, float("-inf"))

        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new_largest[:, None])
        rescale = tl.exp2(largest - new_largest)
        total = total * rescale + tl.sum(weights, axis=1)
        v = tl.load(v_ptr + head_start + n[:, None] * DIMENSION + d[None, :], mask=n[:, None] < length, other=0.0)
        values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        largest = new_largest

    out = values / total[:, None]
    tl.store(out_ptr + q_offsets, out.to(out_ptr.dtype.element_ty), mask=m[:, None] < length)


def attention(q, k, v, causal=False, block_m=64, block_n=64):
    """q, k, v: (heads, length, dimension), contiguous; the dimension a power of two, at least 16."""
    heads, length, dimension = q.shape
    out = torch.empty_like(q)
    scale_log2 = math.log2(math.e) / math.sqrt(dimension)
    attention_kernel[(triton.cdiv(length, block_m), heads)](
        q, k, v, out, length, scale_log2, CAUSAL=causal, DIMENSION=dimension, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return out


def attention_torch(q, k, v, causal):
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]


def main(heads=4, length=512, dimension=64):
    q, k, v = (torch.randn(heads, length, dimension, device=DEVICE) for _ in range(3))
    for causal in (False, True):
        compare(
            f"attention{' causal' if causal else ''}, {heads}x{length}x{dimension} f32",
            lambda: attention(q, k, v, causal),
            lambda: attention_torch(q, k, v, causal),
            tolerance=5e-6,
        )


if __name__ == "__main__":
    main()
