"""Operators of torch where the program uses torch's profiler itself, and in sessions of several threads."""

import json
import threading
import warnings

import pytest
import triton
import triton.language as tl
import triton.profiler as proton
from nacre.profiler import _torch

torch = pytest.importorskip("torch")
CPU = [torch.profiler.ProfilerActivity.CPU]


@triton.jit
def fill(out):
    tl.store(out, 1.0)


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    monkeypatch.setattr(_torch, "_said", set(), raising=False)


@pytest.fixture
def x():
    array = torch.ones(64)
    fill[(1,)](array)
    return array


@pytest.fixture(params=["torch.profiler", "torch.autograd.profiler"])
def profiler(request):
    """A profiler of the program's; the first is the one that people use."""
    return (lambda: torch.profiler.profile(activities=CPU)) if request.param == "torch.profiler" else torch.autograd.profiler.profile


def in_thread(function):
    """What it gives, run in another thread."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join(600)
    return results[0]


def counts(session, *path):
    """How often each operator ran, in a frame of the profile."""
    node = proton.data.get(session)[0]
    for name in path:
        node = next(child for child in node["children"] if child["frame"]["name"] == name)
    return {child["frame"]["name"][6:]: child["metrics"]["count"] for child in node["children"] if child["frame"]["name"].startswith("aten::")}


def seen(theirs):
    return {event.key: event.count for event in theirs.key_averages()}


def test_operators_before_within_and_after_a_profiler_of_the_programs(tmp_path, x, profiler, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # other tests may have left threads
    session = proton.start(str(tmp_path / "profile"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost, and nothing is said
        for _ in range(2):
            torch.relu(x)
            with proton.scope("scope"):
                with profiler() as theirs:
                    torch.sin(x)
                    fill[(1,)](x)
            torch.neg(x)
            seen_there = seen(theirs)
            assert seen_there["aten::sin"] == 1 and seen_there["fill"] == 1 and not {"aten::relu", "aten::neg"} & seen_there.keys()
    assert counts(session) == {"relu": 2, "neg": 2} and counts(session, "scope") == {"sin": 2}
    proton.finalize(session)


def test_one_that_was_begun_before_the_session(tmp_path, x, profiler):
    with profiler() as theirs:
        torch.relu(x)
        session = proton.start(str(tmp_path / "profile"))
        torch.sin(x)
    torch.neg(x)
    assert counts(session) == {"sin": 1, "neg": 1}
    assert seen(theirs)["aten::relu"] == 1 and seen(theirs)["aten::sin"] == 1
    proton.finalize(session)


def test_one_of_another_thread(tmp_path, x, profiler):
    session = proton.start(str(tmp_path / "profile"))
    torch.relu(x)

    def use():
        with profiler() as theirs:
            torch.sin(x)
        torch.neg(x)
        return seen(theirs)

    assert in_thread(use)["aten::sin"] == 1
    torch.neg(x)
    assert counts(session) == {"relu": 1, "sin": 1, "neg": 2}
    proton.finalize(session)


def test_one_with_a_schedule(tmp_path, x):
    session = proton.start(str(tmp_path / "profile"))
    found = []
    schedule = torch.profiler.schedule(wait=1, warmup=1, active=2)
    with torch.profiler.profile(activities=CPU, schedule=schedule, on_trace_ready=lambda theirs: found.append(seen(theirs)["aten::relu"])) as theirs:
        for _ in range(9):
            torch.relu(x)
            theirs.step()
    assert found == [2, 2] and counts(session) == {"relu": 9}
    proton.finalize(session)


def test_what_cannot_be_had_is_said_once(tmp_path, x):
    session = proton.start(str(tmp_path / "profile"))
    with torch.profiler.profile(activities=CPU):
        torch.relu(x)
        with pytest.warns(RuntimeWarning, match="the program uses torch's profiler, which can be used only once at a time: .* lack the operators"):
            proton.deactivate(session)
        proton.activate(session)
        torch.sin(x)
    torch.neg(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with torch.profiler.profile(activities=CPU):
            proton.deactivate(session)
            proton.activate(session)
    assert counts(session) == {"sin": 1, "neg": 1}
    proton.finalize(session)


def test_operators_of_other_threads_that_cannot_be_had_are_said_to_lack(tmp_path, x):
    session = proton.start(str(tmp_path / "profile"))
    is_over = threading.Event()
    thread = threading.Thread(target=lambda: is_over.wait(600))
    thread.start()
    with pytest.warns(RuntimeWarning, match="lack those of other threads"):
        with torch.profiler.profile(activities=CPU):
            torch.relu(x)
    is_over.set()
    thread.join()
    assert counts(session) == {"relu": 1}
    proton.finalize(session)


def test_one_that_records_no_operators(tmp_path, x):
    session = proton.start(str(tmp_path / "profile"))
    torch.relu(x)
    with pytest.warns(RuntimeWarning, match="records no operators"):
        with torch.autograd.profiler.emit_itt():
            torch.sin(x)
    torch.neg(x)
    assert counts(session) == {"relu": 1, "neg": 1}
    proton.finalize(session)


def test_one_that_fails_to_begin(tmp_path, x, monkeypatch):
    session = proton.start(str(tmp_path / "profile"))
    torch.relu(x)
    with pytest.raises(TypeError):
        torch.autograd.profiler._enable_profiler("no configuration", set(CPU))
    torch.neg(x)
    assert counts(session) == {"relu": 1, "neg": 1}
    proton.finalize(session)


def test_torch_has_its_functions_back(tmp_path, x):
    names = ("_prepare_profiler", "_enable_profiler", "_disable_profiler", "_is_profiler_enabled")
    before = [getattr(torch.autograd.profiler, name) for name in names]
    session = proton.start(str(tmp_path / "profile"))
    proton.deactivate(session)
    assert [getattr(torch.autograd.profiler, name) for name in names] == before
    proton.activate(session)
    proton.finalize(session)
    assert [getattr(torch.autograd.profiler, name) for name in names] == before


def test_a_session_of_several_threads(tmp_path, x):
    session = in_thread(lambda: proton.start(str(tmp_path / "profile")))
    torch.relu(x)
    in_thread(lambda: (torch.sin(x), proton.deactivate(session)))
    torch.tan(x)  # while it is inactive
    in_thread(lambda: proton.activate(session))
    with proton.scope("open"):
        torch.neg(x)
        assert in_thread(lambda: counts(session)) == {"relu": 1, "sin": 1}
        torch.exp(x)  # under the scope that was open when the profile was read
    in_thread(lambda: (torch.cos(x), proton.finalize(session)))
    root = json.loads((tmp_path / "profile.hatchet").read_text())[0]
    found = {child["frame"]["name"]: child for child in root["children"]}
    assert found.keys() == {"open", "aten::relu", "aten::sin", "aten::cos"}
    assert {child["frame"]["name"] for child in found["open"]["children"]} == {"aten::neg", "aten::exp"}


class Event:
    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name.decode()  # raises as torch does

    def start_ns(self):
        return 1

    def end_ns(self):
        return 2

    def device_resource_id(self):
        return 1


@pytest.mark.parametrize("name, shown", [(b"aten::\xff\xfe", "aten::\ufffd\ufffd"), (b"aten::a\0b", "aten::a\ufffdb"), (b"aten::\xc3\xa9", "aten::\xe9")])
def test_names_are_any_bytes(name, shown):
    ((found, *_),) = _torch._outermost([Event(name)])
    assert found == shown
