"""Kernels that move memory, beyond those of kernels.py, for bench/gpu/run.py: loaded twice, like those."""


@triton.jit  # noqa: F821
def copy(out, x, n, BLOCK: tl.constexpr):  # noqa: F821
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask).to(out.dtype.element_ty), mask=mask)


@triton.jit  # noqa: F821
def copy_rows(out, x, rows, columns, stride, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):  # noqa: F821
    """From rows that lie apart to rows that do not."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    tl.store(out + r[:, None] * columns + c[None, :], tl.load(x + r[:, None] * stride + c[None, :], mask=inside), mask=inside)


@triton.jit  # noqa: F821
def layer_norm_backward(dx, dw, db, dy, x, weight, mean, scale, rows, columns, BLOCK: tl.constexpr):  # noqa: F821
    """Each program takes every n-th row, and leaves its share of the sums over rows."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    w = tl.load(weight + offsets, mask=mask, other=0.0)
    w_sum = tl.zeros((BLOCK,), tl.float32)
    b_sum = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        start = row.to(tl.int64) * columns
        g = tl.load(dy + start + offsets, mask=mask, other=0.0)
        s = tl.load(scale + row)
        normal = tl.where(mask, (tl.load(x + start + offsets, mask=mask, other=0.0) - tl.load(mean + row)) * s, 0.0)
        weighted = g * w
        c1 = tl.sum(normal * weighted, 0) / columns
        c2 = tl.sum(weighted, 0) / columns
        tl.store(dx + start + offsets, (weighted - (normal * c1 + c2)) * s, mask=mask)
        w_sum += g * normal
        b_sum += g
    tl.store(dw + tl.program_id(0) * columns + offsets, w_sum, mask=mask)
    tl.store(db + tl.program_id(0) * columns + offsets, b_sum, mask=mask)


@triton.jit  # noqa: F821
def dequantize(out, packed, scales, columns, GROUP: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):  # noqa: F821
    """Eight numbers of 4 bits a word, a scale for each group of rows."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    words = tl.load(packed + r[:, None] * (columns // 8) + c[None, :] // 8)
    numbers = (words >> (c[None, :] % 8 * 4)) & 15
    scale = tl.load(scales + (r // GROUP)[:, None] * columns + c[None, :])
    tl.store(out + r[:, None] * columns + c[None, :], (numbers - 8).to(tl.float16) * scale)


@triton.jit  # noqa: F821
def column_sums(out, x, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):  # noqa: F821
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in range(0, rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        total += tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns), other=0.0)
    tl.store(out + c, tl.sum(total, 0), mask=c < columns)


@triton.jit  # noqa: F821
def row_maxima(out, where, x, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):  # noqa: F821
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, BLOCK_C)
    values = tl.load(x + r[:, None] * columns + c[None, :], mask=c[None, :] < columns, other=-float("inf"))
    largest, place = tl.max(values, 1, return_indices=True)
    tl.store(out + r, largest)
    tl.store(where + r, place)


@triton.jit  # noqa: F821
def running_sums(out, x, columns, BLOCK: tl.constexpr):  # noqa: F821
    offsets = tl.program_id(0).to(tl.int64) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    tl.store(out + offsets, tl.cumsum(tl.load(x + offsets, mask=mask, other=0.0), 0), mask=mask)


@triton.jit  # noqa: F821
def sort_rows(out, x, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):  # noqa: F821
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    places = r[:, None] * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    tl.store(out + places, tl.sort(tl.load(x + places)))


@triton.jit  # noqa: F821
def histogram(out, x, n, BINS: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr):  # noqa: F821
    counts = tl.zeros((BINS,), tl.int32)
    for step in range(STEPS):
        offsets = (tl.program_id(0) * STEPS + step) * BLOCK + tl.arange(0, BLOCK)
        counts += tl.histogram(tl.load(x + offsets), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit  # noqa: F821
def scatter_add(out, index, x, n, BLOCK: tl.constexpr):  # noqa: F821
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.atomic_add(out + tl.load(index + offsets, mask=mask, other=0), tl.load(x + offsets, mask=mask), mask=mask, sem="relaxed")
