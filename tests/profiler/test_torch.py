"""Operators of torch as frames of profiles of the CPU."""

import json
import os
import subprocess
import sys
import threading

import pytest
import triton
import triton.language as tl
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


def test_the_knob(tmp_path, monkeypatch):
    x = torch.ones(8)
    monkeypatch.setenv("NACRE_PROFILER_FRAMEWORKS", "0")
    session = proton.start(str(tmp_path / "without"))
    torch.relu(x)
    assert proton.data.get(session)[0]["children"] == []
    proton.finalize(session)
    monkeypatch.delenv("NACRE_PROFILER_FRAMEWORKS")


def test_while_no_session_is_active_torchs_profiler_is_others(tmp_path):
    @triton.jit
    def profiled(out):
        tl.store(out, 1.0)

    x = torch.ones(8)
    session = proton.start(str(tmp_path / "profile"))
    proton.deactivate(session)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        profiled[(1,)](x)
        torch.relu(x)
    counts = {event.key: event.count for event in theirs.key_averages()}
    assert counts["profiled"] == 1 and counts["aten::relu"] == 1
    proton.activate(session)
    torch.relu(x)
    assert frame(proton.data.get(session)[0], "aten::relu")["metrics"]["count"] == 1
    other = proton.start(str(tmp_path / "other"))
    proton.finalize(session)  # the other one goes on
    torch.relu(x)
    assert frame(proton.data.get(other)[0], "aten::relu")["metrics"]["count"] == 1
    proton.finalize(other)


def test_operators_of_other_threads_stand_under_their_own_scopes(tmp_path):
    x = torch.ones(64)
    session = proton.start(str(tmp_path / "profile"))

    def work():
        with proton.scope("of the thread"):
            torch.relu(x)
        torch.relu(x)

    with proton.scope("main"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        torch.relu(x)
    root = proton.data.get(session)[0]
    assert frame(root, "of the thread", "aten::relu")["metrics"]["count"] == 1
    assert frame(root, "aten::relu")["metrics"]["count"] == 1 and frame(root, "main", "aten::relu")["metrics"]["count"] == 1


def test_operators_are_seen_where_torch_comes_later(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import triton.profiler as proton\nimport torch\nwith proton.scope('test'):\n    torch.relu(torch.ones(4))\n")
    command = [sys.executable, "-m", "nacre.profiler.proton", "-n", str(tmp_path / "profile"), str(script), "-k", "is the script's"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NACRE_CACHE_DIR": str(tmp_path / "peaks")})
    assert result.returncode == 0, result.stderr
    root = json.loads((tmp_path / "profile.hatchet").read_text())[0]
    assert frame(root, "test", "aten::relu")["metrics"]["count"] == 1


def test_the_profiler_does_not_import_torch():
    script = "import sys, nacre; nacre.activate(); import triton.profiler as p; p.start('x'); assert 'torch' not in sys.modules"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_operators_stand_under_the_state_that_was_open(tmp_path):
    x = torch.ones(8)
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("step"):
        with proton.metadata_state("kernel"):
            torch.relu(x)
        with proton.state("outer"), proton.state("inner"):
            torch.relu(x)
        torch.relu(x)
    root = proton.data.get(session)[0]
    for path in (["__proton_launch_metadata:kernel", "aten::relu"], ["inner", "aten::relu"], ["aten::relu"]):
        assert frame(root, "step", *path)["metrics"]["count"] == 1


def test_clocks_are_compared_by_the_reading_that_took_the_shortest(monkeypatch):
    """A thread that had to wait between two readings would move operators out of their scopes."""
    from nacre.profiler import _torch

    steady = iter([10_000, 19_000] + [20_000, 20_100] + [30_000, 35_000] * 48)
    wall = iter([510_000, 520_050] + [999_999] * 48)
    monkeypatch.setattr(_torch._core, "profiler_now", lambda: next(steady))
    monkeypatch.setattr(_torch.time, "time_ns", lambda: next(wall))
    assert _torch._steady_minus_wall() == -500_000


def called(x):
    return torch.relu(x)


def test_operators_stand_under_the_functions_that_called_them(tmp_path):
    x = torch.ones(8)
    session = proton.start(str(tmp_path / "profile"), context="python")
    called(x)
    root = proton.data.get(session)[0]
    proton.finalize(session)
    place = f"{__file__}:{called.__code__.co_firstlineno}@called"

    def above(node, path=()):
        for child in node["children"]:
            if child["frame"]["name"] == "aten::relu":
                return path
            if found := above(child, (*path, child["frame"]["name"])):
                return found
        return ()

    assert above(root)[-1] == place, above(root)


def test_a_program_may_end_with_its_session_open(tmp_path):
    script = "import nacre; nacre.activate()\nimport torch, triton.profiler as proton\nproton.start('open')\ntorch.relu(torch.ones(8))\nprint('done')\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stderr


def test_reading_a_metric_is_no_work_of_the_program(tmp_path):
    """Of scopes and of launch_metadata: the operators that read a tensor stand where viewers hide them."""

    def metadata(grid, compiled, args):
        return {"name": "shown", "flops": args["x"].sum()}

    @triton.jit(launch_metadata=metadata)
    def fill(x):
        tl.store(x, 1.0)

    x, value = torch.zeros(1), torch.tensor(3.0)
    fill[(1,)](x)
    session = proton.start(str(tmp_path / "profile"), hook="triton")
    fill[(1,)](x)
    with proton.scope("step", {"tokens": value}):
        torch.relu(x)
    root = proton.data.get(session)[0]
    assert frame(root, "shown")["metrics"]["flops"] == 1.0 and frame(root, "step")["metrics"]["tokens"] == 3.0
    assert {child["frame"]["name"] for child in root["children"]} == {"shown", "step", "__proton_launch_metadata:fill"}
    assert {child["frame"]["name"] for child in frame(root, "step")["children"]} <= {"aten::relu", "__proton_launch_metadata"}


def test_launches_are_not_told_to_the_profiler_of_torchs_that_is_ours(tmp_path, monkeypatch):
    """It would be paid for at each launch, and kept; one that the program runs is told of them."""
    from nacre.profiler import _torch

    @triton.jit
    def fill(x):
        tl.store(x, 1.0)

    x, seen = torch.zeros(1), []
    outermost = _torch._outermost
    monkeypatch.setattr(_torch, "_outermost", lambda events: seen.extend(event.name() for event in events) or outermost(events))
    session = proton.start(str(tmp_path / "profile"))
    fill[(1,)](x)
    torch.relu(x)
    assert frame(proton.data.get(session)[0], "fill")["metrics"]["count"] == 1
    assert "aten::relu" in seen and "fill" not in seen
    proton.finalize(session)
    with torch.profiler.profile() as profile:
        fill[(1,)](x)
    assert "fill" in {event.name for event in profile.events()}
