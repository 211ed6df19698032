"""The CPU under the names by which benchmarkers address a device: events and synchronising. All else is torch.cpu's."""

import time


class Event:
    """A moment, as torch's events of a GPU record one."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._moment = None

    def record(self, stream=None):
        self._moment = time.perf_counter()

    def query(self):
        return True

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end_event):
        """Milliseconds from this moment to another."""
        if self._moment is None or end_event._moment is None:
            raise RuntimeError("elapsed_time() needs two events that were recorded")
        return (end_event._moment - self._moment) * 1e3


class CPUDeviceInterface:
    """A launch has ended when it returns: there is nothing to wait for."""

    Event = Event

    def synchronize(self, device=None):
        pass

    def current_device(self):
        return 0

    def __getattr__(self, name):
        import torch

        return getattr(torch.cpu, name)
