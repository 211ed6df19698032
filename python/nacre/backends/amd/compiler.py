"""The HIP target's compiler, as packages see it. The compiler itself is C++."""

from ... import _core
from ..compiler import BaseBackend, LaunchOptions


def get_min_dot_size(target):
    """A function from the types of a product's operands to the least (M, N, K) of its blocks: there is no least."""
    return lambda lhs_type, rhs_type: (1, 1, 1)


class HIPOptions(LaunchOptions):
    backend_name = "hip"
    supported_fp8_dtypes = ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16")


class HIPBackend(BaseBackend):
    """Compiles for AMD's GPUs."""

    binary_ext = "hsaco"
    options_class = HIPOptions

    @staticmethod
    def supports_target(target):
        return target.backend == "hip"

    def hash(self):
        return f"{_core.info()['build_id']}-{self.target.arch}"

    def get_codegen_implementation(self, options):
        return {"min_dot_size": get_min_dot_size(self.target)}
