"""Importing the package takes milliseconds: what only some programs need is imported when they do."""

import subprocess
import sys

SLOW = ("ast", "ctypes", "dataclasses", "difflib", "inspect", "json", "numpy", "re", "subprocess", "tempfile", "torch", "typing")


def test_slow_modules_are_not_imported():
    script = f"import sys; before = set(sys.modules); import nacre; print([name for name in {SLOW} if name in set(sys.modules) - before])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=True)
    assert result.stdout == "[]\n"
