"""conch-triton-kernels: kernels of inference servers."""

import torch
from torch.nn import functional

from . import Operator


def operators():
    from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
    from conch.ops.activation.silu_and_mul import silu_and_mul
    from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm
    from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm

    def pair(draw):
        return {"x": draw.tensor(draw.choice(1, 5, 16), 2 * draw.choice(16, 64, 160))}

    def normed(draw):
        width = draw.choice(16, 64, 100, 256)
        return {"x": draw.tensor(draw.choice(1, 5, 16), width), "weight": draw.tensor(width)}

    def added(draw):
        arguments = normed(draw)
        return {**arguments, "residual": draw.tensor(*arguments["x"].shape)}

    def norm(x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight

    halves = lambda x: x.chunk(2, -1)  # noqa: E731
    return [
        Operator("silu_and_mul", pair, silu_and_mul, lambda x: functional.silu(halves(x)[0]) * halves(x)[1]),
        Operator("gelu_tanh_and_mul", pair, gelu_tanh_and_mul, lambda x: functional.gelu(halves(x)[0], approximate="tanh") * halves(x)[1],
                 (torch.float32,)),  # libdevice.tanh takes no halves
        Operator("rms_norm", normed, lambda x, weight: rms_norm(x, weight, 1e-6), norm),
        Operator("gemma_rms_norm", normed, lambda x, weight: gemma_rms_norm(x, weight, 1e-6), lambda x, weight: norm(x, 1 + weight)),
        Operator("fused_add_rms_norm", added, lambda x, weight, residual: fused_add_rms_norm(x.clone(), residual.clone(), weight, 1e-6),
                 lambda x, weight, residual: (norm(x + residual, weight), x + residual)),
    ]  # fmt: skip
