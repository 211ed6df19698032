"""Code objects made of assembly or C by LLVM's tools, and the program amdgcn-run, which runs them in the simulator."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "simulator/amdgcn/amdgcn-run"
WIDE = ("gfx90a", "gfx942", "gfx950")  # their waves have 64 lanes


def lanes(arch):
    return 64 if arch in WIDE else 32


@functools.cache
def tools():
    """The folder of LLVM's programs, or None."""
    config = shutil.which("llvm-config-22")
    if not config:
        return None
    folder = Path(subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip())
    return folder if (folder / "llvm-mc").exists() and (folder / "ld.lld").exists() else None


@functools.cache
def scratch():
    folder = tempfile.mkdtemp(prefix="nacre-amdgcn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def link(name, arch, command):
    made, linked = scratch() / f"{name}-{arch}.o", scratch() / f"{name}-{arch}.hsaco"
    subprocess.run([*command, "-o", made], check=True)
    subprocess.run([tools() / "ld.lld", "-shared", made, "-o", linked], check=True)
    return linked


def compile_c(name, arch, text):
    """C with __attribute__((amdgpu_kernel)) and clang's builtins."""
    source = scratch() / f"{name}.c"
    source.write_text(text)
    target = ["--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib", "-mcode-object-version=5"]
    return link(name, arch, [tools() / "clang", *target, "-O2", "-g", "-c", source])


def kernel_text(name, body, arch, arguments=2, lds=0):
    """A kernel of assembly: s[0:1] holds the address of its arguments, which are addresses; v0 the work-item's id."""
    accumulators = "  .amdhsa_accum_offset 64\n" if arch in WIDE else ""
    wave = "  .amdhsa_wavefront_size32 1\n" if arch not in WIDE else ""
    descriptor = f""".amdhsa_kernel {name}
  .amdhsa_next_free_vgpr 128
  .amdhsa_next_free_sgpr 64
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_kernarg_size {8 * arguments}
  .amdhsa_float_denorm_mode_32 3
{accumulators}{wave}.end_amdhsa_kernel"""
    return f".text\n.globl {name}\n.p2align 8\n.type {name},@function\n{name}:\n{body}\n  s_endpgm\n.size {name}, .-{name}\n.rodata\n.p2align 6\n{descriptor}\n"


def assemble(name, arch, kernels):
    """A code object of kernels: name to (body, count of addresses it takes, bytes of LDS)."""
    text = f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n.amdhsa_code_object_version 5\n'
    notes = []
    for kernel, (body, arguments, lds) in kernels.items():
        text += kernel_text(kernel, body, arch, arguments, lds)
        fields = "".join(f"\n      - .address_space: global\n        .offset: {8 * i}\n        .size: 8\n        .value_kind: global_buffer" for i in range(arguments))
        notes.append(f"""
  - .name: {kernel}
    .symbol: {kernel}.kd
    .kernarg_segment_size: {8 * arguments}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: {lanes(arch)}
    .sgpr_count: 64
    .vgpr_count: 128
    .max_flat_workgroup_size: 1024
    .args:{fields}""")
    text += f".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:{''.join(notes)}\n...\n.end_amdgpu_metadata\n"
    source = scratch() / f"{name}-{arch}.s"
    source.write_text(text)
    halves = [] if arch in WIDE else ["-mattr=+real-true16"]  # v1.l, v1.h
    return link(name, arch, [tools() / "llvm-mc", "--triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", *halves, "-filetype=obj", source])


@functools.cache
def program():
    process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def run(code, kernel, arguments, groups=1, size=64, lds=0, clean=True, limit=0, read_only=()):
    """Runs a kernel. Arrays are written back; other arguments are NumPy scalars. Returns the answer; no finding is allowed unless `clean` is False."""
    request = {"code": str(code), "kernel": kernel, "lds": lds, "limit": limit, "arguments": []}
    request["groups"], request["size"] = (list(x) if isinstance(x, tuple) else [x, 1, 1] for x in (groups, size))
    files = []
    for i, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            path = scratch() / f"argument{i}"
            argument.tofile(path)
            files.append((path, argument))
            request["arguments"].append({"file": str(path), "name": f"argument {i}", "writable": i not in read_only})
        else:
            request["arguments"].append({"bytes": argument.tobytes().hex()})
    process = program()
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    assert line, "amdgcn-run has ended; its standard error says why"
    answer = json.loads(line)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    for path, array in files:
        array[...] = np.fromfile(path, array.dtype).reshape(array.shape)
    assert not clean or not answer["findings"], answer["text"]
    return answer
