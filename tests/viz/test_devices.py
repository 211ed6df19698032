"""Launches on devices whose code tells nothing, a GPU (a driver that is none) and the simulated one: their twin on the CPU is recorded."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

CUDA = Path(__file__).parents[1] / "cuda"
KERNEL = runpy.run_path(str(CUDA / "test_driver.py"))["KERNEL"]
mock_driver, run_script = (runpy.run_path(str(CUDA / "conftest.py"))[name] for name in ("mock_driver", "run_script"))

SHOWN = """
from nacre import viz
viz.start()
add[(8,)](x, y, out, 1000, BLOCK=128)
(launch,) = viz.stop()
assert (out.numpy() == 2 * values).all() and record.launches == 1
document = launch.document()
assert document["device"] == "cuda:90" and document["note"] == "", document["note"]
first, second, third = document["arrays"]
assert [array["name"] for array in document["arrays"]] == ["x", "y", "out"]
assert third["before"] == [0.0] * 1000 and third["after"] == [2.0 * i for i in range(1000)]
assert len(document["programs"]) == 8 and sum(row[0] for row in document["programs"]) == 8000
loads = [access for access in document["accesses"] if access["name"] == "load" and access["program"] == 7]
assert [access["elements"] for access in loads] == [[896, 1, 104]] * 2, loads
assert document["gpu"]["architecture"] == "sm_90" and document["gpu"]["grid"] == [8, 1, 1]
assert all(line["global_sectors"] == line["ideal_sectors"] for line in document["gpu"]["lines"]), document["gpu"]
assert "ran on cuda:90, recorded on the CPU" in viz.text([launch]) and '"device": "cuda:90"' in viz.page([launch]).replace('"device":"', '"device": "')
"""


@pytest.fixture
def run(run_script, mock_driver):
    def script(text, **environment):
        process = run_script(KERNEL + text, NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver", **environment)
        assert process.returncode == 0, process.stderr
        return process.stdout

    return script


def test_a_launch_on_a_gpu(run):
    run(SHOWN)


def test_calls_of_triton_viz(run):
    run("""
nacre.activate()
import triton_viz
from triton_viz.interpreter import record_builder
triton_viz.trace(add)[(8,)](x, y, out, 1000, BLOCK=128)
assert not triton_viz.launch() and (out.numpy() == 2 * values).all()
(launched,) = record_builder.launches
assert [type(one).__name__ for one in launched.records] == ["Grid", "Load", "Load", "Store"] * 8
record_builder.reset()
triton_viz.trace(add)[(8,)](x, y, Array(np.zeros(990, np.float32)), 1000, BLOCK=128)
invalid = triton_viz.launch()
assert list(invalid) == [(7, 0, 0)] and "'out'" in invalid[7, 0, 0][0]
assert "its arrays cannot be read" in record_builder.launches[0].recorded.note  # what this GPU says of such an access
""")


def test_arrays_that_share_memory(run):
    """Copies overlap as the arrays do, and a launch changes the device's arrays alone."""
    run("""
from nacre import viz

class Part:
    def __init__(self, whole, first, count):
        self.whole, self.first, self.count = whole, first, count
    @property
    def __cuda_array_interface__(self):
        return {"shape": (self.count,), "typestr": "<f4", "data": (self.whole.address + 4 * self.first, False), "version": 3, "strides": (4,)}

@nacre.jit
def shift(x, out, n, BLOCK: tl.constexpr):
    for i in range(n):
        tl.store(out + i, tl.load(x + i) + 2)

viz.start()
shift[(1,)](Part(x, 0, 100), Part(x, 1, 100), 100, BLOCK=1)
shift[(1,)](Part(x, 0, 3), x, 100, BLOCK=1)
first, second = (launch.document() for launch in viz.stop())
assert first["arrays"][1]["after"] == [2.0 * i for i in range(1, 101)] and not first["findings"]
assert second["findings"][0]["argument"] == "x" and second["findings"][0]["element"] == 3
""")


def test_what_has_no_twin_says_why(run):
    """The launch itself runs, and the page is there."""
    run("""
from nacre import viz

@nacre.jit
def by_address(x, address: "*fp32", BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(address + at, tl.load(x + at) + 1)

@nacre.jit
def by_number(x, number, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(number.to(tl.pointer_type(tl.float32)) + at, tl.load(x + at) + 2)

@nacre.jit
def assembly(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r,r", [tl.load(x + at)], dtype=tl.float32, is_pure=True, pack=1))

viz.start()
assembly[(1,)](x, out, BLOCK=64)
by_address[(1,)](x, out.address, BLOCK=64)
assert out.numpy()[:64].tolist() == [i + 1.0 for i in range(64)]
by_number[(1,)](x, out.address, BLOCK=64)
assert out.numpy()[:64].tolist() == [i + 2.0 for i in range(64)]
launches = viz.stop()
documents = [launch.document() for launch in launches]
assert [document["kernel"] for document in documents] == ["assembly", "by_address", "by_number"]
assert all(document["note"].startswith("not shown: ") and document["device"] == "cuda:90" for document in documents), [document["note"] for document in documents]
assert "'address' is an address" in documents[1]["note"] and documents[1]["note"] in viz.text(launches)
assert "pointers of numbers" in documents[2]["note"] and not documents[2]["findings"]
viz.page(launches)
""")


SCRIPT = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, at < n), at < n)

x = np.arange(100, dtype=np.float32)
double[(2,)](x, 100, BLOCK=64)
assert x[99] == 198.0
"""


def test_the_simulated_device(tmp_path, monkeypatch):
    """What runs as a GPU's code on host memory is shown as well, and runs once."""
    monkeypatch.setenv("NACRE_DEVICE", "simulate")
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "nacre", "viz", "--json", "-o", str(tmp_path / "out.json"), str(tmp_path / "script.py")]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    (launch,) = json.loads((tmp_path / "out.json").read_text())["launches"]
    assert launch["device"] == "cuda:90" and launch["note"] == "" and len(launch["programs"]) == 2
    assert launch["arrays"][0]["before"][99] == 99.0 and launch["arrays"][0]["after"][99] == 198.0
    assert [line["line"] for line in launch["gpu"]["lines"]] == [9]


def test_a_launch_without_a_record_in_a_browser(in_browser):
    from nacre.viz import _page, _record

    launch = _record.Launch("kernel", (2, 1, 1), "here", "file.py", 1, ["def kernel(): pass"], {}, [], device="cuda:90", note="not shown: why")
    seen = in_browser(_page.page([launch]), "document.title = JSON.stringify({facts: document.getElementById('facts').textContent});")
    assert "ran on cuda:90 · not shown: why" in seen["facts"]
