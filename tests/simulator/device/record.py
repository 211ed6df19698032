"""Runs every program of programs.py on the GPU of this machine and writes its output bytes to a .npz file.

    python record.py OUTPUT.npz [PATTERN]

PATTERN names some of them, as a shell does ('tma.1d*'), or is `missing`: those that recorded.npz does not have.
Needs an NVIDIA driver (libcuda.so.1) and NumPy; PTX is compiled by ptxas where there is one, else by the driver. What
cannot be compiled or run is named, and left out.
"""

import ctypes
import fnmatch
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import programs  # noqa: E402

cuda = ctypes.CDLL("libcuda.so.1")
DTYPES = {"uint8": 0, "float16": 6, "float32": 7, "float64": 8}


def check(status, what):
    if status:
        raise RuntimeError(f"{what}: CUDA error {status}")


def compile_ptx(program):
    ptxas = shutil.which("ptxas") or ("/usr/local/cuda/bin/ptxas" if os.path.exists("/usr/local/cuda/bin/ptxas") else None)
    if not ptxas:
        return program.ptx.encode() + b"\0", ""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", delete=False) as source:
        source.write(program.ptx)
    result = subprocess.run([ptxas, "-arch=sm_90a", source.name, "-o", source.name + ".cubin"], capture_output=True, text=True)
    try:
        if result.returncode:
            return None, result.stderr.strip() or result.stdout.strip()
        with open(source.name + ".cubin", "rb") as binary:
            return binary.read(), ""
    finally:
        os.unlink(source.name)
        if os.path.exists(source.name + ".cubin"):
            os.unlink(source.name + ".cubin")


def allocate(size):
    pointer = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(max(size, 16))), "cuMemAlloc")
    return pointer.value


def encode_map(fields, address):
    rank = len(fields["sizes"])
    storage = ctypes.create_string_buffer(128 + 64)
    aligned = (ctypes.addressof(storage) + 63) // 64 * 64
    sizes = (ctypes.c_uint64 * rank)(*fields["sizes"])
    strides = (ctypes.c_uint64 * max(rank - 1, 1))(*(fields["strides"] or [0]))
    box = (ctypes.c_uint32 * rank)(*fields["box"])
    steps = (ctypes.c_uint32 * rank)(*([1] * rank))
    check(
        cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(aligned), DTYPES[fields["dtype"]], ctypes.c_uint32(rank), ctypes.c_void_p(address), sizes, strides, box, steps, 0,
            {0: 0, 32: 1, 64: 2, 128: 3}[fields["swizzle"]], 0, 1 if fields["fill_nan"] else 0,
        ),
        "cuTensorMapEncodeTiled",
    )  # fmt: skip
    return ctypes.string_at(aligned, 128)


def run(program, binary):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), binary), "cuModuleLoadData")
    pointers = []
    try:
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"), "cuModuleGetFunction")
        for array in program.inputs:
            pointers.append(allocate(array.nbytes))
            check(cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(pointers[-1]), array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)), "copy")
        output = allocate(program.output_bytes)
        pointers.append(output)
        check(cuda.cuMemsetD8_v2(ctypes.c_uint64(output), 0, ctypes.c_size_t(max(program.output_bytes, 16))), "memset")
        if program.maps:
            fields = program.maps[0]
            tensor = output if fields["store"] else pointers[0]
            values = [ctypes.create_string_buffer(encode_map(fields, tensor), 128), ctypes.c_uint64(output), ctypes.c_uint64(pointers[1])]
        else:
            values = [ctypes.c_uint64(pointer) for pointer in pointers]
        array = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        check(cuda.cuLaunchKernel(function, program.grid, 1, 1, program.block, 1, 1, program.shared, None, array, None), "cuLaunchKernel")
        check(cuda.cuCtxSynchronize(), "the kernel")
        result = np.zeros(program.output_bytes, np.uint8)
        check(cuda.cuMemcpyDtoH_v2(result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(output), ctypes.c_size_t(program.output_bytes)), "copy back")
        return result
    finally:
        for pointer in pointers:
            cuda.cuMemFree_v2(ctypes.c_uint64(pointer))
        cuda.cuModuleUnload(module)


def chosen(pattern):
    if pattern == "missing":
        with np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.npz")) as file:
            known = {*file["names"].tolist(), *(name.removeprefix("output ") for name in file.files)}
        return [program for program in programs() if program.name not in known]
    return [program for program in programs() if fnmatch.fnmatchcase(program.name, pattern)]


def record(path, pattern, first):
    """Runs the programs from `first` on and writes what they gave. Returns where to go on in a new process, or None."""
    check(cuda.cuInit(0), "cuInit")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cuda.cuCtxSetCurrent(context), "context")
    everything = chosen(pattern)[first:]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        binaries = list(pool.map(compile_ptx, everything))
    outputs, again = {}, None
    for index, (program, (binary, message)) in enumerate(zip(everything, binaries)):
        try:
            if binary is None:
                raise RuntimeError(message)
            outputs[program.name] = run(program, binary)
        except RuntimeError as error:
            print(f"{program.name}: {error}", flush=True)
            if "the kernel" in str(error):  # the context is lost
                again = first + index + 1
                break
    np.savez(path, **outputs)
    return again


def main(path, pattern="*"):
    """Every failure of a kernel costs its process: a new one goes on after it."""
    first, merged, parts = 0, {}, 0
    while first is not None:
        part = f"{path}.part"
        result = subprocess.run([sys.executable, os.path.abspath(__file__), "--part", part, pattern, str(first)], stdout=subprocess.PIPE, text=True)
        lines = result.stdout.splitlines()
        print("\n".join(line for line in lines if not line.startswith("NEXT ")), flush=True)
        if not any(line.startswith("NEXT ") for line in lines):
            print(f"the process from {first} on ended with status {result.returncode}", flush=True)
            break
        with np.load(part + ".npz") as file:
            merged.update({name: file[name] for name in file.files})
        os.unlink(part + ".npz")
        parts += 1
        word = next(line for line in lines if line.startswith("NEXT ")).split()[1]
        first = None if word == "None" or parts > 60 else int(word)
    np.savez_compressed(path, **merged)
    print(f"{len(merged)} of {len(chosen(pattern))} recorded")


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        print("NEXT", record(sys.argv[2] + ".npz", sys.argv[3], int(sys.argv[4])))
    else:
        main(*sys.argv[1:])
