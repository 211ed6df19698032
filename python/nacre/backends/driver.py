"""What packages ask of a device's driver."""


class DriverBase:
    """A device that can run kernels."""

    @classmethod
    def is_active(cls):
        return False

    def get_current_target(self):
        raise NotImplementedError
