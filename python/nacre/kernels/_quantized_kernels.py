"""Products with weights of 4 and 8 bits, which become floats in registers on their way into the sums.

All formats are read as tiles of (rows, groups, elements): a group shares one scale. Of 4 bits a byte holds two elements of its group, the low
half element i and the high half element i + GROUP / 2, so that both halves are whole runs of elements. The formats:

- "int8", "int4": bytes (rows, K) or (rows, K / 2); scales (rows, K / GROUP); zero points of the same shape, or none: 0, and 8 for 4 bits.
- "q8_0", "q4_0": blocks one after the other, each a float16 scale before the bytes of 32 elements; the zero point is 0, and 8 for 4 bits.
"""

import nacre
import nacre.language as tl


@nacre.jit
def weight_groups(w_ptr, scales_ptr, zeros_ptr, n, g, groups, FORMAT: tl.constexpr, GROUP: tl.constexpr, ACC: tl.constexpr):
    """The elements of rows n, (N,), and groups g, (G,), as (low half, high half) of shape (N, G, GROUP / 2); of 8 bits all of them, twice the same
    tile. Groups behind the last are 0."""
    IS_HALVED: tl.constexpr = FORMAT == "int4" or FORMAT == "q4_0"
    BYTES: tl.constexpr = GROUP // 2 if IS_HALVED else GROUP
    is_group = (g < groups)[None, :]
    if FORMAT == "q4_0" or FORMAT == "q8_0":
        blocks = n.to(tl.int64)[:, None] * groups + g[None, :]
        scale = tl.load(w_ptr.to(tl.pointer_type(tl.float16)) + blocks * (BYTES // 2 + 1), mask=is_group, other=0.0).to(ACC)[:, :, None]
        at = (blocks * (BYTES + 2) + 2)[:, :, None]
    else:
        blocks = n.to(tl.int64)[:, None] * groups + g[None, :]
        scale = tl.load(scales_ptr + blocks, mask=is_group, other=0.0).to(ACC)[:, :, None]
        at = (blocks * BYTES)[:, :, None]
    stored = tl.load(w_ptr + at + tl.arange(0, BYTES)[None, None, :], mask=is_group[:, :, None], other=0)
    if zeros_ptr is not None:
        zero = tl.load(zeros_ptr + blocks, mask=is_group, other=0.0).to(ACC)[:, :, None]
    else:
        zero = 8.0 if IS_HALVED else 0.0
    if IS_HALVED:
        return ((stored & 15).to(ACC) - zero) * scale, ((stored >> 4).to(ACC) - zero) * scale
    else:
        values = (stored.to(tl.int8, bitcast=True).to(ACC) - zero) * scale
        return values, values


@nacre.jit
def few_rows_kernel(
    x_ptr, w_ptr, scales_ptr, zeros_ptr, out_ptr, x_stride, N, groups,
    FORMAT: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_G: tl.constexpr,
):  # fmt: skip
    """x @ w.T for ROWS rows of x: a program walks BLOCK_N rows of weights, with a sum for each place within a group, added up at the end."""
    ACC: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    IS_HALVED: tl.constexpr = FORMAT == "int4" or FORMAT == "q4_0"
    HALF: tl.constexpr = GROUP // 2 if IS_HALVED else GROUP
    j = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    n = tl.minimum(j, N - 1)
    i = tl.arange(0, HALF)[None, None, :]
    m = tl.arange(0, ROWS)
    sums = tl.zeros((ROWS, BLOCK_N, HALF), ACC)
    for first in range(0, groups, BLOCK_G):
        g = first + tl.arange(0, BLOCK_G)
        low, high = weight_groups(w_ptr, scales_ptr, zeros_ptr, n, g, groups, FORMAT, GROUP, ACC)
        x_ptrs = x_ptr + m.to(tl.int64)[:, None, None] * x_stride + (g * GROUP)[None, :, None] + i
        is_group = (g < groups)[None, :, None]
        x = tl.load(x_ptrs, mask=is_group, other=0.0).to(ACC)
        products = low[None, :, :, :] * x[:, None, :, :]
        if IS_HALVED:
            x = tl.load(x_ptrs + HALF, mask=is_group, other=0.0).to(ACC)
            products += high[None, :, :, :] * x[:, None, :, :]
        sums += tl.sum(products, axis=2)
    total = tl.sum(sums, axis=2)
    tl.store(out_ptr + m.to(tl.int64)[:, None] * N + j[None, :], total.to(out_ptr.dtype.element_ty), mask=(j < N)[None, :])


@nacre.jit
def many_rows_kernel(
    x_ptr, w_ptr, scales_ptr, zeros_ptr, out_ptr, x_stride, M, N, groups,
    FORMAT: tl.constexpr, GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_G: tl.constexpr,
):  # fmt: skip
    """A tile of x @ w.T. Weights have x's type when they meet it."""
    ACC: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    IS_HALVED: tl.constexpr = FORMAT == "int4" or FORMAT == "q4_0"
    HALF: tl.constexpr = GROUP // 2 if IS_HALVED else GROUP
    blocks_n = tl.cdiv(N, BLOCK_N)
    m = tl.program_id(0) // blocks_n * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.program_id(0) % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
    n = tl.minimum(j, N - 1)
    is_row = (m < M)[:, None, None]
    i = tl.arange(0, HALF)[None, None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), ACC)
    for first in range(0, groups, BLOCK_G):
        g = first + tl.arange(0, BLOCK_G)
        low, high = weight_groups(w_ptr, scales_ptr, zeros_ptr, n, g, groups, FORMAT, GROUP, ACC)
        x_ptrs = x_ptr + m.to(tl.int64)[:, None, None] * x_stride + (g * GROUP)[None, :, None] + i
        mask = is_row & (g < groups)[None, :, None]
        x = tl.reshape(tl.load(x_ptrs, mask=mask, other=0.0), (BLOCK_M, BLOCK_G * HALF))
        w = tl.reshape(low.to(x.dtype), (BLOCK_N, BLOCK_G * HALF))
        total = tl.dot(x, w.T, total, input_precision="ieee", out_dtype=ACC)
        if IS_HALVED:
            x = tl.reshape(tl.load(x_ptrs + HALF, mask=mask, other=0.0), (BLOCK_M, BLOCK_G * HALF))
            w = tl.reshape(high.to(x.dtype), (BLOCK_N, BLOCK_G * HALF))
            total = tl.dot(x, w.T, total, input_precision="ieee", out_dtype=ACC)
    tl.store(out_ptr + m.to(tl.int64)[:, None] * N + j[None, :], total.to(out_ptr.dtype.element_ty), mask=(m < M)[:, None] & (j < N)[None, :])


@nacre.jit
def activations_gradient_kernel(
    d_ptr, w_ptr, scales_ptr, zeros_ptr, out_ptr, d_stride, M, N, groups,
    FORMAT: tl.constexpr, GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_G: tl.constexpr,
):  # fmt: skip
    """A tile of d @ w: rows by groups of columns."""
    ACC: tl.constexpr = tl.float64 if d_ptr.dtype.element_ty == tl.float64 else tl.float32
    IS_HALVED: tl.constexpr = FORMAT == "int4" or FORMAT == "q4_0"
    HALF: tl.constexpr = GROUP // 2 if IS_HALVED else GROUP
    blocks_g = tl.cdiv(groups, BLOCK_G)
    m = tl.program_id(0) // blocks_g * BLOCK_M + tl.arange(0, BLOCK_M)
    g = tl.program_id(0) % blocks_g * BLOCK_G + tl.arange(0, BLOCK_G)
    low_sum = tl.zeros((BLOCK_M, BLOCK_G * HALF), ACC)
    high_sum = tl.zeros((BLOCK_M, BLOCK_G * HALF), ACC)
    for first in range(0, N, BLOCK_N):
        j = first + tl.arange(0, BLOCK_N)
        d = tl.load(d_ptr + m.to(tl.int64)[:, None] * d_stride + j[None, :], mask=(m < M)[:, None] & (j < N)[None, :], other=0.0)
        low, high = weight_groups(w_ptr, scales_ptr, zeros_ptr, tl.minimum(j, N - 1), g, groups, FORMAT, GROUP, ACC)
        low_sum = tl.dot(d, tl.reshape(low.to(d.dtype), (BLOCK_N, BLOCK_G * HALF)), low_sum, input_precision="ieee", out_dtype=ACC)
        if IS_HALVED:
            high_sum = tl.dot(d, tl.reshape(high.to(d.dtype), (BLOCK_N, BLOCK_G * HALF)), high_sum, input_precision="ieee", out_dtype=ACC)
    out_ptrs = out_ptr + m.to(tl.int64)[:, None, None] * groups * GROUP + (g * GROUP)[None, :, None] + tl.arange(0, HALF)[None, None, :]
    mask = (m < M)[:, None, None] & (g < groups)[None, :, None]
    tl.store(out_ptrs, tl.reshape(low_sum, (BLOCK_M, BLOCK_G, HALF)).to(out_ptr.dtype.element_ty), mask=mask)
    if IS_HALVED:
        tl.store(out_ptrs + HALF, tl.reshape(high_sum, (BLOCK_M, BLOCK_G, HALF)).to(out_ptr.dtype.element_ty), mask=mask)


@nacre.jit
def dequantize_kernel(
    w_ptr, scales_ptr, zeros_ptr, out_ptr, groups, FORMAT: tl.constexpr, GROUP: tl.constexpr, BLOCK_G: tl.constexpr,
):  # fmt: skip
    """A piece of one row as floats."""
    ACC: tl.constexpr = tl.float64 if out_ptr.dtype.element_ty == tl.float64 else tl.float32
    IS_HALVED: tl.constexpr = FORMAT == "int4" or FORMAT == "q4_0"
    HALF: tl.constexpr = GROUP // 2 if IS_HALVED else GROUP
    blocks_g = tl.cdiv(groups, BLOCK_G)
    n = tl.program_id(0) // blocks_g + tl.arange(0, 1)
    g = tl.program_id(0) % blocks_g * BLOCK_G + tl.arange(0, BLOCK_G)
    low, high = weight_groups(w_ptr, scales_ptr, zeros_ptr, n, g, groups, FORMAT, GROUP, ACC)
    out_ptrs = out_ptr + n.to(tl.int64)[:, None, None] * groups * GROUP + (g * GROUP)[None, :, None] + tl.arange(0, HALF)[None, None, :]
    mask = (g < groups)[None, :, None]
    tl.store(out_ptrs, low.to(out_ptr.dtype.element_ty), mask=mask)
    if IS_HALVED:
        tl.store(out_ptrs + HALF, high.to(out_ptr.dtype.element_ty), mask=mask)
