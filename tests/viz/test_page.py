"""The page of launches as somebody meets it who sees it for the first time: what it opens on, what scrolls, keys, findings, odd launches."""

import re

import numpy as np
import pytest
import triton
import triton.language as tl
from nacre import viz
from nacre.runtime.errors import DeviceAssertError
from nacre.viz import _page, _record


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


def recorded(run, **options):
    viz.start(**options)
    try:
        run()
    finally:
        launches = viz.stop()
    return launches


def one_add(n=200, block=64):
    x = np.arange(n, dtype=np.float32)
    add[(triton.cdiv(n, block),)](x, np.ones_like(x), np.zeros_like(x), n, BLOCK=block)


SIZES = [(1440, 900), (800, 900)]
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_opens_on_launches_source_and_all_operations(size, in_browser):
    seen = in_browser(viz.page(recorded(one_add)), """
      const box = (id) => document.getElementById(id).getBoundingClientRect(), show = document.getElementById('show');
      const lines = [...document.querySelectorAll('#code div')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).map((row) => row.textContent);
      const canvas = document.querySelector('#arrays canvas');
      const seen = {show: show.selectedOptions[0].textContent, lines, sections: [...document.querySelectorAll('main section')].map((one) => [one.getBoundingClientRect().top, one.id]).filter(([top]) => top).sort((a, b) => a[0] - b[0]),
        rows: document.querySelectorAll('#all tr').length, drawn: DATA.launches[0].arrays.map((_, i) => touched(i).size), fits: """ + FITS + """,
        all: document.getElementById('op-all').getAttribute('aria-pressed')};
      document.querySelectorAll('#ops button')[2].click();
      seen.one = [show.value, document.getElementById('op-all').getAttribute('aria-pressed'), touched(0).size, touched(2).size];
      document.getElementById('op-all').click(); seen.again = [show.value, touched(0).size];
      document.title = JSON.stringify(seen);
    """, size)  # fmt: skip
    assert seen["show"] == "all operations of this program" and seen["all"] == "true" and seen["drawn"] == [64, 64, 64]
    assert seen["sections"][0][1] == "launches-part" and seen["rows"] == 2 and seen["fits"]
    assert any("def add" in line for line in seen["lines"]) and any("tl.store" in line for line in seen["lines"])
    assert seen["one"] == ["op", "false", 0, 64] and seen["again"] == ["program", 64]


@triton.jit
def wide_and_high(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, tl.load(x + at) + 0.125)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values_scroll_in_their_own_box(size, in_browser):
    def run():
        for shape in ((2, 128), (64, 4), (1, 512)):
            x = np.linspace(1000, 2000, np.prod(shape), dtype=np.float32).reshape(shape)
            wide_and_high[(1,)](x, np.zeros_like(x), ROWS=shape[0], COLUMNS=shape[1])

    seen = in_browser(viz.page(recorded(run)), """
      document.title = JSON.stringify(DATA.launches.map((_, i) => {
        selectLaunch(i);
        const table = document.querySelector('#tiles table'), box = table.getBoundingClientRect(), inner = document.getElementById('values-part').getBoundingClientRect();
        return {cells: table.querySelectorAll('td').length, high: box.height, inside: box.right <= inner.right, fits: """ + FITS + """,
                scrolls: [table.scrollWidth > table.clientWidth, table.scrollHeight > table.clientHeight], last: [...table.rows].pop().cells[0].textContent};
      }));
    """, size)  # fmt: skip
    assert all(one["fits"] and one["inside"] and one["high"] <= 300 and one["cells"] == 256 for one in seen)
    assert seen[0]["scrolls"][0] and seen[1]["scrolls"][1] and [one["last"] for one in seen] == ["1", "63", "0"]


@triton.jit
def doubled(x, at):
    return 2 * tl.load(x + at)


@triton.jit
def with_a_sum(x, out, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    values = doubled(x, i * N + j)
    tl.store(out + tl.arange(0, N), tl.sum(values, axis=0))
    tl.store(out + N, tl.max(tl.load(x + tl.arange(0, N * N)), axis=0))
    tl.store(out + N + 1, tl.max(tl.load(x + tl.arange(0, N * N) // 2), axis=0))


def test_rows_of_a_gpu_name_the_file_and_line_of_the_kernel(in_browser):
    launches = recorded(lambda: with_a_sum[(1,)](np.ones((32, 32), np.float32), np.zeros(34, np.float32), N=32), gpu=True)
    assert "why_not" not in launches[0].gpu
    seen = in_browser(viz.page(launches), """
      const rows = () => [...document.querySelectorAll('#gpu-lines tr')].slice(1);
      const seen = {places: rows().map((row) => row.querySelector('.where').textContent), texts: rows().map((row) => row.querySelector('code').textContent), titles: rows().map((row) => row.firstChild.title)};
      rows()[0].click(); seen.now = document.querySelector('#code .now').textContent;
      seen.launched = [...document.querySelectorAll('#all tr:last-child td')].map((cell) => cell.textContent);
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert all(re.fullmatch(r"test_page\.py:\d+(, \d+)?", place) for place in seen["places"]) and all(__file__ in title for title in seen["titles"])
    own = open(__file__).read().splitlines()
    assert seen["texts"] == [own[int(re.search(r":(\d+)", place)[1]) - 1].strip() for place in seen["places"]]
    lines = [int(re.search(r":(\d+)", place)[1]) for place in seen["places"] if "," in place]
    assert len(lines) == 1 and "tl.max(tl.load(x + tl.arange(0, N * N)), axis=0)" in own[lines[0] - 1]  # what both lines call has one row
    assert {"return 2 * tl.load(x + at)", "tl.store(out + tl.arange(0, N), tl.sum(values, axis=0))"} <= set(seen["texts"])
    assert "2 * tl.load(x + at)" in seen["now"]  # of a function that the kernel calls: its lines stand below the kernel's
    assert f"test_page.py:{with_a_sum.fn.__code__.co_firstlineno}" in seen["launched"] and sum("test_page.py:" in cell for cell in seen["launched"]) == 2


def test_layouts_have_a_key(in_browser):
    launches = recorded(lambda: with_a_sum[(1,)](np.ones((32, 32), np.float32), np.zeros(34, np.float32), N=32), gpu=True)
    seen = in_browser(viz.page(launches), """
      const key = document.getElementById('layout-key'), map = document.getElementById('layout-map'), context = map.getContext('2d'), ratio = devicePixelRatio;
      const {owner} = holders(launch().gpu.layouts[0].text), warps = new Set(owner.map((one) => one[0])).size, swatches = [...key.querySelectorAll('.warp i')];
      const hue = ([r, g, b]) => d3.hsl(d3.rgb(r, g, b)).h, pixel = (x, y) => [...context.getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3);
      const seen = {warps, text: key.textContent, named: [...key.querySelectorAll('.warp')].map((one) => one.textContent)};
      seen.sameHue = Math.abs(d3.hsl(swatches[0].style.background).h - hue(pixel(2, 2))); // element (0, 0) is warp 0's
      const wide = map.width; document.getElementById('layout-numbers').click(); seen.numbers = [wide > map.width, key.querySelector('.registers').textContent];
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["named"] == [f"warp {i}" for i in range(seen["warps"])] and seen["sameHue"] < 8
    assert "colour:" in seen["text"] and "lane 0 (light) to lane 31 (dark)" in seen["text"] and "lane:register" in seen["text"]
    assert seen["numbers"][0] and "numbers" in seen["numbers"][1]


@triton.jit
def past_the_end(x, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1.0)


@triton.jit
def all_to_one(x, out):
    tl.store(out + 6, tl.load(x + tl.program_id(0)))


FINDING = """
  const button = document.querySelector('#findings button'); button.click();
  const part = document.querySelector('#arrays .marked'), canvas = part.querySelector('canvas'), context = canvas.getContext('2d');
  const seen = {program: document.getElementById('program').textContent, show: document.getElementById('show').value, array: canvas.dataset.array,
    line: document.querySelector('#code .now').textContent, op: document.querySelector('#ops .now')?.textContent, marked: document.querySelectorAll('.marked').length,
    strip: [...part.querySelectorAll('.strip span')].map((one) => [one.textContent, one.className])};
"""


def test_a_finding_out_of_bounds_is_drawn(in_browser):
    seen = in_browser(viz.page(recorded(lambda: past_the_end[(3,)](np.zeros(20, np.float32), BLOCK=8))), FINDING + "document.title = JSON.stringify(seen);")
    assert seen["program"].startswith("program (2,0,0)") and seen["show"] == "op" and seen["op"].endswith("store x") and "tl.store" in seen["line"]
    assert seen["array"] == "x" and seen["marked"] == 1
    ends = [["0", "inside"], ["…", "more"], ["19", "inside"]]
    assert seen["strip"] == ends + [["20", "bad found"], ["21", "bad"], ["22", "bad"], ["23", "bad"]]


def test_a_finding_within_an_array_is_drawn(in_browser):
    """A race, in an array of two axes: a red frame around the element, which the choice of another program takes away."""
    launches = recorded(lambda: all_to_one[(4,)](np.ones(4, np.float32), np.zeros((4, 4), np.float32)), kinds=("tsan",))
    assert launches[0].findings
    seen = in_browser(viz.page(launches), FINDING + """
      const red = () => { // the middle of what is red, in elements
        const {data, width, height} = context.getImageData(0, 0, canvas.width, canvas.height), found = [];
        for (let i = 0; i < data.length; i += 4) if (data[i] > 150 && data[i + 1] < 60 && data[i + 2] < 60) found.push([i / 4 % width, Math.floor(i / 4 / width)]);
        return found.length ? [0, 1].map((axis) => Math.floor(d3.mean(d3.extent(found, (one) => one[axis])) / (axis ? height : width) * 4)) : null;
      };
      seen.red = red(); choose(0); seen.after = [red(), document.querySelectorAll('.marked').length];
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["program"].startswith(f"program ({launches[0].findings[0]['program'][0]},0,0)") and seen["array"] == "out"
    assert seen["red"] == [2, 1] and seen["strip"] == [] and seen["after"] == [None, 0]  # element 6 of rows of four


def test_a_slider_stays_while_it_is_dragged(in_browser):
    seen = in_browser(viz.page(recorded(one_add)), """
      const slider = document.querySelector('#axes input'), drag = (value) => { slider.value = value; slider.dispatchEvent(new Event('input')); return [slider.isConnected, document.getElementById('program').textContent]; };
      document.title = JSON.stringify([drag(1), drag(2), drag(3)]);
    """)  # fmt: skip
    assert [connected for connected, _ in seen] == [True] * 3 and [text[:11] for _, text in seen] == [f"program ({i}," for i in (1, 2, 3)]


@triton.jit
def long_loop(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        total += tl.load(x + i * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + tl.arange(0, BLOCK), total)


def test_every_time_of_a_loop_can_be_seen(in_browser):
    """A button for a place of the text, a slider for its times: neither 1,001 buttons nor the first 400 alone."""
    x = np.arange(16 * 1000, dtype=np.float32)
    seen = in_browser(viz.page(recorded(lambda: long_loop[(1,)](x, np.zeros(16, np.float32), 1000, BLOCK=16))), """
      const buttons = [...document.querySelectorAll('#ops button')], seen = {names: buttons.map((one) => one.textContent)}, times = document.getElementById('op-times');
      seen.hidden = times.hidden; buttons[0].click();
      const slider = times.querySelector('input'); slider.value = 1000; slider.dispatchEvent(new Event('input'));
      seen.last = [times.querySelector('span').textContent, [...touched(0).keys()][0], document.querySelector('#tiles td').textContent, slider.isConnected];
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert [name.split(": ")[1] for name in seen["names"]] == ["load x × 1,000", "store out"] and seen["hidden"]
    assert seen["last"] == ["1,000 of 1,000", 16 * 999, "15,984", True]


def described(**facts):
    """A launch that nobody ran."""
    given = {"kernel": "kernel", "grid": (1, 1, 1), "launched_at": "here.py:3 in <module>", "file": "file.py", "first_line": 1, "source": ["def kernel(): pass"], "constants": {}, "arrays": []}
    return _record.Launch(**{**given, **facts})


def array(shape, **facts):
    strides, size = [], 1
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return {"name": "x", "type": "float32", "shape": list(shape), "strides": strides, "size": 4, "origin": 0, "first": 0, "last": size - 1, "before": None, "after": None, **facts}


def test_names_and_texts_of_every_kind(in_browser):
    odd = '<!-- <script> </script> & " \' \\ \u2028 {{x}} /*DATA*/ $& größe'
    launches = [described(kernel=odd, file=f"/tmp/{odd}/a&b.py", source=[f"def kernel(): # {odd}"], note=odd, constants={"mode": odd}, arrays=[array([3], name=odd)])]
    seen = in_browser(viz.page(launches), """
      document.title = JSON.stringify({kernel: document.querySelector('#all tr:last-child').cells[1].textContent, line: document.querySelectorAll('#code div')[1].textContent,
        facts: document.getElementById('facts').textContent, scripts: document.scripts.length, array: document.querySelector('#arrays canvas').dataset.array});
    """)  # fmt: skip
    assert seen["kernel"] == seen["array"] == odd and seen["line"].endswith(odd) and odd in seen["facts"] and seen["scripts"] == 6


SHAPES = [(1,), (0,), (7,), (100_000,), (1, 100_000), (100_000, 1), (50_000, 3), (4096, 4096), (4, 8, 16), (3, 1, 2, 5), (200, 2, 2), (2, 3, 40_000), (2, 0, 3), ()]


def test_maps_of_arrays_of_every_shape(in_browser):
    """Every element has its place, which leads back to it; the whole array is in view, and high enough to be seen."""
    seen = in_browser(viz.page([described(arrays=[array(shape)]) for shape in SHAPES]), """
      document.title = JSON.stringify(DATA.launches.map((owner, i) => {
        selectLaunch(i);
        const one = owner.arrays[0], part = layout(one), canvas = document.querySelector('#arrays canvas'), size = one.last + 1, wrong = [];
        for (let k = 0; k < Math.min(size, 500); k++) {
          const at = Math.floor(k * Math.max(1, (size - 1) / 499)), [r, c] = part.find(at) ?? [-1, -1], back = part.element(r, c);
          if (!back || back.at !== at || r >= part.rows || c >= part.columns) wrong.push([at, r, c, back]);
        }
        return {wrong: wrong.slice(0, 3), beyond: [part.find(-1), part.find(size)], cells: part.rows * part.columns, hidden: canvas.hidden, high: canvas.clientHeight, wide: canvas.clientWidth,
          shown: canvas.dataset.shown, all: `0-${part.rows - 1}, 0-${part.columns - 1}`, fits: """ + FITS + """};
      }));
    """)  # fmt: skip
    for shape, one in zip(SHAPES, seen, strict=True):
        count = int(np.prod(shape, dtype=int))
        assert one["wrong"] == [] and one["fits"] and one["hidden"] == (count == 0), (shape, one)
        if count:
            assert one["beyond"] == [None, None] and count <= one["cells"] <= 2.5 * count + 300, (shape, one)
            assert one["shown"] == one["all"] and 8 <= one["high"] <= 361 and one["high"] * one["wide"] >= min(count, 100_000) / 2, (shape, one)


def test_an_element_that_is_touched_shows_in_a_large_array(in_browser):
    """One of 16 million: smaller than a pixel, and drawn."""
    access = (0, "store", 1, 4, 0, 0, (), [4 * (1000 * 4096 + 3000)], [])
    record = {"programs": [(0, 4, 1, 1, 0)], "sites": [("store", "file.py", 1, 1, 1, 1, 1, 4, 1)], "accesses": [access], "order": [0]}
    seen = in_browser(viz.page([described(arrays=[array((4096, 4096))], record=record)]), """
      const canvas = document.querySelector('#arrays canvas'), {data, width, height} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), found = [];
      for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 60) found.push([i / 4 % width / width, Math.floor(i / 4 / width) / height]);
      document.title = JSON.stringify(found);
    """)  # fmt: skip
    assert 1 <= len(seen) <= 4 and seen[0] == pytest.approx([3000 / 4096, 1000 / 4096], abs=0.01)


GRIDS = [(0, 1, 1), (10_000, 1, 1), (1, 10_000, 1), (3, 500, 7), (1 << 19, 1, 1)]


def test_grids_of_every_size(in_browser):
    """The map fits, and every program of it can be chosen; the page has a part of the sums of a million programs, and their total."""
    def of(grid):
        count = int(np.prod(grid))
        return described(grid=grid, record={"programs": [(64, 32, 24, 24 - i % 3, 1000 + i) for i in range(count)], "order": list(range(count))})

    page = viz.page([of(grid) for grid in GRIDS])
    assert len(page) < 5_000_000
    seen = in_browser(page, """
      const map = document.getElementById('grid'), program = () => document.getElementById('program').textContent;
      document.title = JSON.stringify(DATA.launches.map((owner, i) => {
        selectLaunch(i);
        const box = map.getBoundingClientRect(), seen = {size: [box.width, box.height], start: program(), fits: """ + FITS + """, loaded: document.getElementById('all').rows[i + 1].cells[6].textContent};
        choose(owner.grid.reduce((a, b) => a * b, 1) - 1); seen.last = program();
        map.dispatchEvent(new MouseEvent('click', {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2})); seen.clicked = program();
        return seen;
      }));
    """)  # fmt: skip
    assert [one["loaded"] for one in seen] == ["0B", "640kB", "640kB", "672kB", "33.6MB"]
    assert seen[0]["start"] == "the grid has no programs"
    for grid, one in zip(GRIDS, seen, strict=True):
        assert one["fits"] and one["size"][1] <= 320, (grid, one)
        if 0 not in grid:
            assert one["last"].startswith("program (%d,%d,%d): 64 bytes loaded" % tuple(extent - 1 for extent in grid)), (grid, one)
            assert one["start"].startswith("program (0,0,0)") and one["clicked"] not in (one["last"], one["start"]), (grid, one)


def test_whole_numbers_are_shown_as_they_are(in_browser):
    """Not in six digits, which is another number; NaN and infinities by name."""
    @triton.jit
    def copy(x, out, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at))

    def run():
        for x in (np.array([1234567, -2**31 + 1, 0, 7], np.int32), np.array([float("nan"), float("inf"), -float("inf"), 16777215.0], np.float32), np.array([2**62 + 1, 3, 2, 1], np.int64)):
            copy[(1,)](x, np.zeros_like(x), BLOCK=4)

    launches = recorded(run)
    assert [launch.document()["arrays"][1]["after"] for launch in launches][::2] == [[1234567, -2**31 + 1, 0, 7], [2**62 + 1, 3, 2, 1]]
    seen = in_browser(viz.page(launches), """
      const cells = () => [...document.querySelectorAll('#tiles td')].map((cell) => cell.textContent), seen = DATA.launches.map((_, i) => { selectLaunch(i); return cells(); });
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert "1234567" in viz.text(launches)
    assert seen[0] == ["1,234,567", "-2,147,483,647", "0", "7"] and seen[1] == ["NaN", "Infinity", "-Infinity", "16,777,215"]
    assert seen[2] == ["4.612e+18", "3", "2", "1"]  # beyond what the page's numbers hold


def test_many_launches_stay_a_small_page(in_browser, monkeypatch):
    """Each keeps its share, the small ones all they have; the source is there once; launches past the most are said to be left out."""
    def run():
        one_add(10)
        for _ in range(30):
            one_add(4096)

    launches = recorded(run)
    assert len(viz.page(launches[1:2])) - len(viz.page([])) > 40_000
    monkeypatch.setattr(_page, "MOST_BYTES", 300_000)
    monkeypatch.setattr(_page, "MOST_LAUNCHES", 25)
    page = viz.page(launches)
    assert len(page) - len(viz.page([])) <= 301_000 and page.count("def add(x, y, out, n, BLOCK: tl.constexpr)") == 1
    seen = in_browser(page, """
      const seen = {launches: DATA.launches.length, note: document.getElementById('launches-note').textContent, first: DATA.launches[0].left_out, source: []};
      for (const i of [0, 24]) { selectLaunch(i); seen.source.push(document.querySelectorAll('#code div').length); }
      const box = document.querySelector('#launches-part .scroll').getBoundingClientRect(), row = document.querySelector('#all .now').getBoundingClientRect();
      seen.facts = document.getElementById('facts').textContent; seen.inView = row.top >= box.top && row.bottom <= box.bottom && box.height <= 150;
      document.title = JSON.stringify(seen);
    """)  # fmt: skip
    assert seen["launches"] == 25 and seen["note"].startswith("6 later ones are left out") and seen["first"] == 0
    assert seen["source"][0] == seen["source"][1] > 4 and "accesses summed up only" in seen["facts"] and seen["inView"]


@triton.jit
def asserts(x, n):
    tl.device_assert(tl.program_id(0) < n, "too many")
    tl.store(x + tl.program_id(0), 1.0)


def test_a_launch_that_raises_is_in_the_page(in_browser):
    """At its place, with its source, and what it is said of it; the others are as they were."""
    def run():
        one_add()
        with pytest.raises(DeviceAssertError, match="too many"):
            asserts[(4,)](np.zeros(4, np.float32), 2, debug=True)
        one_add()

    launches = recorded(run)
    assert [launch.kernel for launch in launches] == ["add", "asserts", "add"] and launches[2].record["programs"] and not launches[2].note
    assert "it ended with an error" in viz.text(launches)
    seen = in_browser(viz.page(launches), """
      selectLaunch(1);
      document.title = JSON.stringify({facts: document.getElementById('facts').textContent, op: document.getElementById('op').textContent, source: document.getElementById('code').textContent, program: document.getElementById('program').textContent});
    """)  # fmt: skip
    assert "not shown: it ended with an error" in seen["facts"] and seen["op"] == "nothing is kept of it" and "device_assert" in seen["source"]
    assert seen["program"] == "there are no sums of its programs"


@pytest.mark.filterwarnings("error")
def test_an_unwritten_array_gives_no_warning():
    """Its elements may be signalling NaN, which NumPy warns of when it converts them."""
    array = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    assert _record._values(array)[1] == 1
