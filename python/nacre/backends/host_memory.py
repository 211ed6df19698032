"""What drivers share whose kernels use host memory, and have ended when their launch returns: there is one device with one stream, and
nothing to wait for."""

import time

from .. import _core
from .driver import DriverBase


class Event:
    """A moment, as torch's events of a GPU record one."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._moment = None

    def record(self, stream=None):
        self._moment = time.perf_counter()

    def query(self):
        return True

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end_event):
        """Milliseconds from this moment to another."""
        if self._moment is None or end_event._moment is None:
            raise RuntimeError("elapsed_time() needs two events that were recorded")
        return (end_event._moment - self._moment) * 1e3


class HostDeviceInterface:
    """The names by which benchmarkers address a device: events and synchronizing. All else is torch.cpu's."""

    Event = Event

    def synchronize(self, device=None):
        pass

    def current_device(self):
        return 0

    def __getattr__(self, name):
        import torch

        return getattr(torch.cpu, name)


class CacheMemory:
    """Stands for the memory by which the caches are cleared."""

    def zero_(self):
        _core.clear_caches()
        return self


class HostMemoryDriver(DriverBase):
    """Runs kernels on arrays in host memory."""

    @classmethod
    def is_active(cls):
        return True

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        return HostDeviceInterface()

    def get_benchmarker(self):
        from ..testing.timing import do_bench

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
