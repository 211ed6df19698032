"""Of the shape of the tutorial of external functions: libdevice's, from where the package has it and from a path."""

import os
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def asin_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = libdevice.asin(tl.load(x_ptr + offsets, mask=mask))
    tl.store(y_ptr + offsets, x, mask=mask)


torch.manual_seed(0)
x = torch.rand(98432, device=DEVICE)
out = torch.zeros_like(x)
grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)  # noqa: E731
asin_kernel[grid](x, out, x.numel(), BLOCK_SIZE=1024)
torch.testing.assert_close(out, torch.asin(x), atol=1e-6, rtol=1e-6)
library = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "nvvm/libdevice/libdevice.10.bc"
if DEVICE.type == "cuda" and library.exists():
    out = torch.empty_like(x)
    asin_kernel[grid](x, out, x.numel(), BLOCK_SIZE=1024, extern_libs={"libdevice": str(library)})
    torch.testing.assert_close(out, torch.asin(x), atol=1e-6, rtol=1e-6)
