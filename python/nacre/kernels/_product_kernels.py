"""Matrix products: tiles of a @ b with what follows elementwise, for single, batched, divided and grouped products."""

import nacre
import nacre.language as tl
from nacre.language.extra import libdevice

ROOT_HALF = tl.constexpr(0.7071067811865476)
ROOT_2_OVER_PI = tl.constexpr(0.7978845608028654)
DENSITY_AT_0 = tl.constexpr(0.3989422804014327)  # of the normal distribution


@nacre.jit
def activated(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    elif ACTIVATION == "gelu":
        return 0.5 * x * (1.0 + tl.erf(x * ROOT_HALF))
    elif ACTIVATION == "gelu_tanh":
        return 0.5 * x * (1.0 + libdevice.tanh(ROOT_2_OVER_PI * (x + 0.044715 * x * x * x)))
    elif ACTIVATION == "silu":
        return x * tl.sigmoid(x)
    elif ACTIVATION == "sigmoid":
        return tl.sigmoid(x)
    elif ACTIVATION == "tanh":
        return libdevice.tanh(x)
    else:
        return x


@nacre.jit
def derivative(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        return tl.where(x > 0, 1.0, 0.0).to(x.dtype)
    elif ACTIVATION == "gelu":
        return 0.5 * (1.0 + tl.erf(x * ROOT_HALF)) + x * DENSITY_AT_0 * tl.exp(-0.5 * x * x)
    elif ACTIVATION == "gelu_tanh":
        t = libdevice.tanh(ROOT_2_OVER_PI * (x + 0.044715 * x * x * x))
        return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * ROOT_2_OVER_PI * (1.0 + 0.134145 * x * x)
    elif ACTIVATION == "silu":
        s = tl.sigmoid(x)
        return s + x * s * (1.0 - s)
    elif ACTIVATION == "sigmoid":
        s = tl.sigmoid(x)
        return s * (1.0 - s)
    else:
        t = libdevice.tanh(x)
        return 1.0 - t * t


@nacre.jit
def finish(total, m, n, mask, bias_ptr, residual_at, residual_strides, out_at, out_strides, kept_at, SCALE: tl.constexpr, ACTIVATION: tl.constexpr):
    """Stores activation(SCALE * total + bias) + residual, and what the activation was given where `kept_at` asks for it."""
    value = total * SCALE
    if bias_ptr is not None:
        value += tl.load(bias_ptr + n, mask=mask, other=0.0).to(total.dtype)
    out_offsets = m.to(tl.int64) * out_strides[1] + n * out_strides[2]
    if kept_at is not None:
        tl.store(kept_at + out_offsets, value.to(kept_at.dtype.element_ty), mask=mask)
    value = activated(value, ACTIVATION)
    if residual_at is not None:
        value += tl.load(residual_at + m.to(tl.int64) * residual_strides[1] + n * residual_strides[2], mask=mask, other=0.0).to(total.dtype)
    tl.store(out_at + out_offsets, value.to(out_at.dtype.element_ty), mask=mask)


@nacre.jit
def product_kernel(
    a_ptr, b_ptr, bias_ptr, residual_ptr, out_ptr, kept_ptr, parts_ptr,
    a_strides, b_strides, residual_strides, out_strides, M, N, K, span, splits,
    SCALE: tl.constexpr, ACTIVATION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, ROWS_TOGETHER: tl.constexpr,
):  # fmt: skip
    """A tile of the product of one batch, over `span` elements of K, a multiple of BLOCK_K. With `parts_ptr` (split, batch, M, N) the bare sums go
    there. Strides are (batch, row, column). Rows and columns behind the end wrap around, so that loads are masked along K alone."""
    ACC: tl.constexpr = tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    tiles = blocks_m * blocks_n
    program = tl.program_id(0)
    tile = program % tiles
    split = program // tiles % splits
    batch = (program // tiles // splits).to(tl.int64)
    block_m, block_n = tl.swizzle2d(tile // blocks_n, tile % blocks_n, blocks_m, blocks_n, ROWS_TOGETHER)
    m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    first = split * span
    a_ptrs = a_ptr + batch * a_strides[0] + first.to(tl.int64) * a_strides[2] + m.to(tl.int64)[:, None] * a_strides[1] + k[None, :] * a_strides[2]
    b_ptrs = b_ptr + batch * b_strides[0] + first.to(tl.int64) * b_strides[1] + k[:, None] * b_strides[1] + n.to(tl.int64)[None, :] * b_strides[2]
    total = tl.zeros((BLOCK_M, BLOCK_N), ACC)
    end = tl.minimum(first + span, K)
    for start in range(first, end, BLOCK_K):
        a = tl.load(a_ptrs, mask=k[None, :] < end - start, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < end - start, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=ACC)
        a_ptrs += BLOCK_K * a_strides[2]
        b_ptrs += BLOCK_K * b_strides[1]
    m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
    n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    mask = (m < M) & (n < N)
    if parts_ptr is not None:
        batches = tl.num_programs(0) // tiles // splits
        parts_at = parts_ptr + (split * batches + batch) * M * N
        tl.store(parts_at + m.to(tl.int64) * N + n, total, mask=mask)
    else:
        residual_at = None
        if residual_ptr is not None:
            residual_at = residual_ptr + batch * residual_strides[0]
        kept_at = None
        if kept_ptr is not None:
            kept_at = kept_ptr + batch * out_strides[0]
        finish(total, m, n, mask, bias_ptr, residual_at, residual_strides, out_ptr + batch * out_strides[0], out_strides, kept_at, SCALE, ACTIVATION)


@nacre.jit
def joining_kernel(
    parts_ptr, bias_ptr, residual_ptr, out_ptr, kept_ptr, residual_strides, out_strides, batches, M, N, splits,
    SCALE: tl.constexpr, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adds the parts of a divided product, always in the same order, and finishes it. A program has a piece of one row."""
    blocks = tl.cdiv(N, BLOCK)
    program = tl.program_id(0)
    n = (program % blocks * BLOCK + tl.arange(0, BLOCK))[None, :]
    m = (program // blocks % M + tl.arange(0, 1))[:, None]
    batch = (program // blocks // M).to(tl.int64)
    mask = n < N
    total = tl.zeros((1, BLOCK), parts_ptr.dtype.element_ty)
    for split in range(splits):
        total += tl.load(parts_ptr + ((split * batches + batch) * M + m) * N + n, mask=mask, other=0.0)
    residual_at = None
    if residual_ptr is not None:
        residual_at = residual_ptr + batch * residual_strides[0]
    kept_at = None
    if kept_ptr is not None:
        kept_at = kept_ptr + batch * out_strides[0]
    finish(total, m, n, mask, bias_ptr, residual_at, residual_strides, out_ptr + batch * out_strides[0], out_strides, kept_at, SCALE, ACTIVATION)


@nacre.jit
def vector_kernel(
    a_ptr, b_ptr, bias_ptr, residual_ptr, out_ptr, kept_ptr, a_strides, b_strides, residual_strides, out_strides, N, K,
    SCALE: tl.constexpr, ACTIVATION: tl.constexpr, M: tl.constexpr, ALONG_N: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The product with few rows of a: b is read once, and nothing of it is packed. With ALONG_N the elements of a row of b lie side by side in
    memory, otherwise those of a column."""
    ACC: tl.constexpr = tl.float64 if a_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks = tl.cdiv(N, BLOCK_N)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    first = (tl.program_id(0) % blocks * BLOCK_N).to(tl.int64)
    j = tl.arange(0, BLOCK_N)
    n = first + j
    m = tl.arange(0, M)
    a_at = a_ptr + batch * a_strides[0]
    b_at = b_ptr + batch * b_strides[0] + first * b_strides[2]
    total = tl.zeros((M, BLOCK_N), ACC)
    for start in range(0, K, BLOCK_K):
        i = tl.arange(0, BLOCK_K)
        k = start + i
        a = tl.load(a_at + m[:, None] * a_strides[1] + k[None, :] * a_strides[2], mask=k[None, :] < K, other=0.0).to(ACC)
        b_at_k = b_at + tl.full((), start, tl.int64) * b_strides[1]
        if ALONG_N:
            b = tl.load(b_at_k + i[:, None] * b_strides[1] + j[None, :] * b_strides[2], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
            total += tl.sum(a[:, :, None] * b.to(ACC)[None, :, :], axis=1)
        else:
            b = tl.load(b_at_k + i[None, :] * b_strides[1] + j[:, None] * b_strides[2], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
            total += tl.sum(a[:, None, :] * b.to(ACC)[None, :, :], axis=2)
    residual_at = None
    if residual_ptr is not None:
        residual_at = residual_ptr + batch * residual_strides[0]
    kept_at = None
    if kept_ptr is not None:
        kept_at = kept_ptr + batch * out_strides[0]
    mask = (n < N)[None, :] & (m[:, None] < M)
    finish(
        total, m[:, None], n[None, :], mask, bias_ptr, residual_at, residual_strides, out_ptr + batch * out_strides[0], out_strides, kept_at,
        SCALE, ACTIVATION,
    )  # fmt: skip


@nacre.jit
def activation_gradient_kernel(d_ptr, kept_ptr, out_ptr, count, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    ACC: tl.constexpr = tl.float64 if kept_ptr.dtype.element_ty == tl.float64 else tl.float32
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(kept_ptr + offsets, mask=mask, other=0.0).to(ACC)
    d = tl.load(d_ptr + offsets, mask=mask, other=0.0).to(ACC)
    tl.store(out_ptr + offsets, (d * derivative(x, ACTIVATION)).to(out_ptr.dtype.element_ty), mask=mask)
