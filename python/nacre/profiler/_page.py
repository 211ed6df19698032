"""`nacre-proton-viewer --html`: a profile as one page, which opens from a disk."""

import os
import re

from .. import pages
from ._derive import WIDTHS, is_doubtful, least_time
from ._graph import load, read
from .specs import max_bps, max_flops

MOST_SLICES = 60_000  # of a timeline, in a page of less than 5 MB
MOST_LANES = 300


# torch's operators, and its own kernels on GPUs.
_TORCHS = re.compile(r"aten::|(void )?\(?(at|c10|torch)(::|_cuda_detail)")


def _kind(frame, has_ours):
    """What a frame is: a "kernel" of the program, an "operator" of torch or a library's kernel, or neither."""
    if "device_type" not in frame.own:
        return ""
    return "operator" if _TORCHS.match(frame.name) or (has_ours and "config" not in frame.own) else "kernel"


def _node(frame, devices, has_ours):
    """`has_ours`: some kernels say how they were configured, which those of libraries do not."""
    least = least_time(frame, devices)
    return {
        "name": frame.name, "kind": _kind(frame, has_ours), "own": {name: value for name, value in frame.own.items() if isinstance(value, (int, float, str))},
        "total": {name: value for name, value in frame.total.items() if isinstance(value, (int, float))},
        "least": list(least) if least else None, "children": [_node(child, devices, has_ours) for child in frame.children],
    }  # fmt: skip


def _with_peaks(devices):
    """The devices with their peaks, where these are known by what they are: files have those that were measured alone."""
    for kind, numbered in devices.items():
        for facts in numbered.values():
            if "peak_gbps" in facts:
                continue
            try:
                facts["peak_gbps"] = max_bps(kind, facts["arch"], facts["bus_width"], facts["memory_clock_rate"]) / 1e9
                for width in WIDTHS:
                    facts[f"peak_flops{width}"] = max_flops(kind, facts["arch"], width, facts["num_sms"], facts["clock_rate"])
            except ValueError:
                facts.pop("peak_gbps", None)  # the page says that they are not known
    return devices


def _heat(root):
    """The lines of kernels that samples were taken at: [{"file", "total", "lines": [[number, text, samples]]}], the most sampled first."""
    files = {}
    for frame, _ in root.walk():
        match = re.fullmatch(r"(.+):(\d+)@[^@]*", frame.name) if "num_samples" in frame.own else None
        if match:
            lines = files.setdefault(match[1], {})
            lines[int(match[2])] = lines.get(int(match[2]), 0) + frame.own["num_samples"]
    found = []
    for file, counts in files.items():
        try:
            with open(file, encoding="utf-8", errors="replace") as source:
                texts = source.read().splitlines()
        except OSError:
            texts = []
        around = range(max(1, min(counts) - 5), max(counts) + 6)
        lines = [[i, texts[i - 1] if i <= len(texts) else "", counts.get(i, 0)] for i in around if i in counts or i <= len(texts)]
        found.append({"file": file, "total": sum(counts.values()), "lines": lines})
    return sorted(found, key=lambda entry: -entry["total"])


def _trace(events):
    """The timeline of a trace: {"lanes": names, "names": [...], "slices": [[name, lane, begin, length]], "left_out", "unit"}, in
    nanoseconds or cycles, the slices of a lane in the order in which they begin. Of more than a page can hold the longest are kept."""
    titles = {(event.get("pid"), event.get("tid")): event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    complete = [event for event in events if event["ph"] == "X" and (event["dur"] > 0 or event.get("cat") != "metric")]
    kept = sorted(complete, key=lambda event: -event["dur"])[:MOST_SLICES]

    def title(event):
        pid, tid = event.get("pid"), event.get("tid")
        return titles.get((pid, tid)) or (f"{pid} · {tid}" if isinstance(tid, str) else f"thread {tid}")

    def natural(text):
        return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", text) if part]

    lanes = {lane: i for i, lane in enumerate(sorted({title(event) for event in kept}, key=natural)[:MOST_LANES])}
    names = {}
    slices = [
        [names.setdefault(event["name"], len(names)), lanes[title(event)], round(event["ts"] * 1000), round(event["dur"] * 1000)]
        for event in kept if title(event) in lanes
    ]  # fmt: skip
    slices.sort(key=lambda entry: (entry[1], entry[2], -entry[3]))
    unit = "cycles" if kept and kept[0].get("args", {}).get("unit") == "cycles" else "ns"
    return {"lanes": list(lanes), "names": list(names), "slices": slices, "left_out": len(complete) - len(slices), "unit": unit}


def _profile(filename):
    """A profile as the page has it; of a trace its events alone."""
    document = load(filename)
    if isinstance(document, dict):
        return {"file": os.path.basename(filename), "trace": _trace(document["traceEvents"])}
    graph, inclusive, _, devices = read(filename)
    has_ours = any("config" in frame.own for frame in graph.frames())
    return {
        "file": os.path.basename(filename), "root": _node(graph.root, devices, has_ours), "devices": _with_peaks(devices), "inclusive": inclusive,
        "heat": _heat(graph.root), "doubtful": is_doubtful(devices),
    }  # fmt: skip


def write_page(page, filename, other=None):
    """`other`: a second profile, to compare with (or, where the first is a tree, a trace whose timeline is shown)."""
    data = {"version": 1, "profile": _profile(filename), "other": _profile(other) if other else None}
    with open(page, "w", encoding="utf-8") as file:
        file.write(pages.fill(os.path.dirname(os.path.abspath(__file__)), pages.script(data)))
