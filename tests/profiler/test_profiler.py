"""Sessions, scopes, states, metrics, hooks, phases, and the files they are written to."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nacre
import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
from nacre.profiler._graph import _unpack


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


def metadata(grid, metadata, args):
    return {"name": f"add_{grid[0]}", "bytes": 3 * 4 * args["n"], "flops32": args["n"]}


annotated = triton.jit(add.fn, launch_metadata=metadata)


def launch(kernel=add, n=256):
    kernel[(triton.cdiv(n, 64),)](np.ones(n, np.float32), np.ones(n, np.float32), np.zeros(n, np.float32), n, BLOCK=64)


def frame(node, *path):
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return node


def test_kernels_are_of_the_device_that_ran_them(tmp_path):
    from nacre import _core

    session = proton.start(str(tmp_path / "profile"))
    launch()
    _core.set_active_device("simulate")
    try:
        with proton.scope("elsewhere"):
            launch()
    finally:
        _core.set_active_device(None)
    proton.finalize(session)
    root, devices = json.loads((tmp_path / "profile.hatchet").read_text())
    assert frame(root, "add")["metrics"]["device_type"] == "CPU"
    simulated = frame(root, "elsewhere", "add")["metrics"]
    assert simulated["device_type"] == "CUDA" and simulated["count"] == 1
    assert devices["CUDA"][simulated["device_id"]]["num_sms"] > 0


def test_tree_of_scopes_states_and_kernels(tmp_path):
    session = proton.start(str(tmp_path / "profile"))
    launch()
    with proton.scope("outer", {"bytes": 24.0, "flops16": 2}):
        with proton.scope("inner"):
            launch()
            launch()
        with proton.state("warm"), proton.state("hot"):
            launch()
    assert proton.context.depth() == 0
    proton.finalize(session)
    root, devices = json.loads((tmp_path / "profile.hatchet").read_text())
    assert root["frame"] == {"name": "ROOT", "type": "function"} and root["metrics"]["count"] == 0 and root["metrics"]["time (ns)"] == 0
    kernel = frame(root, "outer", "inner", "add")["metrics"]
    assert kernel["count"] == 2 and kernel["time (ns)"] > 0 and kernel["device_type"] == "CPU" and kernel["device_id"] == "0"
    assert 0 < kernel["busy (ns)"]
    assert frame(root, "outer", "hot", "add")["metrics"]["count"] == 1 and frame(root, "add")["metrics"]["count"] == 1
    assert frame(root, "outer")["metrics"] == {"bytes": 24, "flops16": 2.0}
    facts = devices["CPU"]["0"]
    assert {"arch", "clock_rate", "memory_clock_rate", "bus_width", "num_sms", "peak_gbps"} <= set(facts)


def test_numbers_names_and_activity(tmp_path):
    first = proton.start(str(tmp_path / "first"))
    second = proton.start(str(tmp_path / "second"))
    assert second == first + 1 and proton.start(str(tmp_path / "first")) == first
    proton.deactivate(first)
    launch()
    proton.activate(first)
    launch()
    counts = [frame(proton.data.get(session)[0], "add")["metrics"]["count"] for session in (first, second)]
    assert counts == [1, 2]
    with pytest.raises(RuntimeError, match="Session has not been initialized: 4711"):
        proton.activate(4711)
    proton.finalize()
    assert proton.start(str(tmp_path / "third")) == second + 1


def test_off_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert proton.start(str(tmp_path / "none")) is None
    assert proton.enter_scope("x") is None and proton.context.depth() is None


def test_scopes_by_hand(tmp_path):
    proton.start(str(tmp_path / "profile"))
    proton.enter_scope("a", metrics={"bytes": 1})
    with pytest.raises(ValueError, match="the open scope is 'a', not 'b'"):
        proton.exit_scope("b")
    proton.exit_scope("a")
    with pytest.raises(ValueError, match="cpu_time"):
        proton.cpu_timed_scope("timed", {"cpu_time": 1})
    with proton.cpu_timed_scope("timed"):
        pass

    @proton.scope("decorated")
    def work():
        launch()

    work()
    root = proton.data.get(proton.start(str(tmp_path / "profile")))[0]
    assert frame(root, "timed")["metrics"]["cpu_time (ns)"] > 0 and frame(root, "decorated", "add")
    assert "cpu_time (ns)" not in root["metrics"]  # it is exclusive


def test_metrics_keep_their_types(tmp_path):
    proton.start(str(tmp_path / "profile"))
    with proton.scope("a", {"wait (ns)": 1, "size (pty)": 5, "parts": [1, 2], "array": np.float32(2.5)}):
        pass
    with pytest.raises(ValueError, match=r"mismatch for valueId \d+ \(wait \(ns\)\): current=int64_t, new=double"):
        proton.enter_scope("b", metrics={"wait (ns)": 1.5})
    with pytest.raises(ValueError, match="'parts' has 2 elements"):
        proton.scope("a", {"parts": [1]}).__enter__()


def test_the_hook_names_frames_and_gives_metrics(tmp_path):
    session = proton.start(str(tmp_path / "profile"), hook="triton")
    launch(annotated)
    launch()
    root = proton.data.get(session)[0]
    named = frame(root, "add_4")["metrics"]
    assert named["bytes"] == 3 * 4 * 256 and named["flops32"] == 256.0 and named["count"] == 1
    assert frame(root, "add")["metrics"]["count"] == 1
    with pytest.raises(ValueError, match="Unknown hook"):
        proton.start(str(tmp_path / "other"), hook="unknown")


def test_hooks_of_ones_own(tmp_path):
    from triton.profiler.hooks import Hook, HookManager, LaunchHook

    class Counting(Hook):
        priority = 5
        entered = 0

        def enter(self, metadata):
            self.entered += 1

    hook = Counting()
    session = proton.start(str(tmp_path / "profile"), hook=hook)
    HookManager.register(LaunchHook(), session)
    assert HookManager.active_hooks == [LaunchHook(), hook] and HookManager.session_hooks[session][hook] is True
    launch()
    proton.deactivate(session)
    assert HookManager.active_hooks == []
    launch()
    assert hook.entered == 1


def test_the_call_stack(tmp_path):
    session = proton.start(str(tmp_path / "profile"), context="python")
    launch()
    names = []
    node = proton.data.get(session)[0]
    while node["children"]:
        node = node["children"][-1]
        names.append(node["frame"]["name"])
    assert names[-1] == "add" and names[-2].endswith("@launch") and names[-2].startswith(__file__)


def test_phases(tmp_path):
    session = proton.start(str(tmp_path / "profile"), mode="periodic_flushing:format=hatchet")
    launch()
    assert not proton.data.is_phase_complete(session, 0)
    assert proton.data.advance_phase(session) == 1 and proton.data.is_phase_complete(session, 0)
    launch()
    proton.finalize(session)
    for part in range(2):
        root, _ = json.loads((tmp_path / f"profile.part_{part}.hatchet").read_text())
        assert frame(root, "add")["metrics"]["count"] == 1


def test_msgpack_is_the_same_tree(tmp_path):
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("a", {"flops": 1.5, "parts": [1, 2]}):
        launch()
    assert _unpack(proton.data.get_msgpack(session)) == proton.data.get(session)
    proton.finalize(session, output_format="hatchet_msgpack")
    assert (tmp_path / "profile.hatchet_msgpack").exists()


def test_trace(tmp_path):
    session = proton.start(str(tmp_path / "profile"), data="trace")
    with proton.scope("scope"):
        launch()
    proton.finalize(session)
    trace = json.loads((tmp_path / "profile.chrome_trace").read_text())
    assert trace["displayTimeUnit"] == "us" and trace["baseTimeNanoseconds"] > 1e18
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {event["cat"] for event in complete} == {"scope", "kernel", "programs"}
    kernel = trace["traceEvents"][-1]  # they come last
    assert kernel["name"] == "add" and kernel["cat"] == "kernel" and kernel["args"]["call_stack"] == ["ROOT", "scope", "add"]
    workers = [event for event in complete if event["tid"] >= 200000]
    assert sum(event["args"]["programs"] for event in workers) == 4
    flows = [event for event in trace["traceEvents"] if event.get("cat") == "flow"]
    assert [event["ph"] for event in flows] == ["s", "f"] and {event["bp"] for event in flows} == {"e"}


def test_scopes_with_metrics_in_a_trace(tmp_path):
    """One event each, with what they were given; a lane alone has no name."""
    session = proton.start(str(tmp_path / "profile"), data="trace")
    with proton.scope("outer", {"tokens": 3, "share": 0.5}):
        proton.enter_scope("inner")
        proton.exit_scope(metrics={"list": [1, 2]})
    proton.finalize(session)
    inner, outer = json.loads((tmp_path / "profile.chrome_trace").read_text())["traceEvents"]
    assert inner["cat"] == outer["cat"] == "metric" and outer["dur"] >= inner["dur"]
    assert inner["name"] == "inner: <list, [1, 2]>" and inner["args"]["call_stack"] == ["ROOT", "outer", "inner"]
    assert outer["name"] == "outer: <share, 0.500000>, <tokens, 3>" and outer["args"]["metrics"] == {"share": "0.500000", "tokens": "3"}


def test_optimizations_that_change_nothing_are_said(tmp_path):
    with pytest.warns(UserWarning, match="optimizations=time_shift, clock32 change nothing here"):
        session = proton.start(str(tmp_path / "profile"), backend="instrumentation", mode="default:optimizations=time_shift,clock32")
    proton.finalize(session)


def test_a_metric_that_is_too_large_is_named(tmp_path):
    proton.start(str(tmp_path / "profile"))
    with pytest.raises(OverflowError, match="the metric 'tokens' is 1180591620717411303424: whole numbers of metrics have 64 bits"):
        with proton.scope("large", {"tokens": 2**70}):
            pass
    with proton.scope("fits", {"tokens": -(2**63)}):
        pass


def test_the_launch_hook_numbers_its_launches_and_matches_names_from_their_beginning(tmp_path):
    from triton.profiler.hooks import launch as launch_hook

    kernel = triton.jit(add.fn, launch_metadata=lambda grid, metadata, args: {"name": "chosen"})
    hook = launch_hook.LaunchHook()
    numbers = []
    for include, name in (("dd", "add"), ("a", "chosen")):
        session = proton.start(str(tmp_path / name), hook=hook.configure(include=include))
        for _ in range(2):
            launch(kernel)
            numbers.append(launch_hook.id.get())
        assert frame(proton.data.get(session)[0], name)["metrics"]["count"] == 2
        proton.finalize(session)
    hook.configure()
    assert numbers[0] == numbers[1] and numbers[3] > numbers[2]


def test_modes():
    assert str(proton.mode.Default(buffer_type="global", buffer_size=16384)).startswith("default:")
    assert proton.mode.Default(granularity="cta").granularity.value == "cta"
    with pytest.raises(ValueError, match="buffer_type"):
        proton.mode.Default(buffer_type="nowhere")
    with pytest.raises(ValueError, match="'cpu'"):
        proton.start("x", backend="cupti")


def test_the_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, numpy as np, triton, triton.language as tl, triton.profiler as proton\n"
        "@triton.jit\ndef fill(x):\n    tl.store(x, 1.0)\n"
        "assert proton.start('mine') is None\n"
        "with proton.scope('main'):\n    fill[(1,)](np.zeros(1, np.float32))\n"
        "print(sys.argv[1:])\nsys.exit(3)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parent.parent)}
    command = [sys.executable, "-m", "nacre.profiler.proton", "-n", "named", str(script), "-x", "1"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert result.returncode == 3 and result.stdout == "['-x', '1']\n", result.stderr
    assert "nacre-proton: named.hatchet is written; `nacre-proton-viewer -m time/ms named.hatchet` shows it\n" in result.stderr
    root, _ = json.loads((tmp_path / "named.hatchet").read_text())
    assert frame(root, "main", "fill")["metrics"]["count"] == 1


def quick(call, quantiles):
    call()
    return [1.0] * len(quantiles)


def test_compiling_loading_and_tuning_are_frames(tmp_path):
    """With host time, where they happened; the next launch has none of them."""
    configs = [triton.Config({"BLOCK": block}) for block in (32, 64)]
    tuned = triton.autotune(configs, key=["n"], do_bench=quick)(triton.jit(add.fn))
    fresh = triton.jit(add.fn)
    arrays = np.ones(256, np.float32), np.ones(256, np.float32), np.zeros(256, np.float32)
    session = proton.start(str(tmp_path / "profile"))
    with proton.scope("first"):
        tuned[lambda options: (triton.cdiv(256, options["BLOCK"]),)](*arrays, 256)
        launch(fresh)
    with proton.scope("second"):
        tuned[lambda options: (triton.cdiv(256, options["BLOCK"]),)](*arrays, 256)
        launch(fresh)
    root = proton.data.get(session)[0]
    first, second = ({child["frame"]["name"]: child["metrics"] for child in frame(root, name)["children"]} for name in ("first", "second"))
    for name in ("compile add", "load add", "tune add"):
        assert first[name]["cpu_time (ns)"] > 0 and "time (ns)" not in first[name]
    assert set(second) == {"add"} and second["add"]["count"] == 2


def test_work_is_counted_in_floats():
    from nacre.profiler.metric import transform_tensor_metrics

    numbers, tensors = transform_tensor_metrics({"flops": 1, "flops32": [5, 6], "bytes": 3, "custom": 4})
    assert {name: repr(value) for name, value in numbers.items()} == {"flops": "1.0", "flops32": "[5.0, 6.0]", "bytes": "3.0", "custom": "4"}
    assert tensors == {}
