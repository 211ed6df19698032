"""Rotary position embedding: pairs of elements of each head are turned by an angle that grows with the position; forward and backward.

A program takes one position and some heads. The backward turns by the negative angle. Angles come as tables of cosines and sines, which
rotary_tables() makes.
"""

import numpy

from .. import language as tl
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, INTEGERS, check_array, check_axes, check_dtype, check_integer, check_parameter, check_shape, contiguous, empty_like, is_numpy,
    strides, sum_type, with_contiguous_last_axis,
)  # fmt: skip
from ._blocks import cdiv, planes_block, power_of_two
from ._operator import Operator


@jit
def _rotate(x_ptr, cos_ptr, sin_ptr, positions_ptr, out_ptr, image_stride, place_stride, head_stride, positions_stride, places, heads, width, pairs, table,
            INTERLEAVED: tl.constexpr, BACKWARD: tl.constexpr, SUM: tl.constexpr, HEADS: tl.constexpr, PAIRS: tl.constexpr,
            REST: tl.constexpr):  # fmt: skip
    """`pairs` of the `width` elements of a head are turned, the rest is copied. A position that the table has not gives NaN."""
    program = tl.program_id(0)
    image = (program // places).to(tl.int64)
    place = program % places
    position = place.to(tl.int64)
    if positions_ptr is not None:
        position = tl.load(positions_ptr + image * positions_stride + place).to(tl.int64)
    is_known = (position >= 0) & (position < table)
    head = (tl.program_id(1) * HEADS + tl.arange(0, HEADS)).to(tl.int64)[:, None]
    x_ptr += image * image_stride + place.to(tl.int64) * place_stride
    out_ptr += program.to(tl.int64) * heads * width
    pair = tl.arange(0, PAIRS)
    angle = tl.where(is_known, position, 0) * pairs + pair
    cos = tl.load(cos_ptr + angle, mask=(pair < pairs) & is_known, other=0.0).to(SUM)[None, :]
    sin = tl.load(sin_ptr + angle, mask=(pair < pairs) & is_known, other=0.0).to(SUM)[None, :]
    cos = tl.where(is_known, cos, float("nan"))
    if BACKWARD:
        sin = -sin
    first = pair[None, :]
    step = pairs
    if INTERLEAVED:
        first = 2 * pair[None, :]
        step = 1
    mask = (head < heads) & (pair < pairs)[None, :]
    x = tl.load(x_ptr + head * head_stride + first, mask=mask, other=0.0).to(SUM)
    y = tl.load(x_ptr + head * head_stride + first + step, mask=mask, other=0.0).to(SUM)
    tl.store(out_ptr + head * width + first, x * cos - y * sin, mask=mask)
    tl.store(out_ptr + head * width + first + step, y * cos + x * sin, mask=mask)
    if REST > 0:
        rest = (2 * pairs + tl.arange(0, REST))[None, :]
        mask = (head < heads) & (rest < width)
        tl.store(out_ptr + head * width + rest, tl.load(x_ptr + head * head_stride + rest, mask=mask, other=0.0), mask=mask)


def _allocate(x, cos, sin, positions, interleaved, backward):
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    if len(x.shape) not in (3, 4):
        raise ValueError(f"x has shape {tuple(x.shape)}; (positions, heads, width) or (batch, positions, heads, width) is expected")
    width = x.shape[-1]
    check_parameter("cos", cos, x, "x", (None, None))
    check_parameter("sin", sin, x, "x", tuple(cos.shape), "the shape of cos")
    if 2 * cos.shape[1] > width:
        raise ValueError(f"cos has {cos.shape[1]} columns, for {2 * cos.shape[1]} elements of a head; heads of x have {width}")
    if positions is not None:
        check_array("positions", positions, x, "x")
        check_dtype("positions", positions, INTEGERS)
        check_shape("positions", positions, tuple(x.shape[:-2] if len(positions.shape) > 1 else x.shape[-3:-2]), "one for each position of x")
    elif cos.shape[0] < x.shape[-3]:
        raise ValueError(f"cos has {cos.shape[0]} rows; x has {x.shape[-3]} positions: make longer tables")
    return empty_like(x)


def _launch(out, x, cos, sin, positions, interleaved, backward):
    images = x.shape[0] if len(x.shape) == 4 else 1
    places, heads, width = x.shape[-3:]
    table, pairs = cos.shape
    if images * places * heads * width == 0:
        return
    x = with_contiguous_last_axis(x)
    image_stride, place_stride, head_stride = ((0,) + strides(x))[-4:-1]
    positions_stride = places if positions is not None and len(positions.shape) > 1 else 0
    block = planes_block(x, heads, max(pairs, 1))
    rest = width - 2 * pairs
    _rotate[(images * places, cdiv(heads, block["CHANNELS"]))](
        x, contiguous(cos), contiguous(sin), contiguous(positions), out, image_stride, place_stride, head_stride, positions_stride, places, heads, width,
        pairs, table, INTERLEAVED=interleaved, BACKWARD=backward, SUM=sum_type(x), HEADS=block["CHANNELS"], PAIRS=power_of_two(pairs),
        REST=power_of_two(rest) if rest else 0, num_warps=block["num_warps"],
    )  # fmt: skip


def _save(ctx, inputs, output):
    _, cos, sin, positions, ctx.interleaved, ctx.backward = inputs
    ctx.save_for_backward(cos, sin, positions)


def _backward(ctx, dy):
    if ctx.needs_input_grad[1] or ctx.needs_input_grad[2]:
        raise NotImplementedError("nacre.kernels.rotary has no gradients of cos and sin: detach() them")
    return _operator(dy, *ctx.saved_tensors, ctx.interleaved, not ctx.backward), None, None, None, None, None


_operator = Operator(
    "rotary", "(Tensor x, Tensor cos, Tensor sin, Tensor? positions, bool interleaved, bool backward) -> Tensor", _allocate, _launch, _save, _backward
)


def rotary(x, cos, sin, positions=None, *, interleaved=False, heads_first=False):
    """Turns each pair (a, b) of a head's elements: (a * cos - b * sin, b * cos + a * sin).

    x: (batch, positions, heads, width) or (positions, heads, width), float16, bfloat16, float32 or float64; computed in float32, or float64.
    cos, sin: (table, pairs), of any of these types; row p is for position p. 2 * pairs may be less than width: the rest of a head stays as it is.
    positions: (positions,) or (batch, positions), int32 or int64: the row of the tables for each; 0, 1, ... unless given. A position
        that the tables have not gives NaN.
    interleaved: pairs are (0, 1), (2, 3), ...; otherwise (0, pairs), (1, pairs + 1), ...
    heads_first: x is (batch, heads, positions, width) or (heads, positions, width).

    Gradients are those of x; cos and sin are constants.

        cos, sin = nacre.kernels.rotary_tables(2048, 64, like=x)
        y = nacre.kernels.rotary(x, cos, sin)
    """
    if not heads_first:
        return _operator(x, cos, sin, positions, interleaved, False)
    check_array("x", x)
    check_axes("x", x, 3)
    return _operator(x.swapaxes(-3, -2), cos, sin, positions, interleaved, False).swapaxes(-3, -2)


def rotary_tables(length, width, *, base=10000.0, like=None):
    """The cosines and sines of positions 0 to length - 1: two float32 arrays of the shape (length, width // 2).

    width: how many elements of a head are turned. The pair i has the angle position / base ** (2 * i / width).
    like: a torch tensor, for tables on its device; NumPy arrays otherwise.

        cos, sin = nacre.kernels.rotary_tables(2048, 64)
    """
    check_integer("length", length, least=0)
    check_integer("width", width)
    if width < 0 or width % 2:
        raise ValueError(f"width is {width}; it must be even")
    angles = numpy.arange(length)[:, None] * base ** (-numpy.arange(0, width, 2) / max(width, 1))
    tables = numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)
    if like is None or is_numpy(like):
        return tables
    import torch

    return tuple(torch.from_numpy(table).to(like.device) for table in tables)
