"""torchao: products of int8 and of float8 with scales, and quantization."""

import packages
import torch

from . import HALVES, Operator
from .stand_ins import bare_packages


def operators():
    bare_packages(packages.folder(packages.PACKAGES["torchao"]), "torchao", "torchao.kernel", "torchao.prototype", "torchao.prototype.quantized_training")
    from torchao.kernel.blockwise_quantization import blockwise_fp8_gemm, fp8_blockwise_act_quant, fp8_blockwise_weight_dequant, fp8_blockwise_weight_quant
    from torchao.kernel.intmm_triton import int_matmul_kernel, int8_mm_kernel_configs
    from torchao.prototype.quantized_training.int8_mm import scaled_int8_mm_cuda

    def integers(draw):
        m, k, n = draw.size(16, 33, 70), draw.choice(64, 128, 160), draw.choice(32, 64, 96)
        return {"a": draw.integers(-128, 128, m, k, dtype=torch.int8), "b": draw.integers(-128, 128, k, n, dtype=torch.int8)}

    def configured(draw):
        return {**integers(draw), "number": draw.number() % len(int8_mm_kernel_configs)}

    def scaled(draw):
        arguments = integers(draw)
        m, n = arguments["a"].shape[0], arguments["b"].shape[1]
        return {**arguments, "rows": draw.tensor(m, of=lambda x: x.abs() / 100), "columns": draw.tensor(draw.choice(1, n), of=lambda x: x.abs() / 100)}

    def product(a, b, number):
        return int_matmul_kernel(a, b, torch.empty(a.shape[0], b.shape[1], device=a.device, dtype=torch.int32), int8_mm_kernel_configs[number])

    def blocks(draw):
        m, k, n = draw.size(1, 16, 40), draw.choice(128, 256), draw.choice(128, 256)
        return {"x": draw.tensor(m, k), "weight": draw.tensor(n, k)}

    def by_float8(x, weight):
        a, a_scales = fp8_blockwise_act_quant(x)
        b, b_scales = fp8_blockwise_weight_quant(weight)
        return blockwise_fp8_gemm(a, a_scales, b, b_scales).to(x.dtype), fp8_blockwise_weight_dequant(b, b_scales)

    return [
        Operator("int_matmul", configured, product, lambda a, b, number: (a.long() @ b.long()).int(), (torch.float32,)),
        Operator("scaled_int8_mm", scaled, lambda a, b, rows, columns: scaled_int8_mm_cuda(a, b, rows, columns),
                 lambda a, b, rows, columns: a.double() @ b.double() * rows[:, None] * columns, tolerance=2),
        Operator("blockwise_fp8", blocks, by_float8, lambda x, weight: (x @ weight.T, weight), HALVES, tolerance=12),
    ]
