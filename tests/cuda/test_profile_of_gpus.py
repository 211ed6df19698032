"""Profiles of kernels that run behind their host, on a driver that is none: when they ran is known only after somebody has waited."""

import json
import os
import runpy
from pathlib import Path

import pytest

KERNEL = runpy.run_path(str(Path(__file__).with_name("test_driver.py")))["KERNEL"]

PROFILE = """
import nacre.profiler as proton

def metadata(grid, metadata, args):
    return {"name": "named", "bytes": 12 * args["n"], "flops32": float(args["n"])}

annotated = nacre.jit(add.fn, launch_metadata=metadata)
session = proton.start("profile", hook="triton", data=DATA)
with proton.scope("outer"):
    add[(8,)](x, y, out, 1000, BLOCK=128)
    with proton.scope("inner"):
        add[(8,)](x, y, out, 1000, BLOCK=128)
        add[(8,)](x, y, out, 1000, BLOCK=128)
with proton.scope("annotations"):
    annotated[(8,)](x, y, out, 1000, BLOCK=128)
with proton.scope("host"):
    add[(8,)](values, values, np.zeros_like(values), 1000, BLOCK=128)
proton.finalize()
"""


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture
def profile(run_script, mock_driver, tmp_path):
    """profile(data, environment) -> what the script wrote, and what it said."""

    def run(data="tree", cupti=True, script=PROFILE, **environment):
        folder = tmp_path / "cupti"
        folder.mkdir(exist_ok=True)
        if cupti and not (folder / "libcupti.so").exists():
            os.symlink(mock_driver, folder / "libcupti.so")
        peaks = 'import nacre.profiler._device as d\nd.peaks = lambda: {"peak_gbps": 10.0}\n'
        process = run_script(
            KERNEL + peaks + script.replace("DATA", repr(data)), NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver",
            TRITON_CUPTI_LIB_PATH=str(folder), **environment
        )  # fmt: skip
        succeed(process)
        name = "profile.hatchet" if data == "tree" else "profile.chrome_trace"
        return json.loads(Path(tmp_path / name).read_text()), process.stderr

    return run


def frame(node, *path):
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return node["metrics"]


def check_tree(root, devices, time):
    outer, inner = frame(root, "outer", "add"), frame(root, "outer", "inner", "add")
    assert outer["count"] == 1 and outer["time (ns)"] == time and outer["device_type"] == "CUDA" and outer["device_id"] == "0"
    assert inner["count"] == 2 and inner["time (ns)"] == 2 * time
    named = frame(root, "annotations", "named")
    assert named["count"] == 1 and named["bytes"] == 12000 and named["flops32"] == 1000.0 and named["device_type"] == "CUDA"
    assert frame(root, "host", "add")["device_type"] == "CPU"
    assert devices["CUDA"]["0"]["num_sms"] == 4 and "CPU" in devices


def test_times_of_the_gpu_by_cupti(profile):
    (root, devices), said = profile()
    assert "CUDA events" not in said
    check_tree(root, devices, 2000)  # the mock's kernels take two microseconds


FORK = """
import nacre.profiler as proton

session = proton.start("profile", data=DATA)
add[(8,)](x, y, out, 1000, BLOCK=128)
child = os.fork()
if child == 0:
    try:
        proton.deactivate(session)
        proton.finalize(session)
        proton.start("child", backend="cpu")
        with proton.scope("host"):
            add[(8,)](values, values, np.zeros_like(values), 1000, BLOCK=128)
        proton.finalize()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
assert os.waitpid(child, 0)[1] == 0
with proton.scope("after"):
    add[(8,)](x, y, out, 1000, BLOCK=128)
proton.finalize()
"""


def test_a_child_of_a_fork_ends_the_session_without_cupti(profile, tmp_path):
    """And may profile what runs on the CPU; the session of its parent goes on there."""
    (root, _), _ = profile(script="import traceback\n" + FORK)
    assert frame(root, "add")["count"] == 1 and frame(root, "after", "add")["count"] == 1
    child, _ = json.loads((tmp_path / "child.hatchet").read_text())
    assert frame(child, "host", "add")["device_type"] == "CPU"


@pytest.mark.parametrize("environment, reason", [
    ({"cupti": False}, "TRITON_CUPTI_LIB_PATH"),
    ({"NACRE_MOCK_CUPTI": "refuse"}, "another profiler"),
])  # fmt: skip
def test_times_by_events_where_there_is_no_cupti(profile, environment, reason):
    (root, devices), said = profile(**environment)
    assert said.count("CUDA events") == 1 and reason in said
    check_tree(root, devices, 1000000)  # the mock's events are a millisecond apart


def test_waiting_for_the_gpu_is_a_frame(profile):
    (root, _), _ = profile(script=PROFILE.replace("proton.finalize()", """
with proton.scope("at the end"):
    nacre._core.synchronize("cuda", 0)
proton.finalize()"""))  # fmt: skip
    assert frame(root, "at the end", "wait")["cpu_time (ns)"] > 0


def test_a_trace_has_the_streams(profile):
    document, _ = profile("trace")
    events = document["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert lanes[200000] == "GPU Stream 0"
    kernels = [event for event in events if event["ph"] == "X" and event["tid"] == 200000]
    assert [event["name"] for event in kernels] == ["add", "add", "add", "named"] and kernels[0]["dur"] == 2.0
    assert kernels[1]["args"]["call_stack"] == ["ROOT", "outer", "inner", "add"]
    starts, ends = ([event for event in events if event["ph"] == phase and event["name"] == "launch->kernel"] for phase in "sf")
    assert {event["id"] for event in starts} >= {event["id"] for event in ends if event["tid"] == 200000}


GRAPHS = """
import ctypes, os
import nacre.profiler as proton

mock = ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"])
node, replay, nvtx = mock.nacreMockGraphNode, mock.nacreMockReplay, mock.nacreMockRange
node.argtypes, replay.argtypes, nvtx.argtypes = [ctypes.c_uint64] * 2, [ctypes.c_uint64], [ctypes.c_char_p]
proton.start("profile", data=DATA)
with proton.scope("capture"):
    with proton.scope("layer"):
        node(7, 0)
        node(8, 0)
node(107, 7), node(108, 8)  # the graph is made ready: its nodes are copies
for _ in range(3):
    with proton.scope("step"):
        replay(107)
        replay(108)
with proton.scope("old"):
    replay(5)
nvtx(b"marked")
add[(8,)](x, y, out, 1000, BLOCK=128)
nvtx(b"within")
add[(8,)](x, y, out, 1000, BLOCK=128)
nvtx(None)
nvtx(None)
nvtx(None)
add[(8,)](x, y, out, 1000, BLOCK=128)
with proton.scope("kept"):
    nvtx(None)  # of a range that began before the session
    add[(8,)](x, y, out, 1000, BLOCK=128)
proton.finalize()
"""


def test_kernels_of_graphs_stand_where_they_were_captured(profile):
    (root, _), said = profile(script=GRAPHS)
    replayed = frame(root, "step", "<captured_at>", "capture", "layer", "of_a_graph")
    assert replayed["count"] == 6 and replayed["time (ns)"] == 12000 and replayed["device_type"] == "CUDA"
    assert frame(root, "old", "of_a_graph")["count"] == 1 and said.count("captured before the session") == 1


def test_ranges_of_nvtx_are_frames(profile):
    (root, _), _ = profile(script=GRAPHS)
    assert frame(root, "marked", "add")["count"] == 1 and frame(root, "marked", "within", "add")["count"] == 1 and frame(root, "add")["count"] == 1
    assert frame(root, "kept", "add")["count"] == 1


def test_graphs_in_a_trace(profile):
    document, _ = profile("trace", script=GRAPHS)
    events = document["traceEvents"]
    stacks = [event["args"]["call_stack"] for event in events if event["name"] == "of_a_graph" and event["ph"] == "X"]
    assert stacks[:6] == [["ROOT", "step", "<captured_at>", "capture", "layer", "of_a_graph"]] * 6 and stacks[6] == ["ROOT", "old", "of_a_graph"]
    # The scopes of the capture are slices over the replayed kernels, in a lane of their stream.
    lanes = {event["args"]["name"]: event["tid"] for event in events if event["ph"] == "M"}
    assert lanes["Graph: Stream 0"] == 100000 and lanes["GPU Stream 0"] == 200000
    scopes = [event for event in events if event["ph"] == "X" and event["tid"] == 100000]
    assert {event["cat"] for event in scopes} == {"scope"} and len(scopes) == 18
    kernels = {(event["ts"], event["dur"]) for event in events if event["name"] == "of_a_graph" and event["ph"] == "X"}
    for name in ("<captured_at>", "capture", "layer"):
        assert sum(event["name"] == name and (event["ts"], event["dur"]) in kernels for event in scopes) == 6


METRICS = """
import ctypes, os
import nacre.profiler as proton
from nacre import _core

mock = ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"])
node, replay = mock.nacreMockGraphNode, mock.nacreMockReplay
node.argtypes, replay.argtypes = [ctypes.c_uint64] * 2, [ctypes.c_uint64]
proton.start("profile", data=DATA)
with proton.scope("layer"):
    _core.profiler_capture_metric(1, "kernel")
    node(7, 0)  # notes the metric's value
    node(8, 0)
node(107, 7), node(108, 8)
for scope in ("first", "first", "second"):
    with proton.scope(scope):
        replay(107)
        replay(108)
_core.profiler_wait()
for value in (1, 2, 30):
    assert _core.profiler_replayed_metric(1, {"tokens": value})
assert not _core.profiler_replayed_metric(1, {"tokens": 5}) and not _core.profiler_replayed_metric(2, {"tokens": 5})
proton.finalize()
"""


def test_metrics_of_graphs_are_those_of_their_replays(profile):
    (root, _), _ = profile(script=METRICS)
    assert frame(root, "first", "<captured_at>", "layer", "kernel") == {"tokens": 3} and frame(root, "second", "<captured_at>", "layer", "kernel") == {"tokens": 30}
    assert frame(root, "first", "<captured_at>", "layer", "of_a_graph")["count"] == 2  # what notes it is no kernel of the program's
    assert frame(root, "first", "<captured_at>", "layer", "__proton_launch_metadata:kernel", "<metric>")["count"] == 2


SAMPLES = """
import ctypes, os, sys
import nacre.profiler as proton

session = proton.start("profile", mode="pcsampling")
ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"]).nacreMockModule()
with proton.scope("step"):
    for _ in range(2):
        add[(8,)](x, y, out, 1000, BLOCK=128)
proton.finalize()
"""


def test_samples_of_lines(profile):
    """The mock finds each launch five times at its first instruction, in three of them waiting for memory."""
    (root, _), _ = profile(script=SAMPLES)
    line = frame(root, "step", "add", "/somewhere/kernels.py:12@add")
    assert line == {"num_samples": 10, "num_stalled_samples": 6, "stalled_long_scoreboard": 6}
    assert frame(root, "step", "add")["count"] == 2


def test_where_lines_cannot_be_sampled_it_is_said(profile):
    (root, _), said = profile(script=SAMPLES, NACRE_MOCK_CUPTI="no samples")
    assert frame(root, "step", "add")["count"] == 2 and said.count("lines are not sampled: CUPTI says") == 1 and "run as root" in said


def test_scopes_and_compiles_are_ranges_of_the_tool_around_the_process(run_script, mock_driver):
    process = run_script("""
        import nacre
        import nacre.language as tl
        import nacre.profiler as proton
        import numpy as np

        @nacre.jit
        def fill(x):
            tl.store(x, 1.0)

        with proton.scope("outer"):
            proton.enter_scope("inner")
            fill[(1,)](np.zeros(1, np.float32))
            proton.exit_scope()
    """, NVTX_INJECTION64_PATH=mock_driver)  # fmt: skip
    assert succeed(process).split("\n")[:-1] == [
        "range outer", "range inner", "range compile fill", "range ends", "range ends", "range ends",
    ]  # fmt: skip


def test_a_tool_that_comes_into_the_process_later(run_script, mock_driver):
    """As Nsight Compute does when CUDA starts; CUPTI, which our own profiler names, is no tool around the process."""
    process = run_script("""
        import os
        import nacre
        import nacre.language as tl
        import nacre.profiler as proton
        import numpy as np

        @nacre.jit
        def fill(x, n: tl.constexpr):
            tl.store(x, n)

        def step(name, n):
            with proton.scope(name):
                fill[(1,)](np.zeros(1, np.float32), n)

        step("before", 1)
        os.environ["NVTX_INJECTION64_PATH"] = "/somewhere/libcupti.so.12"
        step("our own", 2)
        os.environ["NVTX_INJECTION64_PATH"] = os.environ["TOOL"]
        step("begins", 3)
        step("after", 3)
    """, TOOL=mock_driver)  # fmt: skip
    assert succeed(process).split("\n")[:-1] == ["range compile fill", "range ends", "range after", "range ends"]


def test_a_backend_that_is_not_there(run_script):
    process = run_script("""
        import nacre.profiler as proton
        try:
            proton.start("profile", backend="cupti")
        except ValueError as error:
            print(error)
    """, NACRE_CUDA_DRIVER="/nowhere.so")  # fmt: skip
    assert "needs an NVIDIA GPU" in succeed(process)
