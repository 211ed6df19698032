"""What packages ask of a device's driver."""


class Benchmarker:
    """What times a function: DriverBase.get_benchmarker gives one."""

    def __call__(self, kernel_call, *, quantiles, **kwargs):
        raise NotImplementedError


class DriverBase:
    """A device that can run kernels."""

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

    def set_interpret_mode(self, on=True):
        """Makes Python run every kernel that is launched from now on; with False, compiled code again."""
        from .. import _core

        _core.set_interpret_mode(on)
