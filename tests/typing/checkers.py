"""Runs the type checkers as an editor or a project would, and gives the errors that they report."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
# `import triton` is resolved as where nacre-triton is installed: by the stubs that its wheel brings.
SEARCHED = [ROOT / "python", ROOT / "python" / "alias", ROOT / "examples"]
CHECKED = [ROOT / "examples", HERE / "kernels", HERE / "mistakes.py"]


def missing(module):
    return importlib.util.find_spec(module) is None


def pyright(folder):
    """{(path, line): message}, of the mode "standard"; `folder` is for the configuration."""
    places = {"extraPaths": list(map(str, SEARCHED)), "include": list(map(str, CHECKED))}
    configuration = {"typeCheckingMode": "standard", "pythonVersion": "3.11", **places}
    (folder / "pyrightconfig.json").write_text(json.dumps(configuration))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(python_files()), report["summary"]
    errors = [found for found in report["generalDiagnostics"] if found["severity"] == "error"]
    if missing("torch"):
        errors = [found for found in errors if 'Import "torch' not in found["message"]]
    return {(Path(found["file"]), found["range"]["start"]["line"] + 1): f"{found['message']} ({found.get('rule')})" for found in errors}


def mypy(folder):
    """The same; `folder` is for the configuration and the cache. torch, which takes mypy long to read, is Any."""
    (folder / "mypy.ini").write_text("[mypy]\n[mypy-torch.*]\nfollow_imports = skip\nignore_missing_imports = True\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SEARCHED)), "MYPYPATH": str(ROOT / "examples")}
    options = ["--config-file", str(folder / "mypy.ini"), "--cache-dir", str(folder / "mypy"), "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, *map(str, CHECKED)]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert bool(found) == bool(done.returncode), done.stdout + done.stderr
    return {(ROOT / path, int(line)): message for path, line, message in found}


def python_files():
    return [path for place in CHECKED for path in ([place] if place.is_file() else place.rglob("*.py"))]
