"""What a launch costs on the host: ours and Triton's from Python, beside the bare driver call from C (launch_overhead.c), all in
one process, by turns. A kernel of three pointers, two ints and a constexpr.

    PYTHONPATH=folder-of-nacre python bench/gpu/launch.py [--batches N]

Prints microseconds a launch, medians of batches that the device's queue has room for, and what each costs above the bare call.
Needs a C compiler (CC, else cc, gcc, or nvcc), torch and Triton's package.
"""

import argparse
import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import torch
from run import load  # kernels.py compiled by a package

BATCH = 200


def compile_caller(folder):
    source, library = Path(__file__).with_name("launch_overhead.c"), Path(folder) / "launch_overhead.so"
    compiler = next((found for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and (found := shutil.which(name))), None)
    if compiler:
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    else:
        subprocess.run(["nvcc", "-O2", "-shared", "-Xcompiler", "-fPIC", str(source), "-o", str(library)], check=True)
    call = ctypes.CDLL(str(library)).launchMany
    call.restype = ctypes.c_double
    call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--batches", type=int, default=101)
    options = parser.parse_args()
    import triton
    import triton.language

    import nacre
    import nacre.language

    n = 128
    x, y, out = (torch.zeros(n, device="cuda") for _ in range(3))
    stride = 7
    ours = load("launch_nacre", nacre, nacre.language).vector_add_strided
    theirs = load("launch_triton", triton, triton.language).vector_add_strided

    def from_python(kernel):
        def batch():
            start = time.perf_counter()
            for _ in range(BATCH):
                kernel[(1,)](x, y, out, n, stride, BLOCK=128)
            return (time.perf_counter() - start) / BATCH * 1e6

        return batch

    compiled = ours[(1,)](x, y, out, n, stride, BLOCK=128)
    driver = ctypes.CDLL("libcuda.so.1")
    slots = [ctypes.c_uint64(tensor.data_ptr()) for tensor in (x, y, out)] + [ctypes.c_int32(n), ctypes.c_int32(stride)]
    parameters = (ctypes.c_void_p * len(slots))(*(ctypes.addressof(slot) for slot in slots))
    launch = ctypes.cast(driver.cuLaunchKernel, ctypes.c_void_p)
    with tempfile.TemporaryDirectory() as folder:
        call = compile_caller(folder)

        def from_c():
            stream = torch.cuda.current_stream().cuda_stream
            return call(launch, compiled.function, 32 * compiled.metadata.num_warps, stream, parameters, BATCH) / 1e3

        kinds = {"driver call from C": from_c, "Nacre": from_python(ours), "Triton": from_python(theirs)}
        times = {name: [] for name in kinds}
        for _ in range(options.batches + 3):
            for name, batch in kinds.items():
                torch.cuda.synchronize()
                times[name].append(batch())
    torch.cuda.synchronize()
    bare = None
    for name, values in times.items():
        median = sorted(values[3:])[options.batches // 2]
        bare = median if bare is None else bare
        print(f"{name:20} {median:6.2f} us a launch" + ("" if name == "driver call from C" else f", {median - bare:5.2f} above the call from C"))


if __name__ == "__main__":
    main()
