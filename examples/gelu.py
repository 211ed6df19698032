"""Bias + GELU + scale in one pass over memory, with a helper function called from the kernel."""

import math

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare

INVERSE_SQRT_2 = tl.constexpr(1 / math.sqrt(2))


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * INVERSE_SQRT_2))


@triton.jit
def bias_gelu_scale_kernel(x_ptr, bias_ptr, out_ptr, count, columns, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets % columns, mask=mask)
    tl.store(out_ptr + offsets, gelu(x + bias) * scale, mask=mask)


def bias_gelu_scale(x, bias, scale, block=4096):
    out = torch.empty_like(x)
    count = x.numel()
    bias_gelu_scale_kernel[(triton.cdiv(count, block),)](x, bias, out, count, x.shape[-1], scale, BLOCK=block)
    return out


def bias_gelu_scale_torch(x, bias, scale):
    return torch.nn.functional.gelu(x + bias) * scale


def main(rows=1024, columns=1024):
    x = torch.randn(rows, columns, device=DEVICE) * 2
    bias = torch.randn(columns, device=DEVICE)
    compare(
        f"bias + GELU + scale, {rows}x{columns} f32",
        lambda: bias_gelu_scale(x, bias, 0.7),
        lambda: bias_gelu_scale_torch(x, bias, 0.7),
        tolerance=2e-6,
    )


if __name__ == "__main__":
    main()
