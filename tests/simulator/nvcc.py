"""CUDA's own compiler, where it is installed."""

import os
import shutil
import subprocess

NVCC = shutil.which("nvcc")


def to_ptx(source, folder, *options):
    """The PTX of a file of CUDA C++. What is preloaded for a sanitized build of ours is not for nvcc."""
    ptx = folder / f"{source.stem}.ptx"
    subprocess.run([NVCC, *options, "-ptx", str(source), "-o", str(ptx)], check=True, env={**os.environ, "LD_PRELOAD": ""})
    return ptx.read_text()
