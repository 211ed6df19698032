"""Of the shape of the tutorial of dropout: random numbers by a seed and a place, so that no mask is kept."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def _dropout(x_ptr, x_keep_ptr, output_ptr, n_elements, p, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    x_keep = tl.load(x_keep_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, tl.where(x_keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def _seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    x_keep = tl.rand(seed, offsets) > p
    tl.store(output_ptr + offsets, tl.where(x_keep, x / (1 - p), 0.0), mask=mask)


x = torch.randn(size=(1000,), device=DEVICE)
keep = (torch.rand(size=(1000,), device=DEVICE) > 0.5).to(torch.int32)
grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)  # noqa: E731
out = torch.empty_like(x)
_dropout[grid](x, keep, out, x.numel(), 0.5, BLOCK_SIZE=1024)
torch.testing.assert_close(out, torch.where(keep != 0, x / 0.5, 0.0))


def seeded_dropout(seed):
    output = torch.empty_like(x)
    _seeded_dropout[grid](x, output, x.numel(), 0.5, seed, BLOCK_SIZE=1024)
    return output


same, again, other = seeded_dropout(123), seeded_dropout(123), seeded_dropout(512)
assert torch.equal(same, again) and not torch.equal(same, other)
assert 400 < int((same == 0).sum()) < 600
