"""`JITFunction.device_caches`: what a function has been compiled to, in the form that packages look into."""

from .driver import driver


class _KernelCache(dict):
    """The compiled kernels of a function, as they are now; clear() makes the function forget them."""

    def __init__(self, fn):
        super().__init__((f"{kernel.hash}-{kernel.metadata}", kernel) for kernel in fn._compiled_kernels())
        self._fn = fn

    def clear(self):
        super().clear()
        self._fn._clear_cache()


class DeviceCaches:
    """JITFunction.device_caches."""

    def __init__(self, fn):
        self._fn = fn

    def __getitem__(self, device):
        from ..compiler.compiler import make_backend

        target = driver.active.get_current_target()
        return _KernelCache(self._fn), {}, target, make_backend(target), self._fn.signature.bind

    def __iter__(self):
        return iter((driver.active.get_current_device(),))

    def __len__(self):
        return 1

    def __contains__(self, device):
        return device == driver.active.get_current_device()

    def get(self, device, default=None):
        return self[device] if device in self else default

    def keys(self):
        return list(self)

    def values(self):
        return [self[device] for device in self]

    def items(self):
        return [(device, self[device]) for device in self]

    def clear(self):
        self._fn._clear_cache()
