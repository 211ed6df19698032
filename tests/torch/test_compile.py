"""torch.compile on the CPU while the alias stands: Inductor's C++, our kernels inside compiled functions, and Inductor's Triton
code compiled by us."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

HEAD = """
    import torch
    import triton
    import triton.language as tl
    import nacre
    assert triton is nacre
    torch.manual_seed(0)
"""


def run(tmp_path, text):
    import nacre

    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TRITON_CACHE_DIR": str(tmp_path / "cache"),
                   "PYTHONPATH": str(Path(nacre.__file__).parent.parent)}  # fmt: skip
    result = subprocess.run([sys.executable, "-m", "nacre", "run", str(path)], capture_output=True, text=True, timeout=600, env=environment)
    assert result.stdout.endswith("right\n"), result.stdout + result.stderr
    return result


@pytest.mark.parametrize("backend", ["inductor", "eager"])
def test_torch_compile_under_the_alias(tmp_path, backend):
    text = """
        @triton.jit
        def scale(x, out, factor, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + offsets, tl.load(x + offsets) * factor)

        def eager(x, y):
            return torch.nn.functional.gelu(x @ y) + x.sum(1, keepdim=True).softmax(0)

        x, y = torch.randn(64, 64), torch.randn(64, 64)
        torch.testing.assert_close(torch.compile(eager, backend=BACKEND)(x, y), eager(x, y))
        out = torch.empty(64, 64)
        scale[(16,)](x, out, 2.0, BLOCK=256)
        torch.testing.assert_close(out, x * 2)
        print("right")
    """
    run(tmp_path, text.replace("BACKEND", repr(backend)))


@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_kernels_inside_compiled_functions(tmp_path, backend):
    text = """
        @triton.jit
        def scale(x, out, factor, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            mask = offsets < n
            tl.store(out + offsets, tl.load(x + offsets, mask=mask) * factor, mask=mask)

        @triton.jit
        def accumulate(total, x, n, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            tl.atomic_add(total, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0), axis=0))

        def eager(x):
            y = torch.sin(x)
            out, total = torch.empty_like(y), torch.zeros(1)
            scale[(triton.cdiv(y.numel(), 256),)](y, out, 2.0, y.numel(), BLOCK=256)
            accumulate[(1,)](total, out, out.numel(), BLOCK=1024)
            return out + y, total * 2

        x = torch.randn(1000)
        y = torch.sin(x)
        for found in (eager(x), torch.compile(eager, backend=BACKEND)(x)):
            torch.testing.assert_close(found[0], 3 * y)
            torch.testing.assert_close(found[1], (4 * y).sum().reshape(1), rtol=1e-3, atol=1e-3)
        print("right")
    """
    result = run(tmp_path, text.replace("BACKEND", repr(backend)))
    assert "Encountered an exception" not in result.stderr


def test_inductors_triton_code(tmp_path):
    text = """
        import torch._inductor.config as config
        config.cpu_backend = "triton"
        config.compile_threads = 1

        def pointwise(x, y):
            return torch.nn.functional.gelu(x * y + 1).relu().to(torch.bfloat16)

        def reduction(x, y):
            return (x * y).sum(1), x.amax(0), y.mean()

        def softmax(x, y):
            return torch.softmax(x, -1) + torch.nn.functional.layer_norm(y, (100,))

        x, y = torch.randn(64, 100), torch.randn(64, 100)
        before = nacre._core.cache_counts()["compiles"]
        for function in (pointwise, reduction, softmax):
            torch.testing.assert_close(torch.compile(function)(x, y), function(x, y), rtol=1e-2, atol=1e-3)
        assert nacre._core.cache_counts()["compiles"] > before
        print("right")
    """
    run(tmp_path, text)


@pytest.mark.parametrize("start", ["subprocess", "fork"])
def test_inductors_workers_compile_for_us(tmp_path, start):
    text = """
        import torch._inductor.config as config
        from torch._inductor.async_compile import AsyncCompile
        config.cpu_backend = "triton"
        config.compile_threads = 2
        config.worker_start_method = START

        def function(x, y):
            return torch.relu(x * y + 1).sum(-1)

        AsyncCompile.wait_pool_ready(120)
        x, y = torch.randn(64, 100), torch.randn(64, 100)
        before = nacre._core.cache_counts()["compiles"]
        torch.testing.assert_close(torch.compile(function)(x, y), function(x, y), rtol=1e-4, atol=1e-4)
        assert nacre._core.cache_counts()["compiles"] == before
        print("right")
    """
    run(tmp_path, text.replace("START", repr(start)))
