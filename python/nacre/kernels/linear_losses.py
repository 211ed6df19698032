"""The cross entropy of a linear layer whose logits are never there as a whole.

Rows are taken a chunk at a time: the chunk's logits are a matrix product, the kernels of losses.py turn them into losses and, in place, into their
gradient, and two more products give the gradients of the input and the weight. So the forward computes the gradients too, where they
are wanted, and the backward only scales them. The products are those of the arrays' own library; only one chunk of logits is kept.
"""

import numpy

from ._arrays import (
    FLOATING, accumulation_dtype, check_array, check_axes, check_dtype, check_int64, check_parameter, check_same_dtype, check_shape, contiguous,
    empty, empty_like, is_numpy, nothing, size, zeros,
)  # fmt: skip
from ._operator import Operator
from .losses import check_targets, launch_entropy_gradient, launch_entropy

# Logits of a chunk: enough for products to be fast, little beside the layer's other arrays.
_LOGITS = 1 << 22


def rows_of_a_chunk(rows, columns):
    return max(1, min(rows, max(_LOGITS // max(columns, 1), 16)))


def _product(a, b, out):
    """out = a @ b; torch's form with `out` is not changed by autocast."""
    if is_numpy(a):
        numpy.matmul(a, b, out=out)
    else:
        import torch

        torch.mm(a, b, out=out)


def _as(x, like):
    """x in the type of `like`."""
    return x.astype(like.dtype) if is_numpy(x) else x.to(like.dtype)


def _allocate(x, weight, target, bias, ignore_index, label_smoothing, z_loss, mean, wants_x, wants_weight, wants_bias):
    """(the loss, the gradients of x, weight and bias)."""
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    check_axes("x", x, 1)
    check_array("weight", weight, x, "x")
    check_same_dtype("weight", weight, x, "x")
    check_shape("weight", weight, (None, x.shape[-1]), "a row for each class, as long as those of x")
    if weight.shape[0] == 0:
        raise ValueError("weight has no rows: rows without logits have no loss")
    if bias is not None:
        check_parameter("bias", bias, x, "x", (weight.shape[0],), "a number for each class")
    check_targets(target, x, tuple(x.shape[:-1]), label_smoothing, z_loss)
    return (
        empty(x, (), accumulation_dtype(x)),
        empty_like(x) if wants_x else nothing(x),
        empty_like(weight) if wants_weight else nothing(x),
        empty_like(bias) if wants_bias else nothing(x),
    )


def _launch(outputs, x, weight, target, bias, ignore_index, label_smoothing, z_loss, mean, wants_x, wants_weight, wants_bias):
    loss, dx, dweight, dbias = outputs
    kind = accumulation_dtype(x)
    width, columns, rows = x.shape[-1], weight.shape[0], size(target)
    x, weight, target = contiguous(x).reshape(rows, width), contiguous(weight), contiguous(target).reshape(rows)
    dx = dx.reshape(rows, width) if wants_x else None
    counted = (target != ignore_index).sum()
    scale = zeros(x, (), kind)  # of every row's loss
    scale[()] = 1.0
    if mean:
        scale /= counted
    losses, logarithms = empty(x, (rows,), kind), empty(x, (rows,), kind)
    step = rows_of_a_chunk(rows, columns)
    chunk_logits = empty(x, (step, columns))
    weight_sum = zeros(x, weight.shape, kind) if wants_weight else None
    weight_part = empty_like(weight) if wants_weight else None
    bias_sum = zeros(x, (columns,), kind) if wants_bias else None
    options = (ignore_index, label_smoothing, z_loss)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        logits = chunk_logits[: part.stop - part.start]
        _product(x[part], weight.T, logits)
        if bias is not None:
            logits += _as(bias, logits)
        launch_entropy((losses[part], logarithms[part]), logits, target[part], *options)
        if not (wants_x or wants_weight or wants_bias):
            continue
        launch_entropy_gradient(logits, scale, logits, target[part], logarithms[part], *options)
        if wants_x:
            _product(logits, weight, dx[part])
        if wants_weight:
            _product(logits.T, x[part], weight_part)
            weight_sum += weight_part
        if wants_bias:
            bias_sum += _as(logits, bias_sum).sum(0)
    loss[()] = losses.sum() * scale
    if wants_weight:
        dweight[...] = weight_sum
    if wants_bias:
        dbias[...] = bias_sum


def _save(ctx, inputs, output):
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(*output[1:])


def _backward(ctx, dloss, *_):
    wanted = (ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[3])
    dx, dweight, dbias = (gradient * dloss.to(gradient.dtype) if wants else None for gradient, wants in zip(ctx.saved_tensors, wanted))
    return dx, dweight, None, dbias, None, None, None, None, None, None, None


_operator = Operator(
    "linear_cross_entropy",
    "(Tensor x, Tensor weight, Tensor target, Tensor? bias, int ignore_index, float label_smoothing, float z_loss, bool mean, bool wants_x, "
    "bool wants_weight, bool wants_bias) -> (Tensor, Tensor, Tensor, Tensor)",
    _allocate, _launch, _save, _backward,
)  # fmt: skip


def linear_cross_entropy(x, weight, target, bias=None, *, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, reduction="mean"):
    """cross_entropy(x @ weight.T + bias, target) without the memory of all logits: rows are taken a chunk at a time.

    x: (..., width), float16, bfloat16, float32 or float64. weight: (classes, width), of the same type. bias: (classes,), or None.
    target: (...), int32 or int64. A row whose target is ignore_index has the loss 0 and no gradient; a target that is no class gives NaN.
    label_smoothing, z_loss: as of cross_entropy.
    reduction: "mean" over the rows that are not ignored, or "sum".

    The forward computes the gradients of those of x, weight and bias that require one, as no logits are left for the backward. Logits have
    the type of x, their losses and the sums over chunks are float32, or float64. The result has the type of x.

        loss = nacre.kernels.linear_cross_entropy(hidden, embedding, target)
    """
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction is {reduction!r}; it must be mean or sum")
    check_array("x", x)
    check_array("weight", weight, x, "x")
    if bias is not None:
        check_array("bias", bias, x, "x")
    check_int64("ignore_index", ignore_index)
    wanted = (False, False, False)
    if not is_numpy(x):
        import torch

        if torch.is_grad_enabled():
            wanted = (x.requires_grad, weight.requires_grad, bias is not None and bias.requires_grad)
    loss = _operator(x, weight, target, bias, ignore_index, label_smoothing, z_loss, reduction == "mean", *wanted)[0]
    return _as(loss, x)
