"""Metrics made from those of a file: times in other units, rates, utilization, shares."""

import re

from ._table import table
from .specs import max_bps, max_flops

WIDTHS = (8, 16, 32, 64)


class FactorDict:
    """How a metric of a file becomes one in another unit."""

    def __init__(self, name, factor):
        self.name = name
        self.factor = factor


_SECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
time_factor_dict = FactorDict("time", {f"time/{unit}": 1 / ns for unit, ns in _SECONDS.items()})
avg_time_factor_dict = FactorDict("avg_time", {f"avg_time/{unit}": 1 / ns for unit, ns in _SECONDS.items()})
cpu_time_factor_dict = FactorDict("cpu_time", {f"cpu_time/{unit}": 1 / ns for unit, ns in _SECONDS.items()})
avg_cpu_time_factor_dict = FactorDict("avg_cpu_time", {f"avg_cpu_time/{unit}": 1 / ns for unit, ns in _SECONDS.items()})
bytes_factor_dict = FactorDict("bytes", {"byte/s": 1.0, "gbyte/s": 1e-9, "tbyte/s": 1e-12})
_FLOPS = {"": 1.0, "g": 1e-9, "t": 1e-12}
derivable_metrics = {
    **time_factor_dict.factor, **avg_time_factor_dict.factor, **cpu_time_factor_dict.factor, **avg_cpu_time_factor_dict.factor,
    **bytes_factor_dict.factor, **{f"{scale}flop{width}/s": factor for scale, factor in _FLOPS.items() for width in ("", *WIDTHS)},
    "util": 1.0,
}  # fmt: skip


def _least_flops(own, devices):
    """The least time that a kernel's operations take on its device, in seconds."""
    facts = devices.get(str(own.get("device_type")), {}).get(str(own.get("device_id")))
    if facts is None:
        return 0.0
    total = 0.0
    for width in WIDTHS:
        flops = own.get(f"flops{width}", 0)
        if flops:
            peak = facts.get(f"peak_flops{width}") or max_flops(own["device_type"], facts["arch"], width, facts["num_sms"], facts["clock_rate"])
            total += flops / peak if peak else 0.0  # a simulated device has no clock
    return total


def _least_bytes(own, devices):
    """The same of its bytes."""
    facts = devices.get(str(own.get("device_type")), {}).get(str(own.get("device_id")))
    moved = own.get("bytes", 0)
    if facts is None or not moved:
        return 0.0
    bandwidth = facts["peak_gbps"] * 1e9 if "peak_gbps" in facts else max_bps(own["device_type"], facts["arch"], facts["bus_width"], facts["memory_clock_rate"])
    return moved / bandwidth if bandwidth else 0.0


def least_time(frame, devices):
    """(the least time that a frame's operations and bytes take on its device, the time they took), in nanoseconds; None where one of them is
    not known. Of a scope that was given them: over the kernels below it."""
    own, time = frame.own, frame.own.get("time (ns)")
    if "device_type" not in own:
        if not any(name == "bytes" or name.startswith("flops") for name in own):
            return None
        kernel = next((below.own for below, _ in frame.walk() if "device_type" in below.own), None)
        own, time = {**own, **{name: kernel[name] for name in ("device_type", "device_id") if name in kernel}} if kernel else {}, frame.total.get("time (ns)")
    least = max(_least_flops(own, devices), _least_bytes(own, devices)) * 1e9
    return (least, time) if least and time else None


def is_doubtful(devices):
    """Whether the peaks of a device were measured on a busy machine: shares of them are too high."""
    return any(facts.get("peaks_doubtful") for numbered in devices.values() for facts in numbered.values())


def _by_row(dataframe, devices, least):
    names = [name for name in dataframe.columns if name in ("device_type", "device_id", "bytes") or name.startswith("flops")]
    columns = {name: dataframe[name].tolist() for name in names}
    rows = [{name: values[i] for name, values in columns.items() if values[i] == values[i]} for i in range(len(dataframe))]
    return table({"min_time": [least(row, devices) for row in rows]})


def get_min_time_flops(dataframe, devices):
    """The least time that the operations of each row of `graph.dataframe` take on its device: a column min_time, in seconds."""
    return _by_row(dataframe, devices, _least_flops)


def get_min_time_bytes(dataframe, devices):
    """The same of its bytes."""
    return _by_row(dataframe, devices, _least_bytes)


def _canonical(text):
    """A metric as it may be written, as we write it: tflops/s is tflop/s, case does not count."""
    name = text.strip().lower()
    match = re.fullmatch(r"([gt]?)flops(\d*)/s", name)
    if match:
        return f"{match[1]}flop{match[2]}/s"
    match = re.fullmatch(r"([gt]?)flop(8|16|32|64)?s?/s", name)
    return f"{match[1]}flop{match[2] or ''}/s" if match else name


def _file_name(wanted, names):
    """The name in the file that a name without unit means."""
    from .viewer import _plain

    return next((name for name in names if _plain(name) == _plain(wanted)), None)


def derive(graph, metrics, inclusive, exclusive, devices):
    """(names of columns, those of the given metrics that the file has no data for); the columns are the frames'."""
    if not metrics:
        metrics = [*inclusive, *exclusive]
    columns, missing = [], []
    for text in [metrics] if isinstance(metrics, str) else metrics:
        column, values = _derive(graph, text, inclusive, exclusive, devices)
        columns.append(column)
        if not values:
            missing.append(text)
        for frame, value in values.items():
            frame.columns[column] = value
        (graph.inc_metrics if column.endswith("(inc)") else graph.exc_metrics).append(column)
    return columns, missing


def derive_metrics(graph, metrics, inclusive, exclusive, devices):
    """The names of the columns that the metrics become in `graph.dataframe`: `time/ms (inc)`."""
    return derive(graph, metrics, inclusive, exclusive, devices)[0]


def _derive(graph, text, inclusive, exclusive, devices):
    """(column, value of each frame that has one)."""
    name = _canonical(text)
    frames = graph.frames()
    if name.endswith("/%"):
        source = _file_name(name[:-2], inclusive)
        whole = graph.root.total.get(source, 0) if source else 0
        values = {frame: frame.total[source] / whole * 100 for frame in frames if source in frame.total} if whole else {}
        return f"{name} (inc)", values
    if name == "util":
        known = {frame: least_time(frame, devices) for frame in frames}
        return "util", {frame: pair[0] / pair[1] for frame, pair in known.items() if pair}
    for kind in (time_factor_dict, avg_time_factor_dict, cpu_time_factor_dict, avg_cpu_time_factor_dict):
        if name in kind.factor:
            return _time(frames, name, kind, inclusive, exclusive)
    if name in bytes_factor_dict.factor:
        return _rate(frames, name, ["bytes"], bytes_factor_dict.factor[name], inclusive)
    match = re.fullmatch(r"([gt]?)flop(\d*)/s", name)
    if match:
        sources = [f"flops{match[2]}"] if match[2] else ["flops", *(f"flops{width}" for width in WIDTHS)]
        return _rate(frames, name, sources, _FLOPS[match[1]], inclusive)
    source = _file_name(name, [*inclusive, *exclusive])
    if source is None:
        return name, {}
    if source in inclusive:
        return f"{source} (inc)", {frame: frame.total[source] for frame in frames if source in frame.total}
    return source, {frame: frame.own[source] for frame in frames if source in frame.own}


def _time(frames, name, kind, inclusive, exclusive):
    is_average = kind.name.startswith("avg_")
    source = "cpu_time (ns)" if "cpu_time" in kind.name else "time (ns)"
    is_inclusive = source in inclusive
    values = {}
    for frame in frames:
        held = frame.total if is_inclusive else frame.own
        if source not in held:
            continue
        value = held[source] * kind.factor[name]
        if is_average:
            count = frame.total.get("count", frame.own.get("count", 0))
            if not count:
                continue
            value /= count
        values[frame] = value
    return f"{name} (inc)", values  # Proton's name of the column, also where the file's times are of their own frames


def _rate(frames, name, sources, factor, inclusive):
    values = {}
    for frame in frames:
        amount = sum(frame.total.get(source, 0) for source in sources)
        time = frame.total.get("time (ns)", 0)
        if amount and time:
            values[frame] = amount / (time / 1e9) * factor
    return f"{name} (inc)", values
