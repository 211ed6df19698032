"""Copying memory, forwards and backwards: the reversed copy reads with a stride of minus one."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def copy_kernel(source_ptr, target_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def reverse_kernel(source_ptr, target_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(target_ptr + offsets, tl.load(source_ptr + count - 1 - offsets, mask=mask), mask=mask)


def launch(kernel, source, block=4096):
    target = torch.empty_like(source)
    count = source.numel()
    kernel[(triton.cdiv(count, block),)](source, target, count, BLOCK=block)
    return target


def main(count=1 << 22):
    x = torch.rand(count, device=DEVICE)
    compare(f"copy, {count} f32", lambda: launch(copy_kernel, x), x.clone, tolerance=0)
    compare(f"reversed copy, {count} f32", lambda: launch(reverse_kernel, x), lambda: x.flip(0), tolerance=0)


if __name__ == "__main__":
    main()
