"""FlagGems: the operators of PyTorch, written in the language; each by its name in `flag_gems.ops`, against PyTorch's of that name."""

import os

import packages
import torch
from torch.nn import functional

from . import HALVES, Operator
from .stand_ins import take_any_device

UNARY = ("abs", "acos", "atan", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "isfinite", "isinf", "isnan", "log", "log10", "neg", "reciprocal", "relu", "rsqrt", "sigmoid",
         "silu", "sin", "sqrt", "square", "tan", "tanh", "gelu", "elu", "celu", "selu", "softplus", "log_sigmoid", "hardsigmoid", "relu6", "signbit", "nan_to_num", "logical_not")  # fmt: skip
BINARY = ("add", "sub", "mul", "true_divide", "eq", "ne", "lt", "le", "gt", "ge", "atan2", "hypot", "copysign", "fmin", "logaddexp",
          "logical_and", "logical_or", "logical_xor", "remainder", "floor_divide")  # fmt: skip
TORCH_NAMES = {"log_sigmoid": functional.logsigmoid, "gelu": functional.gelu, "elu": functional.elu, "celu": functional.celu, "selu": functional.selu,
               "softplus": functional.softplus, "hardsigmoid": functional.hardsigmoid, "relu6": functional.relu6, "silu": functional.silu}  # fmt: skip
POSITIVE = ("log", "log10", "sqrt", "rsqrt", "reciprocal")
INTEGRAL = ("bitwise_and_tensor", "bitwise_or_tensor")  # its shifts hand None on as an output


def operators():
    os.environ["GEMS_VENDOR"] = "nvidia"
    os.environ["FLAGGEMS_CACHE_DIR"] = str(packages.FOLDER / "flag_gems_cache")
    take_any_device()
    if not torch.cuda.is_available():
        torch.cuda.device_count = lambda: 1  # it keeps compiled kernels for each
    from flag_gems import ops

    def by_place(function):
        return lambda **arguments: function(*arguments.values())

    def torchs(name):
        return TORCH_NAMES.get(name) or getattr(torch, name.removesuffix("_tensor"))

    def shape(draw):
        return [(draw.size(1, 1000, 5000),), (draw.size(1, 5, 17), draw.size(1, 33, 128)), (2, draw.size(1, 3), draw.size(7, 64))][draw.number() % 3]

    def one(of=None):
        return lambda draw: {"x": draw.tensor(*shape(draw), of=of)}

    def two(draw):
        dims = shape(draw)
        other = dims if draw.choice(True, False) else dims[-1:]
        return {"x": draw.tensor(*dims), "y": draw.tensor(*other, of=lambda y: y + torch.where(y < 0, -0.5, 0.5))}

    def integers(draw):
        dims = shape(draw)
        return {"x": draw.integers(-1000, 1000, *dims, dtype=torch.int32), "y": draw.integers(0, 16, *dims, dtype=torch.int32)}

    def matrix(draw):
        return {"x": draw.tensor(draw.size(1, 5, 17, 64), draw.size(1, 33, 128, 300))}

    def matrix_and_axis(draw):
        return {**matrix(draw), "axis": draw.choice(0, 1)}

    def product(draw):
        m, k, n = draw.size(1, 16, 70), draw.size(1, 32, 100), draw.size(1, 32, 90)
        return {"a": draw.tensor(m, k), "b": draw.tensor(k, n)}

    def products(draw):
        batch, m, k, n = draw.size(1, 3), draw.size(1, 16, 50), draw.size(1, 32, 70), draw.size(1, 32, 50)
        return {"a": draw.tensor(batch, m, k), "b": draw.tensor(batch, k, n)}

    def sum_and_product(draw):
        arguments = product(draw)
        return {"c": draw.tensor(arguments["b"].shape[1]), **arguments}

    def vector_product(draw):
        m, k = draw.size(1, 16, 70), draw.size(1, 32, 300)
        return {"a": draw.tensor(m, k), "b": draw.tensor(k)}

    def normed(draw):
        rows, width = draw.size(1, 5, 17), draw.size(1, 33, 128, 300)
        return {"x": draw.tensor(rows, width), "weight": draw.tensor(width), "bias": draw.tensor(width)}

    def picked(draw):
        rows, width = draw.size(2, 20), draw.size(1, 33, 64)
        return {"x": draw.tensor(rows, width), "index": draw.integers(0, rows, draw.size(1, 7, 30))}

    def gathered(draw):
        rows, width = draw.size(2, 20), draw.size(1, 33, 64)
        return {"x": draw.tensor(rows, width), "index": draw.integers(0, rows, draw.size(1, 30), width)}

    def masked(draw):
        dims = shape(draw)
        return {"x": draw.tensor(*dims), "mask": draw.integers(0, 2, *dims).bool()}

    def images(draw):
        channels = draw.choice(1, 3, 8)
        kernel = draw.choice(1, 3)
        return {"x": draw.tensor(draw.size(1, 2), channels, draw.size(5, 9, 12), draw.size(5, 12)), "weight": draw.tensor(draw.choice(1, 4, 16), channels, kernel, kernel),
                "padding": draw.choice(0, 1)}  # fmt: skip

    def norm(x, weight, bias):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * weight

    found = [Operator(name, one(torch.abs if name in POSITIVE else torch.tanh if name == "acos" else None), by_place(getattr(ops, name)), by_place(torchs(name)), tolerance=2) for name in UNARY]
    found += [Operator(name, two, by_place(getattr(ops, name)), by_place(torchs(name)), (torch.float32,) if name in ("remainder", "floor_divide") else (torch.float32, *HALVES), tolerance=2)
              for name in BINARY]  # fmt: skip
    found += [Operator(name, integers, by_place(getattr(ops, name)), by_place(torchs(name)), (torch.float32,)) for name in INTEGRAL]
    found += [Operator(name, matrix, by_place(getattr(ops, name)), by_place(getattr(torch, name)), tolerance=2) for name in ("sum", "mean", "max", "min", "all", "any", "argmax", "argmin")]
    found += [Operator(name, matrix_and_axis, lambda x, axis, name=name: getattr(ops, name)(x, axis), lambda x, axis, name=name: getattr(torch, name)(x, axis), tolerance=3)
              for name in ("softmax", "log_softmax", "cumsum")]  # fmt: skip
    found += [Operator(name, matrix_and_axis, lambda x, axis, name=name: getattr(ops, name + "_dim")(x, [axis]), lambda x, axis, name=name: getattr(torch, name)(x, axis), tolerance=3)
              for name in ("sum", "mean")]  # fmt: skip
    for operator in found[-2:]:
        operator.name += "_dim"
    found += [
        Operator("mm", product, lambda a, b: ops.mm(a, b), by_place(torch.mm), tolerance=2),
        Operator("bmm", products, lambda a, b: ops.bmm(a, b), by_place(torch.bmm), tolerance=2),
        Operator("addmm", sum_and_product, lambda c, a, b: ops.addmm(c, a, b), by_place(torch.addmm), tolerance=2),
        Operator("mv", vector_product, lambda a, b: ops.mv(a, b), by_place(torch.mv), tolerance=2),
        Operator("layer_norm", normed, lambda x, weight, bias: ops.layer_norm(x, weight.shape, weight, bias)[0],
                 lambda x, weight, bias: functional.layer_norm(x, weight.shape, weight, bias), tolerance=2),
        Operator("rms_norm", normed, lambda x, weight, bias: ops.rms_norm(x, weight.shape, weight, 1e-5), norm, tolerance=2),
        Operator("index_select", picked, lambda x, index: ops.index_select(x, 0, index), lambda x, index: x.index_select(0, index)),
        Operator("embedding", picked, lambda x, index: ops.embedding(x, index), lambda x, index: functional.embedding(index, x)),
        Operator("gather", gathered, lambda x, index: ops.gather(x, 0, index), lambda x, index: x.gather(0, index)),
        Operator("masked_fill", masked, lambda x, mask: ops.masked_fill(x, mask, 3.0), lambda x, mask: x.masked_fill(mask, 3.0)),
        Operator("masked_select", masked, lambda x, mask: ops.masked_select(x, mask), lambda x, mask: x[mask]),
        Operator("amax", matrix, lambda x: ops.amax(x, [1]), lambda x: x.amax(1)),
        Operator("nonzero", masked, lambda x, mask: ops.nonzero(mask), lambda x, mask: mask.nonzero()),
        Operator("flip", matrix, lambda x: ops.flip(x, [0, 1]), lambda x: x.flip(0, 1)),
        Operator("triu", matrix, lambda x: ops.triu(x), by_place(torch.triu)),
        Operator("tril", matrix, lambda x: ops.tril(x), by_place(torch.tril)),
        Operator("sort", matrix, lambda x: ops.sort(x)[0], lambda x: x.sort()[0]),
        Operator("topk", matrix, lambda x: ops.topk(x, 1)[0], lambda x: x.topk(1)[0]),
        Operator("var_mean", matrix, lambda x: ops.var_mean(x, [1], correction=0), lambda x: torch.var_mean(x, 1, correction=0), tolerance=3),
        Operator("vector_norm", matrix, lambda x: ops.vector_norm(x, 2, [1]), lambda x: torch.linalg.vector_norm(x, 2, 1), tolerance=2),
        Operator("cat", two_rows, lambda x, y: ops.cat([x, y], 0), lambda x, y: torch.cat([x, y])),
        Operator("conv2d", images, lambda x, weight, padding: ops.conv2d(x, weight, padding=padding), lambda x, weight, padding: functional.conv2d(x, weight, padding=padding), tolerance=2),
    ]  # fmt: skip
    return found


def two_rows(draw):
    width = draw.size(1, 33, 64)
    return {"x": draw.tensor(draw.size(1, 5), width), "y": draw.tensor(draw.size(1, 9), width)}
