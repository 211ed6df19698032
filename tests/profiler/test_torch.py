"""Operators of torch as frames of profiles of the CPU."""

import subprocess
import sys

import pytest
import triton.profiler as proton

torch = pytest.importorskip("torch")


def frame(node, *path):
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return node


def test_operators_stand_under_the_scope_that_was_open(tmp_path):
    x = torch.ones(64, 64)
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("outer"):
        with proton.scope("inner"):
            torch.relu(x)
            torch.relu(x)
        x @ x
    x + x
    root = proton.data.get(session)[0]
    relu = frame(root, "outer", "inner", "aten::relu")["metrics"]
    assert relu["count"] == 2 and relu["time (ns)"] > 0 and relu["device_type"] == "CPU"
    assert frame(root, "outer", "aten::matmul")["metrics"]["count"] == 1
    assert frame(root, "aten::add")["metrics"]["count"] == 1
    assert [child["frame"]["name"] for child in root["children"]] == ["outer", "aten::add"]  # matmul's own operators are its own


def test_operators_while_inactive_count_for_nothing(tmp_path):
    x = torch.ones(8)
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("open"):
        torch.relu(x)
        proton.deactivate(session)
        torch.relu(x)
        proton.activate(session)
        torch.relu(x)
    proton.data.advance_phase(session)
    torch.relu(x)
    assert frame(proton.data.get(session, 0)[0], "open", "aten::relu")["metrics"]["count"] == 2
    assert frame(proton.data.get(session, 1)[0], "aten::relu")["metrics"]["count"] == 1


def test_the_knob_and_other_users_of_torchs_profiler(tmp_path, monkeypatch):
    x = torch.ones(8)
    monkeypatch.setenv("NACRE_PROFILER_FRAMEWORKS", "0")
    session = proton.start(str(tmp_path / "without"))
    torch.relu(x)
    assert proton.data.get(session)[0]["children"] == []
    proton.finalize(session)
    monkeypatch.delenv("NACRE_PROFILER_FRAMEWORKS")
    with torch.autograd.profiler.profile():
        session = proton.start(str(tmp_path / "beside"))
        torch.relu(x)
        assert proton.data.get(session)[0]["children"] == []
        proton.finalize(session)


def test_the_profiler_does_not_import_torch():
    script = "import sys, nacre; nacre.activate(); import triton.profiler as p; p.start('x'); assert 'torch' not in sys.modules"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
