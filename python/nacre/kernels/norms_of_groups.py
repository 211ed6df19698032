"""GroupNorm, forward and backward: a program takes one group of channels of one image, whose elements lie side by side.

Its statistics are sums over the flat group. What depends on the channel is done in tiles of some channels by some places. The gradients of weight and
bias are sums over images of what each group's program leaves.
"""

from .. import language as tl
from ..runtime.jit import jit
from ._arrays import (
    FLOATING, accumulation_dtype, check_array, check_axes, check_dtype, check_integer, check_number, check_parameter, contiguous, empty, empty_like,
    nothing, sum_type,
)  # fmt: skip
from ._blocks import planes_block
from ._operator import Operator
from .norms import sum_of_parts

# ---- kernels


@jit
def _group_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, scale_ptr, groups, channels, places, EPSILON: tl.constexpr, SUM: tl.constexpr,
                CHANNELS: tl.constexpr, PLACES: tl.constexpr):  # fmt: skip
    """`channels` of each group, `places` of each channel."""
    program = tl.program_id(0)
    first_channel = program % groups * channels
    count = channels * places
    x_ptr += program.to(tl.int64) * count
    out_ptr += program.to(tl.int64) * count
    STEP: tl.constexpr = CHANNELS * PLACES
    total = tl.zeros((STEP,), dtype=SUM)
    for start in range(0, count, STEP):
        offsets = start + tl.arange(0, STEP)
        total += tl.load(x_ptr + offsets, mask=offsets < count, other=0.0).to(SUM)
    mean = tl.sum(total, axis=0) / count
    squares = tl.zeros((STEP,), dtype=SUM)
    for start in range(0, count, STEP):
        offsets = start + tl.arange(0, STEP)
        mask = offsets < count
        x = tl.where(mask, tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM) - mean, 0.0)
        squares += x * x
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / count + EPSILON)
    tl.store(mean_ptr + program, mean)
    tl.store(scale_ptr + program, scale)
    for first in range(0, channels, CHANNELS):
        channel = first + tl.arange(0, CHANNELS)
        factor = tl.full((CHANNELS,), 1.0, SUM) * scale
        if weight_ptr is not None:
            factor *= tl.load(weight_ptr + first_channel + channel, mask=channel < channels, other=0.0).to(SUM)
        for start in range(0, places, PLACES):
            place = start + tl.arange(0, PLACES)
            offsets = channel[:, None] * places + place[None, :]
            mask = (channel < channels)[:, None] & (place < places)[None, :]
            out = (tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM) - mean) * factor[:, None]
            if bias_ptr is not None:
                out += tl.load(bias_ptr + first_channel + channel, mask=channel < channels, other=0.0).to(SUM)[:, None]
            tl.store(out_ptr + offsets, out, mask=mask)


@jit
def _group_norm_backward(x_ptr, dy_ptr, weight_ptr, mean_ptr, scale_ptr, dx_ptr, dweight_ptr, dbias_ptr, groups, channels, places,
                         SUM: tl.constexpr, CHANNELS: tl.constexpr, PLACES: tl.constexpr):  # fmt: skip
    """Leaves the sums over each channel's places of dy times the normalized x, and of dy, in `dweight` and `dbias`: (images, all channels)."""
    program = tl.program_id(0)
    first_channel = program % groups * channels
    sums = program.to(tl.int64) * channels
    start_of_group = sums * places
    x_ptr += start_of_group
    dy_ptr += start_of_group
    dx_ptr += start_of_group
    mean = tl.load(mean_ptr + program)
    scale = tl.load(scale_ptr + program)
    projection = tl.full((), 0.0, SUM)
    average = tl.full((), 0.0, SUM)
    for first in range(0, channels, CHANNELS):
        channel = first + tl.arange(0, CHANNELS)
        products = tl.zeros((CHANNELS, PLACES), dtype=SUM)
        gradients = tl.zeros((CHANNELS, PLACES), dtype=SUM)
        for start in range(0, places, PLACES):
            place = start + tl.arange(0, PLACES)
            offsets = channel[:, None] * places + place[None, :]
            mask = (channel < channels)[:, None] & (place < places)[None, :]
            dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(SUM)
            products += dy * (tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM) - mean)
            gradients += dy
        dweight = tl.sum(products, axis=1) * scale
        dbias = tl.sum(gradients, axis=1)
        tl.store(dweight_ptr + sums + channel, dweight, mask=channel < channels)
        tl.store(dbias_ptr + sums + channel, dbias, mask=channel < channels)
        if weight_ptr is not None:
            weight = tl.load(weight_ptr + first_channel + channel, mask=channel < channels, other=0.0).to(SUM)
            dweight *= weight
            dbias *= weight
        projection += tl.sum(dweight, axis=0)
        average += tl.sum(dbias, axis=0)
    count = channels * places
    projection = projection / count * scale
    average = average / count
    for first in range(0, channels, CHANNELS):
        channel = first + tl.arange(0, CHANNELS)
        weight = tl.full((CHANNELS,), 1.0, SUM)
        if weight_ptr is not None:
            weight *= tl.load(weight_ptr + first_channel + channel, mask=channel < channels, other=0.0).to(SUM)
        for start in range(0, places, PLACES):
            place = start + tl.arange(0, PLACES)
            offsets = channel[:, None] * places + place[None, :]
            mask = (channel < channels)[:, None] & (place < places)[None, :]
            centred = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(SUM) - mean
            weighted = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(SUM) * weight[:, None]
            tl.store(dx_ptr + offsets, (weighted - average - centred * projection) * scale, mask=mask)


# ---- operators


def _sizes(x, groups):
    """(images, channels of a group, places of a channel)."""
    places = 1
    for extent in x.shape[2:]:
        places = places * extent
    return x.shape[0], x.shape[1] // groups, places


def _allocate_norm(x, groups, weight, bias, epsilon):
    """(out, means, scales)."""
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    check_axes("x", x, 2, "axes, images and channels first,")
    check_number("eps", epsilon, least=0)
    check_integer("groups", groups)
    channels = x.shape[1]
    if groups < 1 or channels % groups:
        raise ValueError(f"groups is {groups}; it must divide the {channels} channels of x")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None:
            check_parameter(name, parameter, x, "x", (channels,), f"as x has {channels} channels")
    statistics = (x.shape[0], groups)
    kind = accumulation_dtype(x)
    return empty_like(x), empty(x, statistics, kind), empty(x, statistics, kind)


def _launch_norm(outputs, x, groups, weight, bias, epsilon):
    out, mean, scale = outputs
    images, channels, places = _sizes(x, groups)
    if images and channels and places:
        _group_norm[(images * groups,)](
            contiguous(x), contiguous(weight), contiguous(bias), out, mean, scale, groups, channels, places, EPSILON=epsilon, SUM=sum_type(x),
            **planes_block(x, channels, places),
        )  # fmt: skip


def _save_norm(ctx, inputs, output):
    x, ctx.groups, weight, bias, _ = inputs
    _, mean, scale = output
    ctx.mark_non_differentiable(mean, scale)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(x, weight, mean, scale)
    ctx.bias_dtype = None if bias is None else str(bias.dtype).removeprefix("torch.")


def _backward_of_norm(ctx, dy, *_):
    x, weight, mean, scale = ctx.saved_tensors
    _, _, wants_weight, wants_bias, _ = ctx.needs_input_grad
    if dy is None:
        return None, None, None, None, None
    dx, dweight, dbias = _norm_gradient(dy, x, ctx.groups, weight, mean, scale, ctx.bias_dtype or "", wants_weight, wants_bias)
    return dx, None, dweight if wants_weight else None, dbias if wants_bias else None, None


def _allocate_gradient(dy, x, groups, weight, mean, scale, bias_dtype, wants_weight, wants_bias):
    channels = x.shape[1:2]
    return (
        empty_like(x),
        empty(weight, channels) if wants_weight else nothing(x),
        empty(x, channels, bias_dtype) if wants_bias else nothing(x),
    )


def _launch_gradient(outputs, dy, x, groups, weight, mean, scale, bias_dtype, wants_weight, wants_bias):
    dx, dweight, dbias = outputs
    images, channels, places = _sizes(x, groups)
    kind = accumulation_dtype(x)
    images = images if places else 0  # sums over nothing
    dweight_parts, dbias_parts = (empty(x, (images, groups * channels), kind) for _ in range(2))
    if images and channels:
        _group_norm_backward[(images * groups,)](
            contiguous(x), contiguous(dy), contiguous(weight), mean, scale, dx, dweight_parts, dbias_parts, groups, channels, places,
            SUM=sum_type(x), **planes_block(x, channels, places),
        )  # fmt: skip
    for out, partial, is_wanted in ((dweight, dweight_parts, wants_weight), (dbias, dbias_parts, wants_bias)):
        if is_wanted and channels:
            sum_of_parts(out, partial)


_norm = Operator(
    "group_norm", "(Tensor x, SymInt groups, Tensor? weight, Tensor? bias, float epsilon) -> (Tensor, Tensor, Tensor)",
    _allocate_norm, _launch_norm, _save_norm, _backward_of_norm,
)  # fmt: skip
_norm_gradient = Operator(
    "group_norm_gradient",
    "(Tensor dy, Tensor x, SymInt groups, Tensor? weight, Tensor mean, Tensor scale, str bias_dtype, bool wants_weight, bool wants_bias) -> "
    "(Tensor, Tensor, Tensor)",
    _allocate_gradient, _launch_gradient,
)  # fmt: skip


def group_norm(x, groups, weight=None, bias=None, *, eps=1e-5):
    """GroupNorm: the channels of each image are divided into groups, each of which is normalized with its own mean and variance.

    x: (images, channels, ...), float16, bfloat16, float32 or float64; sums are kept in float32, or float64. The result is contiguous.
    groups: how many; it divides the channels.
    weight, bias: (channels,), of any of these types, or None.

        y = nacre.kernels.group_norm(x, 8, weight, bias)
    """
    return _norm(x, groups, weight, bias, eps)[0]
