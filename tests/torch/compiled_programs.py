"""Programs that compile with torch, each in a process of its own with caches of its own; the last word of one that is content is `right`."""

import os
import subprocess
import sys
import textwrap

HEAD = """
    import sys
    import torch
    torch.manual_seed(0)

    def same(compiled, eager, *inputs):
        torch.testing.assert_close(compiled(*inputs), eager(*inputs), rtol=1e-4, atol=1e-4)
"""


def run(tmp_path, text, python=sys.executable, **variables):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TRITON_CACHE_DIR")}
    environment |= {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "NACRE_CACHE_DIR": str(tmp_path / "cache"), **variables}
    return subprocess.run([str(python), str(path)], capture_output=True, text=True, timeout=900, env=environment)


def check(*arguments, **variables):
    result = run(*arguments, **variables)
    assert result.stdout.endswith("right\n"), result.stdout + result.stderr
    return result
