"""`proton-viewer --html`: a profile as one page, which opens from a disk."""

import json
import os
import re

from ._derive import WIDTHS, derive_metrics
from ._graph import load, read
from .specs import max_bps, max_flops


def _node(frame):
    return {
        "name": frame.name, "own": {name: value for name, value in frame.own.items() if isinstance(value, (int, float, str))},
        "total": {name: value for name, value in frame.total.items() if isinstance(value, (int, float))},
        "util": frame.columns.get("util"), "children": [_node(child) for child in frame.children],
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
            with open(file) as source:
                texts = source.read().splitlines()
        except OSError:
            texts = []
        around = range(max(1, min(counts) - 5), max(counts) + 6)
        lines = [[i, texts[i - 1] if i <= len(texts) else "", counts.get(i, 0)] for i in around if i in counts or i <= len(texts)]
        found.append({"file": file, "total": sum(counts.values()), "lines": lines})
    return sorted(found, key=lambda entry: -entry["total"])


def _profile(filename):
    """A profile as the page has it; of a trace its events alone."""
    document = load(filename)
    if isinstance(document, dict):
        return {"file": os.path.basename(filename), "events": [event for event in document["traceEvents"] if event["ph"] in "XM"]}
    graph, inclusive, exclusive, devices = read(filename)
    derive_metrics(graph, ["util"], inclusive, exclusive, devices)
    return {
        "file": os.path.basename(filename), "root": _node(graph.root), "devices": _with_peaks(devices), "inclusive": inclusive,
        "heat": _heat(graph.root),
    }  # fmt: skip


def write_page(page, filename, other=None):
    """`other`: a second profile, to compare with (or, where the first is a tree, a trace whose timeline is shown)."""
    data = {"version": 1, "profile": _profile(filename), "other": _profile(other) if other else None}
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "page.html")) as file:
        template = file.read()
    with open(os.path.join(folder, "page.js")) as file:
        script = file.read()
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    with open(page, "w") as file:
        file.write(template.replace("/*SCRIPT*/", script).replace("/*DATA*/", f"const DATA = {text};"))
