"""Rotary position embedding: each pair (i, i + half) of a head turns by an angle that grows with the position."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, heads, HALF: tl.constexpr, HEADS: tl.constexpr):
    position = tl.program_id(0)
    pairs = tl.arange(0, HALF)
    head = tl.arange(0, HEADS)[:, None]
    cos = tl.load(cos_ptr + position * HALF + pairs)[None, :]
    sin = tl.load(sin_ptr + position * HALF + pairs)[None, :]
    left = (position * heads + head) * (2 * HALF) + pairs[None, :]
    mask = head < heads
    x = tl.load(x_ptr + left, mask=mask)
    y = tl.load(x_ptr + left + HALF, mask=mask)
    tl.store(out_ptr + left, x * cos - y * sin, mask=mask)
    tl.store(out_ptr + left + HALF, y * cos + x * sin, mask=mask)


def rotary(x, cos, sin):
    """x: (positions, heads, head dimension); cos, sin: (positions, half the head dimension)."""
    positions, heads, dimension = x.shape
    out = torch.empty_like(x)
    rotary_kernel[(positions,)](x, cos, sin, out, heads, HALF=dimension // 2, HEADS=triton.next_power_of_2(heads))
    return out


def rotary_torch(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1)


def main(positions=1024, heads=12, dimension=64):
    x = torch.randn(positions, heads, dimension, device=DEVICE)
    frequencies = 10000.0 ** (-torch.arange(0, dimension, 2, device=DEVICE) / dimension)
    angles = torch.arange(positions, device=DEVICE)[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    compare(
        f"rotary, {positions}x{heads}x{dimension} f32",
        lambda: rotary(x, cos, sin),
        lambda: rotary_torch(x, cos, sin),
        tolerance=2e-6,
    )


if __name__ == "__main__":
    main()
