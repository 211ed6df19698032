"""The simulator's counters beside those of Nsight Compute, and instructions recorded anew, on a machine with an NVIDIA GPU.

    python bench/gpu/simulator.py                      20 kernels: sectors and bank conflicts, counted and measured
    python bench/gpu/simulator.py --record 'tma.1d*'   runs these programs of tests/simulator/device on the GPU, keeps what it gave
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
    "conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
}


class Kernel:
    """Each lane accesses `bytes` bytes at its offset, in global or in shared memory, once."""

    def __init__(self, name, access, size, offsets):
        self.name, self.access, self.size = name, access, size
        self.offsets = np.array([offsets(thread % 32) * size for thread in range(WARPS * 32)], np.uint32)

    def ptx(self):
        is_shared = "shared" in self.access or "ldmatrix" in self.access
        registers = {1: "%r10", 2: "%r10", 4: "%r10", 8: "{%r10, %r11}", 16: "{%r10, %r11, %r12, %r13}"}[self.size]
        if self.access.startswith("st"):
            statement = f"{self.access} [ADDRESS], {registers};"
        else:
            statement = f"{self.access} {registers}, [ADDRESS];"
        fill = "\n".join(f"st.shared.b32 [%r5+{word * 128}], %r2;" for word in range(TILE_WORDS // 32)) if is_shared else ""
        address = "%r6" if is_shared else "%rd6"
        return f"""
.visible .entry {self.name}(.param .u64 offsets, .param .u64 data, .param .u64 out)
{{
.reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
.shared .align 128 .b8 tile_{self.name}[{TILE_WORDS * 4}];
ld.param.u64 %rd1, [offsets]; ld.param.u64 %rd2, [data]; ld.param.u64 %rd3, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd1, %rd1, %rd4; add.u64 %rd3, %rd3, %rd4;
mov.u32 %r3, tile_{self.name}; shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;
mov.u32 %r10, %r1; mov.u32 %r11, %r1; mov.u32 %r12, %r1; mov.u32 %r13, %r1;
ld.global.b32 %r7, [%rd1];

{fill}
bar.sync 0;
add.u32 %r6, %r3, %r7; cvt.u64.u32 %rd5, %r7; add.u64 %rd6, %rd2, %rd5;
{statement.replace("ADDRESS", address)}
bar.sync 0;
st.global.b32 [%rd3], %r10;
ret;
}}
"""


def kernels():
    def stride(step):
        return lambda lane: lane * step

    scattered = np.random.default_rng(7).permutation(256)
    rows = []
    for step in (1, 2, 4, 8, 32):
        rows.append((f"load_global_stride_{step}", "ld.global.b32", 4, stride(step)))
    rows += [
        ("load_global_bytes", "ld.global.u8", 1, stride(1)),
        ("load_global_halves", "ld.global.u16", 2, stride(1)),
        ("load_global_pairs", "ld.global.v2.b32", 8, stride(1)),
        ("load_global_quads", "ld.global.v4.b32", 16, stride(1)),
        ("load_global_quads_apart", "ld.global.v4.b32", 16, stride(4)),
        ("load_global_one_place", "ld.global.b32", 4, stride(0)),
        ("load_global_off_by_one", "ld.global.b32", 4, lambda lane: lane + 1),
        ("load_global_scattered", "ld.global.b32", 4, lambda lane: int(scattered[lane])),
    ]
    for step in (2, 32, 33):
        rows.append((f"load_shared_stride_{step}", "ld.shared.b32", 4, stride(step)))
    rows += [
        ("load_shared_quads", "ld.shared.v4.b32", 16, stride(1)),
        ("load_shared_quads_apart", "ld.shared.v4.b32", 16, stride(3)),
        ("load_shared_scattered", "ld.shared.b32", 4, lambda lane: int(scattered[lane])),
        ("load_matrix_rows_together", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 16, stride(8)),
    ]
    return [Kernel(*row) for row in rows]


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
        result[kernel.name] = {"sectors": report.counters["global_sectors"], "conflicts": report.counters["bank_conflicts"]}
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


def table(simulated, gpu):
    """The rows of the comparison, and whether all are equal."""
    lines, equal = [f"{'kernel':28} {'sectors':>9} {'measured':>9} {'conflicts':>10} {'measured':>9}"], True
    for kernel in kernels():
        ours, theirs = simulated[kernel.name], gpu.get(kernel.name)
        if theirs is None:
            lines.append(f"{kernel.name:28} not measured")
            equal = False
            continue
        same = ours == theirs
        equal &= same
        lines.append(f"{kernel.name:28} {ours['sectors']:9} {theirs['sectors']:9} {ours['conflicts']:10} {theirs['conflicts']:9}{'' if same else '   differs'}")
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
    lines, equal = table(simulated, measured())
    print("\n".join(lines))
    print("all equal" if equal else "some differ")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
