"""What packages ask of a device's driver."""


class Benchmarker:
    """What times a function: DriverBase.get_benchmarker gives one."""

    def __call__(self, kernel_call, *, quantiles, **kwargs):
        raise NotImplementedError


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
