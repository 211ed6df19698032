"""bitsandbytes: quantization in blocks, and optimizers whose state is quantized."""

import packages
import torch

from . import FLOATS, Operator
from .stand_ins import bare_packages


def operators():
    names = ("bitsandbytes", "bitsandbytes.backends", "bitsandbytes.backends.triton")
    bare_packages(packages.folder(packages.PACKAGES["bitsandbytes"]), *names)
    from bitsandbytes.backends.triton.kernels_4bit import dequantize_4bit_impl, quantize_4bit_blockwise_triton
    from bitsandbytes.backends.triton.kernels_8bit_quant import dequant_8bit_blockwise, quantize_blockwise_triton
    from bitsandbytes.backends.triton.kernels_optim import optimizer_update_32bit_impl

    def values(draw):
        return {"x": draw.tensor(draw.size(2, 64, 200, 1000) * 2), "block": draw.choice(64, 128, 256), "kind": draw.choice("nf4", "fp4")}

    def four_bits(x, block, kind):
        blocks = -(-x.numel() // block)
        scales = torch.empty(blocks, device=x.device, dtype=torch.float32)
        packed = torch.empty(x.numel() // 2, 1, device=x.device, dtype=torch.uint8)
        quantize_4bit_blockwise_triton(x, block, kind, blocks, scales, x.numel(), packed)
        out = torch.empty_like(x)
        dequantize_4bit_impl(packed, scales, block, kind, x.dtype, out)
        return out, scales

    TABLES = {
        "nf4": [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0],
        "fp4": [sign * value for sign in (1, -1) for value in (0.0, 0.00520833, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25)],
    }  # fmt: skip

    def scales_of(x, block):
        padded = torch.nn.functional.pad(x, (0, -x.numel() % block)).reshape(-1, block)
        return padded, padded.abs().amax(1)

    def nearest(x, block, table):
        padded, scales = scales_of(x, block)
        levels = x.new_tensor(table)
        index = ((padded / scales.clamp(min=1e-30)[:, None])[..., None] - levels).abs().argmin(-1)
        return (levels[index] * scales[:, None]).flatten()[: x.numel()], scales

    def four_bits_reference(x, block, kind):
        return nearest(x, block, TABLES[kind])

    def bytes_(draw):
        return {"x": draw.tensor(draw.size(1, 100, 500, 2000)), "block": draw.choice(64, 256), "code": torch.linspace(-1, 1, 256, device=draw.device)}

    def eight_bits(x, block, code):
        packed, scales = quantize_blockwise_triton(x, code, block)
        return dequant_8bit_blockwise(packed, scales, code, block, x.dtype), scales

    def eight_bits_reference(x, block, code):
        return nearest(x, block, code.tolist())

    def step(draw):
        shape = draw.size(1, 100, 3000)
        return {"p": draw.tensor(shape), "g": draw.tensor(shape), "m": draw.tensor(shape, dtype=torch.float32),
                "v": draw.tensor(shape, dtype=torch.float32, of=lambda x: x.square()), "number": draw.choice(1, 5), "decay": draw.choice(0.0, 0.1)}  # fmt: skip

    def adam(p, g, m, v, number, decay):
        p, m, v = p.clone(), m.clone(), v.clone()
        optimizer_update_32bit_impl("adam", g, p, m, v, None, 0.0, 0.0, 0.9, 0.99, 0.0, 0.0, 1e-6, decay, number, 0.01)
        return p, m, v

    def adam_reference(p, g, m, v, number, decay):
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g.square()
        correction = (1 - 0.99**number) ** 0.5 / (1 - 0.9**number)
        p = p * (1 - 0.01 * decay) - 0.01 * correction * m / (v.sqrt() + 1e-6 * (1 - 0.99**number) ** 0.5)
        return p, m, v

    return [
        Operator("quantize_4bit", values, four_bits, four_bits_reference, tolerance=2),
        Operator("quantize_8bit", bytes_, eight_bits, eight_bits_reference, tolerance=2),
        Operator("adam_32bit", step, adam, adam_reference, FLOATS),
    ]
