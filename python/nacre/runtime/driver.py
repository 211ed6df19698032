"""The driver in use: what runs kernels now, and what is known of it."""

from .. import knobs
from ..backends.driver import DriverBase  # noqa: F401  (packages ask for it here)


def _make(name):
    """The driver of the target that TRITON_DEFAULT_BACKEND names, or of the one that this machine can run."""
    from ..backends import backends
    from ..backends.amd.driver import SimulatedHIPDriver
    from ..backends.nvidia.driver import SimulatedDriver

    if knobs.runtime.device == "simulate":
        return SimulatedDriver()
    if knobs.runtime.device == "simulate-hip":
        return SimulatedHIPDriver()
    if name is not None and name not in backends:
        raise RuntimeError(f"TRITON_DEFAULT_BACKEND={name}: there is no such target; targets: {', '.join(backends)}")
    found = [backend.driver for known, backend in backends.items() if name in (None, known) and backend.driver.is_active()]
    if not found:
        raise RuntimeError(f"TRITON_DEFAULT_BACKEND={name}: this machine cannot run that target")
    return found[0]()


class DriverConfig:
    """Holds the active driver, found on first use."""

    def __init__(self):
        self._defaults = {}  # by what TRITON_DEFAULT_BACKEND says
        self._active = None

    @property
    def default(self):
        name = knobs.runtime.default_backend
        if name not in self._defaults:
            self._defaults[name] = _make(name)
        return self._defaults[name]

    @property
    def active(self):
        return self.default if self._active is None else self._active

    def set_active(self, driver):
        self._active = driver

    def reset_active(self):
        self._active = None


driver = DriverConfig()
