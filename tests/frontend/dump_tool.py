"""Runs nacre-frontend-dump on a test file, which says in its first lines what to compile.

    # signature: *fp32:16,i32,1024     one entry a parameter, as the tool reads them
    # kernel: name                     which function; `kernel` when the line is missing
    # options: --debug                 passed on to the tool
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build"))
DUMP = BUILD / "compiler/frontend/nacre-frontend-dump"


def settings(path):
    found = dict(re.findall(r"^# (signature|kernel|options): *(.*)$", path.read_text(), re.MULTILINE))
    assert "signature" in found, f"{path} says no signature"
    return found


def dump(path):
    """The exit code and what was printed: tile IR, or the error."""
    assert DUMP.exists(), f"{DUMP} is missing: build the target nacre-frontend-dump"
    how = settings(path)
    command = [DUMP, path, how.get("kernel", "kernel"), how["signature"], *shlex.split(how.get("options", ""))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode in (0, 1), f"exit code {run.returncode}: {run.stderr}"
    return run.returncode, run.stdout
