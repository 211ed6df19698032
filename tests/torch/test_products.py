"""Matrix products of torch.compile(backend="nacre"): which are kernels of the language, and what they end with."""

import pytest
from compiled_programs import check

torch = pytest.importorskip("torch")

HEAD = """
        import torch.nn.functional as F
        from torch._inductor.utils import run_and_get_code
        torch.set_num_threads(2)

        def compiled(f, *inputs, **options):
            torch.compiler.reset()
            with torch.no_grad():
                result, (code,) = run_and_get_code(torch.compile(f, backend="nacre", **options), *inputs)
                torch.testing.assert_close(result, f(*inputs), rtol=1e-4, atol=1e-3)
            return code
"""


def test_what_follows_a_product_is_in_its_kernel(tmp_path):
    text = HEAD + """
        # Rows beyond the last whole block, several columns of blocks, a depth that no block divides.
        for m, k, n in ((788, 256, 256), (512, 256, 512), (640, 320, 256), (512, 250, 256)):
            x, w, b, y = torch.randn(m, k), torch.randn(n, k), torch.randn(n), torch.randn(m, n)
            for f in (lambda x, w, b, y: F.gelu(F.linear(x, w, b)) + y, lambda x, w, b, y: F.linear(x, w).relu(),
                      lambda x, w, b, y: torch.addmm(y, x, w.t(), alpha=0.5, beta=2.0)):
                code = compiled(f, x, w, b, y)
                assert code.count("async_compile.triton(") == 1 and "extern_kernels." not in code, code
        print("right")
    """  # fmt: skip
    check(tmp_path, text)


def test_either_operand_may_lie_transposed(tmp_path):
    text = HEAD + """
        for left in (torch.randn(512, 256), torch.randn(256, 512).t(), torch.randn(512, 300)[:, 20:276]):
            for right in (torch.randn(256, 256), torch.randn(256, 256).t(), torch.randn(256, 300)[:, 44:]):
                code = compiled(lambda x, y: x @ y, left, right)
                assert "extern_kernels." not in code, code
        print("right")
    """
    check(tmp_path, text)


def test_a_product_that_others_read_too_is_stored(tmp_path):
    text = HEAD + """
        def f(x, w):
            y = x @ w
            return y.sin(), y, y.sum(1)
        compiled(f, torch.randn(512, 256), torch.randn(256, 256))
        # Training: what the backward pass needs of the forward pass's products.
        layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256))
        x = torch.randn(512, 256, requires_grad=True)
        gradients = []
        for model in (torch.compile(layers, backend="nacre"), layers):
            model(x).square().mean().backward()
            gradients.append([x.grad.clone(), *(p.grad.clone() for p in layers.parameters())])
            x.grad = None
            layers.zero_grad()
        torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)
        print("right")
    """
    check(tmp_path, text)


def test_products_that_are_left_to_torch(tmp_path):
    text = HEAD + """
        def f(x, y):
            return x @ y
        x, y = torch.randn(512, 256), torch.randn(256, 256)
        assert "extern_kernels.mm" in compiled(f, x[:16], y)
        assert "extern_kernels.mm" in compiled(f, x.double(), y.double())
        assert "extern_kernels.mm" in compiled(f, x, y, options={"max_autotune_gemm_backends": "ATEN"})
        assert "extern_kernels.mm" in compiled(f, x, y, dynamic=True)
        assert "extern_kernels.mm" not in compiled(f, x, y)
        # What is multiplied by zero is not looked at.
        assert "extern_kernels.addmm" in compiled(lambda x, y: torch.addmm(torch.full((256,), torch.nan), x, y, beta=0), x, y)
        print("right")
    """
    check(tmp_path, text)


def test_blocks_of_products():
    import nacre.torch

    nacre.torch.prepare()
    from nacre.torch._products import blocks

    assert blocks(1024, 1024, 256, False, 2) == (32, 256, 256)
    assert blocks(1024, 256, 2048, False, 2) == (32, 128, 256)  # the operand's columns stay in the cache
    assert blocks(512, 704, 256, False, 2) == (32, 64, 256)  # few columns beyond the matrix
    assert blocks(512, 256, 704, False, 2) == (32, 256, 64)
    assert blocks(256, 256, 788, True, 2) == (32, 256, 32)
    assert blocks(512, 256, 256, False, 2) == (32, 256, 256)
    assert blocks(512, 256, 256, False, 8) == (32, 128, 256)  # programs for every thread
    assert blocks(512, 256, 256, False, 64) is None
    assert blocks(64, 64, 64, False, 1) is None
    assert blocks(1000, 130, 1000, False, 1) is None  # a third would lie beyond the matrix
    assert blocks(512, 256, 1024, True, 2) == (32, 256, 256)
    assert blocks(512, 256, 2048, True, 2) is None


def test_parts_of_one_product_are_taken_by_one_kernel(tmp_path):
    text = HEAD + """
        def f(x, w):
            y = (x @ w).view(64, 8, 3, 64)
            return [part.transpose(0, 1).contiguous() for part in y.unbind(2)]
        code = compiled(f, torch.randn(512, 16), torch.randn(16, 192))
        assert code.count("async_compile.triton(") == 1, code
        print("right")
    """
    check(tmp_path, text)
