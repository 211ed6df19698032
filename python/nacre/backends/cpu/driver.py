"""The CPU as a device."""

from ... import _core
from ..compiler import GPUTarget
from ..host_memory import HostMemoryDriver


def _name():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return _core.info()["processor"]


def _clock_mhz():
    """The highest clock, where the system tells; what it runs at now changes from moment to moment."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") as file:
            return int(file.read()) // 1000
    except (OSError, ValueError):
        return 0


class CPUUtils:
    """Numbers about the CPU under the names that GPU code asks for. Scripts divide by them and take the least of quotients, to know how many
    programs to launch: what does not limit that on a CPU is large."""

    def get_device_properties(self, device=0):
        return _core.device_properties("cpu", 0)


class CPUDriver(HostMemoryDriver):
    """Runs kernels on this machine's cores."""

    is_host = True

    def __init__(self):
        self.utils = CPUUtils()
        self._facts = None

    def get_current_target(self):
        return GPUTarget("cpu", "", _core.warp_size("cpu", ""))

    def get_device_capability(self, device=None):
        return (0, 0)

    def facts(self):
        if self._facts is None:
            self._facts = {"name": _name(), "arch": _core.info()["processor"], "mhz": _clock_mhz()}
        return {**self._facts, "threads": _core.threads()}
