"""Files are formatted as .clang-format and pyproject.toml say, and Python is free of what ruff reports. A folder that is not formatted yet is
named here: format it, and take it from the list."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Folders with files that the tools would change; what stands in folders below them is looked at.
CPP_NOT_YET = """
    cli compiler/analysis compiler/frontend compiler/ir/layout compiler/ir/layout/test compiler/language/builtins compiler/language/meaning
    compiler/passes/cpu compiler/passes/gpu compiler/passes/tile compiler/targets compiler/targets/cpu/test compiler/targets/cuda
    compiler/targets/cuda/test python/core/interpreting python/core/launching runtime runtime/commands runtime/compile runtime/devices/cpu
    sanitizer simulator simulator/amdgcn
""".split()
PYTHON_NOT_YET = """
    bench cmake compiler/frontend/test compiler/language/builtins compiler/language/test compiler/passes/tile examples examples/llm python
    python/nacre python/nacre/kernels python/nacre/language python/nacre/runtime python/nacre/runtime/tuning
    tests tests/cuda tests/docs tests/examples/tutorials tests/frontend
    tests/frontend/ir tests/fuzz_kernels tests/fuzz_kernels/kernel_fuzzer tests/interpreter tests/ir tests/kernels tests/language tests/language/meaning
    tests/mutations/mutations tests/profiler tests/random_programs tests/runtime tests/sanitizer tests/simulator tests/simulator/device tests/simulator_amdgcn tests/torch
    tests/typing tests/typing/kernels tests/viz tests/world tests/world/adapters
""".split()


def committed(*endings):
    """The files of the repository with these endings."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: which files are ours is not known")
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", *(f"*{ending}" for ending in endings)], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def outside(names, folders):
    return [name for name in names if os.path.dirname(name) not in folders]


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def clang_format():
    found = shutil.which("clang-format-22")
    if not found:
        pytest.skip("there is no clang-format-22 (Debian's package of that name)")
    return found


@pytest.fixture
def ruff():
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("there is no ruff (python/requirements/typing.txt)")
    return [sys.executable, "-m", "ruff"]


def test_cpp_is_formatted(clang_format):
    names = outside(committed(".h", ".cpp"), CPP_NOT_YET)
    assert len(names) > 200
    status, said = run(clang_format, "--dry-run", "-Werror", "--ferror-limit=1", *names)
    assert status == 0, said


def test_python_is_formatted(ruff):
    names = [name for name in outside(committed(".py"), PYTHON_NOT_YET) if not name.startswith("tests/frontend/errors/")]
    assert len(names) > 100
    status, said = run(*ruff, "format", "--check", *names)
    assert status == 0, said


def test_ruff_reports_nothing(ruff):
    names = [name for name in committed(".py", ".pyi") if not name.startswith("tests/frontend/errors/")]
    status, said = run(*ruff, "check", "--no-cache", *names)
    assert status == 0, said


@pytest.mark.parametrize("folders, endings", [(CPP_NOT_YET, (".h", ".cpp")), (PYTHON_NOT_YET, (".py",))])
def test_the_folders_that_are_not_formatted_are_there(folders, endings):
    there = set(map(os.path.dirname, committed(*endings)))
    assert not set(folders) - there


def test_what_is_badly_formatted_is_found(clang_format, tmp_path):
    shutil.copy(ROOT / ".clang-format", tmp_path)
    bad = tmp_path / "bad.cpp"
    bad.write_text("int  twice( int x ) {return x+x ;}\n")
    status, said = run(clang_format, "--dry-run", "-Werror", str(bad))
    assert status != 0 and "bad.cpp" in said


def test_what_ruff_would_report_is_found(ruff, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("import os\n")
    status, said = run(*ruff, "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), str(bad))
    assert status != 0 and "F401" in said
