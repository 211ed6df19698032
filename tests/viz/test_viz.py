"""The visualizer: what is recorded, the text, the page in a browser, triton_viz's calls."""

import numpy as np
import pytest
import triton
import triton.language as tl
from nacre import viz


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def past_the_end(x, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1.0)


def launch(n=200, kernel=add):
    kernel[(triton.cdiv(n, 64),)](np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32), n, BLOCK=64)


@pytest.fixture
def launches():
    viz.start()
    try:
        launch()
        past_the_end[(3,)](np.zeros(20, np.float32), BLOCK=8)
    finally:
        found = viz.stop()
    return found


def test_what_is_recorded(launches):
    first, second = viz.document(launches)["launches"]
    assert first["kernel"] == "add" and first["grid"] == [4, 1, 1] and first["constants"] == {"n": "200", "BLOCK": "64"}
    assert [row[:2] for row in first["programs"]] == [[512, 256]] * 3 + [[64, 32]]
    assert first["programs"][3][2:4] == [192, 24] and sorted(first["order"]) == [0, 1, 2, 3]
    stores = [access for access in first["accesses"] if access["name"] == "store"]
    assert {access["program"]: access["elements"] for access in stores}[3] == [192, 1, 8]
    out = next(array for array in first["arrays"] if array["name"] == "out")
    assert out["before"][5] == 0 and out["after"][5] == 6.0
    assert second["findings"][0]["kind"] == "asan" and second["findings"][0]["program"] == [2, 0, 0]


def test_text(launches):
    shown = viz.text(launches)
    assert "launch 0: add, grid 4 x 1 x 1" in shown and "21.9% of the lanes masked off" in shown and "out of bounds" in shown


def test_page_in_a_browser(launches, in_browser):
    page = viz.page(launches)
    assert len(page) < 5_000_000 and "Redistribution and use" in page
    seen = in_browser(page, """
      const program = () => document.getElementById('program').textContent, seen = {start: program()};
      const slider = document.querySelector('#axes input');
      slider.value = 3; slider.dispatchEvent(new Event('input')); seen.slid = program();
      document.getElementById('grid').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'})); seen.key = program();
      const grid = document.getElementById('grid'), box = grid.getBoundingClientRect();
      grid.dispatchEvent(new MouseEvent('click', {clientX: box.left + 2, clientY: box.top + 2})); seen.click = program();
      document.querySelectorAll('#ops button')[2].click(); seen.op = document.getElementById('op').textContent;
      seen.line = document.querySelector('#code .now').textContent;
      document.getElementById('show').value = 'heat'; document.getElementById('show').dispatchEvent(new Event('change'));
      const maps = [...document.querySelectorAll('#arrays canvas')], all = maps[0].dataset.shown;
      seen.arrays = maps.map((map) => map.dataset.array);
      maps[0].dispatchEvent(new KeyboardEvent('keydown', {key: '+'}));
      seen.zoomed = [all, maps[0].dataset.shown];
      maps[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
      seen.back = maps[0].dataset.shown === all;
      const corner = maps[2].getBoundingClientRect();
      maps[2].dispatchEvent(new MouseEvent('mousemove', {clientX: corner.left + 3, clientY: corner.top + 3}));
      seen.tip = document.getElementById('tip').textContent;
      document.getElementById('colour').value = 'time'; document.getElementById('colour').dispatchEvent(new Event('change'));
      seen.legend = document.getElementById('legend').textContent;
      document.getElementById('play').click(); seen.play = document.getElementById('play').textContent; document.getElementById('play').click();
      document.getElementById('launch').value = 1; document.getElementById('launch').dispatchEvent(new Event('change'));
      seen.finding = document.getElementById('findings').textContent;
      document.getElementById('other').value = 0; document.getElementById('other').dispatchEvent(new Event('change'));
      seen.compare = document.getElementById('compare').textContent;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["start"].startswith("program (0,0,0)") and seen["slid"].startswith("program (3,0,0): 64 bytes loaded")
    assert seen["key"].startswith("program (2,0,0)") and seen["click"].startswith("program (0,0,0)")
    assert seen["op"].startswith("store of a 64 tile") and "tl.store" in seen["line"] and seen["arrays"] == ["x", "y", "out"]
    assert seen["zoomed"][0] == "0-1, 0-127" and seen["zoomed"][1] != seen["zoomed"][0] and seen["back"]
    assert seen["tip"] == "out[0]: 0 before, 1 after; 0 reads, 1 writes\nby (0,0,0)" and "s" in seen["legend"] and seen["play"] == "stop"
    assert "out of bounds" in seen["finding"] and "add" in seen["compare"]


def test_a_large_launch_stays_small_and_quick(in_browser):
    viz.start()
    try:
        launch(n=64 * 40_000)
    finally:
        launches = viz.stop()
    page = viz.page(launches)
    assert len(page) < 5_000_000
    seen = in_browser(page, """
      const begin = performance.now();
      document.getElementById('grid').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
      document.title = JSON.stringify({program: document.getElementById('program').textContent, took: performance.now() - begin});
    """)  # fmt: skip
    assert seen["program"].startswith("program (1,0,0)") and seen["took"] < 20_000


def test_the_time_of_programs(launches):
    first = viz.document(launches)["launches"][0]
    assert all(row[4] > 0 for row in first["programs"]) and sum(row[4] for row in first["programs"]) < 1e9 * 3600


@triton.jit
def twice(x, out, ROWS: tl.constexpr):
    for row in range(ROWS):
        tl.store(out + row * 16 + tl.arange(0, 16), tl.load(x + row * 16 + tl.arange(0, 16)))
    total = 0.0
    for row in range(ROWS):
        total += tl.sum(tl.load(x + row * 16 + tl.arange(0, 16)))
    tl.store(out, total)


def aligned(count):
    """At the begin of a cache line."""
    memory = np.zeros(count + 16, np.float32)
    first = -memory.ctypes.data % 64 // 4
    return memory[first : first + count]


def test_reuse_distances(pages):
    viz.start()
    try:
        twice[(2,)](aligned(8 * 16), aligned(8 * 16), ROWS=8)
    finally:
        launches = viz.stop()
    (launched,) = viz.document(launches)["launches"]
    lines = {launched["source"][site["line"] - launched["first_line"]].strip(): [] for site in launched["sites"]}
    for site in launched["sites"]:
        lines[launched["source"][site["line"] - launched["first_line"]].strip()].append((site["name"], site["first_touches"], site["reused"], site["reuse_distance"]))
    copy, again, last = lines.values()
    assert sorted(copy) == [("load", 16, 0, None), ("store", 16, 0, None)]  # of two programs
    assert again == [("load", 0, 16, 11)]  # between the touches of row k of x lie 15 - k others
    assert last == [("store", 0, 2, 15)]
    assert "touched again after 11 others" in viz.text(launches) and "touched again after" in viz.page(launches)


def test_triton_viz_of_three_versions(pages, tmp_path, monkeypatch):
    import triton_viz
    from triton_viz.interpreter import record_builder

    monkeypatch.chdir(tmp_path)
    record_builder.reset()
    launch(kernel=triton_viz.trace(add))  # 1.1.1
    assert not triton_viz.launch() and (tmp_path / "triton_viz.html").exists()
    launch(kernel=triton_viz.trace(clients=triton_viz.Tracer())(add))  # 2.0
    launch(kernel=triton_viz.trace("sanitizer")(add))  # 3.0
    assert len(triton_viz.core.trace.launches) == 3
    kinds = [type(record).__name__ for record in triton_viz.core.trace.launches[0].records]
    assert kinds == ["Grid", "Load", "Load", "Store"] * 4
    triton_viz.save("launches.tvz")
    triton_viz.clear()
    assert len(triton_viz.load("launches.tvz")) == 3
    triton_viz.clear()
    triton_viz.trace(past_the_end)[(3,)](np.zeros(20, np.float32), BLOCK=8)
    assert list(triton_viz.launch()) == [(2, 0, 0)]
    with pytest.raises(IndexError, match="out of bounds"):
        triton_viz.trace("sanitizer")(past_the_end)[(3,)](np.zeros(20, np.float32), BLOCK=8)
    with pytest.raises(ValueError, match="frontend"):
        triton_viz.trace("tracer", frontend="nki")
    with pytest.raises(AttributeError):
        triton_viz.config.no_such_setting = True


@triton.jit
def rows_times_columns(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    product = tl.dot(tl.load(x + at), tl.load(y + at), input_precision="ieee")
    scaled = product * 2.0 + 1.0
    tl.store(out + tl.arange(0, N), tl.sum(scaled, axis=1))


@pytest.fixture
def product_launches():
    x, y = np.arange(256, dtype=np.float32).reshape(16, 16), np.eye(16, dtype=np.float32)
    out = np.zeros(16, np.float32)
    viz.start()
    try:
        rows_times_columns[(2,)](x, y, out, N=16)
    finally:
        found = viz.stop()
    np.testing.assert_array_equal(out, (x * 2 + 1).sum(1))
    return found


def test_values_of_operations(product_launches):
    (launched,) = viz.document(product_launches)["launches"]
    names = [value["name"] for value in launched["values"] if value["program"] == 1]
    assert names == ["load", "load", "dot", "value", "sum axis 1"]
    values = {value["name"]: value for value in launched["values"]}
    x = np.arange(256, dtype=np.float32)
    left, right, result = values["dot"]["tiles"]
    assert left["shape"] == right["shape"] == result["shape"] == [16, 16]
    assert left["first"] == result["first"] == x.tolist() and right["first"] == np.eye(16).reshape(-1).tolist()
    assert values["value"]["tiles"][0]["first"] == (x * 2 + 1).tolist()
    taken, given = values["sum axis 1"]["tiles"]
    assert taken["shape"] == [16, 16] and given["shape"] == [16] and given["first"] == (x * 2 + 1).reshape(16, 16).sum(1).tolist()
    source = launched["source"]
    assert "tl.dot" in source[values["dot"]["line"] - launched["first_line"]] and "scaled" in source[values["value"]["line"] - launched["first_line"]]
    assert "sum axis 1: 16 x 16 [1, 3, 5, 7, 9, 11, ...], 16 [256, 768," in viz.text(product_launches)


def test_values_in_a_browser(product_launches, in_browser):
    seen = in_browser(viz.page(product_launches), """
      const buttons = () => [...document.querySelectorAll('#values button')], seen = {names: buttons().map((button) => button.textContent)};
      buttons().find((button) => button.textContent.endsWith('dot')).click();
      seen.tiles = [...document.querySelectorAll('#tiles .tile > div')].map((head) => head.textContent);
      seen.cells = [...document.querySelectorAll('#tiles .tile:last-child td')].slice(0, 18).map((cell) => cell.textContent);
      seen.line = document.getElementById('value-of').textContent;
      [...document.querySelectorAll('#code div')].find((row) => row.textContent.includes('tl.sum')).click();
      seen.sum = [...document.querySelectorAll('#tiles .tile > div')].map((head) => head.textContent);
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert [name.split(": ")[1] for name in seen["names"]] == ["load", "load", "dot", "value", "sum axis 1"]
    assert seen["tiles"] == ["left: 16 × 16", "right: 16 × 16", "result: 16 × 16"] and seen["cells"] == [str(i) for i in range(18)]
    assert "tl.dot" in seen["line"] and seen["sum"] == ["operand: 16 × 16", "result: 16"]


def test_the_interpreter_tells_the_same(product_launches, launches):
    """What Python runs is recorded as what was compiled: the same elements at the same lines, the same values."""
    for kernel in (add, past_the_end, rows_times_columns):
        kernel._set_interpreted(True)
    viz.start()
    try:
        launch()
        past_the_end[(3,)](np.zeros(20, np.float32), BLOCK=8)
        x, y = np.arange(256, dtype=np.float32).reshape(16, 16), np.eye(16, dtype=np.float32)
        rows_times_columns[(2,)](x, y, np.zeros(16, np.float32), N=16)
    finally:
        interpreted = viz.stop()
        for kernel in (add, past_the_end, rows_times_columns):
            kernel._set_interpreted(False)
    compiled = [*launches, *product_launches]

    def accesses(launched):
        document = launched.document()
        return [
            (access["program"], access["name"], access["array"], access.get("elements"), document["sites"][access["site"]]["line"])
            for access in document["accesses"]
        ]  # fmt: skip

    def values(launched, names):
        return [(value["program"], value["line"], value["tiles"]) for value in launched.document()["values"] if value["name"] in names]

    for one, other in zip(compiled, interpreted, strict=True):
        assert sorted(accesses(one)) == sorted(accesses(other))
        assert values(one, ["load"]) == values(other, ["load"]) and values(one, ["dot"]) == values(other, ["dot"])
        assert [finding["program"] for finding in one.findings] == [finding["program"] for finding in other.findings]
    assert values(compiled[2], ["sum axis 1"]) == values(interpreted[2], ["reduce axis 1"])


def test_traced_functions_are_called_from_kernels(tmp_path, monkeypatch):
    """In compiled code and where Python runs the caller; the records are the caller's."""
    import triton_viz

    monkeypatch.chdir(tmp_path)
    triton_viz.clear()

    @triton_viz.trace()
    @triton.jit
    def plus_one(pointer):
        return tl.load(pointer) + 1

    @triton_viz.trace()
    @triton.jit
    def caller(x, out):
        tl.store(out, plus_one(x))

    @triton_viz.trace()
    @triton.jit
    def caller_in_python(x, out):
        double = lambda value: 2 * value  # noqa: E731
        tl.store(out, double(plus_one(x)))

    x, out = np.full(1, 5, np.float32), np.zeros(1, np.float32)
    caller[(1,)](x, out)
    assert out[0] == 6
    caller_in_python[(1,)](x, out)
    assert out[0] == 12
    assert [[type(record).__name__ for record in launch.records] for launch in triton_viz.core.trace.launches] == [["Grid", "Load", "Store"]] * 2
    triton_viz.clear()


def test_launches_that_a_tuner_times_are_left_out():
    timed = []

    def bench(call, quantiles):
        call()
        timed.append(call)
        return [1.0 + len(timed)] * 3

    @triton.autotune(configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"], do_bench=bench)
    @triton.jit
    def doubled(x, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, 2 * tl.load(x + at, at < n), at < n)

    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    viz.start()
    try:
        doubled[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, out, 100)
    finally:
        launches = viz.stop()
    assert len(timed) == 2 and (out == 2 * x).all()
    assert [(launch.kernel, launch.grid, launch.constants["BLOCK"]) for launch in launches] == [("doubled", (4, 1, 1), 32)]
