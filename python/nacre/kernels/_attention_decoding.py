"""Attention of a few queries to a long cache of keys: the keys are divided among programs, and a second kernel merges what they found.

A program takes all heads that share a head of keys, so that each key is read once. The cache is one array of keys for each sequence, or pages
of a common pool that a table of blocks puts in order. Each part leaves its weighted values and the logarithm of its sum; parts of any
kind of attention merge by those two.
"""

import nacre
import nacre.language as tl

from ._attention_scores import exponential, finite_or_zero, natural_logarithm, score_tile, visible_tile


@nacre.jit
def decoding_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, tables_ptr, lengths_ptr, slopes_ptr,
    q_strides, k_strides, v_strides, out_strides, lse_strides, table_stride, slope_strides,
    key_heads, keys, span, splits, left,
    SCALE: tl.constexpr, SOFTCAP: tl.constexpr, QUERIES: tl.constexpr, GROUP: tl.constexpr, HEAD: tl.constexpr, VALUE: tl.constexpr,
    PAGE: tl.constexpr, BLOCK_N: tl.constexpr, SUMMED_PRODUCTS: tl.constexpr, SUMMED_VALUES: tl.constexpr,
):  # fmt: skip
    """Strides of q are (batch, query, head, element), of keys and values (batch or page, row, head, element), of out (part, batch, query,
    head, element), of lse (part, batch, query, head). span is a multiple of BLOCK_N. Up to SUMMED_PRODUCTS rows their products with keys are sums
    of elements, and up to SUMMED_VALUES rows those with values: a matrix product of few rows packs more than it multiplies. Programs that
    follow each other read different heads of the same keys, which are neighbours in memory."""
    ACC: tl.constexpr = tl.float64 if q_ptr.dtype.element_ty == tl.float64 else tl.float32
    ROWS: tl.constexpr = GROUP * QUERIES
    program = tl.program_id(0)
    key_head = (program % key_heads).to(tl.int64)
    split = (program // key_heads % splits).to(tl.int64)
    batch = (program // key_heads // splits).to(tl.int64)
    length = keys
    if lengths_ptr is not None:
        length = tl.load(lengths_ptr + batch).to(tl.int32)
    r = tl.arange(0, ROWS)
    head = key_head * GROUP + r % GROUP
    query = r // GROUP
    d = tl.arange(0, HEAD)[None, :]
    e = tl.arange(0, VALUE)[None, :]
    q_at = q_ptr + batch * q_strides[0] + key_head * GROUP * q_strides[2]
    q = tl.load(q_at + (query * q_strides[1] + r % GROUP * q_strides[2])[:, None] + d * q_strides[3])
    positions = (length - QUERIES + query)[:, None]
    slope = None
    if slopes_ptr is not None:
        slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])[:, None]
    start = split.to(tl.int32) * span
    end = tl.minimum(start + span, length)
    if left is not None:
        least = tl.maximum(length - QUERIES - left, 0)
        start = tl.maximum(start, least // BLOCK_N * BLOCK_N)

    largest = tl.full((ROWS,), float("-inf"), ACC)
    total = tl.zeros((ROWS,), ACC)
    values = tl.zeros((ROWS, VALUE), ACC)
    for first in range(start, end, BLOCK_N):
        j = tl.arange(0, BLOCK_N)
        n = first + j
        is_key = n < length
        if left is not None:
            is_key = is_key & (n >= least)
        if tables_ptr is None:
            k_at = k_ptr + batch * k_strides[0] + first.to(tl.int64) * k_strides[1] + (j * k_strides[1])[:, None]
            v_at = v_ptr + batch * v_strides[0] + first.to(tl.int64) * v_strides[1] + (j * v_strides[1])[:, None]
        else:
            if PAGE % BLOCK_N == 0:
                page = tl.load(tables_ptr + batch * table_stride + first // PAGE).to(tl.int64)
                slot = (first % PAGE).to(tl.int64)
                k_at = k_ptr + page * k_strides[0] + slot * k_strides[1] + (j * k_strides[1])[:, None]
                v_at = v_ptr + page * v_strides[0] + slot * v_strides[1] + (j * v_strides[1])[:, None]
            else:
                pages = tl.load(tables_ptr + batch * table_stride + n // PAGE, mask=is_key, other=0).to(tl.int64)
                k_at = k_ptr + (pages * k_strides[0] + n % PAGE * k_strides[1])[:, None]
                v_at = v_ptr + (pages * v_strides[0] + n % PAGE * v_strides[1])[:, None]
        k = tl.load(k_at + key_head * k_strides[2] + d * k_strides[3], mask=is_key[:, None], other=0.0)
        v = tl.load(v_at + key_head * v_strides[2] + e * v_strides[3], mask=is_key[:, None], other=0.0)
        if ROWS <= SUMMED_PRODUCTS:
            products = tl.sum(q[:, None, :].to(ACC) * k[None, :, :].to(ACC), axis=2)
        else:
            products = tl.dot(q, k.T, input_precision="ieee", out_dtype=ACC)
        scores = score_tile(products, positions, n[None, :], slope, None, SCALE, SOFTCAP, True)
        scores = tl.where(visible_tile(positions, n[None, :], length, left, 0), scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=1))
        reference = finite_or_zero(new_largest)
        weights = exponential(scores - reference[:, None], True)
        shrink = exponential(largest - reference, True)
        total = total * shrink + tl.sum(weights, axis=1)
        if ROWS <= SUMMED_VALUES:
            values = values * shrink[:, None] + tl.sum(weights[:, :, None] * v[None, :, :].to(ACC), axis=1)
        else:
            values = tl.dot(weights.to(v.dtype), v, values * shrink[:, None], input_precision="ieee", out_dtype=ACC)
        largest = new_largest

    out = values / tl.where(total == 0, 1.0, total)[:, None]
    out_at = out_ptr + split * out_strides[0] + batch * out_strides[1] + key_head * GROUP * out_strides[3]
    out_ptrs = out_at + (query * out_strides[2] + r % GROUP * out_strides[3])[:, None] + e * out_strides[4]
    tl.store(out_ptrs, out.to(out_ptr.dtype.element_ty))
    lse_at = lse_ptr + split * lse_strides[0] + batch * lse_strides[1] + key_head * GROUP * lse_strides[3]
    tl.store(lse_at + query * lse_strides[2] + r % GROUP * lse_strides[3], natural_logarithm(largest, total, True))


@nacre.jit
def merging_kernel(
    parts_ptr, lses_ptr, out_ptr, out_lse_ptr, part_stride, row_stride, lse_part_stride, parts, rows, VALUE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The attention to all keys of `rows` rows from that to each part of them."""
    ACC: tl.constexpr = tl.float64 if parts_ptr.dtype.element_ty == tl.float64 else tl.float32
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    is_row = row < rows
    e = tl.arange(0, VALUE)[None, :]
    largest = tl.full((BLOCK,), float("-inf"), ACC)
    total = tl.zeros((BLOCK,), ACC)
    values = tl.zeros((BLOCK, VALUE), ACC)
    for part in range(parts):
        long_part = tl.full((), part, tl.int64)
        lse = tl.load(lses_ptr + long_part * lse_part_stride + row, mask=is_row, other=float("-inf")).to(ACC)
        out_ptrs = parts_ptr + long_part * part_stride + row[:, None] * row_stride + e
        out = tl.load(out_ptrs, mask=is_row[:, None], other=0.0).to(ACC)
        new_largest = tl.maximum(largest, lse)
        reference = finite_or_zero(new_largest)
        shrink = tl.exp(largest - reference)
        weight = tl.exp(lse - reference)
        total = total * shrink + weight
        values = values * shrink[:, None] + out * weight[:, None]
        largest = new_largest
    merged = values / tl.where(total == 0, 1.0, total)[:, None]
    tl.store(out_ptr + row[:, None] * VALUE + e, merged.to(out_ptr.dtype.element_ty), mask=is_row[:, None])
    tl.store(out_lse_ptr + row, natural_logarithm(largest, total, False), mask=is_row)
