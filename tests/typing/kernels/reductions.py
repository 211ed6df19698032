"""Reductions and scans with functions of one's own over tuples, sorts, top values, histograms, atomics."""

import triton
import triton.language as tl
from triton.language import core
from triton.language.core import associative_scan


@triton.jit
def welford(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0, 0.0, weight_2 / weight)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * weight_1 * share, weight


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


@triton.jit
def variance_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    mean, m2, weight = tl.reduce((x, tl.zeros_like(x), tl.full((N,), 1.0, tl.float32)), 0, welford)
    tl.store(out_ptr, m2 / weight)
    tl.store(out_ptr + 1, mean.to(tl.float32))
    top = tl.reduce(x, axis=0, combine_fn=largest, keep_dims=True)
    tl.store(out_ptr + 2 + tl.arange(0, 1), top)


@triton.jit
def recurrence(a_1, b_1, a_2, b_2):
    return a_2 * a_1, a_2 * b_1 + b_2


@triton.jit
def scan_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr, REVERSE: tl.constexpr = False):
    a, b = tl.load(a_ptr + tl.arange(0, N)), tl.load(b_ptr + tl.arange(0, N))
    _, result = tl.associative_scan((a, b), 0, recurrence, reverse=REVERSE)
    running = associative_scan(a, 0, largest)
    tl.store(out_ptr + tl.arange(0, N), result + running + tl.cumsum(a, axis=0) + tl.cumprod(b, 0, reverse=True))


@triton.jit
def order_kernel(x_ptr, out_ptr, index_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, K: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    best, where = tl.max(x, axis=1, return_indices=True)
    tl.store(index_ptr + rows, where)
    tl.store(out_ptr + rows, best + tl.min(x, axis=1).to(tl.float32))
    tl.store(index_ptr + rows, tl.argmax(x, 1, tie_break_left=False) + tl.argmin(x, axis=1))
    ordered = tl.sort(x, dim=1, descending=True)
    few = tl.topk(x, K, dim=1)
    tl.store(out_ptr + rows[:, None] * K + tl.arange(0, K)[None, :], few + tl.flip(ordered, 1)[:, 0:K])
    counts = x.to(tl.int32).reshape((ROWS * COLUMNS,)).histogram(16)
    tl.store(index_ptr + tl.arange(0, 16), counts + tl.xor_sum(counts, 0))


@triton.jit
def atomics_kernel(counter_ptr, x_ptr, slots_ptr, N: tl.constexpr):
    old = tl.atomic_add(counter_ptr, 1, sem="relaxed", scope="gpu")
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.atomic_add(slots_ptr + (x.to(tl.int32) & 7), 1.0, mask=x > 0)
    tl.atomic_max(counter_ptr, tl.max(x.to(tl.int32)))
    tl.atomic_and(counter_ptr, 255)
    tl.atomic_or(counter_ptr, old | 1)
    if tl.atomic_cas(counter_ptr, old, 0) == old:
        tl.atomic_xchg(counter_ptr, 3)
    counter_ptr.atomic_min(0)


@triton.jit
def shapes_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    y = x.T.reshape(M, N) + tl.permute(x, (1, 0)).view((M, N)) + x.trans(1, 0).reshape([M, N])
    left, right = tl.split(tl.reshape(y, (M, N // 2, 2)))
    both = tl.join(left, right).reshape(M, N)
    wide = tl.broadcast_to(tl.sum(both, axis=1, keep_dims=True), (M, N))
    z = tl.cat(left, right, can_reorder=True) if M > 2 else tl.interleave(left, right)
    low, high = core.broadcast(left, right) if False else (left, right)
    assert x.shape[0] == M and len(x.shape) == 2 and x.numel == M * N and x.type.element_ty == x.dtype
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], wide + z.reshape(M, N) + tl.ravel(low + high).sum() + x[0, :][None, :])
