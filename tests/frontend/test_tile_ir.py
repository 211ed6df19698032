"""The tile IR of small kernels, checked by FileCheck: each file of ir/ holds kernels and `# CHECK` lines."""

import shutil
import subprocess
from pathlib import Path

import dump_tool
import pytest

FILES = sorted((Path(__file__).parent / "ir").glob("*.py"))


def file_check():
    tool = shutil.which("FileCheck-22") or shutil.which("FileCheck")
    if tool is None:
        config = shutil.which("llvm-config-22") or shutil.which("llvm-config")
        assert config, "neither FileCheck nor llvm-config is on the PATH"
        tool = Path(subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()) / "FileCheck"
    return tool


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ir(path):
    returncode, shown = dump_tool.dump(path)
    assert returncode == 0, shown
    run = subprocess.run([file_check(), path], input=shown, capture_output=True, text=True)
    assert run.returncode == 0, f"{run.stderr}\n{shown}"
