"""Tests of interpreter mode: what only it has (pdb, print, tracebacks, bounds). What a kernel computes is tested by
tests/language, where the interpreter is one of the engines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nacre

nacre.activate()


@pytest.fixture
def interpret():
    """Python runs the kernels of the test."""
    nacre.runtime.driver.active.set_interpret_mode(True)
    yield
    nacre.runtime.driver.active.set_interpret_mode(False)


@pytest.fixture
def run_script(tmp_path):
    """Runs a text as a script, or under a module such as pdb, with the package in reach; returns (output, its file)."""

    def run(text, stdin="", check=True, module=None, **environment):
        script = tmp_path / "script.py"
        script.write_text(text)
        package = Path(nacre.__file__).parents[1]
        command = [sys.executable, *(["-m", module] if module else []), str(script)]
        environment = {**os.environ, "PYTHONPATH": str(package), **environment}
        result = subprocess.run(command, input=stdin, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                                env=environment, check=False)  # fmt: skip
        assert not check or result.returncode == 0, result.stdout
        return result.stdout, script

    return run
