"""torch.compile on the CPU works while the alias stands, and our kernels run beside it."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

SCRIPT = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def scale(x, out, factor, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets) * factor)

    def eager(x, y):
        return torch.nn.functional.gelu(x @ y) + x.sum(1, keepdim=True).softmax(0)

    x, y = torch.randn(64, 64), torch.randn(64, 64)
    torch.testing.assert_close(torch.compile(eager)(x, y), eager(x, y))
    out = torch.empty(64, 64)
    scale[(16,)](x, out, 2.0, BLOCK=256)
    torch.testing.assert_close(out, x * 2)
    import nacre
    assert triton is nacre
    print("right")
"""


@pytest.mark.parametrize("backend", ["inductor", "eager"])
def test_torch_compile_under_the_alias(tmp_path, backend):
    import nacre

    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SCRIPT.replace("torch.compile(eager)", f"torch.compile(eager, backend={backend!r})")))
    environment = {**__import__("os").environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TRITON_CACHE_DIR": str(tmp_path / "cache"),
                   "PYTHONPATH": str(Path(nacre.__file__).parent.parent)}  # fmt: skip
    result = subprocess.run([sys.executable, "-m", "nacre", "run", str(path)], capture_output=True, text=True, timeout=300, env=environment)
    assert result.stdout.endswith("right\n"), result.stderr
