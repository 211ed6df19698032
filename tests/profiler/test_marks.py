"""Which marks inside of kernels are kept, and what the compiler moved out of scopes."""

import json
import re
import warnings

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from nacre import _core

PROGRAMS = 6


@triton.jit
def rounds(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in range(n):
        with pl.scope("round"):
            tl.store(out + offsets, tl.load(x + offsets) + i)


@triton.jit
def square_plus(value):
    return value * value + 1.0


@triton.jit
def stages(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    with pl.scope("load"):
        a = tl.load(x + offsets, mask)
    with pl.scope("compute"):
        b = tl.exp(a) * 3.0
        b = square_plus(b)
    with pl.scope("store"):
        tl.store(out + offsets, b, mask)


@triton.jit
def repeated(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    a = tl.load(x + offsets)
    b = tl.sqrt(a)
    with pl.scope("again"):
        c = tl.sqrt(a)
    tl.store(out + offsets, b + c)


@triton.jit
def invariant(x, out, scale, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in range(n):
        with pl.scope("round"):
            factor = scale * scale + 3.0
            tl.store(out + offsets, tl.load(x + offsets) * factor + i)


@triton.jit
def inside(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    with pl.scope("all"):
        tl.store(out + offsets, tl.exp(tl.load(x + offsets)) * 2.0)


@pytest.fixture(params=["compiled", "simulated"])
def run(request):
    """Launches a kernel with PROGRAMS programs; `warps` is how many each has."""

    def launch(kernel, *args, **constants):
        _core.set_active_device("simulate" if request.param == "simulated" else None)
        try:
            return kernel[(PROGRAMS,)](*args, **constants)
        finally:
            _core.set_active_device(None)

    launch.warps = 4 if request.param == "simulated" else 1
    return launch


def arrays(size=PROGRAMS * 128):
    return np.ones(size, np.float32), np.zeros(size, np.float32)


def frame(node, *path):
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return node


def traced(tmp_path, run, rounds_of_each=1, **options):
    """(tree, trace) of a launch of `rounds`, in a session with a mode of these options."""
    documents = []
    for data in ("tree", "trace"):
        session = proton.start(str(tmp_path / data), backend="instrumentation", data=data, mode=proton.mode.Default(**options))
        run(rounds, *arrays(), rounds_of_each, BLOCK=128)
        proton.finalize(session)
        documents.append(json.loads((tmp_path / (data + (".hatchet" if data == "tree" else ".chrome_trace"))).read_text()))
    return documents[0][0], documents[1]["traceEvents"]


def lanes(events):
    return sorted({(int(event["pid"].rsplit("CTA", 1)[1]), event["tid"].split(" (")[0]) for event in events})


def test_warps_that_are_chosen(tmp_path, run):
    tree, events = traced(tmp_path, run, sampling_strategy="selective", sampling_options="2,0")
    warps = ["warp 0", "warp 2"] if run.warps == 4 else ["warp 0"]
    assert lanes(events) == [(program, warp) for program in range(PROGRAMS) for warp in warps]
    metrics = frame(tree, "rounds", "round")["metrics"]
    assert metrics["normalized_cycles"] == pytest.approx(metrics["cycles"] / PROGRAMS / len(warps))


def test_programs_that_are_chosen(tmp_path, run):
    tree, events = traced(tmp_path, run, sampling_strategy="selective", sampling_options="4,1,70", granularity="cta")
    assert lanes(events) == [(1, "warps"), (4, "warps")]
    metrics = frame(tree, "rounds", "round")["metrics"]
    assert metrics["normalized_cycles"] == pytest.approx(metrics["cycles"] / 2)


@pytest.mark.parametrize("granularity, titles", [("warp_2", ["warps 0-1", "warps 2-3"]), ("warp_group", ["warps 0-3"]), ("warp_8", ["warps 0-7"])])
def test_units_of_several_warps(tmp_path, run, granularity, titles):
    _, events = traced(tmp_path, run, granularity=granularity)
    assert lanes(events) == [(program, title) for program in range(PROGRAMS) for title in titles[: 1 if run.warps == 1 else None]]


def test_a_buffer_keeps_the_latest(tmp_path, run):
    """Room for four marks of each warp: two of ten rounds."""
    tree, events = traced(tmp_path, run, 10, buffer_size=4 * 8 * run.warps)
    assert len(events) == 2 * PROGRAMS * run.warps
    assert frame(tree, "rounds")["metrics"]["lost_marks"] == 16 * PROGRAMS * run.warps
    tree, events = traced(tmp_path, run, 10, buffer_size=4 * 8 * run.warps, buffer_strategy="flush")
    assert len(events) == 10 * PROGRAMS * run.warps and "lost_marks" not in frame(tree, "rounds")["metrics"]


def test_a_record_of_a_gpu_that_is_full_says_what_it_lost(tmp_path):
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    _core.set_active_device("simulate")
    try:
        rounds[(1,)](*arrays(128), 2100, BLOCK=128, num_warps=1)
    finally:
        _core.set_active_device(None)
    assert frame(proton.data.get(session)[0], "rounds")["metrics"]["lost_marks"] == 2 * 2100 - 4096


def test_units_that_are_not_there_are_said(tmp_path):
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation", mode="default:sampling_strategy=selective:sampling_options=1")
    rounds[(2,)](*arrays(), 1, BLOCK=128)
    with pytest.warns(RuntimeWarning, match="nothing was recorded inside of rounds: .* a program has one warp, 0"):
        proton.finalize(session)


@pytest.mark.parametrize("options, said", [
    ("sampling_strategy=selective", "needs the numbers of warps"), ("sampling_strategy=selective:sampling_options=a", "needs the numbers of warps"),
    ("sampling_strategy=selective:sampling_options=-1", "needs the numbers"), ("sampling_options=1", "needs sampling_strategy=selective"),
    ("buffer_size=7", "a mark takes 8 bytes"), ("granularity=cta:sampling_strategy=selective", "needs the numbers of programs"),
])  # fmt: skip
def test_options_without_a_meaning(tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        proton.start(str(tmp_path / "profile"), backend="instrumentation", mode="default:" + options)
    assert not _core.profiler_sessions()


# The buffer of Proton's own layout --------------------------------------------------------------------------------------------


@pytest.fixture
def host_buffer():
    pytest.importorskip("torch")
    hook = proton.hooks.InstrumentationHook
    hook.enable_host_buffer = True
    yield lambda: np.asarray(hook.host_buffer).view(np.uint32) if hook.host_buffer is not None else None
    hook.enable_host_buffer = False


def test_what_a_launch_recorded_as_bytes(tmp_path, run, host_buffer):
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    assert host_buffer() is None
    compiled = run(rounds, *arrays(), 2, BLOCK=128)
    words = host_buffer()
    warps = compiled.metadata.num_warps
    version, offset, header, payload, size, device, programs, units, block, recorded, *uids = words[: 10 + warps].tolist()
    assert (version, offset, header, payload, recorded, uids) == (1, 4, 40 + 4 * warps, 40 + 4 * warps, warps, list(range(warps)))
    assert (programs, units, device) == (PROGRAMS, warps, int(run.warps == 4)) and size == programs * block == 4 * len(words) - payload
    for program in range(PROGRAMS):
        own = words[(payload + program * block) // 4 :].tolist()
        assert own[0] == 0xDEADBEEF and own[1] == program
        assert own[10 : 10 + warps] == [8 if warp < run.warps else 0 for warp in range(warps)]
        marks = own[10 + warps : 10 + warps + 8]
        tags, times = marks[::2], [(tag & 0x7FF) << 32 | low for tag, low in zip(marks[::2], marks[1::2])]
        assert [tag & 0xFFFFF800 for tag in tags] == [0, 0x80000000] * 2
        assert all((later - earlier) % 2**43 < 2**42 for earlier, later in zip(times, times[1:]))  # the clock's 43 bits may wrap
    proton.finalize(session)
    assert host_buffer() is None


def test_the_buffer_of_chosen_warps_and_of_kernels_without_scopes(tmp_path, host_buffer):
    @triton.jit
    def plain(x):
        tl.store(x, 1.0)

    mode = proton.mode.Default(sampling_strategy="selective", sampling_options="0,2")
    proton.start(str(tmp_path / "profile"), backend="instrumentation", mode=mode)
    rounds[(1,)](*arrays(128), 1, BLOCK=128, num_warps=4)
    assert host_buffer()[9:12].tolist() == [2, 0, 2]
    plain[(1,)](np.zeros(1, np.float32))
    assert host_buffer()[6] == 0 and len(host_buffer()) == 12
    with pytest.raises(ValueError, match="can be read"):
        proton.hooks.InstrumentationHook.host_buffer = b""


# What was moved ---------------------------------------------------------------------------------------------------------------


def moved(tmp_path, run, kernel, *args, **constants):
    """What is said of each scope that something was moved out of."""
    session = proton.start(str(tmp_path / "profile"), backend="instrumentation")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, *args, **constants)
    root = proton.data.get(session)[0]
    proton.finalize(session)
    first = kernel.fn.__code__.co_firstlineno
    scopes = {child["frame"]["name"]: child["metrics"].get("moved") for child in frame(root, kernel.__name__)["children"]}
    return first, scopes


def test_arithmetic_that_is_computed_where_it_is_used(tmp_path, run):
    x, out = arrays()
    first, scopes = moved(tmp_path, run, stages, x, x, out, x.size, BLOCK=128)
    np.testing.assert_allclose(out, (np.exp(1) * 3) ** 2 + 1, rtol=1e-5)
    helper = square_plus.fn.__code__.co_firstlineno
    compute = scopes.pop("compute")
    assert scopes == {"load": None, "store": None}
    if run.warps == 1:  # on the CPU the loop of the store computes it
        assert re.fullmatch(rf"after it, in 'store': lines? ({helper + 2}|{helper + 2}, {first + 7})", compute), compute
    else:  # registers of a GPU hold it
        assert compute is None


def test_arithmetic_that_is_the_same_in_every_round(tmp_path, run):
    x, out = arrays()
    first, scopes = moved(tmp_path, run, invariant, x, out, 4.0, 3, BLOCK=128)
    np.testing.assert_allclose(out, 21.0)
    assert scopes == {"round": f"before it, outside of all scopes: line {first + 5}"}


def test_lines_that_were_merged_into_others(tmp_path, run):
    x, out = arrays(128)
    first, scopes = moved(tmp_path, run, repeated, x, out, BLOCK=128)
    assert scopes == {"again": f"merged into others, or folded: line {first + 6}"}


def test_nothing_is_said_of_scopes_that_hold_their_lines(tmp_path, run):
    x, out = arrays(128)
    _, scopes = moved(tmp_path, run, inside, x, out, BLOCK=128)
    assert scopes == {"all": None}
