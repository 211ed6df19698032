"""What packages ask of a device's driver."""


class DriverBase:
    """A device that can run kernels."""

    @classmethod
    def is_active(cls):
        return False

    def get_current_target(self):
        raise NotImplementedError

    def set_interpret_mode(self, on=True):
        """Makes Python run every kernel that is launched from now on; with False, compiled code again."""
        from .. import _core

        _core.set_interpret_mode(on)
