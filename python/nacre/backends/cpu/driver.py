"""The CPU as a device."""

from ... import _core
from ..compiler import GPUTarget
from ..driver import DriverBase


class CPUUtils:
    """Numbers about the CPU under the names that GPU code asks for. Scripts divide by them and take the least of quotients, to know how many
    programs to launch: what does not limit that on a CPU is large."""

    def get_device_properties(self, device=0):
        return _core.device_properties("cpu", 0)


class CacheMemory:
    """Stands for the memory by which the caches are cleared."""

    def zero_(self):
        _core.clear_caches()
        return self


class CPUDriver(DriverBase):
    """Runs kernels on this machine's cores."""

    def __init__(self):
        self.utils = CPUUtils()

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("cpu", "", _core.TARGETS["cpu"]["warp_size"])

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=None):
        return (0, 0)

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        from .device_interface import CPUDeviceInterface

        return CPUDeviceInterface()

    def get_benchmarker(self):
        from ...testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """What clear_cache takes, or what is asked to zero_() itself. The memory that pushes everything else out of the caches is the
        runtime's own."""
        return CacheMemory()

    def clear_cache(self, cache):
        cache.zero_()

    def map_python_to_cpp_type(self, type):
        return {"i1": "int32_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u1": "uint32_t",
                "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "fp16": "float", "bf16": "float",
                "fp32": "float", "fp64": "double"}.get(type, "void*")  # fmt: skip
