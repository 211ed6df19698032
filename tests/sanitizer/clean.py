"""Kernels that do nothing wrong, among them those that a careless sanitizer would take for wrong."""

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


def vector_add():
    add[(5,)](torch.ones(300), torch.ones(300), torch.empty(300), 300, BLOCK=64)


def vector_add_of_views():
    whole = torch.ones(1000)
    add[(5,)](whole[3:303], whole[400:700], torch.empty(600)[:300], 300, BLOCK=64)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, values / tl.sum(values, axis=0), mask=offsets < columns)


def row_softmax():
    softmax[(7,)](torch.randn(7, 50), torch.empty(7, 50), 50, BLOCK=64)


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + rows[:, None] * K + k + inner, mask=(rows[:, None] < M) & (k + inner < K), other=0.0)
        right = tl.load(b + (k + inner[:, None]) * N + columns, mask=(k + inner[:, None] < K) & (columns < N), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * N + columns, total, mask=(rows[:, None] < M) & (columns < N))


def blocked_matmul():
    matmul[(3, 3)](torch.randn(40, 50), torch.randn(50, 33), torch.empty(40, 33), 40, 33, 50, BLOCK=16)


@triton.jit
def count(values, counts, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(values + offsets, mask=offsets < n, other=0)
    tl.atomic_add(counts + x, 1, mask=offsets < n)


def atomic_histogram():
    count[(4,)](torch.randint(0, 8, (200,), dtype=torch.int32), torch.zeros(8, dtype=torch.int32), 200, BLOCK=64)


@triton.jit
def locked(lock, data):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(data, tl.load(data) + 1)
    tl.atomic_xchg(lock, 0)


def lock_with_order():
    data = torch.zeros(1, dtype=torch.int32)
    locked[(16,)](torch.zeros(1, dtype=torch.int32), data)
    assert data.item() == 16


@triton.jit
def last_adds_up(parts, tickets, total, PROGRAMS: tl.constexpr):
    tl.store(parts + tl.program_id(0), tl.program_id(0))
    if tl.atomic_add(tickets, 1) == PROGRAMS - 1:
        tl.store(total, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS))))


def ticket_of_the_last():
    total = torch.zeros(1, dtype=torch.int32)
    last_adds_up[(16,)](torch.empty(16, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), total, PROGRAMS=16)
    assert total.item() == 120


@triton.jit
def wait_for_the_flag(flag, data):
    if tl.program_id(0) == 0:
        tl.store(data, 5)
        tl.atomic_xchg(flag, 1)
    else:
        while tl.atomic_add(flag, 0) == 0:
            pass
        tl.store(data + tl.program_id(0), tl.load(data))


def flag_after_the_data():
    data = torch.empty(4, dtype=torch.int32)
    wait_for_the_flag[(4,)](torch.zeros(1, dtype=torch.int32), data)
    assert data.tolist() == [5] * 4


@triton.jit
def wait_for_all_readers(flag, data, out, READERS: tl.constexpr):
    program = tl.program_id(0)
    if program < READERS:
        tl.store(out + program, tl.load(data))
        tl.atomic_add(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") < READERS:
            pass
        tl.store(data, 7)


def writer_after_many_readers():
    data, out = torch.full((1,), 5, dtype=torch.int32), torch.empty(12, dtype=torch.int32)
    wait_for_all_readers[(13,)](torch.zeros(1, dtype=torch.int32), data, out, READERS=12)
    assert data.tolist() == [7] and out.tolist() == [5] * 12


@triton.jit
def hash_of(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    bits = tl.load(x + offsets).to(tl.uint32)
    bits = bits * 2654435761 + 12345
    tl.store(out + offsets, (bits ^ (bits >> 16)).to(tl.int32, bitcast=True))


def unsigned_numbers_wrap():
    hash_of[(1,)](torch.arange(64, dtype=torch.int32), torch.empty(64, dtype=torch.int32), BLOCK=64)


@triton.jit
def sums_of(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    values = tl.load(x + i)
    tl.store(out + i, tl.cumsum(values, 0))
    tl.store(out + N, tl.sum(values))


def sums_that_are_just_right():
    x = torch.full((16,), 2**27, dtype=torch.int32)
    x[15] -= 1
    out = torch.empty(17, dtype=torch.int32)
    sums_of[(1,)](x, out, N=16)
    assert out[16] == 2**31 - 1
    sums_of[(1,)](torch.full((16,), 100, dtype=torch.int8), torch.empty(17, dtype=torch.int32), N=16)
    sums_of[(1,)](np.full(16, 2**31, np.uint32), np.zeros(17, np.uint32), N=16)  # unsigned numbers wrap
    sums_of[(1,)](torch.ones(16, dtype=torch.bool), torch.empty(17, dtype=torch.int32), N=16)


@triton.jit
def scale(x, out, factor, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) // factor)


def division_by_a_number():
    scale[(1,)](torch.arange(64, dtype=torch.int32), torch.empty(64, dtype=torch.int32), 7, BLOCK=64)


@triton.jit
def through_memory(src, scratch, dst, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(scratch + offsets, tl.load(src + offsets))
    tl.store(dst + offsets, tl.load(scratch + offsets) * 2)


def scratch_memory_of_its_own():
    through_memory[(4,)](torch.ones(64), torch.empty(64), torch.empty(64), BLOCK=16)


def two_launches_one_after_the_other():
    x = torch.empty(64)
    through_memory[(4,)](torch.ones(64), x, torch.empty(64), BLOCK=16)
    through_memory[(2,)](x, torch.empty(64), torch.empty(64), BLOCK=32)


def memory_that_numpy_filled():
    x, y = np.empty(100, np.float32), np.empty(100, np.float32)
    x[:] = 1
    y.fill(0)
    add[(2,)](x, y, np.empty(100, np.float32), 100, BLOCK=64)


def memory_that_torch_filled():
    x = torch.empty(100)
    torch.add(torch.ones(100), 1, out=x)
    add[(2,)](x, torch.empty(100).normal_(), torch.empty(100), 100, BLOCK=64)


@triton.jit
def transposed(src, dst, stride_row, stride_column, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(dst + rows * N + columns, tl.load(src + rows * stride_row + columns * stride_column))


def strides_of_views():
    x = torch.randn(16, 32)
    for view in (x[:, :16], x.T[:16], x[:, ::2], x[:1].expand(16, 32)[:, :16]):
        transposed[(1,)](view, torch.empty(16, 16), *view.stride(), N=16)


KERNELS = [
    vector_add, vector_add_of_views, row_softmax, blocked_matmul, atomic_histogram, lock_with_order, ticket_of_the_last,
    flag_after_the_data, writer_after_many_readers, unsigned_numbers_wrap, sums_that_are_just_right, division_by_a_number, scratch_memory_of_its_own, two_launches_one_after_the_other,
    memory_that_numpy_filled, memory_that_torch_filled, strides_of_views,
]  # fmt: skip
