"""Every test of the runtime has a cache folder of its own, and programs that it starts share it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # launches.py


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))
    monkeypatch.delenv("NACRE_CACHE_DIR", raising=False)
    monkeypatch.setenv("NACRE_TUNE_DIR", str(tmp_path / "tuning"))
    return folder


@pytest.fixture
def tuning_folder(tmp_path):
    return tmp_path / "tuning"


class Script:
    """A Python program of its own process."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def write(self, text):
        self.count += 1
        path = self.folder / f"script_{self.count}.py"
        path.write_text(textwrap.dedent(text))
        return path

    def start(self, path, *args, **environment):
        import nacre

        search_path = os.pathsep.join([str(Path(nacre.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, str(path), *map(str, args)], env={**os.environ, "PYTHONPATH": search_path, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, process, timeout=600):
        out, err = process.communicate(timeout=timeout)
        assert process.returncode == 0, f"exit status {process.returncode}\n{out}\n{err}"
        return out

    def run(self, text, *args, **environment):
        return self.finish(self.start(self.write(text), *args, **environment))


@pytest.fixture
def script(tmp_path):
    return Script(tmp_path)
