"""Attention backward: one kernel for the gradients of keys and values, one for those of queries, and the row sums that both need. Where there are
heads enough for all cores of a host, the first one gives the gradients of queries too, and the scores are computed once less.

Weights are computed again from the scores and the logarithm of each row's sum, so that nothing of the size of the scores is kept. The
gradient of a score is weight * (dO V^T - delta), with delta = sum(dO * O) of its row less the gradient of the row's logarithm. A program
of the first kernel owns a block of keys of one head of keys and walks all queries that see it, of all heads that share it: no atomics, the
same sums in every run.
"""

import nacre
import nacre.language as tl

from ._attention_scores import LOG2E, capped, exponential, finite_or_zero, key_range, score_tile, sequence_of, visible_tile


@nacre.jit
def delta_kernel(
    out_ptr, d_out_ptr, d_lse_ptr, delta_ptr, out_strides, d_out_strides, lse_strides, heads, queries, VALUE: tl.constexpr, BLOCK_M: tl.constexpr,
):  # fmt: skip
    """delta of each row. Strides of out and d_out are (batch, head, row, element); d_lse and delta share theirs."""
    blocks = tl.cdiv(queries, BLOCK_M)
    program = tl.program_id(0)
    batch = (program // blocks // heads).to(tl.int64)
    head = (program // blocks % heads).to(tl.int64)
    first_row = (program % blocks * BLOCK_M).to(tl.int64)
    i = tl.arange(0, BLOCK_M)
    is_row = first_row + i < queries
    e = tl.arange(0, VALUE)[None, :]
    out_at = out_ptr + batch * out_strides[0] + head * out_strides[1] + first_row * out_strides[2]
    d_out_at = d_out_ptr + batch * d_out_strides[0] + head * d_out_strides[1] + first_row * d_out_strides[2]
    out = tl.load(out_at + i[:, None] * out_strides[2] + e * out_strides[3], mask=is_row[:, None], other=0.0)
    d_out = tl.load(d_out_at + i[:, None] * d_out_strides[2] + e * d_out_strides[3], mask=is_row[:, None], other=0.0)
    delta = tl.sum(out.to(delta_ptr.dtype.element_ty) * d_out.to(delta_ptr.dtype.element_ty), axis=1)
    lse_offset = batch * lse_strides[0] + head * lse_strides[1] + first_row * lse_strides[2]
    if d_lse_ptr is not None:
        delta -= tl.load(d_lse_ptr + lse_offset + i * lse_strides[2], mask=is_row, other=0.0)
    tl.store(delta_ptr + lse_offset + i * lse_strides[2], delta, mask=is_row)


@nacre.jit
def weights_of(products, positions, n, slope, added, lse, visible, SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr):
    """The weights of the softmax, and what the gradient of a score is times to be that of its product."""
    scores = score_tile(products, positions, n, slope, added, SCALE, SOFTCAP, BASE2)
    scores = tl.where(visible, scores, float("-inf"))
    reference = finite_or_zero(lse)
    if BASE2:
        reference = reference * LOG2E
    weights = exponential(scores - reference, BASE2)
    if SOFTCAP > 0:
        ratio = capped(products, SCALE, SOFTCAP)
        return weights, (1.0 - ratio * ratio) * SCALE
    else:
        return weights, SCALE


@nacre.jit
def key_value_kernel(
    q_ptr, k_ptr, v_ptr, d_out_ptr, d_q_ptr, d_k_ptr, d_v_ptr, lse_ptr, delta_ptr, mask_ptr, slopes_ptr, q_starts_ptr, k_starts_ptr,
    q_strides, k_strides, v_strides, d_out_strides, d_q_strides, d_k_strides, d_v_strides, lse_strides, mask_strides, slope_strides,
    key_heads, queries, keys, span, left, right,
    SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr, GROUP: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradients of `span` keys, a multiple of BLOCK_N, and their values, a block at a time. Tiles lie with keys as rows. With d_q_ptr, zeros at first,
    a program has all keys, and adds up the gradients of the queries as it meets them: query_kernel is not needed."""
    ACC: tl.constexpr = tl.float64 if q_ptr.dtype.element_ty == tl.float64 else tl.float32
    parts = tl.cdiv(keys, span)
    program = tl.program_id(0)
    batch = program // parts // key_heads
    key_head = (program // parts % key_heads).to(tl.int64)
    span_start = program % parts * span
    q_first, queries = sequence_of(q_starts_ptr, batch, queries)
    k_first, keys = sequence_of(k_starts_ptr, batch, keys)
    batch = batch.to(tl.int64)
    j = tl.arange(0, BLOCK_N)
    d = tl.arange(0, HEAD)[None, :]
    e = tl.arange(0, VALUE)[None, :]
    offset = keys - queries
    for first_key in range(span_start, tl.minimum(span_start + span, keys), BLOCK_N):
        n = (first_key + j)[:, None]
        is_key = n < keys
        k_at = k_ptr + batch * k_strides[0] + key_head * k_strides[1] + (k_first + first_key) * k_strides[2]
        v_at = v_ptr + batch * v_strides[0] + key_head * v_strides[1] + (k_first + first_key) * v_strides[2]
        k = tl.load(k_at + j[:, None] * k_strides[2] + d * k_strides[3], mask=is_key, other=0.0)
        v = tl.load(v_at + j[:, None] * v_strides[2] + e * v_strides[3], mask=is_key, other=0.0)
        start = queries * 0
        end = queries
        if right is not None:
            start = tl.minimum(tl.maximum(first_key - right - offset, 0), queries) // BLOCK_M * BLOCK_M
        if left is not None:
            last_key = tl.minimum(first_key + BLOCK_N, keys) - 1
            end = tl.minimum(tl.maximum(last_key + left - offset + 1, 0), queries)
        d_k = tl.zeros((BLOCK_N, HEAD), ACC)
        d_v = tl.zeros((BLOCK_N, VALUE), ACC)
        for member in range(GROUP):
            head = key_head * GROUP + member
            q_at = q_ptr + batch * q_strides[0] + head * q_strides[1] + q_first * q_strides[2]
            d_out_at = d_out_ptr + batch * d_out_strides[0] + head * d_out_strides[1] + q_first * d_out_strides[2]
            row_at = batch * lse_strides[0] + head * lse_strides[1] + q_first * lse_strides[2]
            slope = None
            if slopes_ptr is not None:
                slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])
            for first_row in range(start, end, BLOCK_M):
                i = tl.arange(0, BLOCK_M)
                m = first_row + i
                is_row = m < queries
                long_row = first_row.to(tl.int64)
                q_ptrs = q_at + long_row * q_strides[2] + i[:, None] * q_strides[2] + d * q_strides[3]
                q = tl.load(q_ptrs, mask=is_row[:, None], other=0.0)
                d_out_ptrs = d_out_at + long_row * d_out_strides[2] + i[:, None] * d_out_strides[2] + e * d_out_strides[3]
                d_out = tl.load(d_out_ptrs, mask=is_row[:, None], other=0.0)
                rows = row_at + long_row * lse_strides[2] + i * lse_strides[2]
                lse = tl.load(lse_ptr + rows, mask=is_row, other=0.0)[None, :]
                delta = tl.load(delta_ptr + rows, mask=is_row, other=0.0)[None, :]
                positions = (m + offset)[None, :]
                products = tl.dot(k, q.T, input_precision="ieee", out_dtype=ACC)
                added = None
                if mask_ptr is not None:
                    mask_at = mask_ptr + batch * mask_strides[0] + head * mask_strides[1] + long_row * mask_strides[2]
                    added = tl.load(mask_at + i[None, :] * mask_strides[2] + n * mask_strides[3], mask=is_row[None, :] & is_key, other=0)
                visible = visible_tile(positions, n, keys, left, right) & is_row[None, :]
                weights, factor = weights_of(products, positions, n, slope, added, lse, visible, SCALE, SOFTCAP, BASE2)
                d_v = tl.dot(weights.to(d_out.dtype), d_out, d_v, input_precision="ieee", out_dtype=ACC)
                d_weights = tl.dot(v, d_out.T, input_precision="ieee", out_dtype=ACC)
                d_products = (weights * (d_weights - delta) * factor).to(q.dtype)
                d_k = tl.dot(d_products, q, d_k, input_precision="ieee", out_dtype=ACC)
                if d_q_ptr is not None:
                    d_q_at = d_q_ptr + batch * d_q_strides[0] + head * d_q_strides[1] + (q_first + long_row) * d_q_strides[2]
                    d_q_ptrs = d_q_at + i[:, None] * d_q_strides[2] + d * d_q_strides[3]
                    d_q = tl.load(d_q_ptrs, mask=is_row[:, None], other=0.0)
                    d_q = tl.dot(d_products.T, k, d_q, input_precision="ieee", out_dtype=ACC)
                    tl.store(d_q_ptrs, d_q, mask=is_row[:, None])
        d_k_at = d_k_ptr + batch * d_k_strides[0] + key_head * d_k_strides[1] + (k_first + first_key) * d_k_strides[2]
        d_v_at = d_v_ptr + batch * d_v_strides[0] + key_head * d_v_strides[1] + (k_first + first_key) * d_v_strides[2]
        tl.store(d_k_at + j[:, None] * d_k_strides[2] + d * d_k_strides[3], d_k.to(d_k_ptr.dtype.element_ty), mask=is_key)
        tl.store(d_v_at + j[:, None] * d_v_strides[2] + e * d_v_strides[3], d_v.to(d_v_ptr.dtype.element_ty), mask=is_key)


@nacre.jit
def query_kernel(
    q_ptr, k_ptr, v_ptr, d_out_ptr, d_q_ptr, d_mask_ptr, lse_ptr, delta_ptr, mask_ptr, slopes_ptr, q_starts_ptr, k_starts_ptr,
    q_strides, k_strides, v_strides, d_out_strides, d_q_strides, d_mask_strides, lse_strides, mask_strides, slope_strides,
    heads, queries, keys, left, right,
    SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr, GROUP: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradients of a block of queries and, where d_mask_ptr is given, of the mask that was added: one number a score, of visible keys alone."""
    ACC: tl.constexpr = tl.float64 if q_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks = tl.cdiv(queries, BLOCK_M)
    program = tl.program_id(0)
    block = blocks - 1 - program % blocks
    batch = program // blocks // heads
    head = (program // blocks % heads).to(tl.int64)
    q_first, queries = sequence_of(q_starts_ptr, batch, queries)
    k_first, keys = sequence_of(k_starts_ptr, batch, keys)
    first_row = block * BLOCK_M
    if first_row >= queries:
        return
    batch = batch.to(tl.int64)
    i = tl.arange(0, BLOCK_M)
    m = first_row + i
    is_row = m < queries
    d = tl.arange(0, HEAD)[None, :]
    e = tl.arange(0, VALUE)[None, :]
    q_at = q_ptr + batch * q_strides[0] + head * q_strides[1] + (q_first + first_row) * q_strides[2]
    q = tl.load(q_at + i[:, None] * q_strides[2] + d * q_strides[3], mask=is_row[:, None], other=0.0)
    d_out_at = d_out_ptr + batch * d_out_strides[0] + head * d_out_strides[1] + (q_first + first_row) * d_out_strides[2]
    d_out = tl.load(d_out_at + i[:, None] * d_out_strides[2] + e * d_out_strides[3], mask=is_row[:, None], other=0.0)
    rows = batch * lse_strides[0] + head * lse_strides[1] + (q_first + first_row) * lse_strides[2] + i * lse_strides[2]
    lse = tl.load(lse_ptr + rows, mask=is_row, other=0.0)[:, None]
    delta = tl.load(delta_ptr + rows, mask=is_row, other=0.0)[:, None]
    key_head = head // GROUP
    k_at = k_ptr + batch * k_strides[0] + key_head * k_strides[1] + k_first * k_strides[2]
    v_at = v_ptr + batch * v_strides[0] + key_head * v_strides[1] + k_first * v_strides[2]
    slope = None
    if slopes_ptr is not None:
        slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])
    offset = keys - queries
    positions = (m + offset)[:, None]
    last_row = tl.minimum(first_row + BLOCK_M, queries) - 1
    start, whole, edge, end = key_range(first_row + offset, last_row + offset, keys, left, right, BLOCK_N)
    d_q = tl.zeros((BLOCK_M, HEAD), ACC)
    for first_key in range(start, end, BLOCK_N):
        j = tl.arange(0, BLOCK_N)
        n = (first_key + j)[None, :]
        is_key = n < keys
        long_key = first_key.to(tl.int64)
        k = tl.load(k_at + long_key * k_strides[2] + j[:, None] * k_strides[2] + d * k_strides[3], mask=is_key.T, other=0.0)
        v = tl.load(v_at + long_key * v_strides[2] + j[:, None] * v_strides[2] + e * v_strides[3], mask=is_key.T, other=0.0)
        products = tl.dot(q, k.T, input_precision="ieee", out_dtype=ACC)
        added = None
        if mask_ptr is not None:
            mask_at = mask_ptr + batch * mask_strides[0] + head * mask_strides[1] + first_row.to(tl.int64) * mask_strides[2]
            added = tl.load(mask_at + i[:, None] * mask_strides[2] + n * mask_strides[3], mask=is_row[:, None] & is_key, other=0)
        visible = visible_tile(positions, n, keys, left, right)
        weights, factor = weights_of(products, positions, n, slope, added, lse, visible, SCALE, SOFTCAP, BASE2)
        d_weights = tl.dot(d_out, v.T, input_precision="ieee", out_dtype=ACC)
        d_scores = weights * (d_weights - delta)
        if d_mask_ptr is not None:
            d_mask_at = d_mask_ptr + batch * d_mask_strides[0] + head * d_mask_strides[1] + first_row.to(tl.int64) * d_mask_strides[2]
            tl.store(d_mask_at + i[:, None] * d_mask_strides[2] + n * d_mask_strides[3], d_scores, mask=is_row[:, None] & is_key)
        d_q = tl.dot((d_scores * factor).to(k.dtype), k, d_q, input_precision="ieee", out_dtype=ACC)
    d_q_at = d_q_ptr + batch * d_q_strides[0] + head * d_q_strides[1] + (q_first + first_row) * d_q_strides[2]
    tl.store(d_q_at + i[:, None] * d_q_strides[2] + d * d_q_strides[3], d_q.to(d_q_ptr.dtype.element_ty), mask=is_row[:, None])
