"""The page of a profile, opened from the disk in a browser: clicks, sliders, keys, and what each part shows."""

import json

import pytest
from triton.profiler import viewer


def node(name, metrics=None, children=()):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics or {}, "children": list(children)}


def kernel(name, time, count=1, children=(), **metrics):
    return node(name, {"time (ns)": time, "count": count, "device_id": "0", "device_type": "CPU", **metrics}, children)


FACTS = {"arch": "znver4", "clock_rate": 1, "memory_clock_rate": 1, "bus_width": 1, "num_sms": 2}
PEAKS = {"peak_gbps": 10.0, "peak_flops16": 8e9, "peak_flops32": 4e9, "peak_flops64": 4e9}


def write(path, factor=1, lines=(), facts=FACTS | PEAKS, kind="CPU"):
    root = node("ROOT", {"time (ns)": 0, "count": 0, "bytes": 0, "flops32": 0}, [
        node("forward", {}, [kernel("copy", 1000 * factor, 2, bytes=8000, flops32=2000.0), kernel("fill", 500, bytes=1000)]),
        kernel("product", 3000, 3, flops32=6000.0, bytes=3000, children=lines),
        node("compile product", {"cpu_time (ns)": 7_000_000}),
    ])  # fmt: skip
    path.write_text(json.dumps([root, {kind: {"0": facts}}]))
    return str(path)


def page_of(tmp_path, *arguments):
    page = tmp_path / "page.html"
    viewer.main(["--html", str(page), *arguments])
    assert page.stat().st_size < 5_000_000
    return page.read_text()


FRAMES = """
  const frames = () => [...document.querySelectorAll('#flame .frame')], names = () => frames().map((frame) => frame.getAttribute('aria-label').split(':')[0]);
  const frame = (name) => frames().find((one) => one.getAttribute('aria-label').startsWith(name + ':')), seen = {};
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  const set = (id, value, event) => { document.getElementById(id).value = value; document.getElementById(id).dispatchEvent(new Event(event)); };
  const at = () => document.activeElement.getAttribute('aria-label')?.split(':')[0];
"""


def test_flame_graph(pages, tmp_path, in_browser):
    """A frame is as wide as its share; a click zooms in and out, keys move, the slider leaves small frames out, the search marks."""
    seen = in_browser(page_of(tmp_path, write(tmp_path / "new.hatchet")), FRAMES + """
      seen.all = names();
      seen.share = frame('product').getBBox().width / frame('ROOT').getBBox().width;
      frame('forward').dispatchEvent(new MouseEvent('click')); seen.zoomed = names(); seen.path = document.getElementById('path').textContent;
      frame('forward').dispatchEvent(new MouseEvent('click')); seen.out = names();
      frame('ROOT').focus(); press('ArrowDown'); seen.down = at(); press('ArrowRight'); seen.right = at(); press('Enter'); seen.entered = names();
      press('Escape'); seen.escaped = names().length;
      set('least', 8, 'input'); seen.least = document.getElementById('least-text').textContent;
      set('least', 0, 'input'); set('find', 'Cop', 'input'); seen.found = [document.querySelectorAll('#flame .found').length, document.getElementById('found').textContent];
      set('metric', 'bytes', 'change'); seen.bytes = frame('product').getBBox().width / frame('ROOT').getBBox().width;
      frame('copy').dispatchEvent(new MouseEvent('mousemove', {clientX: 5, clientY: 5})); seen.tip = document.getElementById('tip').textContent;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert sorted(seen["all"]) == ["ROOT", "copy", "fill", "forward", "product"] and seen["share"] == pytest.approx(2 / 3, abs=0.01)
    assert sorted(seen["zoomed"]) == ["copy", "fill", "forward"] and seen["path"] == "ROOT › forward" and sorted(seen["out"]) == sorted(seen["all"])
    assert seen["down"] == "forward" and seen["right"] == "product" and seen["entered"] == ["product"] and seen["escaped"] == 5
    assert seen["least"] == "8%"
    assert seen["found"] == [1, "1 frames"] and seen["bytes"] == pytest.approx(0.25, abs=0.01)
    assert seen["tip"].startswith("copy: 8,000 (66.7%), 2 launches")


def test_the_slider_leaves_small_frames_out(tmp_path, in_browser):
    seen = in_browser(page_of(tmp_path, write(tmp_path / "new.hatchet", factor=0.2)), FRAMES + """
      seen.all = names(); set('least', 6, 'input'); seen.six = names(); set('least', 10, 'input'); seen.ten = names();
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert "copy" in seen["all"] and "copy" not in seen["six"] and "fill" in seen["six"] and seen["ten"] == seen["six"]


def test_table_roofline_and_comparison(tmp_path, in_browser):
    old = write(tmp_path / "old.hatchet", factor=3)
    seen = in_browser(page_of(tmp_path, "-diff", old, write(tmp_path / "new.hatchet")), FRAMES + """
      const first = () => [...document.querySelectorAll('#table tbody tr td:first-child')].map((cell) => cell.textContent);
      const heads = () => [...document.querySelectorAll('#table th')];
      seen.byTime = first(); seen.sorted = heads().map((head) => head.getAttribute('aria-sort'));
      heads()[0].querySelector('button').click(); seen.byName = first(); heads()[0].querySelector('button').click(); seen.turned = first();
      heads()[9].querySelector('button').click(); seen.byHost = first()[0];
      seen.row = [...document.querySelectorAll('#table tbody tr')].find((row) => row.firstChild.textContent === 'copy').innerText.split('\\t');
      seen.dots = [...document.querySelectorAll('#roofline .kernel')].map((dot) => dot.textContent);
      seen.limits = document.querySelectorAll('#roofline .limit').length; seen.words = document.getElementById('roofline').textContent;
      const product = [...document.querySelectorAll('#roofline .kernel')].find((dot) => dot.textContent === 'product').getBoundingClientRect();
      const copy = [...document.querySelectorAll('#roofline .kernel')].find((dot) => dot.textContent === 'copy').getBoundingClientRect();
      seen.right = product.left > copy.left;
      document.querySelector('#roofline .dot').dispatchEvent(new MouseEvent('mousemove', {clientX: 5, clientY: 5})); seen.tip = document.getElementById('tip').textContent;
      seen.compare = [...document.querySelectorAll('#compare tr')].map((row) => row.innerText.split('\\t'));
      seen.better = document.querySelector('#compare .better').textContent;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["byTime"][:3] == ["product", "copy", "fill"] and seen["sorted"][1] == "descending" and seen["sorted"].count("none") == len(seen["sorted"]) - 1
    assert seen["byName"] == sorted(seen["byName"]) and seen["turned"] == seen["byName"][::-1] and seen["byHost"] == "compile product"
    assert seen["row"][:5] == ["copy", "1.000 µs", "1.000 µs", "2", "500 ns"] and "8" in seen["row"]
    assert sorted(seen["dots"]) == ["copy", "product"] and seen["limits"] == 2 and seen["right"]
    assert "4 GFLOP/s, 64 and 32 bits" in seen["words"] and "8 GFLOP/s, 16 bits" in seen["words"] and "10 GB/s" in seen["words"]
    assert "GFLOP/s at" in seen["tip"]
    assert seen["compare"][0] == ["frame", "old.hatchet", "new.hatchet", "change"] and ["copy", "3.000 µs", "1.000 µs", "-66.7%"] in seen["compare"]
    assert seen["better"] == "-66.7%"


SIZES = [(1440, 900), (800, 900)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_names_in_the_roofline_do_not_collide(size, tmp_path, in_browser):
    """Forty kernels close to each other and to the limits: each name that is there can be read, stands near its dot, and the others are counted."""
    near = [kernel(f"a kernel with a long name {i}", 1000 + i, flops32=4000.0 * (1 + i % 7 / 20), bytes=400 * (1 + i % 5)) for i in range(34)]
    far = [kernel(f"alone {i}", 100 * 4**i, flops32=300.0, bytes=10 ** (i + 1)) for i in range(6)]
    facts = FACTS | {"peak_gbps": 10.0, "peak_flops8": 8.5e9, "peak_flops16": 8e9, "peak_flops32": 4.2e9, "peak_flops64": 4e9}
    path = tmp_path / "crowd.hatchet"
    path.write_text(json.dumps([node("ROOT", {"time (ns)": 0, "count": 0, "bytes": 0, "flops32": 0}, near + far), {"CPU": {"0": facts}}]))
    seen = in_browser(page_of(tmp_path, str(path)), """
      const box = (one) => { const {left, right, top, bottom} = one.getBoundingClientRect(); return [left, top, right, bottom]; }, all = (which) => [...document.querySelectorAll('#roofline ' + which)];
      document.title = JSON.stringify({names: all('.of-kernel').map((one) => [one.textContent, ...box(one)]), limits: all('.of-limit').map((one) => [one.textContent, ...box(one)]), dots: all('.dot').map((one) => [one.getAttribute('aria-label'), ...box(one)]),
        lines: all('.leader').length, plot: box(document.getElementById('roofline')), card: box(document.getElementById('roofline-part')), note: document.getElementById('roofline-note').textContent,
        fits: document.documentElement.scrollWidth <= innerWidth});
    """, size)  # fmt: skip
    texts = seen["names"] + seen["limits"]
    for i, (one, *a) in enumerate(texts):
        for other, *b in texts[:i] + [dot for dot in seen["dots"] if dot[0] != one]:
            assert a[0] >= b[2] - 1 or b[0] >= a[2] - 1 or a[1] >= b[3] - 2 or b[1] >= a[3] - 2, (one, other, a, b)
    assert len(seen["limits"]) == 5 and len(seen["dots"]) == 40 and 8 <= len(seen["names"]) < 40
    assert {f"alone {i}" for i in range(6)} <= {name for name, *_ in seen["names"]}
    assert seen["note"].startswith(f"{40 - len(seen['names'])} without a name")
    places = {name: ((left + right) / 2, (top + bottom) / 2) for name, left, top, right, bottom in seen["dots"]}
    for name, left, top, right, bottom in seen["names"]:
        x, y = places[name]
        assert abs((top + bottom) / 2 - y) < 125 and left - 125 < x < right + 125, name
    assert seen["plot"][2] - seen["plot"][0] > 0.9 * (seen["card"][2] - seen["card"][0]) and seen["fits"]  # as wide as the card


@pytest.mark.parametrize("name, ours", [("aten::mm", False), ("void at::native::vectorized_elementwise_kernel<4>", False), ("ampere_sgemm_128x64_nn", True)])
def test_kernels_are_told_from_torchs_operators(name, ours, tmp_path, in_browser):
    """In the table and in the roofline, by one choice for both; a library's kernel where ours say what they are."""
    own = {"config": "BLOCK=64", "source": "/home/me/train.py:12"} if ours else {}
    root = node("ROOT", {"time (ns)": 0, "count": 0}, [node("forward", {}, [kernel("mine", 100, bytes=100, flops32=500.0, **own), kernel(name, 200, bytes=100, flops32=100.0)])])
    (tmp_path / "p.hatchet").write_text(json.dumps([root, {"CPU": {"0": FACTS | PEAKS}}]))
    seen = in_browser(page_of(tmp_path, str(tmp_path / "p.hatchet")), """
      const selects = [...document.querySelectorAll('.only')], now = () => [[...document.querySelectorAll('#table tbody tr td:first-child')].map((cell) => cell.textContent).sort(), [...document.querySelectorAll('#roofline .dot')].map((dot) => dot.getAttribute('aria-label')).sort()];
      const set = (at, value) => { selects[at].value = value; selects[at].dispatchEvent(new Event('change')); return [...now(), selects.map((one) => one.value)]; };
      document.title = JSON.stringify({shown: selects.map((one) => one.getBoundingClientRect().width > 0), all: now(), kernels: set(1, 'kernel'), operators: set(0, 'operator'), again: set(0, 'all'),
        head: [...document.querySelectorAll('#table th')].pop().textContent, written: [...document.querySelectorAll('#table tbody tr')].map((row) => [row.lastChild.textContent, row.lastChild.title])});
    """)  # fmt: skip
    assert seen["shown"] == [True, True] and seen["all"] == [sorted(["forward", "mine", name]), sorted(["mine", name])]
    assert seen["kernels"] == [["mine"], ["mine"], ["kernel"] * 2] and seen["operators"] == [[name], [name], ["operator"] * 2] and seen["again"][:2] == seen["all"]
    assert (seen["head"] == "written at") == ours and (["train.py:12", "/home/me/train.py:12"] in seen["written"]) == ours


def test_nothing_to_choose_without_operators(tmp_path, in_browser):
    seen = in_browser(page_of(tmp_path, write(tmp_path / "new.hatchet")), "document.title = JSON.stringify([...document.querySelectorAll('.only')].map((one) => one.getBoundingClientRect().width));")
    assert seen == [0, 0]


def test_a_row_of_several_frames_has_the_share_of_all(tmp_path, in_browser):
    """Least times over times, not the largest share; what is above the peak is marked."""
    write(tmp_path / "new.hatchet")
    root, devices = json.loads((tmp_path / "new.hatchet").read_text())
    frame = next(child for child in root["children"][0]["children"] if child["frame"]["name"] == "copy")
    for name, factor in (("again", 0.5), ("slow", 10)):
        again = json.loads(json.dumps(frame))
        again["metrics"]["time (ns)"] *= factor
        root["children"].append({"frame": {"name": name, "type": "function"}, "metrics": {}, "children": [again]})
    (tmp_path / "merged.hatchet").write_text(json.dumps([root, devices]))
    seen = in_browser(page_of(tmp_path, str(tmp_path / "merged.hatchet")), """
      const row = [...document.querySelectorAll('#table tbody tr')].find((row) => row.firstChild.textContent === 'copy');
      document.title = JSON.stringify({util: row.children[8].textContent, note: document.getElementById('table-note').textContent});
    """)
    bytes, time = frame["metrics"]["bytes"], frame["metrics"]["time (ns)"]
    assert seen == {"util": f"{100 * 3 * bytes / 10 / (11.5 * time):.1f}%", "note": ""}


def test_what_is_not_there_is_said_or_hidden(tmp_path, in_browser):
    seen = in_browser(page_of(tmp_path, write(tmp_path / "new.hatchet", facts=FACTS, kind="CUDA")), """
      const hidden = [...document.querySelectorAll('section')].filter((part) => part.hidden).map((part) => part.id);
      document.title = JSON.stringify({hidden, note: document.getElementById('roofline-note').textContent});
    """)  # fmt: skip
    assert seen["hidden"] == ["timeline-part", "heat-part", "compare-part"] and seen["note"] == "the device's peaks are not in the file"


def test_samples_by_line(tmp_path, in_browser):
    source = tmp_path / "kernels.py"
    source.write_text("".join(f"line {i}\n" for i in range(1, 40)))
    lines = [node(f"{source}:{line}@product", {"num_samples": count}) for line, count in ((20, 30), (22, 10))]
    seen = in_browser(page_of(tmp_path, write(tmp_path / "new.hatchet", lines=lines)), """
      const rows = [...document.querySelectorAll('#heat tr')], row = (number) => rows.find((one) => one.firstChild.textContent === String(number));
      const wide = (number) => row(number).querySelector('.bar').getBoundingClientRect().width;
      document.title = JSON.stringify({first: rows[0].innerText, hot: row(20).innerText.split('\\t'), head: document.querySelector('#heat .soft').textContent,
        ratio: wide(20) / wide(22), painted: [20, 21, 22].map((number) => row(number).style.background !== ''),
        inTable: document.getElementById('table').textContent.includes('kernels.py')});
    """)  # fmt: skip
    assert "line 15" in seen["first"] and seen["hot"][:3] == ["20", "30", "75.0%"] and seen["hot"][-1] == "line 20" and "40 samples" in seen["head"]
    assert seen["ratio"] == pytest.approx(3, abs=0.1) and seen["painted"] == [True, False, True] and not seen["inTable"]


def trace(path, slices, titles=()):
    events = [{"name": name, "cat": "kernel", "ph": "X", "pid": pid, "tid": tid, "ts": begin, "dur": length, "args": args} for name, pid, tid, begin, length, args in slices]
    events += [{"name": "thread_name", "ph": "M", "pid": 0, "tid": tid, "args": {"name": title}} for tid, title in titles]
    path.write_text(json.dumps({"displayTimeUnit": "us", "traceEvents": events}))
    return str(path)


TIMELINE = """
  const canvas = document.getElementById('timeline'), ticks = () => [...document.querySelectorAll('#timeline-axis text')].map((tick) => tick.textContent);
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent('keydown', {key})), box = canvas.getBoundingClientRect(), seen = {all: ticks(), drawn: +canvas.dataset.drawn};
"""


def test_timeline(tmp_path, in_browser):
    """The wheel and keys zoom and move; Escape shows all again; what lies under the pointer is told."""
    slices = [("step", 0, 0, 0, 1000, {}), ("copy", 0, 0, 100, 200, {}), ("copy", 0, 300000, 110, 150, {}), ("fill", 0, 300000, 500, 400, {})]
    file = trace(tmp_path / "t.chrome_trace", slices, [(0, "CPU Thread 0"), (300000, "CPU Worker 0")])
    seen = in_browser(page_of(tmp_path, file), TIMELINE + """
      const at = (time) => box.left + box.width - (1 - time / 1000) * (box.width - left()), left = () => { const first = document.querySelector('#timeline-axis .tick'); return +first.getAttribute('transform').match(/[\\d.]+/)[0]; };
      canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: at(700), clientY: box.top + 30})); seen.tip = document.getElementById('tip').textContent;
      canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: at(200), clientY: box.top + 8})); seen.inner = document.getElementById('tip').textContent;
      canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -400, clientX: at(700), clientY: box.top + 30, view: window, cancelable: true})); seen.wheel = ticks();
      press('Escape'); seen.escaped = ticks(); press('+'); press('+'); seen.keys = ticks(); press('ArrowRight'); seen.moved = ticks();
      seen.hidden = document.getElementById('flame-part').hidden;
      press('Escape'); const axis = document.getElementById('timeline-axis').getBoundingClientRect();
      seen.cut = [...document.querySelectorAll('#timeline-axis text')].filter((tick) => tick.getBoundingClientRect().right > axis.right + 1).length;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["drawn"] == 4 and seen["tip"] == "fill: 400.000 µs from 500.000 µs on" and seen["inner"].startswith("copy: 200.000 µs")
    assert seen["all"][0] == "0 ns" and "1.000 ms" in seen["all"] and seen["escaped"] == seen["all"] and seen["hidden"] and seen["cut"] == 0
    assert "0 ns" not in seen["wheel"] and "0 ns" not in seen["keys"] and seen["moved"] != seen["keys"]


def test_timeline_inside_of_kernels(tmp_path, in_browser):
    """A lane for each warp of each program, in their order, and cycles for times."""
    slices = [("load", f"add Core{program % 2} CTA{program}", "warp 0 (line 12)", program * 5, 3, {"unit": "cycles"}) for program in range(12)]
    page = page_of(tmp_path, trace(tmp_path / "inside.chrome_trace", slices))
    seen = in_browser(page, TIMELINE + "seen.lanes = DATA.profile.trace.lanes; document.title = JSON.stringify(seen);")
    assert seen["drawn"] == 12 and seen["all"][0] == "0 cycles" and seen["lanes"][0] == "add Core0 CTA0 · warp 0 (line 12)" and len(seen["lanes"]) == 12


def test_a_large_trace_stays_small_and_quick(tmp_path, in_browser):
    slices = [(f"kernel {i % 50}", 0, i % 8, i // 8 * 3 + i % 7 * 0.1, 1 + i % 5 * 0.3, {}) for i in range(150_000)]
    page = page_of(tmp_path, trace(tmp_path / "t.chrome_trace", slices))
    seen = in_browser(page, TIMELINE + """
      const begin = performance.now();
      for (let i = 0; i < 10; i++) press('+');
      seen.took = performance.now() - begin; seen.near = +canvas.dataset.drawn; seen.note = document.getElementById('timeline-note').textContent;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["drawn"] <= 8 * 1300 and 0 < seen["near"] < 5000 and seen["took"] < 60_000 and "90000 of its shortest slices are left out" in seen["note"]


def test_without_d3_there_are_words(tmp_path, monkeypatch):
    from nacre import pages

    monkeypatch.setattr(pages, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(RuntimeError, match="node-d3"):
        pages.library()
