"""AMD's GPUs as devices: one that is simulated. Kernels are compiled for real ones, and are not launched on them in this version."""

from ... import _core
from ..compiler import GPUTarget
from ..driver import GPUDriver
from ..host_memory import HostMemoryDriver

NO_DRIVER = "kernels are compiled for AMD's GPUs in this version, but not launched on them; NACRE_DEVICE=simulate-hip runs them without one"


class HIPUtils:
    """Refuses: no such device can be used."""

    def __init__(self):
        raise RuntimeError(NO_DRIVER)


class HIPDriver(GPUDriver):
    """Refuses: no such device can be used."""

    def __init__(self):
        raise RuntimeError(NO_DRIVER)


class SimulatedUtils:
    """What Triton's own code asks the driver for."""

    def get_device_properties(self, device=0):
        return _core.device_properties("simulate-hip", device)


class SimulatedHIPDriver(HostMemoryDriver):
    """A GPU that is not there, under NACRE_DEVICE=simulate-hip: what it runs is the HIP target's code, on arrays in host memory."""

    def __init__(self):
        self.utils = SimulatedUtils()

    def get_current_target(self):
        architecture = self.utils.get_device_properties()["arch"]
        return GPUTarget("hip", architecture, _core.warp_size("hip", architecture))
