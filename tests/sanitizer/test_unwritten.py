"""`triton-san msan python script.py`, as it is typed: reads of new memory are found whatever is imported when."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """
@triton.jit
def copy(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))
"""
IMPORTS = {
    "before": "import numpy as np, torch\nimport triton, triton.language as tl\n",
    "after": "import triton, triton.language as tl\nimport numpy as np, torch\n",
    "numpy, triton, torch": "import numpy as np\nimport triton, triton.language as tl\nimport torch\n",
    "taken out": "from torch import empty\nfrom numpy import empty as np_empty\nimport numpy as np, torch, triton, triton.language as tl\n",
}
UNWRITTEN = [
    "torch.empty(16)", "torch.empty_like(torch.zeros(16))", "torch.empty_strided((16,), (1,))", "torch.zeros(2).new_empty(16)", "torch.Tensor(16)",
    "torch.Tensor(4, 4)", "np.empty(16, np.float32)", "np.empty_like(np.zeros(16, np.float32))",
]  # fmt: skip
WRITTEN = ["torch.zeros(16)", "torch.Tensor([1.0] * 16)", "torch.Tensor(torch.ones(16))", "torch.empty(16).fill_(1)", "np.ones(16, np.float32)", "torch.Tensor(16).zero_()"]


def triton_san(tmp_path, text):
    pytest.importorskip("torch")
    (tmp_path / "script.py").write_text(text)
    program = Path(sys.executable).with_name("triton-san")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "nacre", "sanitize"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [*command, "msan", "python", "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600, env={**os.environ, "PATH": path}
    )


@pytest.mark.parametrize("imports", IMPORTS)
def test_each_read_of_new_memory_is_found(imports, tmp_path):
    # A kernel of its own for each, since the same place is reported once.
    text = IMPORTS[imports]
    made = UNWRITTEN + (["empty(16)", "np_empty(16, np.float32)"] if imports == "taken out" else [])
    for number, allocation in enumerate(made):
        text += KERNEL.replace("copy", f"copy{number}") + f"copy{number}[(1,)]({allocation}, torch.zeros(16))\n"
    found = triton_san(tmp_path, text)
    missed = [allocation for number, allocation in enumerate(made) if f" in copy{number}\n" not in found.stderr]
    assert found.returncode == 1 and not missed, (missed, found.stderr[-3000:])


def test_what_was_written_is_no_finding(tmp_path):
    text = IMPORTS["after"] + KERNEL + "".join(f"copy[(1,)]({allocation}, torch.zeros(16))\n" for allocation in WRITTEN)
    text += "class Own(torch.Tensor): pass\nassert type(Own([1.0])) is Own and torch.nn.Parameter(torch.ones(2)).sum() == 2\n"
    found = triton_san(tmp_path, text)
    assert found.returncode == 0 and "Sanitizer: use-of" not in found.stderr, found.stderr[-3000:]


def test_stop_puts_the_functions_back():
    torch = pytest.importorskip("torch")
    import nacre.sanitizer

    had, empty = "__new__" in torch.Tensor.__dict__, torch.empty
    nacre.sanitizer.start("msan")
    try:
        assert torch.empty is not empty
    finally:
        nacre.sanitizer.stop()
    assert torch.empty is empty and ("__new__" in torch.Tensor.__dict__) == had and torch.Tensor([2.0]).item() == 2
