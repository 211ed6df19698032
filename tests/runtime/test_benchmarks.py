"""triton.testing: timing, reports, comparing, what the device can do."""

import json
import os
import sys
import time
from unittest.mock import ANY

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre import testing
from nacre.testing import timing


@nacre.jit
def fill(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, 1.0, mask=offsets < n)


class Time:
    """Stands for the module: each look at the clock takes a tenth of a millisecond, and nothing else takes any time."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1e-4
        return self.now


@pytest.fixture
def told_time(monkeypatch):
    made = Time()
    monkeypatch.setattr(timing, "time", made)
    return made


def test_do_bench(told_time):
    calls = []
    assert testing.do_bench(lambda: calls.append(1), warmup=1, rep=2) >= 0 and len(calls) > 6
    low, high = testing.do_bench(lambda: sum(range(1000)), warmup=1, rep=2, quantiles=[0.1, 0.9])
    assert 0 < low <= high
    assert isinstance(testing.do_bench(lambda: None, warmup=1, rep=1, quantiles=[0.5]), float)
    assert isinstance(testing.do_bench(lambda: None, warmup=1, rep=1, return_mode="all"), list)
    with pytest.raises(ValueError, match="'best' is not one of min, max"):
        testing.do_bench(lambda: None, return_mode="best")
    stats = testing.do_bench(lambda: None, warmup=1, rep=1, return_mode="stats")
    assert stats["min"] <= stats["median_low"] <= stats["median"] <= stats["median_high"] <= stats["max"] and stats["count"] >= 6
    for mode in ("min", "max", "mean", "median"):
        assert isinstance(testing.do_bench(lambda: None, warmup=1, rep=1, return_mode=mode), float)


def test_caches_are_cleared_before_every_timed_call(monkeypatch):
    order = []
    monkeypatch.setattr(nacre._core, "clear_caches", lambda: order.append("clear"))
    monkeypatch.setattr(timing, "_warm_up", lambda *args: order.clear())
    testing.do_bench(lambda: order.append("call"), warmup=0, rep=0.01)
    assert len(order) >= 2 and order == ["clear", "call"] * (len(order) // 2)
    testing.do_bench_cudagraph(lambda: order.append("call"), rep=0.01)  # with warm caches
    assert set(order) == {"call"}


def test_clearing_is_done_by_the_runtime():
    nacre._core.clear_caches()
    assert nacre._core.last_level_cache() >= 1 << 20
    nacre.runtime.driver.active.clear_cache(nacre.runtime.driver.active.get_empty_cache_for_benchmark())


def test_measuring_ends_when_the_median_is_known(told_time):
    class Clock:
        def time(self, fn):
            return 1.0

    assert len(timing._measure(None, Clock(), 1000.0, None, lambda: None)) == timing._FEWEST
    times = iter([1.0, 9.0] * 1000)
    clock = Clock()
    clock.time = lambda fn: next(times)
    assert len(timing._measure(None, clock, 500.0, None, lambda: None)) >= 90  # never known: the budget ends it


def test_gradients_are_dropped_before_each_call():
    class Tensor:
        grad = 1

    tensor, seen = Tensor(), []

    def call():
        seen.append(tensor.grad)
        tensor.grad = 1

    times = testing.do_bench(call, warmup=0, rep=0.01, grad_to_none=[tensor], return_mode="all")
    assert seen[-len(times):] == [None] * len(times)


def test_kernel_time_alone(told_time):
    x = np.zeros(1000, np.float32)

    def call():
        fill[(1,)](x, 1000, BLOCK=1024)
        told_time.now += 0.3

    assert testing.do_bench_proton(call, warmup=1, rep=1) == pytest.approx(0.1)
    assert testing.do_bench_proton(lambda: None, warmup=1, rep=0.1) == 0
    assert not nacre.knobs.runtime.launch_enter_hook
    with pytest.raises(RuntimeError, match="known of GPUs only"):
        testing.do_bench_cudagraph_proton(call)


def test_events_for_benchmarkers_of_others():
    device = nacre.runtime.driver.active.get_device_interface()
    start, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="needs two events that were recorded"):
        start.elapsed_time(end)
    before = time.perf_counter()
    start.record()
    time.sleep(0.002)
    end.record()
    device.synchronize()
    assert start.query() and 1.9 < start.elapsed_time(end) <= (time.perf_counter() - before) * 1e3


def test_limits_of_the_machine(tuning_folder):
    from nacre.testing import limits

    limits.measured.cache_clear()
    gbps = testing.get_dram_gbps()
    assert 0.5 < gbps < 10000 and 0.0005 < testing.get_max_simd_tflops("float32", 0) < 1000
    assert 0.0005 < testing.get_max_simd_tflops("fp64", 0) < 1000
    assert testing.get_max_tensorcore_tflops("fp16", 0) == testing.get_max_simd_tflops("fp16", 0)
    assert json.loads((tuning_folder / "machine-limits.json").read_text())["limits"]["bandwidth"] == pytest.approx(gbps * 1e9)
    limits.measured.cache_clear()
    assert testing.get_dram_gbps() == gbps  # measured once
    limits.measured.cache_clear()


def test_what_only_a_gpu_has():
    for call in (lambda: testing.nvsmi(["x"]), testing.cublas):
        with pytest.raises(RuntimeError, match="known of GPUs only"):
            call()
    with pytest.raises(RuntimeError, match="known of GPUs only"), testing.set_gpu_clock():
        pass


def test_memcheck_runs_a_test_as_it_is_without_the_sanitizer():
    @testing.cuda_memcheck(size=3)
    def test(size):
        return size

    assert test(size=3) == 3 and test(size=4) == 4 and test.__name__ == "test"


# assert_close


def test_close():
    testing.assert_close(np.array([1.0, np.nan]), np.array([1.009, np.nan]))
    testing.assert_close(np.array([100.0]), np.array([101.0]), rtol=lambda dtype: 0.01 if dtype == np.float64 else 0)
    testing.assert_close(1.0, 1.001)
    testing.assert_close(np.zeros((2, 3)), 0.0)
    testing.assert_close(np.array([np.inf, 1]), np.array([np.inf, 1]))


def test_what_differs_is_shown():
    x = np.ones((64, 96), np.float32)
    y = x.copy()
    y[:32, 48:] = 1.5
    y[3, 50] = 4.0
    with pytest.raises(AssertionError) as error:
        testing.assert_close(x, y, err_msg="my kernel")
    text = str(error.value)
    assert text.startswith("my kernel\nnot close (atol=0.01, rtol=0.0): 1536 of 6144 elements differ (25%)")
    assert "worst at [3, 50]: np.float32(1.0) instead of np.float32(4.0), a difference of 3 (" in text and "ulp)" in text
    assert "." * 24 + "#" * 24 in text and text.splitlines()[-1].strip() == "." * 48
    with pytest.raises(AssertionError, match="is not close to .* they differ by 1, more than atol=0.01, rtol=0.0"):
        testing.assert_close(1.0, 2.0)
    with pytest.raises(AssertionError, match=r"shapes \(2,\) and \(3,\) do not fit together"):
        testing.assert_close(np.zeros(2), np.zeros(3))
    for x, y in ((np.ones((3, 1)), np.ones((3, 4))), (np.ones(1), np.ones(4))):  # as numpy.testing has it
        with pytest.raises(AssertionError, match="do not fit together"):
            testing.assert_close(x, y)
    for x, y in ((2**62, 2**62 + 1), (2**63 - 1, -(2**63)), (np.uint64(2**64 - 1), np.uint64(2**64 - 2)), (np.uint64(2**64 - 1), np.int64(-1))):
        with pytest.raises(AssertionError, match="1 of 2 elements"):  # float64 would not tell them apart
            testing.assert_close(np.array([x, np.asarray(x).dtype.type(1)]), np.array([y, np.asarray(y).dtype.type(1)]), atol=0)
    testing.assert_close(np.array([2**62]), np.array([2**62 + 5]), atol=5)
    with pytest.raises(AssertionError, match="1 of 2 elements"):
        testing.assert_close(np.array([1.0, np.nan]), np.array([1.0, 2.0]))


def test_tensors_are_compared():
    torch = pytest.importorskip("torch")
    testing.assert_close(torch.ones(3, dtype=torch.bfloat16, requires_grad=True), torch.ones(3))


# perf_report


def report(**options):
    facts = {"ylabel": "ms", **options}

    @testing.perf_report(testing.Benchmark(["n"], [1, 2, 4], "provider", ["a", "b"], ["A", "B"], "plot", {}, **facts))
    def bench(n, provider):
        order.append((n, provider))
        y = n * (1.0 if provider == "a" else 2.0)
        return y, y * 0.9, y * 1.1

    order = bench.order = []
    return bench


def test_a_report(tmp_path, capsys):
    bench = report()
    bench.run(print_data=True, save_path=str(tmp_path))
    out = capsys.readouterr().out
    assert "A (ms)" in out and out.splitlines()[2].split() == ["0", "1", "1.000000", "2.000000"]
    assert (tmp_path / "plot.csv").read_text().splitlines()[2] == "2,2.000000,4.000000"
    assert bench.order == [(1, "a"), (1, "b"), (2, "b"), (2, "a"), (4, "a"), (4, "b")]  # in turn, the first is another each time
    page = (tmp_path / "results.html").read_text()
    assert "https:" not in page.replace("http://www.w3.org", "") and '"lines": ["A", "B"]' in page


def test_a_table_with_its_difference(tmp_path, capsys):
    report(ylabel="").run(print_data=True, diff_col=True, save_path=str(tmp_path), save_precision=2)
    assert "A ()" in capsys.readouterr().out
    assert (tmp_path / "plot.csv").read_text().splitlines() == ["n,A (),B (),Diff", "1,1.00,2.00,1.00", "2,2.00,4.00,2.00", "4,4.00,8.00,4.00"]


def test_what_was_measured_is_saved_under_way(tmp_path):
    @testing.perf_report(testing.Benchmark(["n"], [1, 2], "provider", ["a"], ["A"], "plot", {}))
    def bench(n, provider):
        if n == 2:
            raise KeyboardInterrupt
        return 7.0

    with pytest.raises(KeyboardInterrupt):
        bench.run(save_path=str(tmp_path))
    assert (tmp_path / "plot.csv").read_text().splitlines() == ["n,A ()", "1,7.000000"]


def test_an_interrupted_run_is_gone_on_with(tmp_path):
    measured = []

    def run(stop, ylabel="ms", **options):
        @testing.perf_report(testing.Benchmark(["n"], [1, 2, 3], "provider", ["a", "b"], ["A", "B"], "plot", {}, ylabel=ylabel))
        def bench(n, provider):
            if n == stop:
                raise KeyboardInterrupt
            measured.append(n)
            return float(n) if provider == "a" else (n * 2.0, 0.0, 9.0)

        measured.clear()
        try:
            bench.run(save_path=str(tmp_path), **options)
        except KeyboardInterrupt:
            pass
        return sorted(set(measured))

    assert run(stop=3) == [1, 2] and run(stop=0, resume=True) == [3]
    assert (tmp_path / "plot.csv").read_text().splitlines()[1:] == ["1,1.000000,2.000000", "2,2.000000,4.000000", "3,3.000000,6.000000"]
    assert run(stop=0, resume=True) == [1, 2, 3]  # a whole run leaves nothing to go on with
    assert run(stop=3) == [1, 2] and run(stop=0, ylabel="GB/s", resume=True) == [1, 2, 3]  # of another benchmark
    assert run(stop=3) == [1, 2] and run(stop=0) == [1, 2, 3]  # nobody asked for it
    assert not list(tmp_path.glob("*.unfinished.json"))
    with pytest.raises(ValueError, match="resume=True needs the save_path"):
        report().run(resume=True)


def test_what_a_report_refuses():
    def bench(lines=("A",), y=1.0):
        benchmark = testing.Benchmark(["n"], [1], "provider", ["a"], list(lines), "plot", {})
        testing.perf_report(benchmark)(lambda n, provider: y).run()

    bench()
    with pytest.raises(ValueError, match="plot: line_names has 2 names for 1 line_vals"):
        bench(lines=("A", "B"))
    for y in (None, (1.0, 2.0), (None, 1.0, 2.0)):
        with pytest.raises(TypeError, match="plot: the function returns y, or .y, lowest, highest.; found"):
            bench(y=y)


def test_names_of_files(tmp_path):
    for name, file in (("a/b", "a_b.csv"), ("", "bench.csv")):

        @testing.perf_report(testing.Benchmark(["n"], [1], "provider", ["a"], ["A"], name, {}))
        def bench(n, provider):
            return 1.0

        bench.run(save_path=str(tmp_path))
        assert (tmp_path / file).exists()


def test_which_is_better():
    from nacre.testing.regressions import direction

    assert {direction(label) for label in ("GB/s", "TFLOPS", "tokens / s", "Gbps", "speedup", "rows per second")} == {"higher"}
    assert {direction(label) for label in ("ms", "Time (us)", "seconds", "latency", "us/token")} == {"lower"}
    assert {direction(label) for label in ("", "MB", "widgets", "loss")} == {None}


def test_pictures_and_frames(tmp_path):
    pytest.importorskip("matplotlib")
    pandas = pytest.importorskip("pandas")
    frame = report().run(return_df=True, save_path=str(tmp_path))
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["n", "A (ms)", "B (ms)"]
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG"


def test_an_x_value_for_each_name():
    seen = []

    @testing.perf_report(testing.Benchmark(["m", "n"], [(1, 2), 3], "provider", ["a"], ["A"], "", {"k": 9}))
    def bench(m, n, k, provider, extra):
        seen.append((m, n, k, extra))
        return 1.0

    bench.run(extra=5)
    assert seen == [(1, 2, 9, 5), (3, 3, 9, 5)]


def test_the_page_in_a_browser(chromium, tmp_path):
    report(ylabel="GB/s").run(save_path=str(tmp_path))
    page, profile = tmp_path / "results.html", f"--user-data-dir={tmp_path / 'profile'}"
    done = chromium("--virtual-time-budget=2000", "--dump-dom", profile, page.as_uri())
    assert done.stdout.count("<circle") == 6 and done.stdout.count("<polygon") == 2 and "<h2>plot</h2>" in done.stdout, done.stdout[-2000:]
    assert "2.00x" in done.stdout and "measured memory bandwidth" in done.stdout


# nacre bench

BENCH = """
import os
import triton.testing

@triton.testing.perf_report(triton.testing.Benchmark(["n"], [1, 2], "provider", ["a"], ["A"], "copy", {}, ylabel=os.environ["UNIT"]))
def bench(n, provider):
    return n * float(os.environ["FACTOR"])
"""


def test_regressions(tmp_path, script):
    file = tmp_path / "benchmarks.py"
    file.write_text(BENCH)
    program = script.write("import sys; from nacre._command_line import main; sys.exit(main(sys.argv[1:]))")

    def run(*arguments, factor, unit="GB/s"):
        process = script.start(program, "bench", *arguments, FACTOR=str(factor), UNIT=unit)
        out, error = process.communicate(timeout=600)
        return process.returncode, out + error

    old = tmp_path / "old.json"
    assert run(file, "--json", old, factor=1)[0] == 0 and json.loads(old.read_text())["reports"][0]["lines"] == ["A"]
    assert run(file, "--against", old, factor=0.97)[0] == 0
    status, text = run(file, "--against", old, factor=0.9)
    assert status == 1 and "REGRESSION copy, 1, A: 1 -> 0.9 GB/s (-10.0%)" in text and "2 of 2 points are worse by more than 5%, or gone" in text
    assert run(file, "--against", old, "--tolerance", "20%", factor=0.9)[0] == 0
    assert run(file, "--against", old, factor=1.2)[0] == 0
    assert run(file, "--json", old, factor=1, unit="ms")[0] == 0
    assert run(file, "--against", old, factor=1.2, unit="ms")[0] == 1  # of times less is better
    broken = script.write("import triton\n1 / 0")
    status, out = run(broken, factor=1)
    assert status == 1 and out.count("File ") == 1 and str(broken) in out and "ZeroDivisionError" in out  # of our files none
    empty = script.write("pass")
    for wrong in ([], ["absent.py"], [tmp_path], [file, "--fast"], [file, "--against", file], [empty]):
        status, text = run(*wrong, factor=1)
        assert status == 2, (wrong, text)
    assert run(file, "--save", tmp_path / "saved", factor=1)[0] == 0 and os.path.exists(tmp_path / "saved" / "results.html")


@pytest.fixture
def bench_command(tmp_path, monkeypatch, capsys):
    """`nacre bench` of the file above, in this process: (status, what it says)."""
    from nacre.testing.regressions import main

    file = tmp_path / "benchmarks.py"
    file.write_text(BENCH.replace("triton.testing", "nacre.testing"))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments, factor=1, unit="GB/s"):
        monkeypatch.setenv("FACTOR", str(factor))
        monkeypatch.setenv("UNIT", unit)
        status = main([str(file), *map(str, arguments)])
        told = capsys.readouterr()
        return status, told.out + told.err

    return run


def test_what_has_no_number_any_more_is_a_regression(tmp_path, bench_command):
    old = tmp_path / "old.json"
    assert bench_command("--json", old)[0] == 0
    before = json.loads(old.read_text())

    def against(change, *more, **options):
        content = json.loads(json.dumps(before))
        change(content["reports"])
        (tmp_path / "changed.json").write_text(json.dumps(content))
        return bench_command("--against", tmp_path / "changed.json", *more, **options)

    def add(reports):
        reports.append({**reports[0], "name": "gone"})

    for change, text in (
        (add, "REGRESSION gone is gone"),
        (lambda reports: reports[0].update(lines=["A2"]), "REGRESSION copy, 1, A2 is gone"),
        (lambda reports: reports[0]["points"][0].update(x=[7]), "REGRESSION copy, 7, A is gone"),
        (lambda reports: reports[0].update(ylabel="MB/s"), "it was in MB/s, now it is in GB/s"),
    ):
        status, out = against(change)
        assert status == 1 and text in out, out
    status, out = against(lambda reports: None, factor="nan")
    assert status == 1 and "REGRESSION copy, 1, A: 1 -> nan GB/s: there is no number" in out
    status, out = against(lambda reports: reports[0]["points"].pop())
    assert status == 0 and "copy, 2, A is new" in out
    assert against(add, "--only", "copy")[0] == 0
    assert against(lambda reports: reports.clear()) == (0, ANY)


def test_a_direction_is_never_guessed(tmp_path, bench_command):
    old = tmp_path / "old.json"
    assert bench_command("--json", old, unit="widgets")[0] == 0
    status, out = bench_command("--against", old, unit="widgets")
    assert status == 2 and "whether more or less of widgets is better is not known; say --better" in out
    assert bench_command("--against", old, "--better", "lower", factor=0.5, unit="widgets")[0] == 0
    assert bench_command("--against", old, "--better", "higher", factor=0.5, unit="widgets")[0] == 1


def test_mistakes_are_said_before_anything_is_measured(tmp_path, bench_command):
    for wrong in (["--tolerance", "much"], ["--tolerance=-1%"], ["--better", "faster"], ["--against", tmp_path / "none.json"], ["--resume"],
                  ["--save", "/proc/absent"], ["--json", tmp_path / "no" / "folder.json"], ["--only", "absent"]):  # fmt: skip
        status, out = bench_command(*wrong)
        assert status == 2 and "nacre bench: " in out and "copy" not in out, (wrong, out)
