"""Linear layers with weights of 4 and 8 bits: products, packing and unpacking.

The formats and their kernels are in _quantized_kernels.py. Packing runs on the host, once for a model, in NumPy.
"""

import math

import numpy

from . import _quantized_kernels as kernels
from ._arrays import (
    FLOATING, INTEGERS, as_rows, check_array, check_axes, check_dtype, check_integer, check_shape, check_values, contiguous, empty, is_numpy,
    row_stride, size,
)  # fmt: skip
from ._blocks import cdiv, power_of_two, runs_on_host
from ._operator import Operator

_BLOCK = 32  # elements of a block of q4_0 and q8_0
_BLOCK_BYTES = {"q4_0": 18, "q8_0": 34}
FORMATS = ("int8", "int4", "q8_0", "q4_0")


def quantized_matmul(x, weight, scales=None, zeros=None, *, format):
    """x @ W.T with quantized weights W of (N, K): the product of a linear layer. Gradient: that of x.

    x: (..., K), float16, bfloat16, float32 or float64. The result is (..., N) of x's type; sums are kept in float32 (float64 for float64).
    The weights, by `format`:

    - "int8": weight (N, K) int8, scales (N, K / group) of any float type, zeros of the same shape or None; element = (stored - zero) * scale.
    - "int4": weight (N, K / 2) uint8, two elements a byte: byte i of a group holds its element i in the low half and element i + group / 2 in the
      high one, 0 to 15. scales and zeros as for "int8"; without zeros 8 is taken off.
    - "q8_0", "q4_0": weight (N, bytes of a row) uint8, the blocks of llama.cpp: a float16 scale and then 32 elements, in 32 or 16 bytes. 34 or 18
      bytes a block, K / 32 blocks a row; no scales, no zeros. The format's bytes may be used as they lie in a file.

    `quantize` makes all of these; `from_gptq` turns GPTQ's arrays into "int4".

        packed = nacre.kernels.quantize(torch.randn(512, 256), format="q4_0")
        y = nacre.kernels.quantized_matmul(torch.randn(3, 256), *packed, format="q4_0")
    """
    check_array("x", x)
    check_axes("x", x, 1)
    check_array("weight", weight, x, "x")
    check_axes("weight", weight, 2)
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return _product(rows, weight, scales, zeros, format).reshape(*x.shape[:-1], weight.shape[0])


def dequantize(weight, scales=None, zeros=None, *, format, dtype="float32"):
    """The weights (N, K) as floats; the arguments are those of `quantized_matmul`, `dtype` the name of a float type.

        packed = nacre.kernels.quantize(torch.randn(512, 256), format="int8", group=64)
        weight = nacre.kernels.dequantize(*packed, format="int8")
    """
    return _dequantized(weight, scales, zeros, format, dtype)


def quantize(weight, *, format, group=128, symmetric=True):
    """Packs weights (N, K) of floats: (weight, scales, zeros) for `quantized_matmul`, of the kind and on the device of `weight`.

    `format`: see there. `group`: elements of one scale, for "int8" and "int4"; it divides K. `symmetric`: no zero points; otherwise each group's
    range is used as a whole. scales and zeros are float32, or None where the format has none.

        weight, scales, zeros = nacre.kernels.quantize(numpy.random.randn(64, 256), format="int4", group=32, symmetric=False)
    """
    check_array("weight", weight)
    check_dtype("weight", weight, FLOATING)
    check_shape("weight", weight, (None, None))
    _check_format(format)
    group = _BLOCK if format in _BLOCK_BYTES else group
    check_integer("group", group)
    rows, columns = weight.shape
    if group < 2 or group % 2 or columns % group:
        raise ValueError(f"weight has {columns} columns, which is no multiple of the group of {group} elements (an even number)")
    values = _to_numpy(weight).astype(numpy.float32).reshape(rows, columns // group, group)
    if format in _BLOCK_BYTES:
        return _from_numpy(_blocks_of(values, format), weight), None, None
    stored, scales, zeros = _rounded(values, 8 if format == "int8" else 4, symmetric)
    packed = stored.astype(numpy.int8) if format == "int8" else _halves(stored.astype(numpy.uint8))
    return tuple(None if x is None else _from_numpy(numpy.ascontiguousarray(x), weight) for x in (packed.reshape(rows, columns if format == "int8" else columns // 2), scales, zeros))


def from_gptq(qweight, qzeros, scales, g_idx=None, *, zeros_are_less_one=True):
    """GPTQ's arrays of 4 bits as ("int4" weight, scales, zeros, order) for `quantized_matmul`, which takes x[..., order] (x where order is None).

    qweight: (K / 8, N) int32, eight elements of a column in each, the first one in the lowest bits. qzeros: (groups, N / 8) int32, eight columns in
    each, stored less one unless `zeros_are_less_one` is False. scales: (groups, N). g_idx: (K,), the group of each row, or None where groups lie one
    after the other; `order` is then the rows sorted by group, and every group must have equally many.

        weight, scales, zeros, order = nacre.kernels.from_gptq(qweight, qzeros, scales, g_idx)
        y = nacre.kernels.quantized_matmul(x if order is None else x[..., order], weight, scales, zeros, format="int4")
    """
    for name, x in (("qweight", qweight), ("qzeros", qzeros)):
        check_array(name, x, qweight, "qweight")
        check_dtype(name, x, ("int32",))
        check_shape(name, x, (None, None))
    check_array("scales", scales, qweight, "qweight")
    check_dtype("scales", scales, FLOATING)
    inner, columns = 8 * qweight.shape[0], qweight.shape[1]
    groups = scales.shape[0]
    check_shape("scales", scales, (None, columns), "one column for each of qweight")
    check_shape("qzeros", qzeros, (groups, cdiv(columns, 8)), "one row for each of scales, eight columns in a number")
    if groups < 1 or inner % groups or inner // groups % 2:
        raise ValueError(f"{groups} groups do not divide {inner} rows evenly into groups of an even size")
    group = inner // groups
    nibbles = numpy.arange(8, dtype=numpy.int32) * 4
    elements = (_to_numpy(qweight)[:, None, :] >> nibbles[None, :, None] & 15).reshape(inner, columns)
    zeros = (_to_numpy(qzeros)[:, :, None] >> nibbles & 15).reshape(groups, -1)[:, :columns].astype(numpy.float32)
    if zeros_are_less_one:
        zeros = zeros + 1
    order = None
    if g_idx is not None:
        check_array("g_idx", g_idx, qweight, "qweight")
        check_shape("g_idx", g_idx, (inner,), "one group for each row")
        check_dtype("g_idx", g_idx, INTEGERS)
        of_row = _to_numpy(g_idx)
        check_values("g_idx", of_row, 0, groups, "a row of scales")
        if not (numpy.bincount(of_row, minlength=groups) == group).all():
            raise ValueError(f"g_idx gives groups of unequal sizes; {group} rows are expected in each of {groups}")
        order = numpy.argsort(of_row, kind="stable")
        elements = elements[order]
    packed = _halves(elements.T.astype(numpy.uint8).reshape(columns, groups, group)).reshape(columns, -1)
    parts = (packed, _to_numpy(scales).astype(numpy.float32).T, zeros.T, order)
    return tuple(None if x is None else _from_numpy(numpy.ascontiguousarray(x), qweight) for x in parts)


# ---- packing


def _to_numpy(x):
    return x if is_numpy(x) else x.detach().cpu().to(dtype=_torch_type(x)).numpy()


def _torch_type(x):
    import torch

    return torch.float32 if x.dtype == torch.bfloat16 else x.dtype


def _from_numpy(x, like):
    if is_numpy(like):
        return x
    import torch

    return torch.from_numpy(x).to(like.device)


def _halves(stored):
    """(N, groups, group) of 0 to 15 as bytes (N, groups, group / 2)."""
    half = stored.shape[2] // 2
    return stored[:, :, :half] | stored[:, :, half:] << 4


def _rounded(values, bits, symmetric):
    """(stored, scales, zeros) of (N, groups, group)."""
    lowest, highest = (-128, 127) if bits == 8 else (0, 15)
    if symmetric:
        middle = 0 if bits == 8 else 8
        scales = numpy.abs(values).max(axis=2) / (highest - middle)
        zeros = None
        shift = numpy.float32(middle)
    else:
        low, high = numpy.minimum(values.min(axis=2), 0), numpy.maximum(values.max(axis=2), 0)
        scales = (high - low) / (highest - lowest)
        zeros = lowest - numpy.rint(low / numpy.where(scales == 0, 1, scales))
        shift = zeros[:, :, None]
    divisors = numpy.where(scales == 0, 1, scales)[:, :, None]
    return numpy.clip(numpy.rint(values / divisors) + shift, lowest, highest), scales.astype(numpy.float32), zeros


def _blocks_of(values, format):
    """Rows of blocks as bytes. The scale of q4_0 has the sign that puts the element of the largest size at 0, so at -8."""
    rows, count, _ = values.shape
    if format == "q8_0":
        scales = numpy.abs(values).max(axis=2) / 127
    else:
        scales = numpy.take_along_axis(values, numpy.abs(values).argmax(axis=2)[:, :, None], axis=2)[:, :, 0] / -8
    inverse = numpy.divide(1, scales, out=numpy.zeros_like(scales), where=scales != 0)[:, :, None]
    if format == "q8_0":
        stored = numpy.rint(values * inverse).astype(numpy.int8).view(numpy.uint8)
    else:
        stored = _halves(numpy.clip(numpy.floor(values * inverse + 8.5), 0, 15).astype(numpy.uint8))
    head = scales.astype(numpy.float16)[:, :, None].view(numpy.uint8)
    return numpy.concatenate([head, stored], axis=2).reshape(rows, count * _BLOCK_BYTES[format])


# ---- the operators


def _check_format(format):
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}; {', '.join(map(repr, FORMATS))} are supported")


def _sizes(weight, scales, zeros, format):
    """(rows, K, elements of a group)."""
    _check_format(format)
    check_array("weight", weight)
    check_shape("weight", weight, (None, None))
    check_dtype("weight", weight, ("int8",) if format == "int8" else ("uint8",))
    rows, width = weight.shape
    if format in _BLOCK_BYTES:
        if scales is not None or zeros is not None:
            raise TypeError(f"{format} keeps its scales in its blocks: scales and zeros must be None")
        if width % _BLOCK_BYTES[format]:
            raise ValueError(f"weight has rows of {width} bytes, which is no multiple of the {_BLOCK_BYTES[format]} bytes of a block of {format}")
        return rows, width // _BLOCK_BYTES[format] * _BLOCK, _BLOCK
    inner = width if format == "int8" else 2 * width
    if scales is None:
        raise TypeError(f"{format} needs scales, (rows, K / group)")
    check_array("scales", scales, weight, "weight")
    check_dtype("scales", scales, FLOATING)
    check_shape("scales", scales, (rows, None), "one row for each of weight")
    if zeros is not None:
        check_array("zeros", zeros, weight, "weight")
        check_dtype("zeros", zeros, FLOATING)
        check_shape("zeros", zeros, tuple(scales.shape), "that of scales")
    groups = scales.shape[1]
    if inner and (groups < 1 or inner % groups or inner // groups % 2):
        raise ValueError(f"scales has {groups} columns for K = {inner}: it must divide K into groups of an even size")
    return rows, inner, inner // max(groups, 1)


def _allocate(x, weight, scales, zeros, format):
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    rows, inner, _ = _sizes(weight, scales, zeros, format)
    check_array("weight", weight, x, "x")
    check_shape("x", x, (None, inner), f"as weight has K = {inner}")
    return empty(x, (x.shape[0], rows))


_MOST_FEW_ROWS = 4


def _launch(out, x, weight, scales, zeros, format):
    rows, inner, group = _sizes(weight, scales, zeros, format)
    if size(out) == 0:
        return
    x = as_rows(x)
    arrays = (x, contiguous(weight), contiguous(scales), contiguous(zeros), out, row_stride(x))
    count, groups = x.shape[0], inner // max(group, 1)
    host = runs_on_host(x)
    constants = {"FORMAT": format, "GROUP": group or 2}
    if count <= _MOST_FEW_ROWS:
        # On the host the sums of one group's places are a few vectors, which stay in registers.
        blocks = {"BLOCK_N": 1, "BLOCK_G": 4 if format == "q8_0" else 1} if host else {"BLOCK_N": 8, "BLOCK_G": max(1, 512 // max(group, 1))}
        kernels.few_rows_kernel[(cdiv(rows, blocks["BLOCK_N"]),)](*arrays, rows, groups, ROWS=count, **constants, **blocks)
        return
    blocks = _tiles(host, count, rows, group)
    kernels.many_rows_kernel[(cdiv(count, blocks["BLOCK_M"]) * cdiv(rows, blocks["BLOCK_N"]),)](*arrays, count, rows, groups, **constants, **blocks)


def _tiles(host, count, rows, group):
    side = 64 if host else 32
    rows_of, columns_of = (min(side, max(16, power_of_two(extent))) for extent in (count, rows))
    return {"BLOCK_M": rows_of, "BLOCK_N": columns_of, "BLOCK_G": max(1, (128 if host else 32) // group)}


def _save(ctx, inputs, output):
    _, *weights, ctx.format = inputs
    ctx.save_for_backward(*weights)


def _backward(ctx, d_out):
    return _activations_gradient(d_out, *ctx.saved_tensors, ctx.format), None, None, None, None


def _allocate_gradient(d_out, weight, scales, zeros, format):
    return empty(d_out, (d_out.shape[0], _sizes(weight, scales, zeros, format)[1]))


def _launch_gradient(out, d_out, weight, scales, zeros, format):
    rows, inner, group = _sizes(weight, scales, zeros, format)
    if size(out) == 0:
        return
    d_out = as_rows(d_out)
    count, groups = d_out.shape[0], inner // group
    blocks = _tiles(runs_on_host(d_out), count, rows, group)
    kernels.activations_gradient_kernel[(cdiv(count, blocks["BLOCK_M"]) * cdiv(groups, blocks["BLOCK_G"]),)](
        d_out, contiguous(weight), contiguous(scales), contiguous(zeros), out, row_stride(d_out), count, rows, groups, FORMAT=format, GROUP=group, **blocks
    )


def _allocate_weights(weight, scales, zeros, format, dtype):
    rows, inner, _ = _sizes(weight, scales, zeros, format)
    if dtype not in FLOATING:
        raise ValueError(f"dtype is {dtype!r}; {', '.join(map(repr, FLOATING))} are supported")
    return empty(weight, (rows, inner), dtype)


def _launch_weights(out, weight, scales, zeros, format, dtype):
    rows, inner, group = _sizes(weight, scales, zeros, format)
    if size(out) == 0:
        return
    groups = inner // group
    block = max(1, min(power_of_two(groups), 4096 // group))
    kernels.dequantize_kernel[(rows * cdiv(groups, block),)](
        contiguous(weight), contiguous(scales), contiguous(zeros), out, groups, FORMAT=format, GROUP=group, BLOCK_G=block
    )


_WEIGHTS = "Tensor weight, Tensor? scales, Tensor? zeros, str format"
_product = Operator("quantized_product", f"(Tensor x, {_WEIGHTS}) -> Tensor", _allocate, _launch, _save, _backward)
_activations_gradient = Operator("quantized_product_gradient", f"(Tensor d_out, {_WEIGHTS}) -> Tensor", _allocate_gradient, _launch_gradient)
_dequantized = Operator("dequantized", f"({_WEIGHTS}, str dtype) -> Tensor", _allocate_weights, _launch_weights)
