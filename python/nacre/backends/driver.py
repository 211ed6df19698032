"""What packages ask of a device's driver."""


class Benchmarker:
    """What times a function: DriverBase.get_benchmarker gives one."""

    def __call__(self, kernel_call, *, quantiles, **kwargs):
        raise NotImplementedError


def decompose_descriptor(arg):
    """A descriptor as the values that Triton's launchers pass for it."""
    return [arg.base, *arg.shape, *arg.strides, arg.padding == "nan", arg.round_f32_to_tf32, *arg.shape, *arg.strides]


def expand_signature(signature, tensordesc_meta, descriptor_type):
    """A list of types with each descriptor's as those of the values that it is passed as: one of `descriptor_type` where there is tensordesc_meta,
    its base, shape, strides and switches otherwise; then its shape and strides."""

    import re

    def expanded(type):
        if isinstance(type, tuple):
            return [tuple(part for element in type for part in expanded(element))]
        if not isinstance(type, str) or not type.startswith("tensordesc"):
            return [type]
        found = re.match(r"tensordesc(?:_im2col)?<([^[>]*)\[([^\]]*)\]", type)
        if found is None:
            raise AssertionError(f"Malformed tensor descriptor type: {type}")
        rank = re.search(r",input_rank=(\d+)", type)
        axes = int(rank[1]) if rank else found[2].count(",") + 1
        first = [descriptor_type] if tensordesc_meta else ["*" + found[1], *["i64"] * (2 * axes), "i1", "i1"]
        return [*first, *["i32"] * axes, *["i64"] * axes]

    return [part for type in signature for part in expanded(type)]


class DriverBase:
    """A device that can run kernels."""

    # Its kernels run on this machine's own cores and in this process' memory: the caller's clock times them, compiles and timed runs take
    # the same cores from each other, a child process shares what it has, and its peaks are measured.
    is_host = False

    @classmethod
    def is_active(cls):
        return False

    def get_current_target(self):
        raise NotImplementedError

    def get_active_torch_device(self):
        raise NotImplementedError

    def get_benchmarker(self):
        raise NotImplementedError

    def map_python_to_cpp_type(self, type):
        raise NotImplementedError

    def allocate_default_profile_scratch(self, size, alignment, stream):
        """Memory for a profile, where nobody has set an allocator for it: there is none."""
        from ..runtime._allocation import NullAllocator

        return NullAllocator()(size, alignment, stream)

    def facts(self):
        """What times depend on of the current device: its name, how many units, its clocks."""
        target, number = self.get_current_target(), self.get_current_device()
        properties = self.utils.get_device_properties(number)
        return {
            "name": str(properties.get("name", target.backend)), "arch": str(target.arch), "units": properties.get("multiprocessor_count", 0),
            "mhz": properties.get("sm_clock_rate", 0), "memory_mhz": properties.get("mem_clock_rate", 0),
        }  # fmt: skip

    def set_interpret_mode(self, on=True):
        """Makes Python run every kernel that is launched from now on; with False, compiled code again."""
        from .. import _core

        _core.set_interpret_mode(on)


class GPUDriver(DriverBase):
    """A driver of GPUs that torch knows too; packages derive their own from it."""

    def __init__(self):
        import torch

        self.get_device_capability = torch.cuda.get_device_capability
        self.get_current_stream = lambda device: torch.cuda.current_stream(device).cuda_stream
        self.get_current_device = torch.cuda.current_device
        self.set_current_device = torch.cuda.set_device

    def assemble_tensormap_to_arg(self, tensormaps_info, args):
        return args

    def allocate_default_profile_scratch(self, size, alignment, stream):
        """Zeroed memory of the device, on the stream that a kernel is launched on."""
        import torch

        device, interface = self.get_active_torch_device(), self.get_device_interface()
        if stream is None:
            return torch.zeros(size, dtype=torch.int8, device=device)
        on = interface.default_stream(device) if stream == 0 else interface.ExternalStream(stream, device=device)
        with interface.stream(on):
            scratch = torch.zeros(size, dtype=torch.int8, device=device)
        if stream != 0:
            scratch.record_stream(on)
        return scratch
