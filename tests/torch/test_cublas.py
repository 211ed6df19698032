"""The product of cuBLAS that benchmarks ask the bindings for."""

import pytest

torch = pytest.importorskip("torch")

from nacre._C.libtriton import nvidia  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn])
def test_a_product_with_a_transposed_operand(dtype, device):
    small = torch.Generator().manual_seed(1)
    a, b = (torch.randint(-2, 3, shape, generator=small).to(device).to(dtype) for shape in ((32, 16), (48, 16)))  # every sum of theirs is exact
    c = torch.full((32, 48), 7.0, device=device).to(dtype)
    nvidia.cublas.CublasLt(torch.empty(1 << 10, dtype=torch.uint8, device=device)).matmul(a, b, c)
    expected = (a.float() @ b.float().T).to(dtype)
    assert torch.equal(c.float(), expected.float())
