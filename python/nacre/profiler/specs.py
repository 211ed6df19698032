"""Peaks of devices: flops a second by width, bytes a second. Clocks are in kHz. On the CPU the peaks are measured."""

# Operations in 8 bits, as their makers publish them: of whole devices (A100, RTX 4090), or a clock of one multiprocessor (H100: 1513e12
# with 114 of them at 1755 MHz; others: two for each multiply-add of their tensor cores).
_NVIDIA_WHOLE = {"80": 624e12, "89": 330.3e12}
_NVIDIA_PER_CLOCK = {"70": 2048, "75": 2048, "86": 2048, "90": 1513e12 / (114 * 1755e6), "100": 16384, "103": 16384, "120": 4096}
# The same of AMD's, a clock of one compute unit; and bytes a second of whole devices.
amd_fp8_flops_by_arch = {"gfx90a": 1024, "gfx941": 4096, "gfx942": 4096, "gfx950": 8192}
amd_bps_by_arch = {"gfx90a": 3.2e12, "gfx941": 5.3e12, "gfx942": 5.3e12, "gfx950": 8.0e12}


def _per_clock(operations):
    return lambda width, num_sms, clock_rate: operations * num_sms * clock_rate * 1e3 * 8 / width


flops_by_device = {
    "CUDA": {
        **{arch: (lambda width, num_sms=0, clock_rate=0, peak=peak: peak * 8 / width) for arch, peak in _NVIDIA_WHOLE.items()},
        **{arch: _per_clock(operations) for arch, operations in _NVIDIA_PER_CLOCK.items()},
    },
    "HIP": {arch: _per_clock(operations) for arch, operations in amd_fp8_flops_by_arch.items()},
}


def max_flops(device_type, arch, width, num_sms, clock_rate):
    """Operations a second at a width in bits. A ValueError names what is not known."""
    if device_type == "CPU":
        from ._device import peaks

        return peaks()[f"peak_flops{width}"]
    known = flops_by_device.get(device_type)
    if known is None or str(arch) not in known:
        raise ValueError(f"the peak of {device_type} {arch} is not known")
    return known[str(arch)](width, num_sms, clock_rate)


def max_bps(device_type, arch, bus_width, memory_clock_rate):
    """Bytes a second: of a bus width in bits, at two transfers a clock."""
    if device_type == "CPU":
        from ._device import peaks

        return peaks()["peak_gbps"] * 1e9
    if device_type == "CUDA":
        return 2 * bus_width * memory_clock_rate * 1e3 / 8
    if device_type == "HIP" and str(arch) in amd_bps_by_arch:
        return amd_bps_by_arch[str(arch)]
    raise ValueError(f"the bandwidth of {device_type} {arch} is not known")
