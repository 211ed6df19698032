"""What packages ask of a driver for AMD's GPUs, which is not there: it is never active."""

from ..driver import GPUDriver
from .compiler import NO_TARGET


class HIPUtils:
    """Refuses: there are no such devices."""

    def __init__(self):
        raise RuntimeError(NO_TARGET)


class HIPDriver(GPUDriver):
    """Refuses: there are no such devices."""

    def __init__(self):
        raise RuntimeError(NO_TARGET)
