"""Attention of torch.compile(backend="nacre"): the kernel of the language beside torch's own."""

import pytest
from compiled_programs import check

torch = pytest.importorskip("torch")

HEAD = """
        import math
        import torch.nn.functional as F
        from torch._inductor.utils import run_and_get_code
        flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu

        def compiled(f, *inputs, is_ours=True, **options):
            torch.compiler.reset()
            result, codes = run_and_get_code(torch.compile(f, backend="nacre", **options), *inputs)
            expected = f(*inputs)
            torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
            for one, other in zip(result if type(result) is tuple else [result], expected if type(result) is tuple else [expected]):
                assert one.stride() == other.stride(), (one.stride(), other.stride())
            assert ("triton_tem" in codes[0]) == is_ours and ("for_cpu.default(" in codes[0]) != is_ours, codes[0]
            return codes[0]

        def heads(length, batch=2, heads=4, size=32):
            return torch.randn(batch, length, heads, size).transpose(1, 2)
"""


def test_attention_and_what_follows(tmp_path):
    text = HEAD + """
        for rows, keys in ((128, 128), (100, 197), (300, 40), (1, 300)):
            q, k, v = heads(rows), heads(keys), heads(keys)
            for causal in (False, True):
                compiled(lambda q, k, v: flash(q, k, v, is_causal=causal), q, k, v, is_ours=rows > 1)
        for size in (16, 64, 128):
            q, k, v = (heads(128, size=size).contiguous() for _ in range(3))
            compiled(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), q, k, v)
        q, k, v = (heads(128).contiguous() for _ in range(3))
        code = compiled(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).relu() + 1, q, k, v)
        assert code.count("async_compile.triton(") == 1, code
        print("right")
    """
    check(tmp_path, text)


def test_masks(tmp_path):
    text = HEAD + """
        q, k, v = (heads(100) for _ in range(3))
        mask = torch.randn(2, 1, 100, 100)
        mask[0, 0, 3] = -math.inf  # a row without any key
        mask[1, 0, :, 5:70] = -math.inf
        mask[1, 0, 7] = torch.finfo(torch.float32).min  # a row whose keys all count the same
        compiled(lambda q, k, v, m: flash(q, k, v, attn_mask=m.expand(2, 4, 100, 100)), q, k, v, mask)
        compiled(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, mask)
        compiled(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m > 0), q, k, v, mask)
        compiled(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, torch.randn(100, 100))
        print("right")
    """
    check(tmp_path, text)


def test_gradients_through_torchs_backward(tmp_path):
    text = HEAD + """
        mask = torch.randn(2, 4, 100, 100).masked_fill(torch.rand(2, 4, 100, 100) < 0.3, -math.inf)
        for arguments in ({}, {"is_causal": True}, {"attn_mask": mask}):
            def f(q, k, v):
                return F.scaled_dot_product_attention(q, k, v, **arguments)
            inputs = [heads(100).requires_grad_() for _ in range(3)]
            torch.compiler.reset()
            gradients = []
            for g in (torch.compile(f, backend="nacre"), f):
                gradients.append(torch.autograd.grad(g(*inputs).square().sum(), inputs))
            torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
        print("right")
    """
    check(tmp_path, text)


def test_what_is_left_to_torch(tmp_path):
    text = HEAD + """
        q, k, v = (heads(100) for _ in range(3))
        compiled(flash, q.double(), k.double(), v.double(), is_ours=False)
        compiled(flash, *(heads(100, size=24) for _ in range(3)), is_ours=False)
        compiled(flash, q, k, v, is_ours=False, dynamic=True)
        compiled(flash, q, k, v, is_ours=False, options={"max_autotune_gemm_backends": "ATEN"})
        # Inductor's own backend in the same process has torch's.
        torch.compiler.reset()
        result, (code,) = run_and_get_code(torch.compile(lambda q, k, v: flash(q, k, v)[0] + 1), q, k, v)
        assert "triton_tem" not in code, code
        print("right")
    """
    check(tmp_path, text)


def test_blocks_of_attention():
    import nacre.torch

    nacre.torch.prepare()
    from nacre.torch._attention import blocks

    assert blocks(128, 128) == (64, 128)
    assert blocks(197, 197) == (32, 256)
    assert blocks(1024, 1024) == (64, 256)
    assert blocks(30, 65) == (32, 32)
