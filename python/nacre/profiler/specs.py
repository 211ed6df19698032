"""Peaks of devices: flops a second by width, bytes a second. Clocks are in kHz. On the CPU the peaks are measured."""

# Multiply-adds a clock and multiprocessor of the tensor cores, in 16 bits.
_NVIDIA_FMA16 = {"70": 512, "75": 512, "80": 1024, "86": 512, "89": 512, "90": 2048, "100": 4096, "103": 4096, "120": 1024}
# Peaks of whole devices of AMD's, in bytes a second, and of their matrix cores in 8 bits.
amd_bps_by_arch = {"gfx90a": 3.2e12, "gfx941": 5.3e12, "gfx942": 5.3e12, "gfx950": 8.0e12}
amd_fp8_flops_by_arch = {"gfx90a": 383e12, "gfx941": 2614.9e12, "gfx942": 2614.9e12, "gfx950": 4614e12}
flops_by_device = {
    "CUDA": {
        arch: (lambda width, num_sms, clock_rate, fma=fma: 2 * fma * num_sms * clock_rate * 1e3 * 16 / width)
        for arch, fma in _NVIDIA_FMA16.items()
    },
    "HIP": {
        arch: (lambda width, num_sms=0, clock_rate=0, peak=peak: peak * 8 / width) for arch, peak in amd_fp8_flops_by_arch.items()
    },
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
