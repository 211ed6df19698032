"""Activations, their gated and biased forms, and dropout, forward and backward.

Elements are taken a block at a time. Arrays whose elements lie side by side are one long row; others are walked row by row, so that the halves of
one array can be gate and value without a copy. Dropout's random numbers are Philox's, of the seed and the place of an element: the backward
computes the mask anew, and it is the same on every target.
"""

import math

import numpy

from .. import language as tl
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, accumulation_dtype, as_rows, check_array, check_axes, check_dtype, check_int64, check_number, check_parameter, check_same_dtype,
    check_shape, contiguous, empty, empty_like, is_array, is_contiguous, is_numpy, nothing, row_stride, size, sum_type,
)  # fmt: skip
from ._blocks import cdiv, columns_block, elements_block, rows_of_a_part
from ._operator import Operator
from .norms import sum_of_parts

ROOT_OF_HALF = tl.constexpr(math.sqrt(0.5))
DENSITY_AT_ZERO = tl.constexpr(1 / math.sqrt(2 * math.pi))
TANH_FACTOR = tl.constexpr(math.sqrt(2 / math.pi))
TANH_CUBE = tl.constexpr(0.044715)

# ---- kernels


@jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@jit
def _activation(x, KIND: tl.constexpr):
    if KIND == "silu":
        return x * _sigmoid(x)
    elif KIND == "gelu":
        return 0.5 * x * (1 + tl.erf(x * ROOT_OF_HALF))
    elif KIND == "gelu_tanh":
        return x * _sigmoid(2 * TANH_FACTOR * (x + TANH_CUBE * x * x * x))
    elif KIND == "relu":
        return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)
    else:
        tl.static_assert(KIND == "none", "an activation that is not known")
        return x


@jit
def _activation_and_slope(x, KIND: tl.constexpr):
    """(the activation, its derivative)."""
    if KIND == "silu":
        part = _sigmoid(x)
        return x * part, part * (1 + x * (1 - part))
    elif KIND == "gelu":
        part = 0.5 * (1 + tl.erf(x * ROOT_OF_HALF))
        return x * part, part + x * DENSITY_AT_ZERO * tl.exp(-0.5 * x * x)
    elif KIND == "gelu_tanh":
        part = _sigmoid(2 * TANH_FACTOR * (x + TANH_CUBE * x * x * x))
        inner = 2 * TANH_FACTOR * (1 + 3 * TANH_CUBE * x * x)
        return x * part, part * (1 + x * (1 - part) * inner)
    elif KIND == "relu":
        return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL), tl.where(x > 0, 1.0, 0.0)
    else:
        tl.static_assert(KIND == "none", "an activation that is not known")
        return x, tl.full(x.shape, 1.0, x.dtype)


@jit
def _block_of_row(columns, BLOCK: tl.constexpr):
    """The program's (row, offsets in it, mask)."""
    blocks = tl.cdiv(columns, BLOCK)
    program = tl.program_id(0)
    offsets = program % blocks * BLOCK + tl.arange(0, BLOCK)
    return (program // blocks).to(tl.int64), offsets, offsets < columns


@jit
def _activate(x_ptr, factor_ptr, bias_ptr, out_ptr, x_stride, factor_stride, columns, KIND: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr):
    """activation(x + bias) * factor; bias and factor may be None."""
    row, offsets, mask = _block_of_row(columns, BLOCK)
    x = tl.load(x_ptr + row * x_stride + offsets, mask=mask).to(SUM)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + offsets, mask=mask).to(SUM)
    out = _activation(x, KIND)
    if factor_ptr is not None:
        out *= tl.load(factor_ptr + row * factor_stride + offsets, mask=mask).to(SUM)
    tl.store(out_ptr + row * columns + offsets, out, mask=mask)


@jit
def _activate_backward(dy_ptr, x_ptr, factor_ptr, dx_ptr, dfactor_ptr, dy_stride, x_stride, factor_stride, columns, KIND: tl.constexpr, SUM: tl.constexpr,
                       BLOCK: tl.constexpr):  # fmt: skip
    row, offsets, mask = _block_of_row(columns, BLOCK)
    dy = tl.load(dy_ptr + row * dy_stride + offsets, mask=mask).to(SUM)
    value, slope = _activation_and_slope(tl.load(x_ptr + row * x_stride + offsets, mask=mask).to(SUM), KIND)
    if factor_ptr is not None:
        tl.store(dfactor_ptr + row * columns + offsets, dy * value, mask=mask)
        dy *= tl.load(factor_ptr + row * factor_stride + offsets, mask=mask).to(SUM)
    tl.store(dx_ptr + row * columns + offsets, dy * slope, mask=mask)


@jit
def _bias_backward(dy_ptr, x_ptr, bias_ptr, dx_ptr, parts_ptr, dy_stride, x_stride, rows, columns, EACH, KIND: tl.constexpr, SUM: tl.constexpr,
                   BLOCK: tl.constexpr):  # fmt: skip
    """A block of columns of EACH rows; leaves the sums of its columns."""
    part = tl.program_id(1)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    bias = tl.load(bias_ptr + offsets, mask=mask, other=0.0).to(SUM)
    sums = tl.zeros((BLOCK,), dtype=SUM)
    for row in range(part * EACH, tl.minimum((part + 1) * EACH, rows)):
        place = row.to(tl.int64)
        dy = tl.load(dy_ptr + place * dy_stride + offsets, mask=mask, other=0.0).to(SUM)
        _, slope = _activation_and_slope(tl.load(x_ptr + place * x_stride + offsets, mask=mask, other=0.0).to(SUM) + bias, KIND)
        dx = dy * slope
        tl.store(dx_ptr + place * columns + offsets, dx, mask=mask)
        sums += tl.where(mask, dx, 0.0)
    tl.store(parts_ptr + part.to(tl.int64) * columns + offsets, sums, mask=mask)


@jit
def _drop_block(x_ptr, out_ptr, random, offsets, count, threshold, FACTOR: tl.constexpr, SUM: tl.constexpr):
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask).to(SUM)
    tl.store(out_ptr + offsets, tl.where(random.to(tl.int64) >= threshold, x * FACTOR, 0.0), mask=mask)


@jit
def _dropout(x_ptr, seed_ptr, out_ptr, count, threshold, FACTOR: tl.constexpr, SUM: tl.constexpr, QUARTER: tl.constexpr):
    """Philox gives four words for a place of the stream: they belong to four pieces of QUARTER elements, one after the other."""
    program = tl.program_id(0).to(tl.int64)
    piece = tl.arange(0, QUARTER)
    first, second, third, fourth = tl.randint4x(tl.load(seed_ptr), program * QUARTER + piece)
    offsets = program * (4 * QUARTER) + piece
    _drop_block(x_ptr, out_ptr, first, offsets, count, threshold, FACTOR, SUM)
    _drop_block(x_ptr, out_ptr, second, offsets + QUARTER, count, threshold, FACTOR, SUM)
    _drop_block(x_ptr, out_ptr, third, offsets + 2 * QUARTER, count, threshold, FACTOR, SUM)
    _drop_block(x_ptr, out_ptr, fourth, offsets + 3 * QUARTER, count, threshold, FACTOR, SUM)


# ---- operators

# Rows that are shorter than this and do not follow each other in memory are copied: a program for each would cost more.
_SHORTEST_ROW = 256


def _walked(*arrays):
    """The arrays as matrices of one shape with contiguous rows: a single row where all are contiguous. None stays None."""
    present = [array for array in arrays if array is not None]
    if not all(is_contiguous(array) for array in present) and present[0].shape[-1] < _SHORTEST_ROW:
        arrays = [contiguous(array) for array in arrays]
        present = [array for array in arrays if array is not None]
    if all(is_contiguous(array) for array in present):
        return [None if array is None else contiguous(array).reshape(1, -1) for array in arrays]
    return [None if array is None else as_rows(array) for array in arrays]


def _stride(matrix):
    return 0 if matrix is None else row_stride(matrix)


def _grid(rows, columns, block):
    return (rows * cdiv(columns, block["BLOCK"]),)


def _check_pair(x, factor, names):
    check_array(names[0], x)
    check_dtype(names[0], x, FLOATING)
    if factor is not None:
        check_array(names[1], factor, x, names[0])
        check_same_dtype(names[1], factor, x, names[0])
        check_shape(names[1], factor, tuple(x.shape), f"the shape of {names[0]}")


def _allocate(x, factor, kind):
    _check_pair(x, factor, ("x", "") if factor is None else ("gate", "up"))
    return empty_like(x)


def _launch(out, x, factor, kind):
    if size(x) == 0:
        return
    x, factor = _walked(x, factor)
    rows, columns = x.shape
    block = elements_block(x, columns)
    _activate[_grid(rows, columns, block)](x, factor, None, out, _stride(x), _stride(factor), columns, KIND=kind, SUM=sum_type(x), **block)


def _save(ctx, inputs, output):
    x, factor, ctx.kind = inputs
    ctx.save_for_backward(x, factor)


def _backward(ctx, dy):
    x, factor = ctx.saved_tensors
    dx, dfactor = _activation_gradient(dy, x, factor, ctx.kind)
    return dx, None if factor is None else dfactor, None


def _launch_gradient(outputs, dy, x, factor, kind):
    dx, dfactor = outputs
    if size(x) == 0:
        return
    dy, x, factor = _walked(dy, x, factor)
    rows, columns = x.shape
    block = elements_block(x, columns)
    _activate_backward[_grid(rows, columns, block)](
        dy, x, factor, dx, None if factor is None else dfactor, _stride(dy), _stride(x), _stride(factor), columns, KIND=kind, SUM=sum_type(x), **block
    )


_activation_of = Operator("activation", "(Tensor x, Tensor? factor, str kind) -> Tensor", _allocate, _launch, _save, _backward)
_activation_gradient = Operator(
    "activation_gradient", "(Tensor dy, Tensor x, Tensor? factor, str kind) -> (Tensor, Tensor)",
    lambda dy, x, factor, kind: (empty_like(x), nothing(x) if factor is None else empty_like(factor)), _launch_gradient,
)  # fmt: skip


def _allocate_biased(x, bias, kind):
    _check_pair(x, None, ("x", ""))
    check_axes("x", x, 1)
    check_parameter("bias", bias, x, "x", x.shape[-1:], f"as rows of x have {x.shape[-1]} elements")
    return empty_like(x)


def _launch_biased(out, x, bias, kind):
    if size(x) == 0:
        return
    x = as_rows(x)
    rows, columns = x.shape
    block = elements_block(x, columns)
    _activate[_grid(rows, columns, block)](x, None, contiguous(bias), out, row_stride(x), 0, columns, KIND=kind, SUM=sum_type(x), **block)


def _backward_of_biased(ctx, dy):
    dx, dbias = _biased_gradient(dy, *ctx.saved_tensors, ctx.kind)
    return dx, dbias, None


def _launch_biased_gradient(outputs, dy, x, bias, kind):
    dx, dbias = outputs
    x, dy = as_rows(x), as_rows(dy)
    rows, columns = x.shape
    if columns == 0:
        return
    each = rows_of_a_part(x, rows)
    partial = empty(x, (cdiv(rows, each), columns), accumulation_dtype(x))
    if rows:
        block = columns_block(x, columns)
        _bias_backward[(cdiv(columns, block["BLOCK"]), partial.shape[0])](
            dy, x, contiguous(bias), dx, partial, row_stride(dy), row_stride(x), rows, columns, each, KIND=kind, SUM=sum_type(x), **block
        )
    sum_of_parts(dbias, partial)


_biased_of = Operator("biased_activation", "(Tensor x, Tensor bias, str kind) -> Tensor", _allocate_biased, _launch_biased, _save, _backward_of_biased)
_biased_gradient = Operator(
    "biased_activation_gradient", "(Tensor dy, Tensor x, Tensor bias, str kind) -> (Tensor, Tensor)",
    lambda dy, x, bias, kind: (empty_like(x), empty_like(bias)), _launch_biased_gradient,
)  # fmt: skip


def _gelu(approximate):
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate is {approximate!r}; it must be none or tanh")
    return "gelu" if approximate == "none" else "gelu_tanh"


def gelu(x, approximate="none"):
    """GELU: x times the normal distribution's function of x.

    x: of any shape, float16, bfloat16, float32 or float64; computed in float32, or float64.
    approximate: "none" for the error function, "tanh" for the approximation by a hyperbolic tangent.

        y = nacre.kernels.gelu(x)
    """
    return _activation_of(x, None, _gelu(approximate))


def silu(x):
    """SiLU, or Swish: x / (1 + exp(-x)).

    x: of any shape, float16, bfloat16, float32 or float64; computed in float32, or float64.

        y = nacre.kernels.silu(x)
    """
    return _activation_of(x, None, "silu")


def _gated(gate, up, kind):
    check_array("gate", gate)
    check_array("up", up, gate, "gate")
    return _activation_of(gate, up, kind)


def swiglu(gate, up):
    """SwiGLU: silu(gate) * up.

    gate, up: of one shape and type, float16, bfloat16, float32 or float64. They may be the halves of the rows of one array.

        gate, up = hidden.chunk(2, dim=-1)
        y = nacre.kernels.swiglu(gate, up)
    """
    return _gated(gate, up, "silu")


def geglu(gate, up, approximate="none"):
    """GeGLU: gelu(gate) * up.

    gate, up: of one shape and type, float16, bfloat16, float32 or float64. They may be the halves of the rows of one array.
    approximate: as of gelu.

        y = nacre.kernels.geglu(gate, up, approximate="tanh")
    """
    return _gated(gate, up, _gelu(approximate))


ACTIVATIONS = ("gelu", "gelu_tanh", "silu", "relu", "none")


def bias_activation(x, bias, activation="gelu"):
    """activation(x + bias) in one pass; the sum is not rounded in between.

    x: (..., columns), float16, bfloat16, float32 or float64. bias: (columns,), of any of these types.
    activation: "gelu", "gelu_tanh", "silu", "relu" or "none".

        y = nacre.kernels.bias_activation(x, bias, "silu")
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; it must be {', '.join(ACTIVATIONS[:-1])} or {ACTIVATIONS[-1]}")
    return _biased_of(x, bias, activation)


# ---- dropout

# Part of what is promised: with it a seed means one mask.
_QUARTER = 256


def _allocate_dropout(x, seed, p):
    _check_pair(x, None, ("x", ""))
    check_array("seed", seed, x, "x")
    check_dtype("seed", seed, ("int64",))
    check_shape("seed", seed, (1,))
    check_number("p", p, least=0, most=1)
    return empty_like(x)


def _launch_dropout(out, x, seed, p):
    count = size(x)
    if count:
        factor = 0.0 if p == 1 else 1 / (1 - p)
        _dropout[(cdiv(count, 4 * _QUARTER),)](contiguous(x), seed, out, count, round(p * (1 << 32)), FACTOR=factor, SUM=sum_type(x), QUARTER=_QUARTER)


def _save_dropout(ctx, inputs, output):
    _, seed, ctx.p = inputs
    ctx.save_for_backward(seed)


def _backward_of_dropout(ctx, dy):
    return _dropout_of(dy, ctx.saved_tensors[0], ctx.p), None, None


_dropout_of = Operator("dropout", "(Tensor x, Tensor seed, float p) -> Tensor", _allocate_dropout, _launch_dropout, _save_dropout, _backward_of_dropout)


def dropout(x, p=0.5, *, seed=None, training=True):
    """Sets each element to 0 with the probability p and divides the others by 1 - p.

    x: of any shape, float16, bfloat16, float32 or float64. Elements are counted in the order of a contiguous array.
    seed: an integer, or an int64 array of one element on the device of x; the same seed gives the same mask on every target. Without one
        it is drawn from torch's generator, or NumPy's.
    training: False gives x as it is.

    No mask is kept: the backward computes it anew.

        y = nacre.kernels.dropout(x, 0.1)
    """
    check_array("x", x)
    check_number("p", p, least=0, most=1)
    if seed is not None and not is_array(seed):
        check_int64("seed", seed)
        seed = int(seed)
    if not training:
        return x
    if is_numpy(x):
        if seed is None:
            seed = numpy.random.randint(0, (1 << 63) - 1, (1,), numpy.int64)
        elif not is_numpy(seed):
            seed = numpy.array([seed], numpy.int64)
    elif seed is None or isinstance(seed, int):
        import torch

        shape = {"size": (1,), "dtype": torch.int64, "device": x.device}
        seed = torch.randint(0, (1 << 63) - 1, **shape) if seed is None else torch.full(fill_value=seed, **shape)
    return _dropout_of(x, seed, p)
