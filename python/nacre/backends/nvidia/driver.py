"""NVIDIA GPUs as devices."""

import functools
import os
import sys

from ... import _core, knobs
from ..compiler import GPUTarget
from ..driver import DriverBase
from ..host_memory import HostMemoryDriver


dirname = os.path.dirname(os.path.realpath(__file__))
libraries = ["libcuda.so.1"]


@functools.lru_cache
def libcuda_dirs():
    """The folders that hold the driver's library."""
    if knobs.nvidia.driver:
        return [os.path.dirname(os.path.abspath(knobs.nvidia.driver))]
    folders = [os.path.dirname(path) for path in _libraries_of_the_linker("libcuda.so.1")]
    folders += [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    found = [folder for folder in dict.fromkeys(folders) if os.path.exists(os.path.join(folder, "libcuda.so.1"))]
    if not found:
        raise AssertionError("libcuda.so.1 is not there: install NVIDIA's driver, or name the library by NACRE_CUDA_DRIVER")
    return found


def _libraries_of_the_linker(name):
    """The paths under which the system's linker knows a library."""
    import subprocess

    try:
        told = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, errors="ignore").stdout
    except OSError:
        return []
    return [line.split()[-1] for line in told.splitlines() if line.split()[:1] == [name]]


def library_dirs():
    """The folders of the libraries that code for the driver is linked with."""
    return list(libcuda_dirs())


def __getattr__(name):
    if name == "include_dirs":  # of the toolkit, where there is one
        folders = [knobs.nvidia.cuda_home, "/usr/local/cuda"]
        return [folder for folder in (os.path.join(base, "include") for base in folders if base) if os.path.isdir(folder)]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class CudaUtils:
    """What Triton's own code asks the driver for."""

    def __init__(self, name="cuda"):
        self._name = name

    def get_device_properties(self, device=0):
        return _core.device_properties(self._name, device)


def _target(properties):
    return GPUTarget("cuda", int(properties["arch"]), _core.warp_size("cuda", properties["arch"]))


class CudaDriver(DriverBase):
    """Runs kernels on the GPUs that NVIDIA's driver finds."""

    def __init__(self):
        self.utils = CudaUtils()

    @classmethod
    def is_active(cls):
        return any(name == "cuda" and count > 0 for name, count, _ in _core.devices()) or _torch_used_a_gpu_before_the_fork()

    def get_current_target(self):
        return _target(self.utils.get_device_properties(self.get_current_device()))

    def get_current_device(self):
        return _core.current_device("cuda")

    def set_current_device(self, device):
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():  # it keeps the number itself
            torch.cuda.set_device(device)
        else:
            from . import driver_library

            driver_library.set_current_device(device)

    def get_current_stream(self, device=None):
        return _core.current_stream("cuda", self.get_current_device() if device is None else device)

    def get_device_capability(self, device=None):
        return divmod(int(self.utils.get_device_properties(self.get_current_device() if device is None else device)["arch"]), 10)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_benchmarker(self):
        from ...testing.timing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        """Memory larger than the cache of any GPU, to push everything else out with."""
        import torch

        return torch.empty(256 << 18, dtype=torch.int32, device="cuda")

    def clear_cache(self, cache):
        cache.zero_()

    def map_python_to_cpp_type(self, type):
        return {"i1": "int8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u1": "uint8_t",
                "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "fp16": "double", "bf16": "double",
                "fp32": "double", "f32": "double", "fp64": "double", "nvTmaDesc": "CUtensorMap"}.get(type, "CUdeviceptr")  # fmt: skip


class SimulatedDriver(HostMemoryDriver):
    """A GPU that is not there, under NACRE_DEVICE=simulate: what it runs is the CUDA target's code, on arrays in host memory."""

    def __init__(self):
        self.utils = CudaUtils("simulate")

    def get_current_target(self):
        return _target(self.utils.get_device_properties())

    def get_device_capability(self, device=None):
        return divmod(int(self.utils.get_device_properties()["arch"]), 10)


def _torch_used_a_gpu_before_the_fork():
    """Workers of torch.compile are such children. Where we are imported in the child alone, torch knows and the driver answers nothing."""
    torch = sys.modules.get("torch")
    return torch is not None and getattr(torch.cuda, "_is_in_bad_fork", bool)()
