"""SwiGLU: the gated activation of modern transformers, silu(gate) * up, in one pass."""

import torch
import triton
import triton.language as tl

from compare import DEVICE, compare


@triton.jit
def silu(x):
    return x / (1 + tl.exp(-x))


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, silu(gate) * up, mask=mask)


def swiglu(gate, up, block=4096):
    out = torch.empty_like(gate)
    count = gate.numel()
    swiglu_kernel[(triton.cdiv(count, block),)](gate, up, out, count, BLOCK=block)
    return out


def main(count=1 << 20):
    for dtype, tolerance in ((torch.float32, 2e-6), (torch.bfloat16, 0.13)):
        gate = torch.randn(count, device=DEVICE).to(dtype)
        up = torch.randn(count, device=DEVICE).to(dtype)
        compare(
            f"SwiGLU, {count} {str(dtype).removeprefix('torch.')}",
            lambda: swiglu(gate, up),
            lambda: torch.nn.functional.silu(gate) * up,
            tolerance=tolerance,
        )


if __name__ == "__main__":
    main()
