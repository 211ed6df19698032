"""The driver in use: what runs kernels now, and what is known of it."""


class DriverConfig:
    """Holds the active driver, found on first use."""

    def __init__(self):
        self._default = None
        self._active = None

    @property
    def default(self):
        if self._default is None:
            from ..backends.cpu.driver import CPUDriver

            self._default = CPUDriver()
        return self._default

    @property
    def active(self):
        return self.default if self._active is None else self._active

    def set_active(self, driver):
        self._active = driver

    def reset_active(self):
        self._active = None


driver = DriverConfig()
