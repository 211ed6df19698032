"""The kernels that bench/kernels.py measures: the ways in which people write what the examples do not show."""

import triton
import triton.language as tl


@triton.jit
def greyscale_2d(red, green, blue, out, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Planes of bytes in 2-D blocks: the first axis of the grid moves down the rows."""
    y = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    place = y[:, None] * width + x[None, :]
    grey = 0.299 * tl.load(red + place) + 0.587 * tl.load(green + place) + 0.114 * tl.load(blue + place)
    tl.store(out + place, grey.to(tl.uint8))


@triton.jit
def add_one_2d(x, out, height, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    place = row[:, None] * width + column[None, :]
    mask = (row[:, None] < height) & (column[None, :] < width)
    tl.store(out + place, tl.load(x + place, mask=mask) + 1, mask=mask)


@triton.jit
def column_sums(x, out, height, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, height, ROWS):
        place = (start + row)[:, None] * width + column[None, :]
        total += tl.load(x + place, mask=((start + row)[:, None] < height) & (column[None, :] < width), other=0.0)
    tl.store(out + column, tl.sum(total, 0), mask=column < width)


@triton.jit
def transpose(x, out, height, width, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (row[:, None] < height) & (column[None, :] < width)
    tile = tl.load(x + row[:, None] * width + column[None, :], mask=mask)
    tl.store(out + column[None, :] * height + row[:, None], tile, mask=mask)


@triton.jit
def transposed_read(x, y, out, size, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    place = row[:, None] * size + column[None, :]
    turned = tl.load(x + column[None, :] * size + row[:, None])
    tl.store(out + place, turned + tl.load(y + place))


@triton.jit
def cumsum_rows(x, out, width, COLUMNS: tl.constexpr):
    place = tl.program_id(0) * width + tl.arange(0, COLUMNS)
    mask = tl.arange(0, COLUMNS) < width
    tl.store(out + place, tl.cumsum(tl.load(x + place, mask=mask, other=0.0), 0), mask=mask)


@triton.jit
def sort_rows(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    place = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + place, tl.sort(tl.load(x + place)))


@triton.jit
def topk_rows(x, out, K: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out + row * K + tl.arange(0, K), tl.topk(tl.load(x + row * COLUMNS + tl.arange(0, COLUMNS)), K))


@triton.jit
def dot_loop(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, OUT: tl.constexpr,
             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b + k[:, None] * stride_bk + n[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if OUT == tl.int32 else tl.float32)
    for step in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total, out_dtype=tl.int32 if OUT == tl.int32 else tl.float32)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    tl.store(c + m[:, None] * N + n[None, :], total.to(OUT))


@triton.jit
def int4_shift(a, packed, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Weights of 4 bits, [K // 2, N]: byte k holds rows 2k (low) and 2k + 1. Each element is found by a shift and a mask."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, K, BLOCK_K):
        left = tl.load(a + m[:, None] * K + (step + k)[None, :])
        byte = tl.load(packed + ((step + k) // 2)[:, None] * N + n[None, :])
        weight = (byte >> ((k % 2) * 4)[:, None]) & 15
        total = tl.dot(left, weight.to(tl.float32) - 8, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def int4_interleave(a, packed, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """The same: the two halves of the bytes interleaved along k, on the transposed tile."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    half = tl.arange(0, BLOCK_K // 2)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, K, BLOCK_K):
        left = tl.load(a + m[:, None] * K + (step + k)[None, :])
        byte = tl.load(packed + (step // 2 + half)[:, None] * N + n[None, :]).T
        weight = tl.interleave(byte & 15, byte >> 4).T
        total = tl.dot(left, weight.to(tl.float32) - 8, total)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def convolution(x, weight, out, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, CHANNELS: tl.constexpr, FILTERS: tl.constexpr,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """3x3, padded by one, as an implicit GEMM: x [image, HEIGHT, WIDTH, CHANNELS], weight [3, 3, CHANNELS, FILTERS]."""
    place = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    filters = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = place // (HEIGHT * WIDTH)
    row = place // WIDTH % HEIGHT
    column = place % WIDTH
    channel = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for tap in range(9):
        y = row + tap // 3 - 1
        z = column + tap % 3 - 1
        inside = (y >= 0) & (y < HEIGHT) & (z >= 0) & (z < WIDTH)
        pixel = ((image * HEIGHT + y) * WIDTH + z) * CHANNELS
        for start in range(0, CHANNELS, BLOCK_K):
            left = tl.load(x + pixel[:, None] + (start + channel)[None, :], mask=inside[:, None], other=0.0)
            right = tl.load(weight + (tap * CHANNELS + start + channel)[:, None] * FILTERS + filters[None, :])
            total = tl.dot(left, right, total)
    tl.store(out + place[:, None] * FILTERS + filters[None, :], total)


@triton.jit
def convolution_nchw(x, weight, out, places, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, CHANNELS: tl.constexpr, FILTERS: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    """The same on x [image, CHANNELS, HEIGHT, WIDTH] and weight [FILTERS, CHANNELS, 3, 3]: k runs over channels and taps at once."""
    place = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    filters = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = place // (HEIGHT * WIDTH)
    row = place // WIDTH % HEIGHT
    column = place % WIDTH
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, CHANNELS * 9, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        channel, tap = k // 9, k % 9
        y = row[:, None] + (tap // 3)[None, :] - 1
        z = column[:, None] + (tap % 3)[None, :] - 1
        mask = (y >= 0) & (y < HEIGHT) & (z >= 0) & (z < WIDTH) & (k < CHANNELS * 9)[None, :] & (place < places)[:, None]
        left = tl.load(x + ((image[:, None] * CHANNELS + channel[None, :]) * HEIGHT + y) * WIDTH + z, mask=mask, other=0.0)
        right = tl.load(weight + filters[None, :] * (CHANNELS * 9) + k[:, None], mask=(k < CHANNELS * 9)[:, None], other=0.0)
        total = tl.dot(left, right, total)
    target = (image * FILTERS * HEIGHT * WIDTH + row * WIDTH + column)[:, None] + filters[None, :] * (HEIGHT * WIDTH)
    tl.store(out + target, total, mask=(place < places)[:, None])


@triton.jit
def layer_norm_backward(dx, dy, dw_part, db_part, x, weight, mean, rstd, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A program takes ROWS rows and leaves one row of partial sums of the weights' gradients."""
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    w = tl.load(weight + column, mask=mask, other=0.0)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(ROWS):
        row = program * ROWS + i
        value = tl.load(x + row * columns + column, mask=mask, other=0.0)
        grad = tl.load(dy + row * columns + column, mask=mask, other=0.0)
        scale = tl.load(rstd + row)
        normal = tl.where(mask, (value - tl.load(mean + row)) * scale, 0.0)
        weighted = tl.where(mask, w * grad, 0.0)
        c1 = tl.sum(normal * weighted, 0) / columns
        c2 = tl.sum(weighted, 0) / columns
        tl.store(dx + row * columns + column, (weighted - (normal * c1 + c2)) * scale, mask=mask)
        dw += grad * normal
        db += grad
    tl.store(dw_part + program * columns + column, dw, mask=mask)
    tl.store(db_part + program * columns + column, db, mask=mask)


@triton.jit
def scatter_add(x, index, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.atomic_add(out + tl.load(index + place, mask=mask, other=0), tl.load(x + place, mask=mask, other=0.0), mask=mask)


@triton.jit
def _segment_sum(value1, key1, value2, key2):
    return tl.where(key1 == key2, value1 + value2, value2), key2


@triton.jit
def segmented_sum(x, segment, out, count, BLOCK: tl.constexpr):
    """Sorted segments: a scan sums within the block, the last element of each run adds its sum."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    key = tl.load(segment + place, mask=mask, other=-1)
    value = tl.load(x + place, mask=mask, other=0.0)
    total, _ = tl.associative_scan((value, key), 0, _segment_sum)
    following = tl.load(segment + place + 1, mask=place + 1 < count, other=-1)
    last = (key != following) | (tl.arange(0, BLOCK) == BLOCK - 1)
    tl.atomic_add(out + key, total, mask=mask & last)


@triton.jit
def histogram_atomics(x, out, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.atomic_add(out + tl.load(x + place, mask=mask, other=0), 1, mask=mask)


@triton.jit
def histogram_builtin(x, out, count, BINS: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    counts = tl.histogram(tl.load(x + place, mask=mask, other=0), BINS, mask=mask)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def csr_product(values, columns, starts, x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(starts + row)
    end = tl.load(starts + row + 1)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(begin, end, BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = place < end
        total += tl.load(values + place, mask=mask, other=0.0) * tl.load(x + tl.load(columns + place, mask=mask, other=0), mask=mask, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def look_back_scan(x, out, sums, flags, count, BLOCK: tl.constexpr):
    """One pass: each program waits for the running sum of the one before it."""
    program = tl.program_id(0)
    place = program * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    scanned = tl.cumsum(tl.load(x + place, mask=mask, other=0.0), 0)
    total = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, scanned, 0.0), 0)
    before = 0.0
    if program > 0:
        while tl.atomic_add(flags + program - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums + program - 1, volatile=True)
    tl.store(sums + program, before + total)
    tl.atomic_xchg(flags + program, 1, sem="release")
    tl.store(out + place, scanned + before, mask=mask)


@triton.jit
def nothing(x):
    pass


@triton.jit
def unrolled_functions(x, y, STEPS: tl.constexpr):
    i = tl.arange(0, 64)
    a = tl.load(x + i)
    for k in tl.static_range(STEPS):
        a = tl.exp(a) + tl.sin(a)
    tl.store(y + i, a)


@triton.jit
def unrolled_dots(x, y, STEPS: tl.constexpr):
    i = tl.arange(0, 32)
    place = i[:, None] * 32 + i[None, :]
    m = tl.load(x + place)
    c = m
    for k in tl.static_range(STEPS):
        c = tl.dot(c, m)
    tl.store(y + place, c)


@triton.jit
def _exchange(x, flip, stage: tl.constexpr, stages: tl.constexpr):
    outer: tl.constexpr = 2 ** (stages - stage - 1)
    shape: tl.constexpr = [outer, 2, 2**stage]
    y = tl.reshape(x, shape)
    half = tl.arange(0, 2)[None, :, None]
    left = tl.broadcast_to(tl.sum(y * (1 - half), 1)[:, None, :], shape)
    right = tl.broadcast_to(tl.sum(y * half, 1)[:, None, :], shape)
    left = tl.reshape(left, x.shape)
    right = tl.reshape(right, x.shape)
    return tl.where((left > right) != flip, left ^ right ^ x, x)


@triton.jit
def bitonic_by_hand(x, y, STAGES: tl.constexpr):
    """The network as Triton's library once had it, written out by hand."""
    i = tl.arange(0, 2**STAGES)
    a = tl.load(x + i)
    for stage in tl.static_range(1, STAGES + 1):
        if stage < STAGES:
            shape: tl.constexpr = [2 ** (STAGES - 1 - stage), 2, 2**stage]
            flip = tl.reshape(tl.broadcast_to(tl.arange(0, 2)[None, :, None], shape), a.shape)
        else:
            flip = tl.zeros(a.shape, tl.int32)
        for step in tl.static_range(stage):
            a = _exchange(a, flip != 0, stage - 1 - step, STAGES)
    tl.store(y + i, a)
