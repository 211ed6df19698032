"""Scopes and events inside of kernels (triton.profiler.language): compiled for the CPU and for GPUs, and run by Python."""

import json

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from nacre import _core
from triton.profiler.language import scope

PROGRAMS = 6


@triton.jit
def helper(x, offsets):
    with scope("inner"):
        return tl.load(x + offsets)


@triton.jit
def nested(x, out, BLOCK: tl.constexpr):
    with pl.scope("outer"):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = helper(x, offsets)
        pl.enter_scope("store")
        tl.store(out + offsets, value + 1)
        pl.exit_scope("store")


@triton.jit
def early(out, n):
    pid = tl.program_id(0)
    with pl.scope("whole"):
        with pl.scope("first"), pl.scope("second"):
            if pid < n:
                tl.store(out + pid, 1)
                return
        tl.store(out + pid, 2)


@triton.jit
def rounds(out, n):
    total = 0
    with pl.scope("loop"):
        for i in range(n):
            with pl.scope("round"):
                if i == 1:
                    continue
                if i == 3:
                    break
                total += i
    tl.store(out + tl.program_id(0), total)


@triton.jit
def eventful(x):
    event = pl.allocate_event("async")
    pid = tl.program_id(0)
    with pl.scope("before"):
        pl.start_event(event)
        value = tl.load(x + pid)
    tl.store(x + pid, value + 1)
    pl.end_event(event)


@pytest.fixture(params=["compiled", "interpreted", "simulated"])
def run(request):
    """Launches a kernel of this file with PROGRAMS programs; `warps` is how many each has."""

    def launch(kernel, *args, **constants):
        if request.param == "interpreted":
            kernel = triton.jit(kernel.fn, interpret=True)
        _core.set_active_device("simulate" if request.param == "simulated" else None)
        try:
            kernel[(PROGRAMS,)](*args, **constants)
        finally:
            _core.set_active_device(None)

    launch.warps = 4 if request.param == "simulated" else 1
    return launch


def frame(node, *path):
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return node


def tree_of(tmp_path, launch):
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    launch()
    proton.finalize(session)
    return json.loads((tmp_path / "profile.hatchet").read_text())[0]


def events_of(tmp_path, launch):
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation", data="trace")
    launch()
    proton.finalize(session)
    trace = json.loads((tmp_path / "profile.chrome_trace").read_text())
    assert trace["displayTimeUnit"] == "ns"
    return trace["traceEvents"]


def test_scopes_are_frames_below_the_kernel(tmp_path, run):
    x, out = np.arange(PROGRAMS * 8, dtype=np.float32), np.zeros(PROGRAMS * 8, np.float32)
    root = tree_of(tmp_path, lambda: run(nested, x, out, BLOCK=8))
    np.testing.assert_array_equal(out, x + 1)
    assert [child["frame"]["name"] for child in root["children"]] == ["nested"]
    outer = frame(root, "nested", "outer")
    assert [child["frame"]["name"] for child in outer["children"]] == ["inner", "store"]
    for node in (outer, *outer["children"]):
        assert node["metrics"]["cycles"] > 0
        assert node["metrics"]["normalized_cycles"] == pytest.approx(node["metrics"]["cycles"] / PROGRAMS / run.warps)
    assert sum(child["metrics"]["cycles"] for child in outer["children"]) <= outer["metrics"]["cycles"]
    assert "cycles" not in root["metrics"]  # a scope's cycles hold those of the scopes in it


def by_warp(events, run):
    """The events of each warp of each program."""
    found = {}
    for event in events:
        found.setdefault((event["pid"].rsplit("CTA", 1)[1], event["tid"].split(" (")[0]), []).append(event)
    assert len(found) == PROGRAMS * run.warps
    return found.values()


def assert_nested(events):
    """Scopes of a program lie inside one another, or apart."""
    for a in events:
        for b in events:
            if a["ts"] < b["ts"] < a["ts"] + a["dur"]:
                assert b["ts"] + b["dur"] <= a["ts"] + a["dur"] + 1e-6


def test_a_return_ends_the_scopes_around_it(tmp_path, run):
    out = np.zeros(PROGRAMS, np.int32)
    events = events_of(tmp_path, lambda: run(early, out, 2))
    np.testing.assert_array_equal(out, [1, 1, 2, 2, 2, 2])
    for own in by_warp(events, run):
        assert sorted(event["name"] for event in own) == ["first", "second", "whole"]
        assert_nested(own)
        whole = next(event for event in own if event["name"] == "whole")
        assert all(event["dur"] <= whole["dur"] for event in own)


def test_break_and_continue_end_the_scopes_of_their_round(tmp_path, run):
    out = np.zeros(PROGRAMS, np.int32)
    events = events_of(tmp_path, lambda: run(rounds, out, 10))
    np.testing.assert_array_equal(out, [2] * PROGRAMS)
    for own in by_warp(events, run):
        assert sorted(event["name"] for event in own) == ["loop"] + ["round"] * 4
        assert_nested(own)


def test_events_may_end_in_another_scope(tmp_path, run):
    events = events_of(tmp_path, lambda: run(eventful, np.zeros(PROGRAMS, np.int32)))
    own = [event for event in events if event["name"] == "async"]
    assert len(own) == PROGRAMS * run.warps and all(event["ph"] == "X" and event["dur"] > 0 for event in own)


def test_the_trace_has_a_process_for_each_program(tmp_path, run):
    x, out = np.ones(PROGRAMS * 8, np.float32), np.zeros(PROGRAMS * 8, np.float32)

    def launch():
        with proton.scope("around"):
            run(nested, x, out, BLOCK=8)

    events = events_of(tmp_path, launch)
    assert len(events) == 3 * PROGRAMS * run.warps and {event["cat"] for event in events} == {"nested"}
    assert {event["pid"].rsplit(" ", 1)[1] for event in events} == {f"CTA{program}" for program in range(PROGRAMS)}
    first_line = nested.fn.__code__.co_firstlineno
    outer = next(event for event in events if event["name"] == "outer")
    assert outer["tid"] == f"warp 0 (line {first_line + 2})"
    assert outer["args"]["call_stack"] == ["ROOT", "around", "nested"] and outer["args"]["unit"] == "cycles"


def test_names_of_the_hook(tmp_path):
    kernel = triton.jit(nested.fn, launch_metadata=lambda grid, metadata, args: {"name": f"nested_{args['BLOCK']}"})
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation", hook="triton")
    kernel[(2,)](x, out, BLOCK=8)
    assert frame(proton.data.get(session)[0], "nested_8", "outer", "store")["metrics"]["cycles"] > 0


def test_nothing_is_compiled_where_nobody_looks_inside(tmp_path):
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    kernel = triton.jit(nested.fn)
    plain = kernel[(2,)](x, out, BLOCK=8)
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    measured = kernel[(2,)](x, out, BLOCK=8)
    pl.disable_semantic("triton")
    try:
        without = kernel[(2,)](x, out, BLOCK=8)
    finally:
        pl.enable_semantic("triton")
    proton.finalize(session)
    again = kernel[(2,)](x, out, BLOCK=8)
    assert ["tile.tell" in each.asm["tile"] for each in (plain, measured, without, again)] == [False, True, False, False]


def test_only_scopes_of_the_profiler_can_be_used_with_with():
    @triton.jit
    def with_value(x):
        with pl.scope("a") as name:  # noqa: F841
            tl.store(x, 1)

    @triton.jit
    def without_with(x):
        pl.scope("a")
        tl.store(x, 1)

    @triton.jit
    def unnamed(x):
        with pl.scope(""):
            tl.store(x, 1)

    x = np.zeros(1, np.int32)
    with pytest.raises(triton.CompilationError, match="`as` cannot be used here"):
        with_value[(1,)](x)
    with pytest.raises(triton.CompilationError, match="with pl.scope"):
        without_with[(1,)](x)
    with pytest.raises(triton.CompilationError, match="must not be empty"):
        unnamed[(1,)](x)


def test_functions_outside_of_kernels(tmp_path):
    proton.start(str(tmp_path / "profile"), backend="instrumentation")
    with pytest.raises(RuntimeError, match="inside a kernel only"):
        pl.enter_scope("a")
    with pytest.raises(NotImplementedError, match="Gluon"):
        pl.enable_semantic("gluon")
    with pytest.raises(ValueError, match="Unknown semantic"):
        pl.enable_semantic("other")


def test_sessions_that_look_inside_and_others(tmp_path):
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    inside = proton.start(str(tmp_path / "inside"), backend="instrumentation", mode="default:buffer_size=4096")
    around = proton.start(str(tmp_path / "around"))
    with pytest.raises(RuntimeError, match="different mode"):
        proton.start(str(tmp_path / "other"), backend="instrumentation", mode="mma")
    proton.deactivate()
    proton.activate()
    nested[(2,)](x, out, BLOCK=8)
    assert frame(proton.data.get(inside)[0], "nested", "outer")
    assert frame(proton.data.get(around)[0], "nested")["metrics"]["count"] == 1
    assert not frame(proton.data.get(around)[0], "nested")["children"]
