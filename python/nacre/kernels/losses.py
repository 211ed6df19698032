"""softmax and log_softmax of rows, and the cross entropy of rows of logits, forward and backward.

A program takes a row. One of up to 16384 elements is kept as a block; a longer one is walked in steps: once for its maximum, once for its sum, and
once for what is written. The cross entropy keeps only the logarithm of each row's sum for the backward, which computes the softmax anew.
"""

from .. import language as tl
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, INTEGERS, accumulation_dtype, as_rows, check_array, check_axes, check_dtype, check_int64, check_integer, check_number, check_shape,
    contiguous, empty, empty_like, is_numpy, row_stride, sum_type,
)  # fmt: skip
from ._blocks import row_block
from ._operator import Operator

# ---- kernels


@jit
def _row_maximum(x_ptr, columns, SUM: tl.constexpr, BLOCK: tl.constexpr):
    largest = tl.full((BLOCK,), -float("inf"), SUM)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        largest = tl.maximum(largest, tl.load(x_ptr + offsets, mask=offsets < columns, other=-float("inf")).to(SUM))
    return tl.max(largest, axis=0)


@jit
def _row_sum_of_exponentials(x_ptr, largest, columns, SUM: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=SUM)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(SUM)
        total += tl.where(mask, tl.exp(x - largest), 0.0)
    return tl.sum(total, axis=0)


@jit
def _softmax_rows(x_ptr, out_ptr, x_stride, columns, LOGARITHM: tl.constexpr, WHOLE: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    out_ptr += row * columns
    if WHOLE:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(SUM)
        x -= tl.max(x, axis=0)
        exponentials = tl.exp(x)
        total = tl.sum(tl.where(mask, exponentials, 0.0), axis=0)
        if LOGARITHM:
            tl.store(out_ptr + offsets, x - tl.log(total), mask=mask)
        else:
            tl.store(out_ptr + offsets, exponentials / total, mask=mask)
    else:
        largest = _row_maximum(x_ptr, columns, SUM, BLOCK)
        total = _row_sum_of_exponentials(x_ptr, largest, columns, SUM, BLOCK)
        logarithm = tl.log(total)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < columns
            x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM) - largest
            if LOGARITHM:
                tl.store(out_ptr + offsets, x - logarithm, mask=mask)
            else:
                tl.store(out_ptr + offsets, tl.exp(x) / total, mask=mask)


@jit
def _gradient_term(y_ptr, dy_ptr, offsets, mask, LOGARITHM: tl.constexpr, SUM: tl.constexpr):
    """(dy, the probability, what the row's sum is of)."""
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0).to(SUM)
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(SUM)
    if LOGARITHM:
        return dy, tl.exp(y), dy
    else:
        return dy, y, dy * y


@jit
def _softmax_rows_backward(y_ptr, dy_ptr, dx_ptr, y_stride, dy_stride, columns, LOGARITHM: tl.constexpr, WHOLE: tl.constexpr, SUM: tl.constexpr,
                           BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    y_ptr += row * y_stride
    dy_ptr += row * dy_stride
    dx_ptr += row * columns
    if WHOLE:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        dy, probability, term = _gradient_term(y_ptr, dy_ptr, offsets, mask, LOGARITHM, SUM)
        total = tl.sum(term, axis=0)
        tl.store(dx_ptr + offsets, dy - probability * total if LOGARITHM else (dy - total) * probability, mask=mask)
    else:
        terms = tl.zeros((BLOCK,), dtype=SUM)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            _, _, term = _gradient_term(y_ptr, dy_ptr, offsets, offsets < columns, LOGARITHM, SUM)
            terms += term
        total = tl.sum(terms, axis=0)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < columns
            dy, probability, _ = _gradient_term(y_ptr, dy_ptr, offsets, mask, LOGARITHM, SUM)
            tl.store(dx_ptr + offsets, dy - probability * total if LOGARITHM else (dy - total) * probability, mask=mask)


@jit
def _target_logit(x_ptr, target, columns, SUM: tl.constexpr):
    """NaN for a target that is no column."""
    is_column = (target >= 0) & (target < columns)
    return tl.where(is_column, tl.load(x_ptr + tl.where(is_column, target, 0)).to(SUM), float("nan"))


@jit
def _cross_entropy_rows(x_ptr, target_ptr, loss_ptr, logarithm_ptr, x_stride, columns, ignored, SMOOTHING: tl.constexpr, Z_LOSS: tl.constexpr,
                        WHOLE: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """log(sum of exp(x)) - x[target] for each row; `logarithm` keeps the first part."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    target = tl.load(target_ptr + row)
    if WHOLE:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(SUM)
        largest = tl.max(x, axis=0)
        total = tl.sum(tl.where(mask, tl.exp(x - largest), 0.0), axis=0)
    else:
        largest = _row_maximum(x_ptr, columns, SUM, BLOCK)
        total = _row_sum_of_exponentials(x_ptr, largest, columns, SUM, BLOCK)
    logarithm = largest + tl.log(total)
    loss = logarithm - (1.0 - SMOOTHING) * _target_logit(x_ptr, target, columns, SUM)
    if SMOOTHING > 0:
        sums = tl.zeros((BLOCK,), dtype=SUM)
        for start in range(0, columns, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            sums += tl.load(x_ptr + offsets, mask=offsets < columns, other=0.0).to(SUM)
        loss -= tl.sum(sums, axis=0) * SMOOTHING / columns
    if Z_LOSS > 0:
        loss += Z_LOSS * logarithm * logarithm
    tl.store(loss_ptr + row, tl.where(target == ignored, 0.0, loss))
    tl.store(logarithm_ptr + row, logarithm)


@jit
def _cross_entropy_rows_backward(dloss_ptr, x_ptr, target_ptr, logarithm_ptr, dx_ptr, dloss_stride, x_stride, columns, ignored, SMOOTHING: tl.constexpr,
                                 Z_LOSS: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """dx may be x itself."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * x_stride
    dx_ptr += row * columns
    target = tl.load(target_ptr + row)
    logarithm = tl.load(logarithm_ptr + row)
    is_counted = target != ignored
    dloss = tl.load(dloss_ptr + row * dloss_stride).to(SUM)
    factor = dloss
    if Z_LOSS > 0:
        factor = dloss * (1.0 + 2.0 * Z_LOSS * logarithm)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM)
        dx = factor * tl.exp(x - logarithm)
        if SMOOTHING > 0:
            dx -= dloss * SMOOTHING / columns
        dx = tl.where(offsets == target, dx - dloss * (1.0 - SMOOTHING), dx)
        tl.store(dx_ptr + offsets, tl.where(is_counted, dx, 0.0), mask=mask)


# ---- softmax


def _allocate_softmax(x, logarithm):
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    check_axes("x", x, 1)
    return empty_like(x)


def _launch_softmax(out, x, logarithm):
    x = as_rows(x)
    rows, columns = x.shape
    if rows and columns:
        block = row_block(x, columns)
        _softmax_rows[(rows,)](x, out, row_stride(x), columns, LOGARITHM=logarithm, WHOLE=block["BLOCK"] >= columns, SUM=sum_type(x), **block)


def _save_softmax(ctx, inputs, output):
    ctx.logarithm = inputs[1]
    ctx.save_for_backward(output)


def _backward_of_softmax(ctx, dy):
    (y,) = ctx.saved_tensors
    return _softmax_gradient(dy, y, ctx.logarithm), None


def _launch_softmax_gradient(dx, dy, y, logarithm):
    y, dy = as_rows(y), as_rows(dy)
    rows, columns = y.shape
    if rows and columns:
        block = row_block(y, columns)
        _softmax_rows_backward[(rows,)](
            y, dy, dx, row_stride(y), row_stride(dy), columns, LOGARITHM=logarithm, WHOLE=block["BLOCK"] >= columns, SUM=sum_type(y), **block
        )


_softmax = Operator("softmax", "(Tensor x, bool logarithm) -> Tensor", _allocate_softmax, _launch_softmax, _save_softmax, _backward_of_softmax)
_softmax_gradient = Operator(
    "softmax_gradient", "(Tensor dy, Tensor y, bool logarithm) -> Tensor", lambda dy, y, logarithm: empty_like(y), _launch_softmax_gradient
)


def _along(operator, x, axis, *arguments):
    """The operator of the last axis, along another one."""
    check_array("x", x)
    check_integer("axis", axis, least=-len(x.shape), below=max(len(x.shape), 1))
    if axis == -1:
        return operator(x, *arguments)
    turned = operator(x.swapaxes(axis, -1), *arguments)
    return turned.swapaxes(axis, -1)


def softmax(x, axis=-1):
    """exp(x) / sum of exp(x) along an axis, the last one unless told otherwise.

    x: float16, bfloat16, float32 or float64; computed in float32, or float64. Along another axis than the last a transposed copy is made.

        p = nacre.kernels.softmax(x)
    """
    return _along(_softmax, x, axis, False)


def log_softmax(x, axis=-1):
    """The logarithm of the softmax along an axis, the last one unless told otherwise.

    x: float16, bfloat16, float32 or float64; computed in float32, or float64. Along another axis than the last a transposed copy is made.

        l = nacre.kernels.log_softmax(x)
    """
    return _along(_softmax, x, axis, True)


# ---- cross entropy


def check_targets(target, x, rows_shape, label_smoothing, z_loss):
    check_array("target", target, x, "x")
    check_dtype("target", target, INTEGERS)
    check_shape("target", target, rows_shape, "one target for each row of x")
    check_number("label_smoothing", label_smoothing, least=0, most=1)
    check_number("z_loss", z_loss, least=0)


def _allocate_entropy(x, target, ignore_index, label_smoothing, z_loss):
    """(losses of rows, the logarithm of each row's sum)."""
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    check_axes("x", x, 1)
    check_targets(target, x, tuple(x.shape[:-1]), label_smoothing, z_loss)
    if x.shape[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: rows without logits have no loss")
    check_int64("ignore_index", ignore_index)
    kind = accumulation_dtype(x)
    return empty(x, x.shape[:-1], kind), empty(x, x.shape[:-1], kind)


def launch_entropy(outputs, x, target, ignore_index, label_smoothing, z_loss):
    losses, logarithms = outputs
    x = as_rows(x)
    rows, columns = x.shape
    if rows:
        block = row_block(x, columns)
        _cross_entropy_rows[(rows,)](
            x, contiguous(target), losses, logarithms, row_stride(x), columns, ignore_index, SMOOTHING=label_smoothing, Z_LOSS=z_loss,
            WHOLE=block["BLOCK"] >= columns, SUM=sum_type(x), **block,
        )  # fmt: skip


def _save_entropy(ctx, inputs, output):
    x, target, *ctx.options = inputs
    _, logarithms = output
    ctx.mark_non_differentiable(logarithms)
    ctx.save_for_backward(x, target, logarithms)


def _backward_of_entropy(ctx, dlosses, _):
    return _entropy_gradient(dlosses, *ctx.saved_tensors, *ctx.options), None, None, None, None


def launch_entropy_gradient(dx, dlosses, x, target, logarithms, ignore_index, label_smoothing, z_loss):
    """`dlosses`: one for each row, or a single one for all. `dx` may be x where x is contiguous."""
    x = as_rows(x)
    rows, columns = x.shape
    if rows == 0:
        return
    is_single = len(dlosses.shape) == 0
    _cross_entropy_rows_backward[(rows,)](
        dlosses if is_single else contiguous(dlosses), x, contiguous(target), logarithms, dx, 0 if is_single else 1, row_stride(x), columns, ignore_index,
        SMOOTHING=label_smoothing, Z_LOSS=z_loss, SUM=sum_type(x), **row_block(x, columns),
    )  # fmt: skip


_entropy = Operator(
    "cross_entropy_rows", "(Tensor x, Tensor target, int ignore_index, float label_smoothing, float z_loss) -> (Tensor, Tensor)",
    _allocate_entropy, launch_entropy, _save_entropy, _backward_of_entropy,
)  # fmt: skip
_entropy_gradient = Operator(
    "cross_entropy_rows_gradient",
    "(Tensor dlosses, Tensor x, Tensor target, Tensor logarithms, int ignore_index, float label_smoothing, float z_loss) -> Tensor",
    lambda dlosses, x, *_: empty_like(x), launch_entropy_gradient,
)  # fmt: skip


def reduced(losses, target, ignore_index, reduction, dtype):
    """The losses of rows as the reduction has them, in that type."""
    if reduction == "mean":
        losses = losses.sum() / (target != ignore_index).sum()
    elif reduction == "sum":
        losses = losses.sum()
    elif reduction != "none":
        raise ValueError(f"reduction is {reduction!r}; it must be mean, sum or none")
    return losses.astype(dtype) if is_numpy(target) else losses.to(dtype)


def cross_entropy(x, target, *, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, reduction="mean"):
    """The cross entropy of rows of logits and the columns that are right: log(sum of exp(row)) - row[target].

    x: (..., columns), float16, bfloat16, float32 or float64; computed in float32, or float64.
    target: (...), int32 or int64. A row whose target is ignore_index has the loss 0 and no gradient; a target that is no column gives NaN.
    label_smoothing: the part of the probability that is spread over all columns.
    z_loss: this times log(sum of exp(row)) squared is added to each row's loss.
    reduction: "mean" over the rows that are not ignored (NaN where all are), "sum", or "none". The result has the type of x.

        loss = nacre.kernels.cross_entropy(logits, target, label_smoothing=0.1)
    """
    losses, _ = _entropy(x, target, ignore_index, label_smoothing, z_loss)
    return reduced(losses, target, ignore_index, reduction, x.dtype)
