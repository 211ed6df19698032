"""Liger-Kernel: losses, norms and activations for training."""

import torch
from torch.nn import functional

from . import Operator


def rows(draw):
    return draw.choice(1, 3, 8, 17), draw.choice(16, 33, 64, 100, 257)


def norm(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos[:, None] + turned * sin[:, None]


def operators():
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
    from liger_kernel.ops.dyt import LigerDyTFunction
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction
    from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction
    from liger_kernel.ops.geglu import LigerGELUMulFunction
    from liger_kernel.ops.group_norm import LigerGroupNormFunction
    from liger_kernel.ops.jsd import LigerJSDFunction
    from liger_kernel.ops.kl_div import LigerKLDivLossFunction
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
    from liger_kernel.ops.poly_norm import LigerPolyNormFunction
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.rope import LigerRopeFunction
    from liger_kernel.ops.softmax import LigerSoftmaxFunction
    from liger_kernel.ops.sparsemax import LigerSparsemaxFunction
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
    from liger_kernel.ops.tvd import LigerTVDLossFunction

    def one(draw):
        return {"x": draw.tensor(*rows(draw), grad=True)}

    def two(draw):
        shape = rows(draw)
        return {"a": draw.tensor(*shape, grad=True), "b": draw.tensor(*shape, grad=True)}

    def normed(draw):
        n, width = rows(draw)
        return {"x": draw.tensor(n, width, grad=True), "weight": draw.tensor(width, grad=True)}

    def normed_with_bias(draw):
        arguments = normed(draw)
        return {**arguments, "bias": draw.tensor(arguments["weight"].shape[0], grad=True)}

    def added(draw):
        n, width = rows(draw)
        return {"x": draw.tensor(n, width, grad=True), "residual": draw.tensor(n, width, grad=True), "weight": draw.tensor(width, grad=True)}

    def grouped(draw):
        groups = draw.choice(1, 2, 4)
        channels = groups * draw.choice(1, 3, 4)
        return {"x": draw.tensor(draw.choice(1, 3), channels, draw.choice(16, 50), grad=True), "weight": draw.tensor(channels, grad=True),
                "bias": draw.tensor(channels, grad=True), "groups": groups}  # fmt: skip

    def logits(draw):
        n, classes = rows(draw)
        target = draw.integers(0, classes, n)
        if n > 1:
            target[draw.number() % (n - 1)] = -100
        return {"x": draw.tensor(n, classes, grad=True, scale=3), "target": target, "smoothing": draw.choice(0.0, 0.1), "reduction": draw.choice("mean", "sum")}

    def linear(draw):
        n, classes, width = draw.choice(4, 9), draw.choice(32, 100), draw.choice(16, 48)
        return {"x": draw.tensor(n, width, grad=True), "weight": draw.tensor(classes, width, grad=True, scale=0.3), "target": draw.integers(0, classes, n)}

    def log_probabilities(draw):
        n, classes = rows(draw)
        return {"p": draw.tensor(n, classes, grad=True, dtype=torch.float32, of=lambda x: x.log_softmax(-1)),
                "q": draw.tensor(n, classes, dtype=torch.float32, of=lambda x: x.log_softmax(-1))}  # fmt: skip

    def probabilities(draw):
        n, classes = rows(draw)
        return {"p": draw.tensor(n, classes, grad=True, dtype=torch.float32, of=lambda x: x.softmax(-1)),
                "q": draw.tensor(n, classes, dtype=torch.float32, of=lambda x: x.softmax(-1))}  # fmt: skip

    def rope(draw):
        batch, length, width = draw.choice(1, 2), draw.choice(5, 16, 33), draw.choice(16, 32, 64)
        angles = draw.tensor(1, length, width // 2, dtype=torch.float32).repeat(1, 1, 2)
        return {"q": draw.tensor(batch, draw.choice(2, 4, 6), length, width, grad=True), "k": draw.tensor(batch, draw.choice(1, 2), length, width, grad=True),
                "cos": angles.cos().to(draw.dtype), "sin": angles.sin().to(draw.dtype)}  # fmt: skip

    def jensen_shannon(p, q):
        a, b = p.exp(), q.exp()
        middle = ((a + b) / 2).log()
        return ((b * (q - middle)).sum() + (a * (p - middle)).sum()) / 2 / p.shape[0]

    def cross_entropy(x, target, smoothing, reduction):
        return functional.cross_entropy(x, target, label_smoothing=smoothing, reduction=reduction)

    def sparsemax(x):
        ordered = x.sort(-1, descending=True).values
        ranks = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
        sums = ordered.cumsum(-1)
        count = (1 + ranks * ordered > sums).sum(-1, keepdim=True)
        threshold = (sums.gather(-1, count - 1) - 1) / count
        return (x - threshold).clamp(min=0)

    def polynomial(x, weight, bias):
        def normal(y):
            return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
        return weight[0] * normal(x**3) + weight[1] * normal(x**2) + weight[2] * normal(x) + bias

    def polynomial_arguments(draw):
        return {"x": draw.tensor(*rows(draw), grad=True), "weight": draw.tensor(3, grad=True), "bias": draw.tensor(grad=True)}

    def tanh_arguments(draw):
        n, width = rows(draw)
        grad = draw.device == "cuda"  # its backward pass asks how many multiprocessors there are, and has no answer for the CPU
        return {"x": draw.tensor(n, width, grad=grad), "alpha": draw.tensor(1, grad=grad), "weight": draw.tensor(width, grad=grad),
                "bias": draw.tensor(width, grad=grad)}  # fmt: skip

    return [
        Operator("rms_norm", normed, lambda x, weight: LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False), lambda x, weight: norm(x, weight, 1e-6)),
        Operator("layer_norm", normed_with_bias, lambda x, weight, bias: LigerLayerNormFunction.apply(x, weight, bias, 1e-5),
                 lambda x, weight, bias: functional.layer_norm(x, weight.shape, weight, bias, 1e-5), tolerance=2),
        Operator("fused_add_rms_norm", added, lambda x, residual, weight: LigerFusedAddRMSNormFunction.apply(x, residual, weight, 1e-6, 0.0, "llama", False),
                 lambda x, residual, weight: (norm(x + residual, weight, 1e-6), x + residual), tolerance=2),
        Operator("group_norm", grouped, lambda x, weight, bias, groups: LigerGroupNormFunction.apply(x, weight, bias, x.shape[1], groups, 1e-5),
                 lambda x, weight, bias, groups: functional.group_norm(x, groups, weight, bias, 1e-5), (torch.float32,)),
        Operator("swiglu", two, lambda a, b: LigerSiLUMulFunction.apply(a, b), lambda a, b: functional.silu(a) * b),
        Operator("geglu", two, lambda a, b: LigerGELUMulFunction.apply(a, b), lambda a, b: functional.gelu(a, approximate="tanh") * b),
        Operator("softmax", one, lambda x: LigerSoftmaxFunction.apply(x), lambda x: x.softmax(-1), tolerance=2),
        Operator("sparsemax", one, lambda x: LigerSparsemaxFunction.apply(x, -1), sparsemax, (torch.float32,)),
        Operator("cross_entropy", logits, lambda x, target, smoothing, reduction: LigerCrossEntropyFunction.apply(
                     x, target, None, -100, 0.0, smoothing, reduction)[0], cross_entropy),
        Operator("fused_linear_cross_entropy", linear, lambda x, weight, target: LigerFusedLinearCrossEntropyFunction.apply(x, weight, target)[0],
                 lambda x, weight, target: functional.cross_entropy(x @ weight.T, target), tolerance=2),
        Operator("kl_div", log_probabilities, lambda p, q: LigerKLDivLossFunction.apply(p, q, "batchmean", True),
                 lambda p, q: functional.kl_div(p, q, reduction="batchmean", log_target=True), (torch.float32,)),
        Operator("jsd", log_probabilities, lambda p, q: LigerJSDFunction.apply(p, q), jensen_shannon, (torch.float32,)),
        Operator("tvd", probabilities, lambda p, q: LigerTVDLossFunction.apply(p, q), lambda p, q: (p - q).abs().sum() / 2 / p.shape[0], (torch.float32,)),
        Operator("rope", rope, lambda q, k, cos, sin: LigerRopeFunction.apply(q.clone(), k.clone(), cos, sin),
                 lambda q, k, cos, sin: (rotated(q, cos, sin), rotated(k, cos, sin))),
        Operator("dyt", tanh_arguments, lambda x, alpha, weight, bias: LigerDyTFunction.apply(x, alpha, weight, bias),
                 lambda x, alpha, weight, bias: weight * torch.tanh(alpha * x) + bias),
        Operator("poly_norm", polynomial_arguments, lambda x, weight, bias: LigerPolyNormFunction.apply(x, weight, bias, 1e-6, False), polynomial, tolerance=2),
    ]  # fmt: skip
