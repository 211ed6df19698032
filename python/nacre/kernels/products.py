"""Products of matrices with what follows elementwise: bias, activation, residual. Single and batched, with gradients.

Products grouped by expert are in `experts`, those with weights of 4 and 8 bits in `quantized`. The kernels are in _product_kernels.py.
"""

import math

from . import _product_kernels as kernels
from ._arrays import (
    FLOATING, accumulation_dtype, check_array, check_axes, check_dtype, check_parameter, check_same_dtype, check_shape, dtype_name, empty,
    check_number, is_numpy, nothing, readable, size, strides, contiguous,
)  # fmt: skip
from ._blocks import cdiv, elements_block, power_of_two, runs_on_host
from ._operator import Operator

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")


def matmul(a, b, bias=None, residual=None, *, activation=None, scale=1.0):
    """activation(scale * a @ b + bias) + residual, in one kernel.

    a: (..., M, K). b: (K, N), or (..., K, N) with leading axes that broadcast with those of a. bias: (N,). residual: the result's shape,
    (..., M, N). a, b and residual of one type: float16, bfloat16, float32 or float64; sums are kept in float32 (float64 for float64). Any
    strides: a transposed matrix is multiplied where it lies. `activation`: "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh" or None.
    `scale` is a constant of the kernel: each new value is compiled once. With K = 0 the product is 0.

    Gradients: a, b, bias, residual. A product with few tiles and a long K is divided along K among programs and added up in a second kernel.

        x, weight, bias = torch.randn(8, 256), torch.randn(512, 256), torch.zeros(512)
        y = nacre.kernels.matmul(x, weight.T, bias, activation="gelu")
    """
    check_array("a", a)
    check_axes("a", a, 2)
    check_dtype("a", a, FLOATING)
    check_array("b", b, a, "a")
    check_axes("b", b, 2)
    check_same_dtype("b", b, a, "a")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a has {a.shape[-1]} columns and b has {b.shape[-2]} rows: they must be equal")
    if activation is not None and activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; {', '.join(map(repr, ACTIVATIONS))} or None is expected")
    check_number("scale", scale)
    rows, inner, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    if len(b.shape) == 2:
        leading = tuple(a.shape[:-2])
        a3, b3 = a.reshape(1, math.prod(leading) * rows, inner), b[None]
    else:
        leading = _broadcast(a.shape[:-2], b.shape[:-2])
        count = math.prod(leading)
        a3 = _expand(a, (*leading, rows, inner)).reshape(count, rows, inner)
        b3 = _expand(b, (*leading, inner, columns)).reshape(count, inner, columns)
    if bias is not None:
        check_parameter("bias", bias, a, "a", (columns,), "one number a column of b")
    residual3 = None
    if residual is not None:
        check_array("residual", residual, a, "a")
        check_same_dtype("residual", residual, a, "a")
        check_shape("residual", residual, (*leading, rows, columns), "that of the result")
        residual3 = residual.reshape(a3.shape[0], a3.shape[1], columns)
    keeps = activation is not None and _has_gradient(a3, b3, bias)
    out, _ = _product(a3, b3, bias, residual3, activation or "", float(scale), keeps)
    return out.reshape(*leading, rows, columns)


def _broadcast(one, other):
    shape = []
    length = max(len(one), len(other))
    for x, y in zip((1,) * (length - len(one)) + tuple(one), (1,) * (length - len(other)) + tuple(other)):
        if x != y and 1 not in (x, y):
            raise ValueError(f"the leading axes of a, {tuple(one)}, and of b, {tuple(other)}, do not broadcast")
        shape.append(y if x == 1 else x)
    return tuple(shape)


def _expand(x, shape):
    if is_numpy(x):
        import numpy

        return numpy.broadcast_to(x, shape)
    return x.expand(shape)


def _has_gradient(*tensors):
    if is_numpy(tensors[0]):
        return False
    import torch

    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)


# ---- blocks


_LEAST_SPLIT = 512  # elements of K that pay for a part of a divided product
_PROGRAMS = {True: 4, False: 264}
_MOST_VECTOR_ROWS = 4


def _blocks(a, batch, rows, columns, inner):
    """({BLOCK_M, ...}, elements of K of a part, parts)."""
    host = runs_on_host(a)
    wide = dtype_name(a) in ("float32", "float64")
    if host:
        block_m, block_n, block_k = min(128, max(4, power_of_two(rows))), min(128, max(16, power_of_two(columns))), 64
        options = {}
    else:
        block_m, block_n = min(64 if wide else 128, max(16, power_of_two(rows))), min(64 if wide else 128, max(16, power_of_two(columns)))
        block_k = 32 if wide else 64
        options = {"num_warps": 8 if block_m * block_n > 64 * 64 else 4, "num_stages": 2 if wide else 3}
    tiles = batch * cdiv(rows, block_m) * cdiv(columns, block_n)
    parts = max(1, min(_PROGRAMS[host] // max(tiles, 1), inner // _LEAST_SPLIT))
    span = cdiv(cdiv(max(inner, 1), parts), block_k) * block_k
    return {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "ROWS_TOGETHER": 8, **options}, span, cdiv(max(inner, 1), span)


def _suits_vectors(a, b):
    """Few rows, and a right operand that lies along one of its axes: packing it would cost more than reading it."""
    return runs_on_host(a) and a.shape[1] <= _MOST_VECTOR_ROWS and b.shape[1] > 1 and 1 in tuple(strides(b))[1:]


def _vector_blocks(columns, inner, along_columns):
    if along_columns:
        return {"ALONG_N": True, "BLOCK_N": min(1024, power_of_two(columns)), "BLOCK_K": min(32, power_of_two(inner))}
    return {"ALONG_N": False, "BLOCK_N": min(8, power_of_two(columns)), "BLOCK_K": min(512, power_of_two(inner))}


# ---- the operators


def _allocate(a, b, bias, residual, activation, scale, keeps):
    shape = (a.shape[0], a.shape[1], b.shape[2])
    return empty(a, shape), empty(a, shape, accumulation_dtype(a)) if keeps else nothing(a)


def _launch(outputs, a, b, bias, residual, activation, scale, keeps):
    out, kept = outputs
    kept = kept if keeps else None
    a, b, residual, bias = readable(a), readable(b), readable(residual), contiguous(bias)
    batch, rows, inner = a.shape
    columns = b.shape[2]
    if size(out) == 0:
        return
    layouts = (tuple(strides(a)), tuple(strides(b)))
    ends = ((0, 0, 0) if residual is None else tuple(strides(residual)), tuple(strides(out)))
    constants = {"SCALE": scale, "ACTIVATION": activation}
    if _suits_vectors(a, b):
        blocks = _vector_blocks(columns, inner, strides(b)[2] == 1)
        kernels.vector_kernel[(cdiv(columns, blocks["BLOCK_N"]) * batch,)](
            a, b, bias, residual, out, kept, *layouts, *ends, columns, inner, M=rows, **constants, **blocks
        )
        return
    blocks, span, parts = _blocks(a, batch, rows, columns, inner)
    sums = empty(a, (parts, batch, rows, columns), accumulation_dtype(a)) if parts > 1 else None
    tiles = cdiv(rows, blocks["BLOCK_M"]) * cdiv(columns, blocks["BLOCK_N"])
    kernels.product_kernel[(tiles * parts * batch,)](
        a, b, bias, residual, out, kept, sums, *layouts, *ends, rows, columns, inner, span, parts, **constants, **blocks
    )
    if parts > 1:
        block = elements_block(a, columns)
        kernels.joining_kernel[(cdiv(columns, block["BLOCK"]) * rows * batch,)](
            sums, bias, residual, out, kept, *ends, batch, rows, columns, parts, **constants, **block
        )


def _save(ctx, inputs, output):
    a, b, bias, residual, ctx.activation, ctx.scale, _ = inputs
    ctx.save_for_backward(a, b, *([output[1]] if ctx.activation else []))
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[1])
    ctx.bias_dtype = None if bias is None else bias.dtype


def _backward(ctx, d_out, _):
    if d_out is None:
        return (None,) * 7
    a, b, *kept = ctx.saved_tensors
    needs = ctx.needs_input_grad
    d_sum = _activation_gradient(d_out, kept[0], ctx.activation) if ctx.activation else d_out
    d_a = _product(d_sum, b.transpose(1, 2), None, None, "", ctx.scale, False)[0] if needs[0] else None
    d_b = _product(a.transpose(1, 2), d_sum, None, None, "", ctx.scale, False)[0] if needs[1] else None
    d_bias = d_sum.sum((0, 1), dtype=ctx.bias_dtype) if needs[2] else None
    return d_a, d_b, d_bias, d_out if needs[3] else None, None, None, None


def _allocate_gradient(d_out, kept, activation):
    return empty(d_out, kept.shape)


def _launch_gradient(out, d_out, kept, activation):
    if size(out):
        block = elements_block(out, size(out))
        kernels.activation_gradient_kernel[(cdiv(size(out), block["BLOCK"]),)](
            contiguous(d_out), contiguous(kept), out, size(out), ACTIVATION=activation, **block
        )


_product = Operator(
    "product", "(Tensor a, Tensor b, Tensor? bias, Tensor? residual, str activation, float scale, bool keeps) -> (Tensor, Tensor)",
    _allocate, _launch, _save, _backward,
)  # fmt: skip
_activation_gradient = Operator(
    "product_activation_gradient", "(Tensor d_out, Tensor kept, str activation) -> Tensor", _allocate_gradient, _launch_gradient
)
