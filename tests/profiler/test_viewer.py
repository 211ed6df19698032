"""Reading profiles: trees, derived metrics, filters, differences, pages, conditions."""

import json

import pytest
from triton.profiler import viewer


def node(name, metrics=None, children=()):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics or {}, "children": list(children)}


def kernel(name, time, count=1, **metrics):
    return node(name, {"time (ns)": time, "count": count, "device_id": "0", "device_type": "CPU", **metrics})


def write(path, factor=1):
    root = node("ROOT", {"time (ns)": 0, "count": 0, "bytes": 0, "flops32": 0}, [
        node("load", {}, [kernel("copy", 1000 * factor, 2, bytes=8000, flops32=0.0), kernel("fill", 500, bytes=1000)]),
        kernel("/home/u/train.py:12@step", 3000, 3, flops32=6000.0),
        node("__proton_launch_metadata", {}, [kernel("hidden", 10_000)]),
        node("empty"),
    ])  # fmt: skip
    devices = {"CPU": {"0": {"arch": "znver4", "clock_rate": 1, "memory_clock_rate": 1, "bus_width": 1, "num_sms": 2, "peak_gbps": 10.0, "peak_flops32": 4e9}}}
    path.write_text(json.dumps([root, devices]))
    return str(path)


@pytest.fixture
def profile(tmp_path):
    return write(tmp_path / "new.hatchet")


def test_columns(profile):
    graph, names = viewer.parse(["time/us", "avg_time/us", "gbyte/s", "tflop32/s", "time/%", "util"], profile)
    table = {frame.name: frame.columns for frame in graph.frames()}
    assert names[0] == "time/us (inc)"
    assert table["ROOT"]["time/us (inc)"] == 4.5 and table["load"]["time/us (inc)"] == 1.5
    assert table["copy"]["avg_time/us (inc)"] == 0.5 and table["copy"]["gbyte/s (inc)"] == 8.0
    assert table["load"]["time/% (inc)"] == pytest.approx(100 / 3)
    assert table["copy"]["util"] == pytest.approx(0.8) and table["/home/u/train.py:12@step"]["util"] == pytest.approx(0.5)
    assert "hidden" not in table and "empty" not in table
    assert list(graph.dataframe["name"])[0] == "ROOT" and list(graph.dataframe["time/us (inc)"])[0] == 4.5


def test_spellings_of_tutorials(profile, capsys):
    assert viewer.main(["-m", "tflops/s_time/s", profile]) == 0
    assert viewer.main(["-m", "tflops8/s_time/s", profile]) == 0
    shown = capsys.readouterr()
    assert "ROOT" in shown.out and "Legend" in shown.out and "has no data for tflops8/s" in shown.err and "- 0.000 ROOT" in shown.out
    with pytest.raises(ValueError, match="has no data"):
        viewer.main(["-m", "tflop8/s", profile])


def test_filters(profile, capsys):
    viewer.main(["-m", "time/us", "-i", "cop.", profile])
    shown = capsys.readouterr().out
    assert "copy" in shown and "fill" not in shown and "load" in shown
    viewer.main(["-m", "time/us", "-e", "load", profile])
    assert "copy" not in capsys.readouterr().out
    viewer.main(["-m", "time/us", "-t", "0.9", profile])
    assert "fill" not in capsys.readouterr().out
    viewer.main(["-m", "time/us", "-f", "function_line", "--print-sorted", profile])
    shown = capsys.readouterr().out
    assert "12@step" in shown and shown.index("12@step") < shown.index("copy")
    with pytest.raises(ValueError):
        viewer.main(["-i", "a", "-e", "b", profile])


def test_the_peaks_that_proton_knows(tmp_path):
    """Its own viewer gives the same util of these."""
    kernels = [kernel(name, 204800, flops8=flops, bytes=moved) for name, flops, moved in (("a", 1e11, 1e8), ("b", 1e10, 1e7))]
    for each, number in zip(kernels, "10"):
        each["metrics"].update(device_id=number, device_type="CUDA")
    devices = {"CUDA": {
        "0": {"arch": "89", "bus_width": 384, "clock_rate": 2625000, "memory_clock_rate": 10501000, "num_sms": 128},
        "1": {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "memory_clock_rate": 2619000, "num_sms": 132},
    }}  # fmt: skip
    path = tmp_path / "gpus.hatchet"
    path.write_text(json.dumps([node("ROOT", {"time (ns)": 0, "count": 0, "flops8": 0, "bytes": 0}, kernels), devices]))
    graph, (column,) = viewer.parse(["util"], str(path))
    values = {frame.name: frame.columns.get(column) for frame in graph.frames()}
    assert values["a"] == pytest.approx(0.247044, abs=1e-6) and values["b"] == pytest.approx(0.147830, abs=1e-6) and values["ROOT"] is None
    flops, moved = (function(graph.dataframe, devices)["min_time"].tolist() for function in (viewer.get_min_time_flops, viewer.get_min_time_bytes))
    assert flops[1:] == pytest.approx([5.0595e-05, 3.0275e-05], rel=1e-3) and moved[1:] == pytest.approx([2.48584e-05, 9.91969e-06], rel=1e-3)


def test_functions_of_programs_that_read_profiles(profile):
    """As Proton's viewer has them."""
    graph, inclusive, exclusive, devices = viewer.get_raw_metrics(json.loads(open(profile).read()))
    graph.update_inclusive_columns()
    names = viewer.derive_metrics(graph, ["time/us", "cpu_time/ns"], inclusive, exclusive, devices)
    assert names == ["time/us (inc)", "cpu_time/ns (inc)"] and graph.inc_metrics == names and graph.exc_metrics == []
    assert viewer.match_available_metrics("TIME", inclusive, exclusive) == ["time (ns) (inc)"]
    assert viewer.match_available_metrics(["count"], ["time (ns)"], ["count"]) == ["count"]
    with pytest.raises(RuntimeError, match="--list"):
        viewer.match_available_metrics("nothing", inclusive, exclusive)
    for form, shown in (("full", "/home/u/train.py:12@step"), ("file_function_line", "train.py:12@step"), ("function_line", "12@step"), ("file_function", "train.py@step")):
        assert shown in viewer.format_frames(viewer.read(profile)[0], form).dataframe["name"].tolist()


def test_list(profile, capsys):
    viewer.main(["--list", profile])
    assert "- time (ns)" in capsys.readouterr().out


def test_difference(profile, tmp_path, capsys):
    old = write(tmp_path / "old.hatchet", factor=3)
    viewer.main(["-m", "time/us", "-diff", old, profile])
    assert "-2.000 copy" in capsys.readouterr().out


def test_conditions_for_ci(profile, tmp_path, capsys):
    assert viewer.main(["--assert", "time/us<5", "--assert", "copy:avg_time/us<=0.5", profile]) == 0
    assert viewer.main(["--assert", "time/us<4", profile]) == 1
    assert "ROOT has 4.5" in capsys.readouterr().err
    slower = write(tmp_path / "slower.hatchet", factor=1.1)
    assert viewer.main(["--against", profile, "--tolerance", "3%", "--floor", "10ns", "-m", "time/ns", slower]) == 1
    shown = capsys.readouterr().err
    assert "ROOT > load > copy" in shown and "+10.0%" in shown
    assert viewer.main(["--against", profile, "--tolerance", "15%", "--floor", "0ns", "-m", "time/ns", slower]) == 0


def test_changes_of_microseconds_are_noise(profile, tmp_path, capsys):
    much = write(tmp_path / "much.hatchet", factor=3)  # 1 us a launch more
    assert viewer.main(["--against", profile, much]) == 0
    shown = capsys.readouterr().out
    assert "3 values are worse by a change of less than 10us a launch: not counted (--floor)" in shown and "all holds" in shown
    assert viewer.main(["--against", profile, "--floor", "300ns", much]) == 1
    with pytest.raises(ValueError, match="--floor soon: expected a time such as 10us"):
        viewer.main(["--against", profile, "--floor", "soon", much])


def test_columns_have_headings(profile, capsys):
    viewer.main(["-m", "time/us,util", profile])
    assert capsys.readouterr().out.splitlines()[:2] == ["time/us (inc), util:", "4.500 - ROOT"]


def test_a_trace_is_named_as_such(tmp_path):
    path = tmp_path / "script.chrome_trace"
    path.write_text('{"traceEvents": []}')
    with pytest.raises(ValueError, match="script.chrome_trace is a trace, not a profile: `nacre-proton-viewer --html PAGE"):
        viewer.main([str(path)])


def test_utilization_of_a_scope_that_was_given_bytes(tmp_path):
    write(tmp_path / "x.hatchet")
    root, devices = json.loads((tmp_path / "x.hatchet").read_text())
    root["children"].append(node("forward", {"bytes": 4000}, [kernel("one", 600), kernel("two", 200)]))
    (tmp_path / "scope.hatchet").write_text(json.dumps([root, devices]))
    graph, _ = viewer.parse(["util"], str(tmp_path / "scope.hatchet"))
    assert next(frame for frame in graph.frames() if frame.name == "forward").columns["util"] == pytest.approx(0.5)


def test_peaks_of_a_busy_machine_are_doubtful(tmp_path, monkeypatch, capsys):
    from nacre.profiler import _device

    def clock(times):
        ticks = iter([part for time in times for part in (0.0, time)])
        monkeypatch.setattr(_device.time, "perf_counter", lambda: next(ticks))

    clock([5, 1, 3, 1.05, 1.02])
    assert _device._best(lambda: None) == (1, True)
    clock([5, 1, 3, 2, 2, 1.05, 1.04])  # goes on until it is quiet
    assert _device._best(lambda: None) == (1, True)
    clock([1.2**i for i in range(40)])
    assert _device._best(lambda: None) == (1, False)
    monkeypatch.undo()
    write(tmp_path / "x.hatchet")
    root, devices = json.loads((tmp_path / "x.hatchet").read_text())
    devices["CPU"]["0"]["peaks_doubtful"] = 1
    (tmp_path / "busy.hatchet").write_text(json.dumps([root, devices]))
    viewer.main(["-m", "util", str(tmp_path / "busy.hatchet")])
    assert "were measured while the machine was busy" in capsys.readouterr().err


def test_peaks_of_gpus_are_known_by_what_they_are():
    from nacre.profiler._page import _with_peaks

    facts = {"arch": "90", "bus_width": 6144, "memory_clock_rate": 3201000, "num_sms": 132, "clock_rate": 1980000}
    known = _with_peaks({"CUDA": {"0": dict(facts), "1": {**facts, "arch": "1"}}})["CUDA"]
    assert known["0"]["peak_gbps"] == pytest.approx(4917, rel=0.01) and known["0"]["peak_flops16"] == pytest.approx(988e12, rel=0.01)
    assert "peak_gbps" not in known["1"]


def test_peaks_of_gpus_by_what_they_are():
    from nacre.profiler._device import known_peaks

    facts = {"arch": "90", "bus_width": 5120, "memory_clock_rate": 2619000, "num_sms": 132, "clock_rate": 1980000}
    peaks = json.loads(known_peaks("CUDA", json.dumps(facts)))
    assert peaks["peak_gbps"] == pytest.approx(2 * 5120 / 8 * 2.619) and peaks["peak_flops16"] == 2 * peaks["peak_flops32"]
    assert known_peaks("CUDA", json.dumps({**facts, "arch": "11"})) == "{}"
    assert known_peaks("CUDA", json.dumps({**facts, "clock_rate": 0})) == "{}"


def test_queries(profile):
    """Of hatchet's language, what scripts for Proton use."""
    graph = viewer.get_raw_metrics(profile)[0]

    def names(query):
        return list(graph.filter(query).dataframe["name"])

    assert names("MATCH ('*', c) WHERE c.'name' =~ '.*(copy|fill).*' AND c IS LEAF") == ["copy", "fill"]
    assert names('MATCH ("*", c) WHERE c."name" = "load" OR c."count" >= 3') == ["load", "/home/u/train.py:12@step"]
    assert names('MATCH ("*", c) WHERE NOT c IS LEAF AND c."name" STARTS WITH "lo"') == ["load"]
    assert names('MATCH ("*", c) WHERE c."bytes" IS NONE AND c IS LEAF') == ["/home/u/train.py:12@step"]
    assert names(lambda row: row["count"] == 2) == ["copy"]
    assert list(graph.filter('MATCH (".", c) WHERE c."name" CONTAINS "cop"').dataframe["count"]) == [2]
    with pytest.raises(ValueError, match="not understood at '->"):
        names('MATCH ("*", c)->(".", d)')
    with pytest.raises(ValueError, match="not understood at 'LIKE'"):
        names('MATCH ("*", c) WHERE c."name" LIKE "a"')


def test_what_was_moved_out_of_scopes_is_said(tmp_path, capsys):
    path = tmp_path / "inside.hatchet"
    scope = node("compute", {"cycles": 5, "moved": "after it, in 'store': line 18"})
    path.write_text(json.dumps([node("ROOT", {}, [node("kernel", {"lost_marks": 4}, [scope])]), {}]))
    viewer.main(["-m", "cycles", str(path)])
    said = capsys.readouterr().err
    assert "the scope 'compute' does not measure all that was written in it: after it, in 'store': line 18" in said
    assert "4 marks of kernel had no room" in said
