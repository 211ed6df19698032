"""Samples per line of kernels on the CPU (mode pcsampling)."""

import json
import time

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
from nacre.profiler._graph import read
from nacre.profiler._page import _heat


@triton.jit
def spin(out, n, BLOCK: tl.constexpr):
    value = tl.arange(0, BLOCK).to(tl.float32)
    for i in range(n):
        value = tl.sin(value) + i
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)


HOT = spin.fn.__code__.co_firstlineno + 4  # the sine


def lines_of(session):
    """frame below the kernel's -> samples"""
    kernel = next((child for child in proton.data.get(session)[0]["children"] if child["frame"]["name"] == "spin"), {"children": []})
    return {child["frame"]["name"]: child["metrics"]["num_samples"] for child in kernel["children"]}


def sampled(session, most_seconds=600):
    """Launches until there are some samples: how many a launch gets is the machine's affair."""
    out = np.zeros(64 * 4, np.float32)
    until = time.monotonic() + most_seconds
    while sum(lines_of(session).values()) < 20 and time.monotonic() < until:
        spin[(4,)](out, 20000, BLOCK=64)
    return lines_of(session)


def test_lines_are_frames_below_the_kernel(tmp_path):
    session = proton.start(str(tmp_path / "profile"), mode="pcsampling:interval=500")
    with proton.scope("unused"):
        pass
    found = sampled(session)
    assert sum(found.values()) >= 20
    assert found.get(f"{__file__}:{HOT}@spin", 0) > sum(found.values()) / 2, found
    proton.finalize(session)
    root, _ = json.loads((tmp_path / "profile.hatchet").read_text())
    assert root["metrics"]["num_samples"] == 0  # it is inclusive
    graph, inclusive, *_ = read(str(tmp_path / "profile.hatchet"))
    assert "num_samples" in inclusive and graph.root.total["num_samples"] == sum(found.values())
    heat = _heat(graph.root)
    assert heat[0]["file"] == __file__ and dict((line, count) for line, _, count in heat[0]["lines"])[HOT] == found[f"{__file__}:{HOT}@spin"]
    assert any("tl.sin" in text for _, text, _ in heat[0]["lines"])


def test_other_sessions_have_none(tmp_path):
    plain = proton.start(str(tmp_path / "plain"), backend="instrumentation")
    sampling = proton.start(str(tmp_path / "sampling"), mode=proton.mode.PCSampling(interval=500))
    assert sampled(sampling) and not lines_of(plain)
    with pytest.raises(RuntimeError, match="different mode"):
        proton.start(str(tmp_path / "other"))


def test_sessions_that_look_inside_do_not_sample():
    with pytest.raises(ValueError, match="pcsampling is one of the backends 'cpu' and 'cupti'"):
        proton.start("refused", backend="instrumentation", mode="pcsampling")
