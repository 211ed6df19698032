"""The kernels of decoder.cpp: all that a decoder of Llama's shape computes, in float32, with weights of any float type."""

import triton
import triton.language as tl


@triton.jit
def embed(table_ptr, tokens_ptr, out_ptr, WIDTH: tl.constexpr):
    """A row of the table for each token."""
    row = tl.program_id(0)
    column = tl.arange(0, WIDTH)
    token = tl.load(tokens_ptr + row).to(tl.int64)
    tl.store(out_ptr + row * WIDTH + column, tl.load(table_ptr + token * WIDTH + column).to(tl.float32))


@triton.jit
def add_and_normalize(stream_ptr, branch_ptr, weight_ptr, out_ptr, epsilon, ADDS: tl.constexpr, WIDTH: tl.constexpr):
    """out = RMSNorm of a row of the stream, to which the branch is added before where ADDS."""
    place = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    x = tl.load(stream_ptr + place)
    if ADDS:
        x += tl.load(branch_ptr + place)
        tl.store(stream_ptr + place, x)
    scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / WIDTH + epsilon)
    tl.store(out_ptr + place, x * scale * tl.load(weight_ptr + tl.arange(0, WIDTH)).to(tl.float32))


@triton.jit
def product(x_ptr, weight_ptr, out_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, INNER: tl.constexpr):
    """A tile of x @ weight.T, with x (rows, INNER) and weight (columns, INNER)."""
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, INNER, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m[:, None] * INNER + k[None, :], mask=(m < rows)[:, None] & (k < INNER)[None, :], other=0.0)
        weight_ptrs = weight_ptr + n.to(tl.int64)[:, None] * INNER + k[None, :]
        weight = tl.load(weight_ptrs, mask=(n < columns)[:, None] & (k < INNER)[None, :], other=0.0)
        total = tl.dot(x, weight.to(tl.float32).T, total, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * columns + n[None, :], total, mask=(m < rows)[:, None] & (n < columns)[None, :])


@triton.jit
def product_of_row(x_ptr, weight_ptr, out_ptr, columns, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, INNER: tl.constexpr):
    """The same for one row: each weight is read once, where it lies."""
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, INNER, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + k, mask=k < INNER, other=0.0)
        weight_ptrs = weight_ptr + n.to(tl.int64)[:, None] * INNER + k[None, :]
        weight = tl.load(weight_ptrs, mask=(n < columns)[:, None] & (k < INNER)[None, :], other=0.0)
        total += tl.sum(weight.to(tl.float32) * x[None, :], axis=1)
    tl.store(out_ptr + n, total, mask=n < columns)


@triton.jit
def turn(x_ptr, cos_ptr, sin_ptr, out_ptr, first, HEADS: tl.constexpr, HALF: tl.constexpr):
    """Rotary positions: row i stands at position first + i; out may be a place in a cache."""
    row = tl.program_id(0)
    pair = tl.arange(0, HALF)[None, :]
    place = (row * HEADS + tl.arange(0, HEADS)[:, None]) * (2 * HALF) + pair
    angle = (first + row) * HALF + pair
    cos, sin = tl.load(cos_ptr + angle), tl.load(sin_ptr + angle)
    x, y = tl.load(x_ptr + place), tl.load(x_ptr + place + HALF)
    tl.store(out_ptr + place, x * cos - y * sin)
    tl.store(out_ptr + place + HALF, y * cos + x * sin)


@triton.jit
def attend(q_ptr, keys_ptr, values_ptr, out_ptr, first, scale, HEADS: tl.constexpr, KEY_HEADS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """One head of one query, at position first + row, and the keys (position, KEY_HEADS, SIZE) up to its own."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    key_head = head // (HEADS // KEY_HEADS)
    d = tl.arange(0, SIZE)
    q = tl.load(q_ptr + (row * HEADS + head) * SIZE + d) * scale
    length = first + row + 1
    largest = tl.full((), float("-inf"), tl.float32)
    total = 0.0
    values = tl.zeros((SIZE,), tl.float32)
    for start in range(0, length, BLOCK):
        n = start + tl.arange(0, BLOCK)
        place = (n[:, None] * KEY_HEADS + key_head) * SIZE + d[None, :]
        is_key = (n < length)[:, None]
        scores = tl.sum(q[None, :] * tl.load(keys_ptr + place, mask=is_key, other=0.0), axis=1)
        scores = tl.where(n < length, scores, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=0))
        weights = tl.exp(scores - new_largest)
        shrink = tl.exp(largest - new_largest)
        total = total * shrink + tl.sum(weights, axis=0)
        values = values * shrink + tl.sum(weights[:, None] * tl.load(values_ptr + place, mask=is_key, other=0.0), axis=0)
        largest = new_largest
    tl.store(out_ptr + (row * HEADS + head) * SIZE + d, values / total)


@triton.jit
def gated(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """silu(gate) * up."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(gate_ptr + place, mask=place < count, other=0.0)
    tl.store(out_ptr + place, gate * tl.sigmoid(gate) * tl.load(up_ptr + place, mask=place < count, other=0.0), mask=place < count)


@triton.jit
def largest_of(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """The place of the largest element; of equal ones the first."""
    best = tl.full((), float("-inf"), tl.float32)
    found = tl.full((), 0, tl.int32)
    for start in range(0, count, BLOCK):
        place = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + place, mask=place < count, other=float("-inf"))
        value, index = tl.max(x, axis=0, return_indices=True)
        if value > best:
            best = value
            found = start + index
    tl.store(out_ptr, found)
