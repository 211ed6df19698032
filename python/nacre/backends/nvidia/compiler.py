"""The CUDA target's compiler, as packages see it. The compiler itself is C++."""

from ... import _core
from ..compiler import BaseBackend, LaunchOptions


class CUDAOptions(LaunchOptions):
    backend_name = "cuda"
    supported_fp8_dtypes = ("fp8e4nv", "fp8e5", "fp8e4b15")


class CUDABackend(BaseBackend):
    """Compiles for NVIDIA GPUs."""

    binary_ext = "cubin"
    options_class = CUDAOptions

    @staticmethod
    def supports_target(target):
        return target.backend == "cuda"

    def hash(self):
        return f"{_core.info()['build_id']}-{self.target.arch}"

    def get_codegen_implementation(self, options):
        return {}
