"""How fast the device's clock ran while something was measured, and what held it back.

Of a CPU Linux tells: each core's clock, how often heat slowed one, and how often the group of this process was stopped for having used up
its share. Of an NVIDIA GPU the management library tells the clock and the reasons for which it is lower than it could be. What a machine
does not tell is left out.
"""

import ctypes
import functools
import os

_CPUS = "/sys/devices/system/cpu"
_CPUINFO = "/proc/cpuinfo"
_GROUP = "/sys/fs/cgroup/cpu.stat"
_REASONS = {0x4: "the power limit", 0x8: "a slowdown by hardware", 0x20: "heat", 0x40: "heat", 0x80: "the power supply"}  # NVML's bits
_SM_CLOCK = 1  # NVML_CLOCK_SM


def only_of_a_gpu(what):
    raise RuntimeError(f"{what} is known of GPUs only, and this process runs kernels on the CPU")


class Watch:
    """Samples of the clock from its making on. result() is {"mhz": [lowest, highest], "throttled": [reasons]}, either left out where nothing
    is known or nothing was the matter."""

    def __init__(self, source=None):
        self.source = _source() if source is None else source
        self.before = self.source.counts()
        self.clocks, self.reasons = [], []

    def sample(self):
        clock, reasons = self.source.now()
        if clock:
            self.clocks.append(clock)
        self.reasons += reasons

    def result(self):
        after = self.source.counts()
        reasons = self.reasons + [what for what, count in after.items() if count > self.before.get(what, count)]
        told = {"mhz": [round(min(self.clocks)), round(max(self.clocks))]} if self.clocks else {}
        return {**told, "throttled": sorted(set(reasons))} if reasons else told


def _number(path):
    try:
        with open(path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


class HostClock:
    """The cores that this process may use."""

    def __init__(self):
        self.cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

    def now(self):
        """(MHz of the core that runs fastest: the others may be idle; reasons why it is not faster)"""
        known = [_number(f"{_CPUS}/cpu{core}/cpufreq/scaling_cur_freq") for core in self.cores]
        clocks = [kilohertz / 1e3 for kilohertz in known if kilohertz] or self._from_list()
        return max(clocks, default=None), []

    def _from_list(self):
        try:
            with open(_CPUINFO) as file:
                return [float(line.partition(":")[2]) for line in file if line.startswith("cpu MHz")]
        except (OSError, ValueError):
            return []

    def counts(self):
        """{what holds a core back: how often it has}"""
        counts = {}
        for name in ("core_throttle_count", "package_throttle_count"):
            found = [_number(f"{_CPUS}/cpu{core}/thermal_throttle/{name}") for core in self.cores]
            counts["heat"] = counts.get("heat", 0) + sum(count for count in found if count)
        try:
            with open(_GROUP) as file:
                stopped = dict(line.split() for line in file if len(line.split()) == 2).get("nr_throttled", 0)
            counts["the processor share of its group"] = int(stopped)
        except (OSError, ValueError):
            pass
        return counts


class GpuClock:
    """A GPU by NVIDIA's management library. handle: the library's own of the device."""

    def __init__(self, library, handle):
        self.library = library
        self.handle = handle

    def now(self):
        clock, reasons = ctypes.c_uint(0), ctypes.c_ulonglong(0)
        is_known = self.library.nvmlDeviceGetClockInfo(self.handle, _SM_CLOCK, ctypes.byref(clock)) == 0
        if self.library.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle, ctypes.byref(reasons)) != 0:
            reasons.value = 0
        return clock.value if is_known else None, [what for bit, what in _REASONS.items() if reasons.value & bit]

    def counts(self):
        return {}


class _Unknown:
    def now(self):
        return None, []

    def counts(self):
        return {}


def _source():
    from ..runtime.driver import driver

    if driver.active.is_host:
        return HostClock()
    return _gpu(driver.active.get_current_device())


@functools.lru_cache
def _gpu(device):
    """The clock of a GPU, by its number among those that this process sees."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        handle = ctypes.c_void_p()
        if library.nvmlInit_v2() != 0:
            return _Unknown()
        visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
        name = visible[device] if device < len(visible) else str(device)
        if name.isdigit():
            status = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(handle))
        else:
            status = library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle))
        return GpuClock(library, handle) if status == 0 else _Unknown()
    except (OSError, AttributeError):
        return _Unknown()
