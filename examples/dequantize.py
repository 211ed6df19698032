"""Weights from 8 and 4 bits to float: one scale (and zero point) a group of elements, two 4-bit values in a byte."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def dequantize8_kernel(quantized_ptr, scale_ptr, out_ptr, count, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    quantized = tl.load(quantized_ptr + offsets, mask=mask)
    scale = tl.load(scale_ptr + offsets // GROUP, mask=mask)
    tl.store(out_ptr + offsets, quantized * scale, mask=mask)


@triton.jit
def dequantize4_kernel(packed_ptr, scale_ptr, zero_ptr, out_ptr, packed_count, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Byte i holds element 2i in its low half and element 2i + 1 in its high half."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < packed_count
    packed = tl.load(packed_ptr + offsets, mask=mask)
    group = offsets // (GROUP // 2)
    scale = tl.load(scale_ptr + group, mask=mask)
    zero = tl.load(zero_ptr + group, mask=mask)
    low = (packed & 15).to(tl.float32)
    high = (packed >> 4).to(tl.float32)
    tl.store(out_ptr + 2 * offsets, (low - zero) * scale, mask=mask)
    tl.store(out_ptr + 2 * offsets + 1, (high - zero) * scale, mask=mask)


def dequantize8(quantized, scale, group, block=4096):
    count = quantized.numel()
    out = torch.empty(count, dtype=torch.float32, device=quantized.device)
    dequantize8_kernel[(triton.cdiv(count, block),)](quantized, scale, out, count, GROUP=group, BLOCK=block)
    return out


def dequantize4(packed, scale, zero, group, block=4096):
    count = packed.numel()
    out = torch.empty(2 * count, dtype=torch.float32, device=packed.device)
    dequantize4_kernel[(triton.cdiv(count, block),)](packed, scale, zero, out, count, GROUP=group, BLOCK=block)
    return out


def dequantize8_torch(quantized, scale, group):
    return (quantized.view(-1, group) * scale[:, None]).view(-1)


def dequantize4_torch(packed, scale, zero, group):
    values = torch.stack((packed & 15, packed >> 4), dim=-1).view(-1, group).float()
    return ((values - zero[:, None]) * scale[:, None]).view(-1)


def main(count=1 << 20, group=128):
    scale = torch.rand(count // group, device=DEVICE)
    zero = torch.randint(0, 16, (count // group,), device=DEVICE).float()
    quantized = torch.randint(-128, 128, (count,), dtype=torch.int8, device=DEVICE)
    packed = torch.randint(0, 256, (count // 2,), dtype=torch.uint8, device=DEVICE)
    compare(
        f"8-bit dequantize, {count} values",
        lambda: dequantize8(quantized, scale, group),
        lambda: dequantize8_torch(quantized, scale, group),
        tolerance=0,
    )
    compare(
        f"4-bit dequantize, {count} values",
        lambda: dequantize4(packed, scale, zero, group),
        lambda: dequantize4_torch(packed, scale, zero, group),
        tolerance=0,
    )


if __name__ == "__main__":
    main()
