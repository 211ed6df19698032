"""Layer norm over the last axis: mean and variance of a row, then scale and shift."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    normalized = centred * (1 / tl.sqrt(variance + epsilon))
    weight = tl.load(weight_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * stride + offsets, normalized * weight + bias, mask=mask)


def layer_norm(x, weight, bias, epsilon=1e-5):
    out = torch.empty_like(x)
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    layer_norm_kernel[(rows,)](x, weight, bias, out, x.stride(0), columns, epsilon, BLOCK=block)
    return out


def main(rows=1024, columns=1024):
    x = torch.randn(rows, columns, device=DEVICE) * 3 + 1
    weight = torch.rand(columns, device=DEVICE)
    bias = torch.rand(columns, device=DEVICE)
    compare(
        f"layer norm, {rows}x{columns} f32",
        lambda: layer_norm(x, weight, bias),
        lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias),
        tolerance=1e-5,
    )


if __name__ == "__main__":
    main()
