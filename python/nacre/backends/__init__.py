"""The targets of this version: `backends["cpu"]` holds its compiler and its driver. The first one that this machine has is used."""

from .amd.compiler import HIPBackend
from .amd.driver import HIPDriver
from .compiler import BaseBackend
from .cpu.compiler import CPUBackend
from .cpu.driver import CPUDriver
from .driver import DriverBase, GPUDriver
from .nvidia.compiler import CUDABackend
from .nvidia.driver import CudaDriver


class Backend:
    """A target: the class that compiles for it and the class that runs on it."""

    def __init__(self, compiler, driver):
        self.compiler = compiler
        self.driver = driver


backends = {"nvidia": Backend(CUDABackend, CudaDriver), "amd": Backend(HIPBackend, HIPDriver), "cpu": Backend(CPUBackend, CPUDriver)}

__all__ = ["Backend", "BaseBackend", "DriverBase", "GPUDriver", "backends"]
