"""The CPU target's compiler, as packages see it. The compiler itself is C++."""

from ... import _core
from ..compiler import BaseBackend, LaunchOptions


class CPUOptions(LaunchOptions):
    backend_name = "cpu"
    supported_fp8_dtypes = ("fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")


class CPUBackend(BaseBackend):
    """Compiles for this machine's CPU."""

    binary_ext = "obj"
    options_class = CPUOptions

    @staticmethod
    def supports_target(target):
        return target.backend == "cpu"

    def hash(self):
        info = _core.info()
        return f"{info['build_id']}-{info['processor']}"

    def get_codegen_implementation(self, options):
        return {}
