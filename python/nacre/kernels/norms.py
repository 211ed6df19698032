"""Normalization of rows: LayerNorm and RMSNorm (with a residual that is added before, and RMSNorm with a quantized result), forward and backward.

A program normalizes a row. It keeps a row of up to 16384 elements as one block, which is read once, and walks a longer one in steps. The
backward's programs take several rows each and leave one row of partial sums of the weight's gradient, which a last kernel adds up: the order of all
sums is fixed, so results do not change from run to run.
"""

from .. import language as tl
from ..language.extra import libdevice
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, accumulation_dtype, as_rows, check_array, check_axes, check_dtype, check_number, check_parameter, check_same_dtype, check_shape,
    contiguous, empty, empty_like, is_numpy, nothing, row_stride, sum_type,
)  # fmt: skip
from ._blocks import cdiv, columns_block, row_block, rows_of_a_part
from ._operator import Operator

# ---- kernels


@jit
def _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, mask, SUM: tl.constexpr):
    """A part of a row; with a residual it is added, rounded as a tensor of its own would be, and kept."""
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    if residual_ptr is not None:
        x = (x.to(SUM) + tl.load(residual_ptr + offsets, mask=mask, other=0.0).to(SUM)).to(x_ptr.dtype.element_ty)
        tl.store(summed_ptr + offsets, x, mask=mask)
    return x.to(SUM)


@jit
def _scaled(normal, weight_ptr, bias_ptr, offsets, mask, SUM: tl.constexpr):
    if weight_ptr is not None:
        normal = normal * tl.load(weight_ptr + offsets, mask=mask, other=0.0).to(SUM)
    if bias_ptr is not None:
        normal = normal + tl.load(bias_ptr + offsets, mask=mask, other=0.0).to(SUM)
    return normal


@jit
def _row_norm(x_ptr, residual_ptr, weight_ptr, bias_ptr, out_ptr, summed_ptr, mean_ptr, scale_ptr, x_stride, residual_stride, columns,
              EPSILON: tl.constexpr, CENTRED: tl.constexpr, WHOLE: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """CENTRED: LayerNorm, which subtracts the mean; RMSNorm without. WHOLE: the row fits one block."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    out_ptr += row * columns
    if residual_ptr is not None:
        residual_ptr += row * residual_stride
        summed_ptr += row * columns
    if WHOLE:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, mask, SUM)
        if CENTRED:
            mean = tl.sum(x, axis=0) / columns
            x = tl.where(mask, x - mean, 0.0)
            tl.store(mean_ptr + row, mean)
        scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / columns + EPSILON)
        tl.store(out_ptr + offsets, _scaled(x * scale, weight_ptr, bias_ptr, offsets, mask, SUM), mask=mask)
    else:
        mean = 0.0
        squares = tl.zeros((BLOCK,), dtype=SUM)
        if CENTRED:
            total = tl.zeros((BLOCK,), dtype=SUM)
            for start in range(0, columns, BLOCK):
                offsets = start + tl.arange(0, BLOCK)
                total += _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, offsets < columns, SUM)
            mean = tl.sum(total, axis=0) / columns
            tl.store(mean_ptr + row, mean)
            for start in range(0, columns, BLOCK):
                offsets = start + tl.arange(0, BLOCK)
                mask = offsets < columns
                source = x_ptr if residual_ptr is None else summed_ptr
                x = tl.where(mask, tl.load(source + offsets, mask=mask, other=0.0).to(SUM) - mean, 0.0)
                squares += x * x
        else:
            for start in range(0, columns, BLOCK):
                offsets = start + tl.arange(0, BLOCK)
                x = _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, offsets < columns, SUM)
                squares += x * x
        scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + EPSILON)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < columns
            source = x_ptr if residual_ptr is None else summed_ptr
            x = tl.load(source + offsets, mask=mask, other=0.0).to(SUM)
            if CENTRED:
                x -= mean
            tl.store(out_ptr + offsets, _scaled(x * scale, weight_ptr, bias_ptr, offsets, mask, SUM), mask=mask)
    tl.store(scale_ptr + row, scale)


@jit
def _load_gradient(x_ptr, dy_ptr, weight_ptr, mean, scale, offsets, mask, CENTRED: tl.constexpr, SUM: tl.constexpr):
    """(the normalized row, dy, dy times the weight), 0 beyond the row's end."""
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(SUM)
    if CENTRED:
        x = tl.where(mask, x - mean, 0.0)
    weighted = dy
    if weight_ptr is not None:
        weighted = dy * tl.load(weight_ptr + offsets, mask=mask, other=0.0).to(SUM)
    return x * scale, dy, weighted


@jit
def _row_norm_backward(x_ptr, dy_ptr, dsummed_ptr, weight_ptr, mean_ptr, scale_ptr, dx_ptr, dweight_ptr, dbias_ptr, x_stride, dy_stride,
                       dsummed_stride, rows, columns, EACH, CENTRED: tl.constexpr, WHOLE: tl.constexpr, SUM: tl.constexpr,
                       BLOCK: tl.constexpr):  # fmt: skip
    """Takes EACH rows. `dsummed`: the gradient that reaches the sum with the residual by another way. The sums of a row that is not WHOLE are
    those of _weight_gradients."""
    program = tl.program_id(0)
    dweight = tl.zeros((BLOCK,), dtype=SUM)
    dbias = tl.zeros((BLOCK,), dtype=SUM)
    for row in range(program * EACH, tl.minimum((program + 1) * EACH, rows)):
        place = row.to(tl.int64)
        x_row = x_ptr + place * x_stride
        dy_row = dy_ptr + place * dy_stride
        dx_row = dx_ptr + place * columns
        scale = tl.load(scale_ptr + row)
        mean = 0.0
        if CENTRED:
            mean = tl.load(mean_ptr + row)
        if WHOLE:
            offsets = tl.arange(0, BLOCK)
            mask = offsets < columns
            normal, dy, weighted = _load_gradient(x_row, dy_row, weight_ptr, mean, scale, offsets, mask, CENTRED, SUM)
            projection = tl.sum(normal * weighted, axis=0) / columns
            dx = weighted - normal * projection
            if CENTRED:
                dx -= tl.sum(weighted, axis=0) / columns
            dx *= scale
            if dsummed_ptr is not None:
                dx += tl.load(dsummed_ptr + place * dsummed_stride + offsets, mask=mask, other=0.0).to(SUM)
            tl.store(dx_row + offsets, dx, mask=mask)
            if dweight_ptr is not None:
                dweight += dy * normal
            if dbias_ptr is not None:
                dbias += dy
        else:
            products = tl.zeros((BLOCK,), dtype=SUM)
            sums = tl.zeros((BLOCK,), dtype=SUM)
            for start in range(0, columns, BLOCK):
                offsets = start + tl.arange(0, BLOCK)
                normal, _, weighted = _load_gradient(x_row, dy_row, weight_ptr, mean, scale, offsets, offsets < columns, CENTRED, SUM)
                products += normal * weighted
                sums += weighted
            projection = tl.sum(products, axis=0) / columns
            average = tl.sum(sums, axis=0) / columns
            for start in range(0, columns, BLOCK):
                offsets = start + tl.arange(0, BLOCK)
                mask = offsets < columns
                normal, _, weighted = _load_gradient(x_row, dy_row, weight_ptr, mean, scale, offsets, mask, CENTRED, SUM)
                dx = weighted - normal * projection
                if CENTRED:
                    dx -= average
                dx *= scale
                if dsummed_ptr is not None:
                    dx += tl.load(dsummed_ptr + place * dsummed_stride + offsets, mask=mask, other=0.0).to(SUM)
                tl.store(dx_row + offsets, dx, mask=mask)
    if WHOLE:
        offsets = program.to(tl.int64) * columns + tl.arange(0, BLOCK)
        mask = tl.arange(0, BLOCK) < columns
        if dweight_ptr is not None:
            tl.store(dweight_ptr + offsets, dweight, mask=mask)
        if dbias_ptr is not None:
            tl.store(dbias_ptr + offsets, dbias, mask=mask)


@jit
def _weight_gradients(x_ptr, dy_ptr, mean_ptr, scale_ptr, dweight_ptr, dbias_ptr, x_stride, dy_stride, rows, columns, EACH,
                      CENTRED: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """The partial sums over EACH rows of a block of columns, for rows that are too long for _row_norm_backward to keep them."""
    part = tl.program_id(1)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    dweight = tl.zeros((BLOCK,), dtype=SUM)
    dbias = tl.zeros((BLOCK,), dtype=SUM)
    for row in range(part * EACH, tl.minimum((part + 1) * EACH, rows)):
        place = row.to(tl.int64)
        mean = 0.0
        if CENTRED:
            mean = tl.load(mean_ptr + row)
        normal, dy, _ = _load_gradient(x_ptr + place * x_stride, dy_ptr + place * dy_stride, None, mean, tl.load(scale_ptr + row), offsets, mask,
                                       CENTRED, SUM)  # fmt: skip
        dweight += dy * normal
        dbias += dy
    target = part.to(tl.int64) * columns + offsets
    if dweight_ptr is not None:
        tl.store(dweight_ptr + target, dweight, mask=mask)
    if dbias_ptr is not None:
        tl.store(dbias_ptr + target, dbias, mask=mask)


@jit
def _sum_of_parts(parts_ptr, out_ptr, parts, columns, BLOCK: tl.constexpr):
    """Adds up the rows of partial sums, first to last."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    total = tl.zeros((BLOCK,), dtype=parts_ptr.dtype.element_ty)
    for part in range(parts):
        total += tl.load(parts_ptr + part.to(tl.int64) * columns + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, total, mask=mask)


@jit
def _quantized(normal, step, LIMIT: tl.constexpr, out_type: tl.constexpr):
    scaled = tl.minimum(tl.maximum(normal / step, -LIMIT), LIMIT, propagate_nan=tl.PropagateNan.ALL)
    return (libdevice.rint(scaled) if out_type.is_int() else scaled).to(out_type)


@jit
def _rms_norm_quantized(x_ptr, residual_ptr, weight_ptr, out_ptr, summed_ptr, step_ptr, x_stride, residual_stride, columns, EPSILON: tl.constexpr,
                        LIMIT: tl.constexpr, WHOLE: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """RMSNorm whose row is divided by a step of its own, so that its largest element becomes LIMIT."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    out_ptr += row * columns
    if residual_ptr is not None:
        residual_ptr += row * residual_stride
        summed_ptr += row * columns
    out_type: tl.constexpr = out_ptr.dtype.element_ty
    if WHOLE:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, mask, SUM)
        scale = 1 / tl.sqrt(tl.sum(x * x, axis=0) / columns + EPSILON)
        normal = _scaled(x * scale, weight_ptr, None, offsets, mask, SUM)
        largest = tl.max(tl.abs(normal), axis=0)
        step = tl.where(largest > 0, largest / LIMIT, 1.0)
        tl.store(out_ptr + offsets, _quantized(normal, step, LIMIT, out_type), mask=mask)
    else:
        squares = tl.zeros((BLOCK,), dtype=SUM)
        sizes = tl.zeros((BLOCK,), dtype=SUM)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < columns
            x = _load_sum(x_ptr, residual_ptr, summed_ptr, offsets, mask, SUM)
            squares += x * x
            sizes = tl.maximum(sizes, tl.abs(_scaled(x, weight_ptr, None, offsets, mask, SUM)))
        scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + EPSILON)
        largest = tl.max(sizes, axis=0) * scale
        step = tl.where(largest > 0, largest / LIMIT, 1.0)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < columns
            source = x_ptr if residual_ptr is None else summed_ptr
            x = tl.load(source + offsets, mask=mask, other=0.0).to(SUM)
            normal = _scaled(x * scale, weight_ptr, None, offsets, mask, SUM)
            tl.store(out_ptr + offsets, _quantized(normal, step, LIMIT, out_type), mask=mask)
    tl.store(step_ptr + row, step)


def sum_of_parts(out, parts):
    """out = the sum of the rows of `parts`, a contiguous matrix of partial sums."""
    rows, columns = parts.shape
    block = columns_block(out, columns)
    _sum_of_parts[(cdiv(columns, block["BLOCK"]),)](parts, out, rows, columns, **block)


# ---- operators


def _check(x, weight, bias, residual, epsilon):
    check_array("x", x)
    check_number("eps", epsilon, least=0)
    check_dtype("x", x, FLOATING)
    check_axes("x", x, 1)
    columns = x.shape[-1]
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None:
            check_parameter(name, parameter, x, "x", (columns,), f"as rows of x have {columns} elements")
    if residual is not None:
        check_array("residual", residual, x, "x")
        check_same_dtype("residual", residual, x, "x")
        check_shape("residual", residual, tuple(x.shape), "the shape of x")


def _allocate_norm(x, residual, weight, bias, epsilon, centred):
    """(out, the sum with the residual, means, scales)."""
    _check(x, weight, bias, residual, epsilon)
    rows, kind = x.shape[:-1], accumulation_dtype(x)
    summed = nothing(x) if residual is None else empty_like(x)
    return empty_like(x), summed, empty(x, rows if centred else (0,), kind), empty(x, rows, kind)


def _launch_norm(outputs, x, residual, weight, bias, epsilon, centred):
    out, summed, mean, scale = outputs
    x = as_rows(x)
    rows, columns = x.shape
    if rows == 0 or columns == 0:
        return
    residual = None if residual is None else as_rows(residual)
    block = row_block(x, columns)
    _row_norm[(rows,)](
        x, residual, contiguous(weight), contiguous(bias), out, None if residual is None else summed, mean if centred else None, scale, row_stride(x),
        0 if residual is None else row_stride(residual), columns, EPSILON=epsilon, CENTRED=centred, WHOLE=block["BLOCK"] >= columns, SUM=sum_type(x),
        **block,
    )  # fmt: skip


def _save_norm(ctx, inputs, output):
    x, residual, weight, bias, _, centred = inputs
    _, summed, mean, scale = output
    ctx.mark_non_differentiable(mean, scale)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x if residual is None else summed, weight, mean, scale)
    ctx.bias_dtype = None if bias is None else str(bias.dtype).removeprefix("torch.")
    ctx.has_residual, ctx.centred = residual is not None, centred


def _backward_of_norm(ctx, dy, dsummed, *_):
    x, weight, mean, scale = ctx.saved_tensors
    _, _, wants_weight, wants_bias, _, _ = ctx.needs_input_grad
    dsummed = dsummed if ctx.has_residual else None
    if dy is None:
        return dsummed, dsummed, None, None, None, None
    dx, dweight, dbias = _norm_gradient(dy, x, weight, mean, scale, dsummed, ctx.bias_dtype or "", wants_weight, wants_bias, ctx.centred)
    return dx, dx if ctx.has_residual else None, dweight if wants_weight else None, dbias if wants_bias else None, None, None


def _allocate_gradient(dy, x, weight, mean, scale, dsummed, bias_dtype, wants_weight, wants_bias, centred):
    columns = x.shape[-1:]
    return (
        empty_like(x),
        empty(weight, columns) if wants_weight else nothing(x),
        empty(x, columns, bias_dtype) if wants_bias else nothing(x),
    )


def _launch_gradient(outputs, dy, x, weight, mean, scale, dsummed, bias_dtype, wants_weight, wants_bias, centred):
    dx, dweight, dbias = outputs
    x, dy = as_rows(x), as_rows(dy)
    dsummed = None if dsummed is None else as_rows(dsummed)
    rows, columns = x.shape
    if columns == 0:
        return
    each = rows_of_a_part(x, rows)
    parts = cdiv(rows, each)
    kind = accumulation_dtype(x)
    dweight_parts = empty(x, (parts, columns), kind) if wants_weight else None
    dbias_parts = empty(x, (parts, columns), kind) if wants_bias else None
    block = row_block(x, columns)
    whole = block["BLOCK"] >= columns
    shared = {"CENTRED": centred, "SUM": sum_type(x)}
    mean = mean if centred else None
    if rows:
        _row_norm_backward[(parts,)](
            x, dy, dsummed, contiguous(weight), mean, scale, dx, dweight_parts, dbias_parts, row_stride(x), row_stride(dy),
            0 if dsummed is None else row_stride(dsummed), rows, columns, each, WHOLE=whole, **shared, **block,
        )  # fmt: skip
        if not whole and (wants_weight or wants_bias):
            step = columns_block(x, columns)
            _weight_gradients[(cdiv(columns, step["BLOCK"]), parts)](
                x, dy, mean, scale, dweight_parts, dbias_parts, row_stride(x), row_stride(dy), rows, columns, each, **shared, **step
            )
    for out, partial in ((dweight, dweight_parts), (dbias, dbias_parts)):
        if partial is not None:
            sum_of_parts(out, partial)


_norm = Operator(
    "row_norm",
    "(Tensor x, Tensor? residual, Tensor? weight, Tensor? bias, float epsilon, bool centred) -> (Tensor, Tensor, Tensor, Tensor)",
    _allocate_norm, _launch_norm, _save_norm, _backward_of_norm,
)  # fmt: skip
_norm_gradient = Operator(
    "row_norm_gradient",
    "(Tensor dy, Tensor x, Tensor? weight, Tensor mean, Tensor scale, Tensor? dsummed, str bias_dtype, bool wants_weight, bool wants_bias, "
    "bool centred) -> (Tensor, Tensor, Tensor)",
    _allocate_gradient, _launch_gradient,
)  # fmt: skip


# The largest value of each type that quantized rows may have.
_LIMITS = {"int8": 127.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def _allocate_quantized(x, residual, weight, epsilon, dtype):
    """(out, steps, the sum with the residual)."""
    _check(x, weight, None, residual, epsilon)
    if dtype not in _LIMITS:
        raise TypeError(f"dtype is {dtype!r}; rows are quantized to {', '.join(_LIMITS)}")
    if is_numpy(x) and dtype != "int8":
        raise TypeError(f"dtype is {dtype!r}, which NumPy has not: use int8, or torch tensors")
    return empty(x, x.shape, dtype), empty(x, x.shape[:-1], accumulation_dtype(x)), nothing(x) if residual is None else empty_like(x)


def _launch_quantized(outputs, x, residual, weight, epsilon, dtype):
    out, steps, summed = outputs
    x = as_rows(x)
    rows, columns = x.shape
    if rows == 0 or columns == 0:
        steps[...] = 1
        return
    residual = None if residual is None else as_rows(residual)
    block = row_block(x, columns)
    _rms_norm_quantized[(rows,)](
        x, residual, contiguous(weight), out, None if residual is None else summed, steps, row_stride(x), 0 if residual is None else row_stride(residual),
        columns, EPSILON=epsilon, LIMIT=_LIMITS[dtype], WHOLE=block["BLOCK"] >= columns, SUM=sum_type(x), **block,
    )  # fmt: skip


_quantized_norm = Operator(
    "rms_norm_quantized", "(Tensor x, Tensor? residual, Tensor? weight, float epsilon, str dtype) -> (Tensor, Tensor, Tensor)",
    _allocate_quantized, _launch_quantized,
)  # fmt: skip


def layer_norm(x, weight=None, bias=None, *, residual=None, eps=1e-5):
    """LayerNorm over the last axis: (x - mean) / sqrt(variance + eps) * weight + bias.

    x: (..., columns), float16, bfloat16, float32 or float64; sums are kept in float32, or float64.
    weight, bias: (columns,), of any of these types, or None.
    residual: of the shape and type of x, or None. With it x + residual is normalized, and the result is the pair (normalized, x + residual).

        y = nacre.kernels.layer_norm(x, weight, bias)
        y, x = nacre.kernels.layer_norm(y, weight, bias, residual=x)
    """
    results = _norm(x, residual, weight, bias, eps, True)
    return results[0] if residual is None else (results[0], results[1])


def rms_norm(x, weight=None, *, residual=None, eps=1e-6):
    """RMSNorm over the last axis: x / sqrt(mean of x * x + eps) * weight.

    x: (..., columns), float16, bfloat16, float32 or float64; sums are kept in float32, or float64.
    weight: (columns,), of any of these types, or None.
    residual: of the shape and type of x, or None. With it x + residual is normalized, and the result is the pair (normalized, x + residual).

        y = nacre.kernels.rms_norm(x, weight)
        y, x = nacre.kernels.rms_norm(y, weight, residual=x)
    """
    results = _norm(x, residual, weight, None, eps, False)
    return results[0] if residual is None else (results[0], results[1])


def rms_norm_quantized(x, weight=None, *, dtype="int8", residual=None, eps=1e-6):
    """RMSNorm over the last axis with a quantized result: the pair (q, steps), where q * steps[..., None] is about rms_norm(x, weight).

    x: (..., columns), float16, bfloat16, float32 or float64. Each row has a step, by which its largest element becomes the type's largest.
    weight: (columns,), or None.
    dtype: "int8" (rounded to the nearest, halves to even), "float8_e4m3fn" or "float8_e5m2" (torch only), as a text or as torch's type.
    residual: of the shape and type of x, or None. With it the result is (q, steps, x + residual).

    steps are float32, float64 where x is; a row of zeros has the step 1. Rows with NaN have no meaning. There is no gradient.

        q, steps = nacre.kernels.rms_norm_quantized(x, weight)
    """
    q, steps, summed = _quantized_norm(x, residual, weight, eps, str(dtype).removeprefix("torch."))
    return (q, steps) if residual is None else (q, steps, summed)
