"""What the device can do at most: its memory's bandwidth, its arithmetic. Of a CPU both are measured, once for a machine."""

import functools
import os
from contextlib import contextmanager

from .clocks import only_of_a_gpu


def _driver():
    from ..runtime.driver import driver

    return driver.active


def is_host():
    return _driver().is_host


def _properties(device):
    driver = _driver()
    return driver.utils.get_device_properties(driver.get_current_device() if device is None else device)


@functools.lru_cache
def measured(what, seen=0.0):
    """A number of this machine, measured with all threads and kept in a file: "bandwidth" in bytes/s, "operations32", "operations64" per second.

    seen: what was reached by something else. A number below it was measured while the machine was busy: it is measured again, and the
    highest is kept.
    """
    import json

    from .. import _core, knobs
    from ..runtime.tuning.records import device_facts, is_own_folder, write_file

    path = os.path.join(knobs.autotuning.dir or "", "machine-limits.json")
    facts = device_facts()
    known = {}
    try:
        if is_own_folder(os.path.dirname(path)):
            with open(path) as file:
                content = json.load(file)
            known = content["limits"] if content["device"] == facts else {}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    before = known.get(what) if isinstance(known.get(what), float) else 0.0
    if before == 0.0 or before < seen:
        now = _core.measure_bandwidth() if what == "bandwidth" else _core.measure_operations(int(what[-2:]))
        known[what] = max(before, now)
        write_file(path, {"device": facts, "limits": known})
    return known[what]


def get_dram_gbps(device=None):
    """The memory's bandwidth in GB/s: of a GPU by its clock and width, of the CPU as a copy by all threads shows it."""
    if is_host():
        return measured("bandwidth") / 1e9
    properties = _properties(device)
    return 2 * properties["mem_clock_rate"] * properties["mem_bus_width"] / 8 / 1e6


def _width(dtype):
    """The bits of a type by its name, of torch, NumPy or the language."""
    text = str(dtype)
    for bits in (64, 32, 16, 8):
        if str(bits) in text:
            return bits
    return 8 if "fp8" in text or "float8" in text else 32


def _measured_tflops(dtype):
    return measured("operations64" if _width(dtype) == 64 else "operations32") / 1e12


def get_max_simd_tflops(dtype, clock_rate, device=None):
    """The most TFLOP/s without tensor cores, at a clock rate in kHz. Of the CPU it is measured (16-bit types are computed in 32 bits) and
    the clock rate does not count."""
    if is_host():
        return _measured_tflops(dtype)
    units = _properties(device)["multiprocessor_count"] * 4
    major = _driver().get_current_target().arch // 10
    per_unit = {8: 16, 16: 64, 32: 32, 64: 1} if major < 8 else {8: 32, 16: 64, 32: 32, 64: 16}
    return units * clock_rate * per_unit[_width(dtype)] * 2 * 1e-9


def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
    """The most TFLOP/s of a dot, at a clock rate in kHz. The CPU has its vector units for it: as get_max_simd_tflops."""
    if is_host():
        return _measured_tflops(dtype)
    units = _properties(device)["multiprocessor_count"] * 4
    major = _driver().get_current_target().arch // 10
    bits = _width(dtype)
    per_unit = 256 if major < 8 else 512 if major < 9 else 1024  # 16-bit operations of a tensor core in a cycle, multiply and add as one
    scale = {8: 2, 16: 1, 32: 0.5, 64: 0.0625}[bits]
    return units * clock_rate * per_unit * scale * 2 * 1e-9


def nvsmi(attrs):
    """What nvidia-smi says of the GPU: integers, one for each attribute."""
    if is_host():
        only_of_a_gpu("nvidia-smi's report")
    import subprocess

    told = subprocess.check_output(["nvidia-smi", "-i", "0", f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits"], text=True)
    return [int(value) for value in told.strip().split(",")]


@contextmanager
def set_gpu_clock(ref_sm_clock=1350, ref_mem_clock=1215):
    """Locks the clocks of the GPU, in MHz; gives the most TFLOP/s and GB/s at them."""
    if is_host():
        only_of_a_gpu("a locked clock")
    import subprocess

    def smi(*arguments):
        subprocess.check_output(["nvidia-smi", "-i", "0", *arguments])

    smi("-pm", "1")
    try:
        smi(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        smi(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        properties = _properties(None)
        yield properties["multiprocessor_count"] * ref_sm_clock * 4 * 2 * 512 * 1e-6, properties["mem_bus_width"] * ref_mem_clock * 2 / 8 * 1e-3
    finally:
        for option in ("-pm", "-rgc", "-rmc"):
            smi(*([option, "0"] if option == "-pm" else [option]))


@functools.lru_cache
def cublas():
    """A handle of cuBLAS for the active GPU, made once."""
    if is_host():
        only_of_a_gpu("cuBLAS")
    import torch

    return torch.cuda.current_blas_handle()
