"""The simulator's counters beside those of Nsight Compute, and instructions recorded anew, on a machine with an NVIDIA GPU.

    python bench/gpu/simulator.py                      kernels of one access each: sectors, wavefronts and bank conflicts, counted and measured
    python bench/gpu/simulator.py --record 'tma.1d*'   runs these programs of tests/simulator/device on the GPU, keeps what it gave
    python bench/gpu/simulator.py --record missing     those that were never run on one
    python bench/gpu/simulator.py --counted FILE       with the simulator's counters from a file (where nacre is not installed)
    python bench/gpu/simulator.py --count FILE         writes that file; needs no GPU

Measuring needs `ncu` (Nsight Compute, part of the CUDA toolkit) and leave to read counters: root, or the driver's option
NVreg_RestrictProfilingToAdminUsers=0. The exit status is 1 where a counter differs.
"""

import argparse
import csv
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

DEVICE_TESTS = Path(__file__).resolve().parents[2] / "tests" / "simulator" / "device"
WARPS, TILE_WORDS, DATA_BYTES = 4, 2048, 1 << 16
METRICS = {
    "sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
}
COUNTERS = {"sectors": "global_sectors", "wavefronts": "shared_wavefronts", "conflicts": "bank_conflicts"}


class Kernel:
    """Each lane that is `active` accesses `size` bytes at its offset, in global memory or in its warp's tile of shared memory, once. All that is loaded is
    used: of a vector with unused parts ptxas loads the others alone."""

    def __init__(self, name, access, size, offsets, active="1"):
        self.name, self.access, self.size, self.active = name, access, size, active
        self.offsets = np.array([offsets(thread % 32) * size for thread in range(WARPS * 32)], np.uint32)

    def registers(self):
        if "matrix" in self.access:
            count = int(self.access.split(".x")[1][0])
            return [f"%r{10 + i}" for i in range(count)]
        return [f"%r{10 + i}" for i in range(max(self.size // 4, 1))]

    def ptx(self):
        is_shared, is_store = "shared" in self.access, self.access.startswith("st")
        registers = self.registers()
        operand = "{" + ", ".join(registers) + "}" if len(registers) > 1 or "matrix" in self.access else registers[0]
        statement = f"{self.access} [ADDRESS], {operand};" if is_store else f"{self.access} {operand}, [ADDRESS];"
        if "matrix" not in self.access:
            statement = "@%p1 " + statement
        fill = "\n".join(f"st.shared.b32 [%r5+{word * 128}], %r2;" for word in range(TILE_WORDS // 32)) if is_shared else ""
        address = "%r6" if is_shared else "%rd6"
        use = "ld.shared.b32 %r10, [%r5];" if is_store and is_shared else " ".join(f"xor.b32 %r10, %r10, {register};" for register in registers[1:])
        return f"""
.visible .entry {self.name}(.param .u64 offsets, .param .u64 data, .param .u64 out)
{{
.reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
.shared .align 128 .b8 tile_{self.name}[{WARPS * TILE_WORDS * 4}];
ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data]; ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd3, %rd3, %rd4;
shr.u32 %r9, %r1, 5; mov.u32 %r3, tile_{self.name}; mad.lo.u32 %r3, %r9, {TILE_WORDS * 4}, %r3; shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;
mov.u32 %r8, {self.active}; shr.u32 %r8, %r8, %r2; and.b32 %r8, %r8, 1; setp.ne.u32 %p1, %r8, 0;
mov.u32 %r10, 5; mov.u32 %r11, 5; mov.u32 %r12, 5; mov.u32 %r13, 5;
ld.global.b32 %r7, [%rd1];

{fill}
bar.sync 0;
add.u32 %r6, %r3, %r7; cvt.u64.u32 %rd5, %r7; add.u64 %rd6, %rd2, %rd5;
{statement.replace("ADDRESS", address)}
bar.sync 0;
{use}
st.global.b32 [%rd3], %r10;
ret;
}}
"""


SCATTERED = np.random.default_rng(7).permutation(256)
ALL_LANES, EVEN_LANES, LOW_LANES, A_QUARTER = "0xFFFFFFFF", "0x55555555", "0x0000FFFF", "0x11111111"


def stride(step):
    return lambda lane: lane * step


def scattered(lane):
    return int(SCATTERED[lane])


def kernels():
    """(name, access, bytes, offset of a lane in units of its bytes, active lanes)"""
    rows = []

    def add(name, access, size, offsets, active=ALL_LANES):
        rows.append(Kernel(name, access, size, offsets, active))

    types = {1: "u8", 2: "u16", 4: "b32", 8: "v2.b32", 16: "v4.b32"}
    words = {1: "bytes", 2: "halves", 4: "words", 8: "pairs", 16: "quads"}
    global_steps = ((1, (1, 4)), (2, (1, 2)), (4, (0, 1, 2, 8, 32)), (8, (1, 2, 4)), (16, (0, 1, 2, 4)))
    shared_steps = ((1, (1, 4, 33)), (2, (1, 2, 64)), (4, (0, 1, 2, 3, 8, 32, 33)), (8, (0, 1, 2, 3, 4, 16)), (16, (0, 1, 2, 3, 4, 8)))
    for operation, verb in (("ld", "load"), ("st", "store")):
        for space, all_steps in (("global", global_steps), ("shared", shared_steps)):
            for size, steps in all_steps:
                access, name = f"{operation}.{space}.{types[size]}", f"{verb}_{space}_{words[size]}"
                for step in steps:
                    add(f"{name}_stride_{step}", access, size, stride(step))
                if size >= 4:
                    add(f"{name}_scattered", access, size, scattered)
                    add(f"{name}_low_lanes", access, size, stride(1), LOW_LANES)
                if size == 4:
                    add(f"{name}_off_by_one", access, size, lambda lane: lane + 1)
                if size < 8 or space == "global":
                    continue
                add(f"{name}_twice", access, size, lambda lane: lane // 2)
                add(f"{name}_twice_across", access, size, lambda lane: lane // 4 * 2 + lane % 2)
                add(f"{name}_twice_far", access, size, lambda lane: lane % 4 + lane // 8 * 4)
                add(f"{name}_pairs_of_lanes", access, size, stride(1), "0x33333333")
                add(f"{name}_conflicting_pairs", access, size, lambda lane: lane // 2 * 3 % 64 * 4)
                for row in (4, 8, 16):
                    add(f"{name}_rows_of_{row}", access, size, lambda lane, row=row: lane % row)
                add(f"{name}_even_lanes", access, size, stride(1), EVEN_LANES)
                add(f"{name}_quarter_lanes", access, size, stride(1), A_QUARTER)
    for verb, instruction in (("load", "ldmatrix"), ("store", "stmatrix")):
        for count in (1, 2, 4):
            for name, step in (("together", 1), ("apart", 8), ("padded", 9), ("two_apart", 2)):
                add(f"{verb}_matrices_{count}_{name}", f"{instruction}.sync.aligned.m8n8.x{count}.shared.b16", 16, stride(step))
    return rows


def module():
    return ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(kernel.ptx() for kernel in kernels())


def arrays(kernel):
    return [kernel.offsets, np.zeros(DATA_BYTES, np.uint8), np.zeros(WARPS * 32, np.uint32)]


def counted():
    """What the simulator counts, by kernel."""
    import nacre.simulator as simulator

    loaded, result = simulator.load(module()), {}
    for kernel in kernels():
        report = loaded.run(kernel.name, 1, WARPS * 32, arrays(kernel))
        if not report.clean:
            raise SystemExit(f"{kernel.name}: {report}")
        result[kernel.name] = {what: report.counters[counter] for what, counter in COUNTERS.items()}
    return result


def launch_all():
    """Launches every kernel once, through the driver alone: what ncu watches."""
    sys.path.insert(0, str(DEVICE_TESTS))
    from record import allocate, check, cuda

    check(cuda.cuInit(0), "cuInit")
    device, context, loaded = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cuda.cuCtxSetCurrent(context), "context")
    check(cuda.cuModuleLoadData(ctypes.byref(loaded), module().encode() + b"\0"), "cuModuleLoadData")
    for kernel in kernels():
        function, pointers = ctypes.c_void_p(), []
        check(cuda.cuModuleGetFunction(ctypes.byref(function), loaded, kernel.name.encode()), "cuModuleGetFunction")
        for array in arrays(kernel):
            pointers.append(ctypes.c_uint64(allocate(array.nbytes)))
            check(cuda.cuMemcpyHtoD_v2(pointers[-1], array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)), "copy")
        values = (ctypes.c_void_p * 3)(*[ctypes.addressof(pointer) for pointer in pointers])
        check(cuda.cuLaunchKernel(function, 1, 1, 1, WARPS * 32, 1, 1, 0, None, values, None), "cuLaunchKernel")
        check(cuda.cuCtxSynchronize(), kernel.name)


def parse_measured(text):
    """Of `ncu --csv --page raw`: a row of names, a row of units, then a row a launch."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        raise SystemExit("ncu gave no counters:\n" + text[-2000:])
    names = rows[0]
    result = {}
    for row in rows[2:]:
        fields = dict(zip(names, row))
        kernel = fields["Kernel Name"].split("(")[0]
        result[kernel] = {what: sum(int(float(fields[metric].replace(",", ""))) for metric in metrics) for what, metrics in METRICS.items()}
    return result


def measured():
    ncu = shutil.which("ncu") or next((path for path in ["/usr/local/cuda/bin/ncu"] if os.path.exists(path)), None)
    if not ncu:
        raise SystemExit("ncu (Nsight Compute) is not installed here")
    metrics = ",".join(metric for group in METRICS.values() for metric in group)
    command = [ncu, "--csv", "--page", "raw", "--metrics", metrics, sys.executable, os.path.abspath(__file__), "--launch"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return parse_measured(result.stdout)


def table(simulated, gpu, differing_only=False):
    """The rows of the comparison, and whether all are equal."""
    lines, equal = [f"{'kernel':30}" + "".join(f" {what:>10} {'measured':>9}" for what in METRICS)], True
    for kernel in kernels():
        ours, theirs = simulated[kernel.name], gpu.get(kernel.name)
        if theirs is None:
            lines.append(f"{kernel.name:30} not measured")
            equal = False
            continue
        same = ours == theirs
        equal &= same
        if same and differing_only:
            continue
        lines.append(f"{kernel.name:30}" + "".join(f" {ours[what]:10} {theirs[what]:9}" for what in METRICS) + ("" if same else "   differs"))
    return lines, equal


def record(pattern):
    part = DEVICE_TESTS / "anew.npz"
    subprocess.run([sys.executable, str(DEVICE_TESTS / "record.py"), str(part), pattern], check=True)
    subprocess.run([sys.executable, str(DEVICE_TESTS / "pack.py"), str(part)], check=True)
    part.unlink()
    print("tests/simulator/device/recorded.npz has it; now: pytest tests/simulator/test_device.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", metavar="PATTERN", help="run these device programs and keep their outputs")
    parser.add_argument("--count", metavar="FILE", help="write the simulator's counters")
    parser.add_argument("--counted", metavar="FILE", help="read the simulator's counters")
    parser.add_argument("--differing", action="store_true", help="only the kernels whose counters differ")
    parser.add_argument("--launch", action="store_true", help="launch the kernels: what ncu is given")
    options = parser.parse_args()
    if options.launch:
        return launch_all()
    if options.record:
        return record(options.record)
    simulated = json.loads(Path(options.counted).read_text()) if options.counted else counted()
    if options.count:
        Path(options.count).write_text(json.dumps(simulated, indent=1) + "\n")
        return None
    lines, equal = table(simulated, measured(), options.differing)
    print("\n".join(lines))
    print(f"{len(kernels())} kernels: {'all equal' if equal else 'some differ'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
