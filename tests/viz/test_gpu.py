"""`nacre viz --gpu`: what a simulated GPU counts by line, and layouts of tiles."""


import numpy as np
import pytest
import triton
import triton.language as tl
from nacre import viz
from nacre.viz import _gpu


@triton.jit
def turn(x, out, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    tl.store(out + j * N + i, value)


@triton.jit
def every_other(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 2 * at, mask=2 * at < n), mask=at < n)


@pytest.fixture(scope="module")
def recorded():
    x, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    viz.start(gpu=True)
    try:
        turn[(1,)](x, out, N=32)
        every_other[(4,)](x, out, 1000, BLOCK=256)
        every_other._set_interpreted(True)
        every_other[(4,)](x, out, 1000, BLOCK=256)
        every_other._set_interpreted(False)
    finally:
        found = viz.stop()
    assert (out[:500] == x[:1000:2]).all()  # the CPU's own; the GPU had copies
    return found


def test_sectors_by_line(recorded):
    turned, stepped, _ = [launch.document()["gpu"] for launch in recorded]
    load, store = turned["lines"]
    assert load["ideal_sectors"] == store["ideal_sectors"] == 128  # 4096 bytes by 32
    # The compiler chooses whose sectors it shares out; without shared memory not both sides can have whole ones.
    assert min(load["global_sectors"], store["global_sectors"]) >= 128 and load["global_sectors"] + store["global_sectors"] > 256
    assert turned["architecture"] == "sm_90" and turned["grid"] == [1, 1, 1] and not turned["findings"]
    source = recorded[1].source
    (line,) = [row for row in stepped["lines"] if "tl.load" in source[row["line"] - recorded[1].first_line]]
    assert line["global_sectors"] > line["ideal_sectors"] and stepped["grid"] == [4, 1, 1]


def test_layouts(recorded):
    first = recorded[0].gpu["layouts"][0]
    assert first["text"].startswith("[32, 32] register") and "load" in first["used_by"]


def test_what_cannot_be_simulated_says_why(recorded):
    assert "Python runs the kernel" in recorded[2].gpu["why_not"]
    assert "not simulated: Python runs" in viz.text(recorded)


@triton.jit
def columns(x, out, stride, to, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    values = tl.load(x + i * stride + j)
    tl.store(out + i * to + j, values)


@pytest.mark.parametrize("type", ["float32", "bfloat16", "float8_e5m2", "bool"])
def test_views_of_every_type(type):
    """Where elements are is kept: strides, how an array lies in its sectors, memory that two arguments share."""
    torch = pytest.importorskip("torch")
    size = getattr(torch, type).itemsize
    storage = torch.zeros(33 * 128 + 256, dtype=getattr(torch, type))
    begin = -storage.data_ptr() % 256 // size
    sectors = []
    for shift in (0, 1):
        view = storage[begin : begin + 32 * 128].view(32, 128)[:, shift : 32 + shift]
        viz.start(gpu=True)
        try:
            columns[(1,)](view, torch.zeros(32, 32, dtype=view.dtype), 128, 32, N=32)
            columns[(1,)](view, view, 128, 128, N=32)
        finally:
            launches = viz.stop()
        for launch in launches:
            assert "why_not" not in launch.gpu and not launch.gpu["findings"], launch.gpu
        sectors.append([row["global_sectors"] for launch in launches for row in launch.gpu["lines"]])
    aligned, shifted = sectors
    assert aligned[0] >= size * 32 and shifted[0] >= aligned[0] + 32 and shifted[1] == aligned[1]  # each row of the view has one more
    assert shifted[2] == shifted[3] == shifted[0]


def test_an_empty_grid():
    x = np.arange(64, dtype=np.float32)
    viz.start(gpu=True)
    try:
        every_other[(0,)](x, x, 64, BLOCK=64)
    finally:
        (launch,) = viz.stop()
    assert launch.gpu["why_not"] == "the grid is empty" and "not simulated: the grid is empty" in viz.text([launch])


def test_large_grids_are_cut():
    assert _gpu._cut((1000, 7, 2)) == (256, 1, 1) and _gpu._cut((3, 5, 2)) == (3, 5, 2) and _gpu._cut((20, 100, 3)) == (20, 12, 1)


def test_in_a_browser(recorded, in_browser):
    seen = in_browser(viz.page(recorded), """
      const seen = {rows: [...document.querySelectorAll('#gpu-lines tr')].map((row) => row.children.length), layouts: document.querySelectorAll('#layout option').length};
      const {shape, owner} = holders(launch().gpu.layouts[0].text);
      seen.shape = shape; seen.held = owner.filter((one) => one).length; seen.lanes = new Set(owner.map((one) => one[0] * 32 + one[1])).size;
      const map = document.getElementById('layout-map'), box = map.getBoundingClientRect();
      map.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + 3, clientY: box.top + 3})); seen.tip = document.getElementById('tip').textContent;
      const row = document.getElementById('layout').closest('.row'); seen.rowsOfLayouts = [row.style.display];
      selectLaunch(2); seen.why = document.getElementById('gpu').textContent; seen.rowsOfLayouts.push(row.style.display);
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["rows"] == [5, 5, 5] and seen["layouts"] >= 2 and seen["shape"] == [32, 32] and seen["held"] == 1024 and seen["lanes"] == 128
    assert seen["tip"] == "element (0, 0): warp 0, lane 0, register 0" and "not simulated" in seen["why"] and seen["rowsOfLayouts"] == ["", "none"]
