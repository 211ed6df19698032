"""The wheels beside an installed Triton: whatever is installed or removed, and in whichever order, the other one stays as it is."""

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRITON = """
import hashlib, importlib.metadata, json
files = importlib.metadata.distribution("triton").files
print(json.dumps({str(file): hashlib.sha256(file.locate().read_bytes()).hexdigest() for file in files if "__pycache__" not in str(file)}))
"""
WHOSE = """
import importlib.metadata
try:
    import triton, triton.language
except ModuleNotFoundError:
    print("none")
else:
    metadata = importlib.metadata.version("triton")
    print("nacre" if triton.__name__ == "nacre" else "triton", triton.__version__.startswith(metadata))
"""


class Environment:
    """A virtual environment."""

    def __init__(self, folder):
        venv.create(folder, with_pip=True)
        self.programs, self.python = folder / "bin", folder / "bin/python"
        (self.site,) = (folder / "lib").glob("python3*/site-packages")

    def run(self, *arguments):
        result = subprocess.run([self.python, "-I", *arguments], capture_output=True, text=True)
        assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr
        return result.stdout.strip()

    def pip(self, *arguments):
        return subprocess.run([self.python, "-m", "pip", "-q", "--disable-pip-version-check", *arguments], capture_output=True, text=True)

    def install(self, *wheels):
        result = self.pip("install", "--no-index", "--no-deps", *wheels)
        assert result.returncode == 0, result.stderr

    def remove(self, *names):
        result = self.pip("uninstall", "-y", *names)
        assert result.returncode == 0, result.stderr

    def whose(self):
        return self.run("-c", WHOSE)


@pytest.fixture(scope="module")
def builder():
    """python/build_wheel.py, in a hurry."""
    sys.path.insert(0, str(ROOT / "python"))
    spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "python/build_wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(ROOT / "python"))
    module.COMPRESSION, module.LARGEST = 1, 1 << 30
    return module


@pytest.fixture(scope="module")
def ours(builder, tmp_path_factory):
    """(the wheel of nacre, that of nacre-triton)"""
    folder = tmp_path_factory.mktemp("wheels")
    try:
        return builder.build_nacre(folder), builder.build_alias(folder)
    except SystemExit as error:
        pytest.skip(f"no wheel can be made here: {error}")


@pytest.fixture(params=["in shape", "real"])
def theirs(request, builder, tmp_path):
    """The wheel of a Triton: a small one with the names that the real one has, and the real one."""
    if request.param == "real":
        result = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", tmp_path, "triton==3.9.0"], capture_output=True, text=True)
        if result.returncode:
            pytest.skip("Triton's wheel cannot be had from here: " + result.stderr.strip().splitlines()[-1])
        return next(tmp_path.glob("triton-*.whl"))
    programs = "[console_scripts]\nproton = triton.profiler.proton:main\nproton-viewer = triton.profiler.viewer:main\n"
    wheel = builder.Wheel(tmp_path, "triton", "py3-none-any", "Summary: a Triton\n", programs)
    version = builder.version()
    for name in ("language/__init__", "profiler/__init__", "profiler/proton", "profiler/viewer"):
        wheel.add(f"triton/{name}.py", b"def main():\n    print('theirs')\n")
    wheel.add("triton/__init__.py", f"__version__ = {version!r}\n".encode())
    return wheel.close(pure=True)


def test_neither_harms_the_other(ours, theirs, tmp_path):
    nacre, alias = ours
    environment = Environment(tmp_path / "venv")
    environment.install(alias)  # without what it stands for
    assert environment.whose() == "none"
    environment.install(nacre)
    assert environment.whose() == "nacre True"
    assert environment.run("-c", "import sys; print('nacre' in sys.modules)") == "False"  # the alias costs nothing until triton is asked for
    environment.install(theirs)  # the second
    installed = environment.run("-c", TRITON)
    assert environment.whose() == "triton True"
    assert environment.run("-m", "nacre", "run", "-c", "import triton; print(triton.__name__)") == "nacre"
    environment.remove("nacre-triton", "nacre")
    assert environment.whose() == "triton True" and environment.run("-c", TRITON) == installed
    environment.install(nacre, alias)  # the second
    assert environment.whose() == "triton True" and environment.run("-c", TRITON) == installed
    programs = {path.name: path.read_bytes() for path in environment.programs.iterdir() if "nacre" in path.name or path.name == "triton-san"}
    assert {"nacre", "nacre-proton", "nacre-proton-viewer", "triton-san"} <= set(programs)
    environment.remove("triton")
    (environment.site / "triton/nothing").mkdir(parents=True)  # what removing a package leaves behind at times
    assert environment.whose() == "nacre True"
    assert {name: (environment.programs / name).read_bytes() for name in programs} == programs
    environment.remove("nacre-triton", "nacre")
    assert not [path.name for path in environment.programs.iterdir() if "nacre" in path.name or "proton" in path.name or "triton" in path.name]
