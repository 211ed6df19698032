"""The machine as a device of a profile, and its peaks: measured once with all threads, and kept."""

import json
import os
import time
from functools import lru_cache

from .. import _core


def _clock():
    """In kHz."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") as file:
            return int(file.read())
    except (OSError, ValueError):
        pass
    try:
        with open("/proc/cpuinfo") as file:
            return int(max(float(line.split(":")[1]) for line in file if line.startswith("cpu MHz")) * 1000)
    except (OSError, ValueError):
        return 0


@lru_cache(None)
def _facts():
    facts = _core.info()
    return {"arch": facts["processor"], "clock_rate": _clock(), "memory_clock_rate": 0, "bus_width": 0, "num_sms": facts["cores"]}


def devices(used):
    """type -> number -> facts, as the second part of a file has it: of the CPU, whose peaks need measuring, unless other devices alone
    were used; the runtime adds these."""
    return {"CPU": {"0": {**_facts(), **peaks()}}} if not used or "CPU" in used else {}


def known_peaks(kind, facts):
    """The peaks of a device by what it is, as JSON; none where its kind is not known, or it does not tell its clocks."""
    from .metric import FLOPS_WIDTHS
    from .specs import max_bps, max_flops

    facts = json.loads(facts)
    try:
        peaks = {"peak_gbps": max_bps(kind, facts["arch"], facts["bus_width"], facts["memory_clock_rate"]) / 1e9}
        peaks.update((f"peak_flops{width}", max_flops(kind, facts["arch"], width, facts["num_sms"], facts["clock_rate"])) for width in FLOPS_WIDTHS)
    except ValueError:
        return "{}"
    return json.dumps(peaks) if all(peaks.values()) else "{}"


def _file():
    folder = _core.directories()["cache"]
    return os.path.join(folder, f"peaks-{_facts()['arch']}-{_core.threads()}.json") if folder else None


@lru_cache(None)
def peaks():
    """{"peak_gbps": ..., "peak_flops32": ..., ...} of all threads together; "peaks_doubtful": 1 where the machine was busy."""
    path = _file()
    if path:
        try:
            with open(path) as file:
                return json.load(file)
        except (OSError, ValueError):
            pass
    measured = _measure()
    if path and not measured.get("peaks_doubtful"):  # a quieter moment will come
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".new", "w") as file:
                json.dump(measured, file)
            os.replace(path + ".new", path)
        except OSError:
            pass
    return measured


_RUNS = (5, 40)  # at least, at most
_STEADY = 1.1  # so much longer than the shortest may the third shortest of them be


def _best(function):
    """(the shortest of some runs in seconds, whether others took about as long). Where they do not, the machine is busy with something else,
    and the shortest may have been longer than it need be."""
    function()
    times = []
    while len(times) < _RUNS[0] or (not _is_steady(times) and len(times) < _RUNS[1]):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times), _is_steady(times)


def _is_steady(times):
    shortest, *_, third = sorted(times)[:3]
    return third <= _STEADY * shortest


def _measure():
    """With no session active: the kernels that measure are nobody's."""
    active = [session for session, _, is_active, _ in _core.profiler_sessions() if is_active]
    for session in active:
        _core.profiler_set_active(session, False)
    try:
        return _measured()
    finally:
        for session in active:
            _core.profiler_set_active(session, True)


def _measured():
    import numpy as np

    from . import _peak_kernels as kernels

    threads = _core.threads()
    n = 1 << 23
    source, target = np.ones(n, np.float32), np.zeros(n, np.float32)
    seconds, is_steady = _best(lambda: kernels.copy[(n >> 14,)](source, target, BLOCK=1 << 14))
    result = {"peak_gbps": round(2 * 4 * n / seconds / 1e9, 3)}
    for width, dtype in ((32, np.float32), (64, np.float64)):
        out = np.zeros(threads * 64, dtype)
        rounds = 1 << 14
        seconds, is_also_steady = _best(lambda: kernels.multiply_add[(threads,)](out, rounds, BLOCK=64))
        is_steady = is_steady and is_also_steady
        result[f"peak_flops{width}"] = 2.0 * 8 * 64 * rounds * threads / seconds
    result["peak_flops16"] = result["peak_flops8"] = result["peak_flops32"]
    return result if is_steady else {**result, "peaks_doubtful": 1}
