"""RMS norm, walking the row in blocks: works for rows of any length with a block of any size."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        squares += x * x
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row * stride + offsets, mask=mask).to(tl.float32)
        weight = tl.load(weight_ptr + offsets, mask=mask)
        tl.store(out_ptr + row * stride + offsets, x * scale * weight, mask=mask)


def rms_norm(x, weight, epsilon=1e-6, block=1024):
    out = torch.empty_like(x)
    rows, columns = x.shape
    rms_norm_kernel[(rows,)](x, weight, out, x.stride(0), columns, epsilon, BLOCK=block)
    return out


def main(rows=1024, columns=3000):
    x = torch.randn(rows, columns, device=DEVICE)
    weight = torch.rand(columns, device=DEVICE)
    compare(
        f"RMS norm, {rows}x{columns} f32",
        lambda: rms_norm(x, weight),
        lambda: torch.nn.functional.rms_norm(x, (columns,), weight, eps=1e-6),
        tolerance=1e-5,
    )


if __name__ == "__main__":
    main()
