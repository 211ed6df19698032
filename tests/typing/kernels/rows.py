"""Rows: softmax in one block and in several, layer norm and its gradients, RMS norm."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    first, step = tl.program_id(0), tl.num_programs(0)
    for row in tl.range(first, rows, step, num_stages=num_stages):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(in_ptr + row * in_stride + offsets, mask=mask, other=-float("inf"))
        x -= tl.max(x, axis=0)
        numerator = tl.exp(x)
        tl.store(out_ptr + row * out_stride + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
        new = tl.maximum(largest, tl.max(x, 0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), 0)
        largest = new
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + offsets, mask=offsets < columns)
        tl.store(out_ptr + row * columns + offsets, tl.exp(x - largest) / total, mask=offsets < columns)


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, stride, N, eps, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    accumulated = tl.zeros([BLOCK], dtype=tl.float32)
    for offset in range(0, N, BLOCK):
        columns = offset + tl.arange(0, BLOCK)
        accumulated += tl.load(x_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(accumulated, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for offset in range(0, N, BLOCK):
        columns = offset + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        x = tl.where(columns < N, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    bias = None
    for offset in range(0, N, BLOCK):
        columns = offset + tl.arange(0, BLOCK)
        mask = columns < N
        weight = tl.load(weight_ptr + columns, mask=mask)
        if HAS_BIAS:
            bias = tl.load(bias_ptr + columns, mask=mask)
        x = tl.load(x_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        y = (x - mean) * rstd * weight
        if HAS_BIAS:
            y = y + bias
        tl.store(y_ptr + columns, y, mask=mask)


@triton.jit
def layer_norm_backward(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + columns, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + columns, mask=mask).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    normed = tl.where(mask, (x - mean) * rstd, 0.0)
    weighted = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(normed * weighted, axis=0) / N
    c2 = tl.sum(weighted, axis=0) / N
    tl.store(dx_ptr + row * stride + columns, (weighted - (normed * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * normed).to(w.dtype)
    partial_db = dy.to(w.dtype)
    lock_id = row % GROUP
    lock_ptr += lock_id
    count_ptr = lock_ptr + GROUP
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptr + lock_id * N + columns, mask=mask)
        partial_db += tl.load(db_ptr + lock_id * N + columns, mask=mask)
    tl.store(dw_ptr + lock_id * N + columns, partial_dw, mask=mask)
    tl.store(db_ptr + lock_id * N + columns, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def rms_norm(x_ptr, w_ptr, out_ptr, N, eps, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * N + columns, mask=columns < N, other=0.0)
    rstd = tl.rsqrt(tl.sum(x * x) / N + eps)
    tl.store(out_ptr + tl.program_id(0) * N + columns, x * rstd * tl.load(w_ptr + columns, mask=columns < N), mask=columns < N)
