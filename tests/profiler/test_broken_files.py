"""Files that cannot be written, and files that are no profiles: said in words, and no other session suffers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
from nacre.profiler import viewer


@triton.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def launch():
    fill[(1,)](np.zeros(16, np.float32), BLOCK=16)


def program(*arguments, **environment):
    command = [sys.executable, "-m", "nacre.profiler.viewer", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=600, env={**os.environ, **environment})


def test_a_session_that_cannot_be_written(tmp_path):
    (tmp_path / "folder.hatchet").mkdir()
    proton.start(str(tmp_path / "folder"))
    good = proton.start(str(tmp_path / "good"))
    launch()
    with pytest.raises(OSError):
        proton.finalize()
    assert json.loads((tmp_path / "good.hatchet").read_text())[0]["children"]
    with pytest.raises(RuntimeError, match="has not been initialized"):
        proton.finalize(good)
    proton.finalize()  # nothing is open


def test_numbers_that_json_does_not_have(tmp_path, capsys):
    proton.start(str(tmp_path / "profile"))
    with proton.scope("scope", {"ratio": float("nan"), "flops": float("inf"), "parts": [1.0, float("nan")], "bytes": 8}):
        launch()
    proton.finalize()
    text = (tmp_path / "profile.hatchet").read_text()

    def refuse(word):
        raise AssertionError(word)

    root = json.loads(text, parse_constant=refuse)[0]
    metrics = next(child["metrics"] for child in root["children"] if child["frame"]["name"] == "scope")
    assert metrics["ratio"] is None and metrics["flops"] is None and metrics["parts"] == [1, None] and metrics["bytes"] == 8
    assert viewer.main(["-m", "time/us,bytes", str(tmp_path / "profile.hatchet")]) == 0
    assert " 8.000 scope" in capsys.readouterr().out


NO_PROFILES = {
    "empty": b"", "cut": b'[{"frame": {"name": "ROO', "list": b"[]", "numbers": b"[1, 2]", "bytes": bytes(range(256)),
    "nameless": b'[{"frame": {"name": "ROOT"}, "metrics": {}, "children": [{"frame": {}, "metrics": {}, "children": []}]}, {}]',
    "childless": b'[{"frame": {"name": "ROOT"}, "metrics": {}}, {}]',
    "nested": b'[{"frame": {"name": "ROOT"}, "metrics": {"time (ns)": {}}, "children": []}, {}]',
}  # fmt: skip


@pytest.mark.parametrize("ending", ["hatchet", "hatchet_msgpack"])
@pytest.mark.parametrize("name", NO_PROFILES)
def test_what_is_no_profile(name, ending, tmp_path):
    path = tmp_path / f"{name}.{ending}"
    path.write_bytes(NO_PROFILES[name])
    with pytest.raises(ValueError, match="is no profile"):
        viewer.parse(["time/ms"], str(path))


def test_the_program_says_it_in_a_line(tmp_path):
    broken = tmp_path / "broken.hatchet"
    broken.write_text("{")
    for arguments, said in (([broken], "is no profile"), ([tmp_path / "missing.hatchet"], "missing.hatchet: No such file"), ([tmp_path], "Is a directory"),
                            (["-i", "a", "-e", "b", broken], "cannot be given together")):  # fmt: skip
        process = program("-m", "time/ms", *arguments)
        assert process.returncode == 1 and process.stderr.startswith(b"nacre-proton-viewer: ") and process.stderr.count(b"\n") == 1, process.stderr
        assert said.encode() in process.stderr


def test_deep_profiles_and_terminals_without_letters(tmp_path):
    """As deep as a stack of calls, on a terminal that has ASCII alone, into a pipe that is closed."""
    depth, node = 3000, '{"frame": {"name": "gr\\u00f6\\u00dfe"}, "metrics": {"time (ns)": 1}, "children": []}'
    text = '{"frame": {"name": "f"}, "metrics": {}, "children": [' * depth + node + "]}" * depth
    path = tmp_path / "deep.hatchet"
    path.write_text('[{"frame": {"name": "ROOT"}, "metrics": {"time (ns)": 0}, "children": [' + text + "]}, {}]")
    with pytest.raises(ValueError, match="nested more deeply"):
        viewer.parse(["time/ns"], str(path))
    process = program("-m", "time/ns", "-d", "100000", path, PYTHONIOENCODING="ascii")
    assert process.returncode == 0, process.stderr
    assert b"`- 1.000 gr??e" in process.stdout and process.stdout.count(b"`- ") == depth + 1
    command = f"{sys.executable} -m nacre.profiler.viewer -m time/ns -d 100000 {path} | head -1"
    closed = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, timeout=600)
    assert closed.stderr == b"" and closed.stdout.count(b"\n") == 1
