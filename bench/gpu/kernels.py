"""The kernels that bench/gpu/run.py times. It loads this file twice: with `triton` and `tl` from Triton's package, and with
ours in their place. Nothing is imported here, so that both compile the same text."""


@triton.jit  # noqa: F821
def fill(out, BLOCK: tl.constexpr):  # noqa: F821
    """Only to start both compilers."""
    tl.store(out + tl.arange(0, BLOCK), tl.full((BLOCK,), 1.0, tl.float32))


@triton.jit  # noqa: F821
def vector_add_strided(x, y, out, n, stride, BLOCK: tl.constexpr):  # noqa: F821
    """Of launch.py."""
    offsets = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit  # noqa: F821
def vector_add(x, y, out, n, BLOCK: tl.constexpr):  # noqa: F821
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit  # noqa: F821
def softmax(out, x, stride, columns, BLOCK: tl.constexpr):  # noqa: F821
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * stride + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + offsets, powers / tl.sum(powers, 0), mask=mask)


@triton.jit  # noqa: F821
def layer_norm(out, x, weight, bias, stride, columns, eps, BLOCK: tl.constexpr):  # noqa: F821
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    w = tl.load(weight + offsets, mask=mask)
    b = tl.load(bias + offsets, mask=mask)
    tl.store(out + row * stride + offsets, centred * scale * w + b, mask=mask)


@triton.jit  # noqa: F821
def transpose(out, x, rows, columns, BLOCK: tl.constexpr):  # noqa: F821
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=inside)
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile), mask=tl.trans(inside))


@triton.jit  # noqa: F821
def row_sums(out, x, columns, BLOCK: tl.constexpr):  # noqa: F821
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + offsets, mask=offsets < columns, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit  # noqa: F821
def gather_rows(out, x, index, columns, BLOCK: tl.constexpr):  # noqa: F821
    row = tl.program_id(0).to(tl.int64)
    source = tl.load(index + row).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    tl.store(out + row * columns + offsets, tl.load(x + source * columns + offsets, mask=mask), mask=mask)


@triton.jit  # noqa: F821
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):  # noqa: F821
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP * columns
    first = (program // in_group) * GROUP
    size = min(rows - first, GROUP)
    m = (first + (program % in_group) % size) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = ((program % in_group) // size) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_pointers = a + (m % M)[:, None] * K + k[None, :]
    b_pointers = b + k[:, None] * N + (n % N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, tl.cdiv(K, BLOCK_K)):
        left = tl.load(a_pointers, mask=k[None, :] < K - start * BLOCK_K, other=0.0)
        right = tl.load(b_pointers, mask=k[:, None] < K - start * BLOCK_K, other=0.0)
        total = tl.dot(left, right, total)
        a_pointers += BLOCK_K
        b_pointers += BLOCK_K * N
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit  # noqa: F821
def matmul_whole(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):  # noqa: F821
    """Pointers without masks, for sizes that the blocks divide."""
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP * columns
    first = (program // in_group) * GROUP
    size = min(rows - first, GROUP)
    m = (first + (program % in_group) % size) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = ((program % in_group) // size) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_pointers = a + m[:, None] * K + k[None, :]
    b_pointers = b + k[:, None] * N + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, tl.cdiv(K, BLOCK_K)):
        total = tl.dot(tl.load(a_pointers), tl.load(b_pointers), total)
        a_pointers += BLOCK_K
        b_pointers += BLOCK_K * N
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty))


@triton.jit  # noqa: F821
def matmul_descriptors(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):  # noqa: F821
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP * columns
    first = (program // in_group) * GROUP
    size = min(rows - first, GROUP)
    m = (first + (program % in_group) % size) * BLOCK_M
    n = ((program % in_group) // size) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, tl.cdiv(K, BLOCK_K)):
        total = tl.dot(a.load([m, start * BLOCK_K]), b.load([start * BLOCK_K, n]), total)
    c.store([m, n], total.to(c.dtype))


@triton.jit  # noqa: F821
def attention(q, k, v, out, length, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):  # noqa: F821
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    head = tl.program_id(1).to(tl.int64) * length * D
    queries = tl.load(q + head + rows[:, None] * D + d[None, :])
    most = tl.full((BLOCK_M,), -1.0e6, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    sums = tl.zeros((BLOCK_M, D), tl.float32)
    end = (tl.program_id(0) + 1) * BLOCK_M if CAUSAL else length
    for start in range(0, end, BLOCK_N):
        keys = tl.load(k + head + (start + columns)[:, None] * D + d[None, :])
        scores = tl.dot(queries, tl.trans(keys)) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, -1.0e6)
        larger = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        decay = tl.exp2(most - larger)
        total = total * decay + tl.sum(weights, 1)
        values = tl.load(v + head + (start + columns)[:, None] * D + d[None, :])
        sums = tl.dot(weights.to(values.dtype), values, sums * decay[:, None])
        most = larger
    tl.store(out + head + rows[:, None] * D + d[None, :], (sums / total[:, None]).to(out.dtype.element_ty))


@triton.jit  # noqa: F821
def attention_delta(out, gradient, delta, D: tl.constexpr, BLOCK: tl.constexpr):  # noqa: F821
    """What each row of the result has to do with its gradient: the first step backwards."""
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    places = rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(delta + rows, tl.sum(tl.load(out + places).to(tl.float32) * tl.load(gradient + places).to(tl.float32), 1))


@triton.jit  # noqa: F821
def towards_keys(dk, dv, keys, values, columns, q, gradient, logs, delta, first, blocks, D: tl.constexpr, BLOCK: tl.constexpr,  # noqa: F821
                 MASKED: tl.constexpr):  # noqa: F821  # fmt: skip
    """Adds what `blocks` blocks of rows from `first` on give to the gradients of some keys and values."""
    d = tl.arange(0, D)
    for block in range(blocks):
        rows = first + block * BLOCK + tl.arange(0, BLOCK)
        queries = tl.load(q + rows[:, None] * D + d[None, :])
        weights = tl.exp2(tl.dot(keys, tl.trans(queries)) - tl.load(logs + rows)[None, :])
        if MASKED:
            weights = tl.where(rows[None, :] >= columns[:, None], weights, 0.0)
        slope = tl.load(gradient + rows[:, None] * D + d[None, :])
        dv = tl.dot(weights.to(slope.dtype), slope, dv)
        changes = weights * (tl.dot(values, tl.trans(slope)) - tl.load(delta + rows)[None, :])
        dk = tl.dot(changes.to(queries.dtype), queries, dk)
    return dk, dv


@triton.jit  # noqa: F821
def towards_queries(dq, queries, slope, log, change, rows, k, v, first, blocks, D: tl.constexpr, BLOCK: tl.constexpr,  # noqa: F821
                    MASKED: tl.constexpr):  # noqa: F821  # fmt: skip
    """Adds what `blocks` blocks of keys from `first` on give to the gradient of some queries."""
    d = tl.arange(0, D)
    for block in range(blocks):
        columns = first + block * BLOCK + tl.arange(0, BLOCK)
        keys = tl.load(k + columns[:, None] * D + d[None, :])
        values = tl.load(v + columns[:, None] * D + d[None, :])
        weights = tl.exp2(tl.dot(queries, tl.trans(keys)) - log)
        if MASKED:
            weights = tl.where(rows[:, None] >= columns[None, :], weights, 0.0)
        changes = weights * (tl.dot(slope, tl.trans(values)) - change)
        dq = tl.dot(changes.to(keys.dtype), keys, dq)
    return dq


@triton.jit  # noqa: F821
def attention_backward(q, k, v, gradient, logs, delta, dq, dk, dv, length, scale, D: tl.constexpr, SMALL: tl.constexpr,  # noqa: F821
                       LARGE: tl.constexpr, CAUSAL: tl.constexpr):  # noqa: F821  # fmt: skip
    """A program has LARGE keys, of which it sees all rows, then as many rows, of which it sees all keys. `k` has the scale
    and the change to powers of two in it. On the diagonal the small blocks are half as long."""
    head = tl.program_id(1).to(tl.int64) * length
    q, k, v, gradient = q + head * D, k + head * D, v + head * D, gradient + head * D
    logs, delta = logs + head, delta + head
    first = tl.program_id(0) * LARGE
    own = first + tl.arange(0, LARGE)
    places = head * D + own[:, None] * D + tl.arange(0, D)[None, :]
    inside = own[:, None] * D + tl.arange(0, D)[None, :]

    keys, values = tl.load(k + inside), tl.load(v + inside)
    to_keys, to_values = tl.zeros((LARGE, D), tl.float32), tl.zeros((LARGE, D), tl.float32)
    start = 0
    if CAUSAL:
        to_keys, to_values = towards_keys(to_keys, to_values, keys, values, own, q, gradient, logs, delta, first,
                                          LARGE // (SMALL // 2), D, SMALL // 2, True)  # fmt: skip
        start = first + LARGE
    to_keys, to_values = towards_keys(to_keys, to_values, keys, values, own, q, gradient, logs, delta, start,
                                      (length - start) // SMALL, D, SMALL, False)  # fmt: skip
    tl.store(dv + places, to_values.to(dv.dtype.element_ty))
    tl.store(dk + places, (to_keys * scale).to(dk.dtype.element_ty))

    queries, slope = tl.load(q + inside), tl.load(gradient + inside)
    log, change = tl.load(logs + own)[:, None], tl.load(delta + own)[:, None]
    to_queries = tl.zeros((LARGE, D), tl.float32)
    if CAUSAL:
        to_queries = towards_queries(to_queries, queries, slope, log, change, own, k, v, first, LARGE // (SMALL // 2), D, SMALL // 2, True)
        to_queries = towards_queries(to_queries, queries, slope, log, change, own, k, v, 0, first // SMALL, D, SMALL, False)
    else:
        to_queries = towards_queries(to_queries, queries, slope, log, change, own, k, v, 0, length // SMALL, D, SMALL, False)
    tl.store(dq + places, (to_queries * 0.6931471824645996).to(dq.dtype.element_ty))
