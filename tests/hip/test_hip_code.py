"""What the HIP target makes of kernels, for each GPU that it knows: stages, assembly, code objects, and errors."""

import shutil
import struct
import subprocess

import pytest

import nacre
import nacre.language as tl
from nacre.backends.compiler import GPUTarget

WARPS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
EVERY = pytest.mark.parametrize("arch", WARPS)


@nacre.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@nacre.jit
def total(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * n + offsets, mask=offsets < n, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(values, 0))


@nacre.jit
def prints(x):
    tl.device_print("x", tl.load(x))


def compiled(kernel, signature, constants, arch, **options):
    pointers = {(i,): [["tt.divisibility", 16]] for i in range(len(signature))}
    source = nacre.compiler.ASTSource(kernel, signature, constants, pointers)
    return nacre.compile(source, target=GPUTarget("hip", arch, WARPS[arch]), options=options)


def vector_add(arch, **options):
    return compiled(add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 1024}, arch, **options)


def reduction(arch):
    return compiled(total, {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 4096}, arch)


def counted(text, instruction):
    return sum(line.split()[0].removesuffix("_e32") == instruction for line in text.splitlines() if line.split())


@EVERY
def test_a_vector_add_reads_16_bytes_at_once(arch):
    code = vector_add(arch)
    text, wide = code.asm["amdgcn"], "b128" if WARPS[arch] == 32 else "dwordx4"
    assert f"amdgcn-amd-amdhsa--{arch}" in text and code.metadata.warp_size == WARPS[arch]
    sweeps = 1024 // 4 // (4 * WARPS[arch])
    assert counted(text, f"global_load_{wide}") == 2 * sweeps and counted(text, f"global_store_{wide}") == sweeps
    assert code.asm["hsaco"].startswith(b"\x7fELF") and code.n_spills == 0 and code.n_regs > 0
    assert "tile.kernel" in code.asm["ttir"] and "simt.layout" in code.asm["ttgir"] and "amdgpu_kernel void @add" in code.asm["llir"]


@EVERY
def test_a_reduction_moves_values_between_lanes(arch):
    code = reduction(arch)
    text = code.asm["amdgcn"]
    assert "dpp" in text or "quad_perm" in text, text
    assert "s_barrier" in text and code.metadata.shared >= 4 * 4 and code.n_spills == 0


@EVERY
def test_the_code_object_has_what_lld_makes_of_the_same_assembly(arch, tmp_path):
    """The same code, descriptors and notes; and no complaint of LLVM's reader of ELF files."""
    config = shutil.which("llvm-config-22")
    if not config:
        pytest.skip("LLVM's programs are not here")
    tools = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    code = reduction(arch)
    (tmp_path / "kernel.s").write_text(code.asm["amdgcn"])
    (tmp_path / "ours").write_bytes(code.asm["hsaco"])

    def tool(name, *arguments):
        return subprocess.run([f"{tools}/{name}", *arguments], capture_output=True, text=True, check=True, cwd=tmp_path)

    tool("llvm-mc", "--triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", "kernel.s", "-o", "kernel.o")
    tool("ld.lld", "-shared", "kernel.o", "-o", "lld")

    def told(file):
        result = tool("llvm-readelf", "-h", "-l", "-S", "-d", "-n", "--dyn-syms", "--hash-table", file)
        assert "warning" not in result.stderr and "warning" not in result.stdout
        dynamic = {line.split()[-1] for line in result.stdout.split("Symbol table '.dynsym'")[1].splitlines() if " GLOBAL " in line}
        notes = result.stdout.split("NT_AMDGPU_METADATA")[1].split("amdhsa.version")[0]
        flags = next(line for line in result.stdout.splitlines() if "Flags:" in line)
        return dynamic, notes, flags

    assert told("ours") == told("lld") and told("ours")[0] == {"total", "total.kd"}
    listing = "--disassemble", "--no-show-raw-insn", "--no-leading-addr", f"--mcpu={arch}"
    ours, theirs = (tool("llvm-objdump", *listing, file).stdout.split("section .text:")[1].split("\n", 1)[1] for file in ("ours", "lld"))
    assert ours.count("s_endpgm") > 0
    assert [line.split("//")[0].split("<")[0].strip() for line in ours.splitlines()] == [
        line.split("//")[0].split("<")[0].strip() for line in theirs.splitlines()
    ]
    lines = tool("llvm-readelf", "--dyn-syms", "ours").stdout.splitlines()
    places = {line.split()[-1]: int(line.split()[1], 16) for line in lines if " GLOBAL " in line}
    (distance,) = struct.unpack_from("<q", code.asm["hsaco"], places["total.kd"] + 16)  # of the code from its descriptor
    assert places["total.kd"] % 64 == 0 and places["total.kd"] + distance == places["total"]


@nacre.jit
def quotients(x, out):
    i = tl.arange(0, 64)
    value = tl.load(x + i)
    tl.store(out + i, value / value)


@EVERY
def test_a_half_is_not_divided_by_its_reciprocal(arch):
    """A subnormal half has none."""
    code = compiled(quotients, {"x": "*fp16", "out": "*fp16"}, {}, arch).asm["amdgcn"]
    assert "v_div_fixup_f16" in code and "v_rcp_f16" not in code


def test_more_threads_than_a_work_group_has():
    with pytest.raises(nacre.CompilationError, match="num_warps=32 is more than a work-group of gfx942 has: 1024 threads are 16 warps of 64"):
        vector_add("gfx942", num_warps=32)
    assert vector_add("gfx1100", num_warps=32).metadata.num_warps == 32


def test_what_is_not_there_is_an_error_at_its_line():
    with pytest.raises(nacre.CompilationError, match="device_print is not there on the HIP target yet") as caught:
        compiled(prints, {"x": "*fp32"}, {}, "gfx942")
    assert 'tl.device_print("x"' in str(caught.value)


def test_an_unknown_gpu():
    with pytest.raises(nacre.CompilationError, match="unknown GPU 'gfx906'"):
        nacre.compile(nacre.compiler.ASTSource(prints, {"x": "*fp32"}), target=GPUTarget("hip", "gfx906", 64))
