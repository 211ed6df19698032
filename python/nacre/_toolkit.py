"""Programs of the CUDA toolkit: where they are, and their versions."""

import functools
import os

# The driver has an assembler of its own, by which the CUDA target assembles where there is no program.
DRIVER = "driver"


class Tool(str):
    """The path of a program."""

    @property
    def path(self):
        return str(self)

    @property
    def version(self):
        """The toolkit's that it belongs to, as it says itself: "12.8"; None when it cannot be run."""
        return _driver_version() if self == DRIVER else _version(self.path)

    @classmethod
    def from_path(cls, path):
        """None where that program cannot be run."""
        return cls(path) if _version(path) is not None else None


@functools.lru_cache
def _version(path):
    import re
    import subprocess

    try:
        told = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    found = re.search(r"release (\d+\.\d+)", told)
    return found and found[1]


@functools.lru_cache
def _driver_version():
    """The newest toolkit whose programs the driver runs; None where there is no driver."""
    import ctypes

    from . import knobs

    try:
        library = ctypes.CDLL(knobs.nvidia.driver or "libcuda.so.1")
    except OSError:
        return None
    number = ctypes.c_int()
    if library.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def _places(name):
    """Where the compiler looks for it too (compiler/targets/cuda/Toolkit.cpp)."""
    import glob
    import shutil

    from . import knobs

    yield shutil.which(name)
    for folder in (knobs.nvidia.cuda_home, "/usr/local/cuda"):
        if folder:
            yield os.path.join(folder, "bin", name)
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield from sorted(glob.glob(os.path.join(glob.escape(packages), "nvidia", "*", "bin", name)), reverse=True)


def find_tool(name, path=None):
    """The program of that name, at a path where one is said. An error says that there is none."""
    if path:
        return Tool(path)
    found = next((place for place in _places(name) if place and os.access(place, os.X_OK)), None)
    if found is not None:
        return Tool(found)
    if name == "ptxas" and _driver_version() is not None:
        return Tool(DRIVER)
    raise RuntimeError(f"Cannot find {name}: it is looked for on the PATH, in CUDA_HOME, in /usr/local/cuda and among Python's packages of NVIDIA's; "
                       f"TRITON_{name.upper()}_PATH names it")  # fmt: skip
