"""Tensors of a GPU in interpreter mode: copied to the host, and written back."""

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.usefixtures("interpret"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) + tl.load(y_ptr + offsets, mask), mask)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_come_back(dtype):
    x, y = torch.randn(1000, device="cuda", dtype=getattr(torch, dtype)), torch.ones(1000, device="cuda", dtype=getattr(torch, dtype))
    out = torch.empty_like(x)
    add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
    torch.testing.assert_close(out, x + y)


@triton.jit
def shift_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1, offsets < n)


def test_views_share_their_memory():
    whole = torch.arange(8, device="cuda", dtype=torch.int32)
    shift_kernel[(1,)](whole[:4], whole[4:], 4, BLOCK=4)
    assert whole.tolist() == [0, 1, 2, 3, 1, 2, 3, 4]


@triton.jit
def pair_kernel(pair, out_ptr):
    tl.store(out_ptr, tl.load(pair[0]) * pair[1])


def test_tuples_of_tensors():
    out = torch.zeros(1, device="cuda")
    pair_kernel[(1,)]((torch.full((1,), 4.0, device="cuda"), 2.5), out)
    assert out.item() == 10.0
