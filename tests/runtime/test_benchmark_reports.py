"""perf_report with what functions and libraries give it, the clocks it shows, and how `nacre bench` reads its numbers."""

import ctypes
import json

import numpy as np
import pytest

from nacre import testing
from nacre.testing import clocks


def benchmark(**facts):
    return testing.Benchmark(**{"x_names": ["n"], "x_vals": [1, 2], "line_arg": "provider", "line_vals": ["a", "b"], "line_names": ["A", "B"],
                                "plot_name": "plot", "args": {}, **facts})  # fmt: skip


def rows(folder, name="plot"):
    return (folder / f"{name}.csv").read_text().splitlines()[1:]


def test_numbers_of_libraries(tmp_path):
    torch = pytest.importorskip("torch")
    given = []

    def measured(n, provider):
        given.append(n)
        return (np.float32(n), np.float16(0.5), torch.tensor(9.0)) if provider == "a" else torch.tensor(float(n))

    testing.perf_report(benchmark(x_vals=np.array([1, 2])))(measured).run(save_path=str(tmp_path))
    assert rows(tmp_path) == ["1,1.000000,1.000000", "2,2.000000,2.000000"]
    assert isinstance(given[0], np.integer)  # the function gets what was said
    pairs = benchmark(x_names=["n", "m"], x_vals=np.array([[1, 2], [3, 4]]))
    testing.perf_report(pairs)(lambda n, m, provider: n * m).run(save_path=str(tmp_path))
    assert rows(tmp_path) == ["1,2,2.000000,2.000000", "3,4,12.000000,12.000000"]
    kinds = benchmark(x_vals=[torch.float16, "text"])
    testing.perf_report(kinds)(lambda n, provider: 1).run(save_path=str(tmp_path))
    assert rows(tmp_path) == ["torch.float16,1,1", "text,1,1"]


def test_everything_that_do_bench_says(tmp_path):
    def measured(n, provider):
        return testing.do_bench(lambda: None, warmup=0, rep=0.1, return_mode="stats")

    testing.perf_report(benchmark())(measured).run(save_path=str(tmp_path))
    page = (tmp_path / "results.html").read_text()
    data = json.loads(page.partition("const data = ")[2].partition(";\n")[0].replace("<\\/", "</"))
    y, low, high = data["reports"][0]["points"][0]["y"][0]
    assert low <= y <= high


def test_what_is_no_number():
    for value in ("7", b"7", [1, "2", 3], {"median": 1.0}, np.zeros(2), object()):
        with pytest.raises(TypeError, match="plot: the function returns y, or .y, lowest, highest.; found") as error:
            testing.perf_report(benchmark())(lambda n, provider, value=value: value).run()
        assert error.value.__notes__ == ["in the benchmark plot at n=1, line A"]


def test_mistakes_are_said_before_anything_is_measured():
    for facts, text in (({"styles": [("red", "-")]}, "plot: styles has 1 styles for 2 line_vals"), ({"x_vals": [1, (2, 3)]}, r"\(2, 3\) does not give 1")):
        with pytest.raises(ValueError, match=text):
            testing.perf_report(benchmark(**facts))(lambda n, provider: pytest.fail("measured")).run()


def test_reports_of_one_name(tmp_path):
    both = [benchmark(args={"factor": 1}), benchmark(args={"factor": 10})]
    testing.perf_report(both)(lambda n, provider, factor: n * factor).run(save_path=str(tmp_path))
    assert rows(tmp_path) == ["1,1,1", "2,2,2"] and rows(tmp_path, "plot (2)") == ["1,10,10", "2,20,20"]


def test_gradients_are_dropped_while_warming_up():
    class Tensor:
        grad = None

    def call():
        assert tensor.grad is None or not calls
        tensor.grad = 1.0
        calls.append(1)

    tensor, calls = Tensor(), []
    for bench in (testing.do_bench, testing.do_bench_proton, testing.do_bench_cudagraph):
        calls.clear()
        bench(call, rep=0.1, grad_to_none=[tensor])


# Clocks.


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine that tells what the test writes into its files."""
    monkeypatch.setattr(clocks, "_CPUS", str(tmp_path / "cpu"))
    monkeypatch.setattr(clocks, "_CPUINFO", str(tmp_path / "cpuinfo"))
    monkeypatch.setattr(clocks, "_GROUP", str(tmp_path / "cpu.stat"))
    monkeypatch.setattr(clocks.os, "sched_getaffinity", lambda process: {0, 1})

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))

    return write


def test_a_machine_that_tells_nothing(machine):
    watch = clocks.Watch(clocks.HostClock())
    watch.sample()
    assert watch.result() == {}


def test_clocks_of_cores(machine):
    machine("cpuinfo", "processor : 0\ncpu MHz\t\t: 2100.125\nprocessor : 1\ncpu MHz : 800.0\n")
    watch = clocks.Watch(clocks.HostClock())
    watch.sample()
    machine("cpu/cpu0/cpufreq/scaling_cur_freq", 800000)
    machine("cpu/cpu1/cpufreq/scaling_cur_freq", 3300000)
    watch.sample()
    assert watch.result() == {"mhz": [2100, 3300]}


def test_what_slows_a_core_down(machine):
    machine("cpu/cpu1/thermal_throttle/core_throttle_count", 7)
    machine("cpu.stat", "usage_usec 5\nnr_throttled 3\n")
    watch = clocks.Watch(clocks.HostClock())
    assert watch.result() == {}
    machine("cpu/cpu1/thermal_throttle/core_throttle_count", 8)
    assert watch.result() == {"throttled": ["heat"]}
    machine("cpu.stat", "usage_usec 9\nnr_throttled 4\n")
    assert watch.result() == {"throttled": ["heat", "the processor share of its group"]}


def test_clocks_of_a_gpu():
    class Library:
        clock, reasons, status = 1755, 0x1 | 0x4 | 0x40, 0

        def nvmlDeviceGetClockInfo(self, handle, kind, out):  # noqa: N802
            ctypes.cast(out, ctypes.POINTER(ctypes.c_uint))[0] = self.clock
            return self.status

        def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle, out):  # noqa: N802
            ctypes.cast(out, ctypes.POINTER(ctypes.c_ulonglong))[0] = self.reasons
            return self.status

    library = Library()
    watch = clocks.Watch(clocks.GpuClock(library, None))
    watch.sample()
    library.clock, library.reasons = 1980, 0x1  # idle is no slowdown
    watch.sample()
    assert watch.result() == {"mhz": [1755, 1980], "throttled": ["heat", "the power limit"]}
    library.status = 1
    watch = clocks.Watch(clocks.GpuClock(library, None))
    watch.sample()
    assert watch.result() == {}


def test_a_report_shows_them(machine, tmp_path, capsys):
    machine("cpu.stat", "nr_throttled 0\n")

    def measured(n, provider):
        machine("cpuinfo", f"cpu MHz : {1000 * n}\n")
        if n == 2:
            machine("cpu.stat", "nr_throttled 1\n")
        return float(n)

    report = testing.perf_report(benchmark())(measured)
    report.run(print_data=True, save_path=str(tmp_path))
    assert capsys.readouterr().out.splitlines()[-2:] == ["(slowed down by the processor share of its group at 2)", "(the clock ran at 1000 to 2000 MHz)"]
    page = (tmp_path / "results.html").read_text()
    assert '"mhz": [1000, 1000]}' in page and '"mhz": [2000, 2000], "throttled": ["the processor share of its group"]' in page
    assert testing.do_bench(lambda: None, warmup=0, rep=0.1, return_mode="stats")["mhz"] == [2000, 2000]


def test_a_limit_that_was_passed_is_measured_again(tmp_path, monkeypatch):
    from nacre import _core
    from nacre.testing import limits

    numbers = [1e9, 50e9, 7e9]
    monkeypatch.setattr(_core, "measure_bandwidth", lambda: numbers.pop(0))
    limits.measured.cache_clear()

    def limit(y):
        testing.perf_report(benchmark(ylabel="MB/s"))(lambda n, provider: (y, None, float("nan"))).run(save_path=str(tmp_path))
        page = (tmp_path / "results.html").read_text()
        return float(page.partition('"limits": [[')[2].partition(",")[0])

    assert [limit(y) for y in (500.0, 2000.0, 90e3)] == [1e3, 50e3, 50e3]  # a busy machine, a calm one, caches
    assert not numbers
    limits.measured.cache_clear()


# nacre bench

BENCH = """
import triton.testing

def mark(unit, y):
    report = triton.testing.Benchmark(["n"], [1], "provider", ["a"], ["A"], unit, {}, ylabel=unit)
    return triton.testing.perf_report(report)(lambda n, provider: measured.append(unit) or y)

measured = []
times, widgets, again = mark("ms", %s), mark("widgets", 1.0), mark("ms", 5.0)
"""


@pytest.fixture
def bench(tmp_path, script, capsys):
    """nacre bench of a file whose time is `y`: its status and what it says."""
    from nacre._command_line import main

    def run(y, *arguments):
        path = tmp_path / "bench_it.py"
        path.write_text(BENCH % y)
        capsys.readouterr()
        status = main(["bench", str(path), *map(str, arguments)])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_comparing(bench, tmp_path):
    old = tmp_path / "old.json"
    assert bench(1.0, "--json", old)[0] == 0
    assert [report["name"] for report in json.loads(old.read_text())["reports"]] == ["ms", "widgets", "ms (2)"]
    status, out, error = bench(1.0, "--against", old)
    assert status == 2 and out == "" and "whether more or less of widgets is better is not known" in error  # nothing was measured
    assert bench(1.2, "--against", old, "--only", "ms", "--tolerance", "25%")[0] == 0
    # A unit that says which is better is not turned around.
    status, out, _ = bench(2.0, "--against", old, "--better", "higher")
    assert status == 1 and "REGRESSION ms, 1, A: 1 -> 2 ms" in out and "1 of 3 points are worse by more than 5%, or gone" in out
    status, out, error = bench(1.0, "--against", old, "--tolerance", "5")
    assert status == 2 and "--tolerance 5: expected a share as 5% or 0.05" in error


def test_a_file_of_another_kind(bench, tmp_path):
    old = tmp_path / "old.json"
    bench(1.0, "--json", old, "--only", "ms")
    whole = json.loads(old.read_text())
    for change in ({"name": 5}, {"ylabel": None}, {"lines": "A"}, {"points": 5}, {"points": [{"x": [1]}]}, {"points": [{"x": 1, "y": [[1.0]]}]},
                   {"points": [{"x": [1], "y": [[]]}]}):  # fmt: skip
        old.write_text(json.dumps({**whole, "reports": [{**whole["reports"][0], **change}]}))
        status, out, error = bench(1.0, "--against", old)
        assert status == 2 and out == "" and "old.json is not a file of `nacre bench --json`" in error, change
