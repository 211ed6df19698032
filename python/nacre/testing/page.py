"""The web page of a perf_report: one file that needs no network, with a picture of each benchmark and its numbers."""

import json
import os


def _limits(data):
    """[(y, what)]: how fast the device is at most, in the unit of a benchmark's y axis, where that is a bandwidth or a rate of arithmetic."""
    import math

    from .limits import get_dram_gbps, get_max_simd_tflops, is_host, measured

    seen = max((y for point in data["points"] for values in point["y"] for y in values if y is not None and math.isfinite(y)), default=0.0)
    unit = data["ylabel"].lower().replace(" ", "")
    scales = {"tb/s": 1e-3, "gb/s": 1.0, "mb/s": 1e3}
    rates = {"tflop": 1.0, "gflop": 1e3}
    try:
        for name, scale in scales.items():
            if name in unit:
                limit = measured("bandwidth", seen / scale * 1e9) / 1e9 if is_host() else get_dram_gbps()
                return [(limit * scale, "measured memory bandwidth")]
        for name, scale in rates.items():
            if name in unit:
                limit = measured("operations32", seen / scale * 1e12) / 1e12 if is_host() else get_max_simd_tflops("float32", 0)
                return [(limit * scale, "measured float32 arithmetic")]
    except Exception:  # a page without the line is better than none
        pass
    return []


def _machine():
    from ..runtime.tuning.records import device_facts

    try:
        facts = device_facts()
    except Exception:
        return ""
    return ", ".join(str(value) if name in ("name", "arch") else f"{value} {name}" for name, value in facts.items() if value)


def write_page(path, reports):
    for report in reports:
        report["limits"] = _limits(report)
    with open(os.path.join(os.path.dirname(__file__), "page.html")) as file:
        template = file.read()
    content = json.dumps({"machine": _machine(), "reports": reports}).replace("</", "<\\/")
    with open(path, "w") as file:
        file.write(template.replace("/*DATA*/null", content))
