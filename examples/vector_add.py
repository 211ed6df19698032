"""Vector addition: the first kernel. Each program adds one block; the mask guards the last one."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y, out=None, block=1024):
    out = torch.empty_like(x) if out is None else out
    count = x.numel()
    add_kernel[(triton.cdiv(count, block),)](x, y, out, count, BLOCK=block)
    return out


def main(count=1 << 22):
    x = torch.rand(count, device=DEVICE)
    y = torch.rand(count, device=DEVICE)
    compare(f"vector add, {count} f32", lambda: add(x, y), lambda: x + y, tolerance=0)


if __name__ == "__main__":
    main()
