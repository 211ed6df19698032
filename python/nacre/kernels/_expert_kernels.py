"""Mixtures of experts: the kernels that sort tokens by expert, move their rows, and multiply ragged groups of rows in one launch."""

import nacre
import nacre.language as tl


@nacre.jit
def routing_kernel(
    logits_ptr, weights_ptr, experts_ptr, row_stride, experts, K: tl.constexpr, IS_SHARED: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The K experts of one token with the largest logits, best first, equal ones in order, and their parts of the softmax."""
    ACC: tl.constexpr = tl.float64 if logits_ptr.dtype.element_ty == tl.float64 else tl.float32
    token = tl.program_id(0).to(tl.int64)
    e = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + token * row_stride + e, mask=e < experts, other=float("-inf")).to(ACC)
    largest = tl.max(logits, axis=0)
    exponentials = tl.exp(logits - largest)
    total = tl.sum(exponentials, axis=0)
    left = tl.where(logits == logits, logits, float("-inf"))  # NaN comes last
    left = tl.where(e < experts, tl.maximum(left, -3.4028234663852886e38), float("-inf"))
    chosen_total = tl.zeros((), ACC)
    for number in tl.static_range(K):
        place = tl.argmax(left, axis=0)
        weight = tl.sum(tl.where(e == place, exponentials, 0.0), axis=0) / total
        chosen_total += weight
        tl.store(experts_ptr + token * K + number, place)
        tl.store(weights_ptr + token * K + number, weight.to(weights_ptr.dtype.element_ty))
        left = tl.where(e == place, float("-inf"), left)
    if IS_SHARED:
        for number in tl.static_range(K):
            place = tl.load(experts_ptr + token * K + number)
            weight = tl.sum(tl.where(e == place, exponentials, 0.0), axis=0) / total / chosen_total
            tl.store(weights_ptr + token * K + number, weight.to(weights_ptr.dtype.element_ty))


@nacre.jit
def sorting_kernel(experts_ptr, order_ptr, places_ptr, offsets_ptr, count, BLOCK: tl.constexpr):
    """Program e finds where the rows of expert e begin, and gives each its place, in the order in which they come."""
    expert = tl.program_id(0)
    before = tl.zeros((), tl.int32)
    for first in range(0, count, BLOCK):
        i = first + tl.arange(0, BLOCK)
        chosen = tl.load(experts_ptr + i, mask=i < count, other=-1)
        before += tl.sum(((chosen >= 0) & (chosen < expert)).to(tl.int32), axis=0)
    if expert == 0:
        tl.store(offsets_ptr, 0)
    for first in range(0, count, BLOCK):
        i = first + tl.arange(0, BLOCK)
        chosen = tl.load(experts_ptr + i, mask=i < count, other=-1)
        mine = (chosen == expert) & (i < count)
        place = before + tl.cumsum(mine.to(tl.int32), axis=0) - 1
        tl.store(order_ptr + place, i, mask=mine)
        tl.store(places_ptr + i, place, mask=mine)
        before += tl.sum(mine.to(tl.int32), axis=0)
    tl.store(offsets_ptr + expert + 1, before)


@nacre.jit
def dispatching_kernel(x_ptr, order_ptr, weights_ptr, out_ptr, x_stride, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """Row r is the token of entry order[r], times the entry's weight where there are weights; zeros where order is negative."""
    row = tl.program_id(0).to(tl.int64)
    entry = tl.load(order_ptr + row).to(tl.int64)
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.maximum(entry, 0) // K * x_stride + c, mask=(c < columns) & (entry >= 0), other=0.0)
        if weights_ptr is not None:
            x = x * tl.load(weights_ptr + tl.maximum(entry, 0))
        tl.store(out_ptr + row * columns + c, x.to(out_ptr.dtype.element_ty), mask=c < columns)


@nacre.jit
def collecting_kernel(y_ptr, places_ptr, weights_ptr, out_ptr, y_stride, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """A token is the sum of the rows of its K entries, times their weights where there are weights; entries without a place count nothing."""
    ACC: tl.constexpr = tl.float64 if y_ptr.dtype.element_ty == tl.float64 else tl.float32
    token = tl.program_id(0).to(tl.int64)
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), ACC)
        for number in tl.static_range(K):
            place = tl.load(places_ptr + token * K + number).to(tl.int64)
            y = tl.load(y_ptr + tl.maximum(place, 0) * y_stride + c, mask=(c < columns) & (place >= 0), other=0.0).to(ACC)
            if weights_ptr is not None:
                y = y * tl.load(weights_ptr + token * K + number).to(ACC)
            total += y
        tl.store(out_ptr + token * columns + c, total.to(out_ptr.dtype.element_ty), mask=c < columns)


@nacre.jit
def weights_gradient_kernel(y_ptr, places_ptr, d_ptr, out_ptr, y_stride, d_stride, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """The gradient of the weight of each entry: the product of its row with the gradient of its token."""
    ACC: tl.constexpr = tl.float64 if y_ptr.dtype.element_ty == tl.float64 else tl.float32
    entry = tl.program_id(0).to(tl.int64)
    place = tl.load(places_ptr + entry).to(tl.int64)
    total = tl.zeros((BLOCK,), ACC)
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        y = tl.load(y_ptr + tl.maximum(place, 0) * y_stride + c, mask=(c < columns) & (place >= 0), other=0.0).to(ACC)
        total += y * tl.load(d_ptr + entry // K * d_stride + c, mask=c < columns, other=0.0).to(ACC)
    tl.store(out_ptr + entry, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty))


@nacre.jit
def grouped_kernel(
    x_ptr, w_ptr, offsets_ptr, out_ptr, x_stride, w_strides, experts, N, K,
    EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A tile of the product of one expert's rows with its matrix. The grid has room for any split of the rows; programs too many end at once.
    Every program counts the blocks of rows of all experts to find its own."""
    ACC: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks_n = tl.cdiv(N, BLOCK_N)
    block = tl.program_id(0) // blocks_n
    first_n = tl.program_id(0) % blocks_n * BLOCK_N
    e = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + e, mask=e < experts, other=0)
    ends = tl.load(offsets_ptr + e + 1, mask=e < experts, other=0)
    blocks = (ends - starts + BLOCK_M - 1) // BLOCK_M
    last = tl.cumsum(blocks, axis=0)
    expert = tl.sum((last <= block).to(tl.int32), axis=0)
    if expert >= experts:
        return
    before = tl.sum(tl.where(e < expert, blocks, 0), axis=0)
    start = tl.load(offsets_ptr + expert).to(tl.int64)
    rows = (tl.load(offsets_ptr + expert + 1).to(tl.int64) - start).to(tl.int32)
    first_m = ((block - before) * BLOCK_M).to(tl.int32)
    i = tl.arange(0, BLOCK_M)
    j = tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    is_row = (first_m + i < rows)[:, None]
    is_column = (first_n + j < N)[None, :]
    x_at = x_ptr + (start + first_m) * x_stride
    w_at = w_ptr + expert.to(tl.int64) * w_strides[0] + first_n.to(tl.int64) * w_strides[2]
    total = tl.zeros((BLOCK_M, BLOCK_N), ACC)
    for first in range(0, K, BLOCK_K):
        is_inner = first + k < K
        x = tl.load(x_at + i[:, None] * x_stride + (first + k)[None, :], mask=is_row & is_inner[None, :], other=0.0)
        w_at_k = w_at + tl.full((), first, tl.int64) * w_strides[1]
        w = tl.load(w_at_k + k[:, None] * w_strides[1] + j[None, :] * w_strides[2], mask=is_inner[:, None] & is_column, other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee", out_dtype=ACC)
    out_at = out_ptr + (start + first_m) * N + first_n
    tl.store(out_at + i[:, None] * N + j[None, :], total.to(out_ptr.dtype.element_ty), mask=is_row & is_column)


@nacre.jit
def grouped_weights_kernel(
    x_ptr, d_ptr, offsets_ptr, out_ptr, x_stride, d_stride, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A tile of the gradient of one expert's matrix: x.T @ d over its rows. Zero where it has none."""
    ACC: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    blocks_n = tl.cdiv(N, BLOCK_N)
    blocks_k = tl.cdiv(K, BLOCK_K)
    program = tl.program_id(0)
    expert = program // blocks_n // blocks_k
    n = program % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = program // blocks_n % blocks_k * BLOCK_K + tl.arange(0, BLOCK_K)
    start = tl.load(offsets_ptr + expert).to(tl.int64)
    rows = (tl.load(offsets_ptr + expert + 1).to(tl.int64) - start).to(tl.int32)
    i = tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_K, BLOCK_N), ACC)
    for first in range(0, rows, BLOCK_M):
        is_row = (first + i < rows)[:, None]
        x = tl.load(x_ptr + (start + first) * x_stride + i[:, None] * x_stride + k[None, :], mask=is_row & (k < K)[None, :], other=0.0)
        d = tl.load(d_ptr + (start + first) * d_stride + i[:, None] * d_stride + n[None, :], mask=is_row & (n < N)[None, :], other=0.0)
        total = tl.dot(x.T, d, total, input_precision="ieee", out_dtype=ACC)
    out_ptrs = out_ptr + expert.to(tl.int64) * K * N + k.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(out_ptrs, total.to(out_ptr.dtype.element_ty), mask=(k < K)[:, None] & (n < N)[None, :])
