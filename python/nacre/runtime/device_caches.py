"""`JITFunction.device_caches`: what a function has been compiled to, in the form that packages look into."""

import sys

from .driver import driver


class _KernelCache(dict):
    """The compiled kernels of a function, as they are now; clear() makes the function forget them."""

    def __init__(self, fn):
        async_compile = sys.modules.get(__package__ + "._async_compile")
        mode = async_compile and async_compile.active_mode.get()
        kernels = [*fn._compiled_kernels(), *(mode.kernels_of(fn) if mode else ())]
        super().__init__((kernel if type(kernel).__name__ == "FutureKernel" else f"{kernel.hash}-{kernel.metadata}", kernel) for kernel in kernels)
        self._fn = fn

    def clear(self):
        super().clear()
        self._fn._clear_cache()


class _Binder:
    """binder(*args, **kwargs) -> (the arguments by name, (type, fact) of each, the options): what a launch would be compiled for."""

    def __init__(self, fn, backend):
        self._fn = fn
        self._backend = backend

    def __call__(self, *args, **kwargs):
        from .jit import native_specialize_impl

        options = {name: value for name, value in kwargs.items() if name not in self._fn.arg_names}
        bound = self._fn.signature.bind(*args, **{name: value for name, value in kwargs.items() if name not in options})
        bound.apply_defaults()

        def specialized(param):
            value = bound.arguments[param.name]
            if param.is_constexpr:
                return "constexpr", value
            return native_specialize_impl(self._backend, value, param.is_const, not param.do_not_specialize, not param.do_not_specialize_on_alignment)

        return dict(bound.arguments), [specialized(param) for param in self._fn.params], options


class DeviceCaches:
    """JITFunction.device_caches."""

    def __init__(self, fn):
        self._fn = fn

    def __getitem__(self, device):
        from ..compiler.compiler import make_backend

        target = driver.active.get_current_target()
        backend = make_backend(target)
        return _KernelCache(self._fn), {}, target, backend, _Binder(self._fn, backend)

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
