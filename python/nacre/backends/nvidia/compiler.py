"""The CUDA target's compiler, as packages see it. The compiler itself is C++."""

import functools

from ... import _core, knobs
from ..compiler import BaseBackend, LaunchOptions


def min_dot_size(target):
    """A function from the types of a product's operands to the least (M, N, K) that packages give its blocks, which is Triton's: here smaller ones
    are compiled too."""

    def least(lhs_type, rhs_type):
        bits = lhs_type.scalar.primitive_bitwidth
        if bits != rhs_type.scalar.primitive_bitwidth:
            raise AssertionError("lhs and rhs bitwidth must be the same")
        return 1, 1, {8: 32, 32: 8, 64: 4}.get(bits, 16)

    return least


def get_ptxas(arch):
    """The assembler for an architecture: one for all."""
    return knobs.nvidia.ptxas


@functools.lru_cache
def get_ptxas_version(arch=80):
    """What the assembler says of itself."""
    import subprocess

    tool = get_ptxas(arch)
    if tool == "driver":
        return f"the driver's assembler, release {tool.version}"
    return subprocess.check_output([tool.path, "--version"], text=True)


@functools.lru_cache
def ptx_get_version(cuda_version):
    """The newest PTX, 87 for 8.7, that a toolkit assembles."""
    major, minor = map(int, cuda_version.split("."))
    if major >= 13:
        return 90 + 10 * (major - 13) + minor
    if major == 12:
        return 80 + minor - (minor >= 6)  # 12.6 has that of 12.5
    first = {10: 63, 11: 70}.get(major)
    if first is None:
        raise RuntimeError(f"Triton only support CUDA 10.0 or higher, but got CUDA version: {cuda_version}")
    return first + minor


def get_ptx_version_from_options(options, arch):
    """The PTX that options ask for, or the assembler's newest."""
    asked = getattr(options, "ptx_version", None)
    return ptx_get_version(get_ptxas(arch).version) if asked is None else asked


@functools.lru_cache(None)
def file_hash(path):
    import hashlib

    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sm_arch_from_capability(capability):
    """ "sm_80", "sm_90a" for 80, 90."""
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


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
        return {"min_dot_size": min_dot_size(self.target)}
