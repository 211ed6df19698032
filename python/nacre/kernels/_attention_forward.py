"""Attention forward as one kernel: softmax(scores) V with the scores in registers or caches, never in memory.

A program takes a block of queries of one head through the keys that its rows see, a block at a time, with the running largest score and sum
of weights of each row. Keys that every row sees need no masks; only the blocks at the ends of that range look at single elements.
"""

import nacre
import nacre.language as tl

from ._attention_scores import exponential, finite_or_zero, key_range, natural_logarithm, score_tile, sequence_of, visible_tile


@nacre.jit
def forward_blocks(
    q, k_at, v_at, mask_at, k_strides, v_strides, mask_stride, positions, is_row, slope, largest, total, values,
    start, end, keys, left, right,
    EDGES: tl.constexpr, SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr, BLOCK_N: tl.constexpr,
    HEAD: tl.constexpr, VALUE: tl.constexpr,
):  # fmt: skip
    """Takes the rows through the keys from start to end; with EDGES, keys that a row does not see are left out."""
    for first in range(start, end, BLOCK_N):
        j = tl.arange(0, BLOCK_N)
        n = first + j
        k_ptrs = k_at + first.to(tl.int64) * k_strides[2] + j[:, None] * k_strides[2] + tl.arange(0, HEAD)[None, :] * k_strides[3]
        v_ptrs = v_at + first.to(tl.int64) * v_strides[2] + j[:, None] * v_strides[2] + tl.arange(0, VALUE)[None, :] * v_strides[3]
        if EDGES:
            k = tl.load(k_ptrs, mask=n[:, None] < keys, other=0.0)
            v = tl.load(v_ptrs, mask=n[:, None] < keys, other=0.0)
        else:
            k = tl.load(k_ptrs)
            v = tl.load(v_ptrs)
        products = tl.dot(q, k.T, input_precision="ieee", out_dtype=total.dtype)
        added = None
        if mask_at is not None:
            added = tl.load(mask_at + n[None, :] * mask_stride, mask=is_row & (n[None, :] < keys), other=0)
        scores = score_tile(products, positions, n[None, :], slope, added, SCALE, SOFTCAP, BASE2)
        if EDGES:
            scores = tl.where(visible_tile(positions, n[None, :], keys, left, right), scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        reference = finite_or_zero(new_largest)
        weights = exponential(scores - reference[:, None], BASE2)
        shrink = exponential(largest - reference, BASE2)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.dot(weights.to(v.dtype), v, values * shrink[:, None], input_precision="ieee", out_dtype=total.dtype)
        largest = new_largest
    return largest, total, values


@nacre.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, mask_ptr, slopes_ptr, q_starts_ptr, k_starts_ptr,
    q_strides, k_strides, v_strides, out_strides, lse_strides, mask_strides, slope_strides,
    heads, queries, keys, left, right,
    SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr, GROUP: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Strides are (batch, head, row, element), those of lse (batch, head, row), of slopes (batch, head). `queries` is the largest number of
    queries of a sequence. With causal masks later blocks of queries have more work: they come first."""
    ACC: tl.constexpr = tl.float64 if q_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks = tl.cdiv(queries, BLOCK_M)
    program = tl.program_id(0)
    block = blocks - 1 - program % blocks
    batch = program // blocks // heads
    head = program // blocks % heads
    q_first, queries = sequence_of(q_starts_ptr, batch, queries)
    k_first, keys = sequence_of(k_starts_ptr, batch, keys)
    if block * BLOCK_M >= queries:
        return
    batch = batch.to(tl.int64)
    first_row = block * BLOCK_M
    i = tl.arange(0, BLOCK_M)
    m = first_row + i
    is_row = m[:, None] < queries
    q_at = q_ptr + batch * q_strides[0] + head.to(tl.int64) * q_strides[1] + (q_first + first_row) * q_strides[2]
    q = tl.load(q_at + i[:, None] * q_strides[2] + tl.arange(0, HEAD)[None, :] * q_strides[3], mask=is_row, other=0.0)
    key_head = head.to(tl.int64) // GROUP
    k_at = k_ptr + batch * k_strides[0] + key_head * k_strides[1] + k_first * k_strides[2]
    v_at = v_ptr + batch * v_strides[0] + key_head * v_strides[1] + k_first * v_strides[2]
    mask_at = None
    mask_stride = 0
    if mask_ptr is not None:
        mask_at = mask_ptr + batch * mask_strides[0] + head.to(tl.int64) * mask_strides[1] + first_row.to(tl.int64) * mask_strides[2]
        mask_at = mask_at + i[:, None] * mask_strides[2]
        mask_stride = mask_strides[3]
    slope = None
    if slopes_ptr is not None:
        slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])

    offset = keys - queries
    positions = (m + offset)[:, None]
    last_row = tl.minimum(first_row + BLOCK_M, queries) - 1
    start, whole, edge, end = key_range(first_row + offset, last_row + offset, keys, left, right, BLOCK_N)
    largest = tl.full((BLOCK_M,), float("-inf"), ACC)
    total = tl.zeros((BLOCK_M,), ACC)
    values = tl.zeros((BLOCK_M, VALUE), ACC)
    if left is not None:
        largest, total, values = forward_blocks(
            q, k_at, v_at, mask_at, k_strides, v_strides, mask_stride, positions, is_row, slope, largest, total, values,
            start, whole, keys, left, right, True, SCALE, SOFTCAP, BASE2, BLOCK_N, HEAD, VALUE)  # fmt: skip
    largest, total, values = forward_blocks(
        q, k_at, v_at, mask_at, k_strides, v_strides, mask_stride, positions, is_row, slope, largest, total, values,
        whole, edge, keys, left, right, False, SCALE, SOFTCAP, BASE2, BLOCK_N, HEAD, VALUE)  # fmt: skip
    largest, total, values = forward_blocks(
        q, k_at, v_at, mask_at, k_strides, v_strides, mask_stride, positions, is_row, slope, largest, total, values,
        edge, end, keys, left, right, True, SCALE, SOFTCAP, BASE2, BLOCK_N, HEAD, VALUE)  # fmt: skip

    divisor = tl.where(total == 0, 1.0, total)
    out = values / divisor[:, None]
    out_at = out_ptr + batch * out_strides[0] + head.to(tl.int64) * out_strides[1] + (q_first + first_row) * out_strides[2]
    out_ptrs = out_at + i[:, None] * out_strides[2] + tl.arange(0, VALUE)[None, :] * out_strides[3]
    tl.store(out_ptrs, out.to(out_ptr.dtype.element_ty), mask=is_row)
    if lse_ptr is not None:
        lse_at = lse_ptr + batch * lse_strides[0] + head.to(tl.int64) * lse_strides[1] + (q_first + first_row) * lse_strides[2]
        tl.store(lse_at + i * lse_strides[2], natural_logarithm(largest, total, BASE2), mask=m < queries)
