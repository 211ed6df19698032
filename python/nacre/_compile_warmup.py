"""Compiling what a program would launch, without running it: `with compile_warmup_only(): program()`. Needs torch.

The program's tensors have shapes, types and places of storage but no elements, and a launch compiles its kernel instead.
"""

import contextlib
import warnings
import weakref

import torch
from torch.overrides import TorchFunctionMode

from ._compile_warmup_state import _COMPILE_WARMUP_ACTIVE
from .runtime.jit import KernelInterface

_ALIGNMENT, _APART = 256, 1 << 20  # of the addresses that storages pretend to have


class _TensorsWithoutElements(TorchFunctionMode):
    """torch's fake tensors, with addresses as allocators would give them: kernels are specialized by those."""

    def __init__(self):
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

        super().__init__()
        self._mode = FakeTensorMode(allow_fallback_kernels=False, allow_non_fake_inputs=True)
        self._type = FakeTensor
        self._addresses = weakref.WeakKeyDictionary()

    def __enter__(self):
        self._mode.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        return self._mode.__exit__(*error)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        first = args[0] if args else None
        if name == "data_ptr" and isinstance(first, self._type):
            return self._address(first.untyped_storage()) + first.storage_offset() * first.element_size()
        if name in ("allclose", "equal") and any(isinstance(arg, self._type) for arg in args):
            return True  # what would be compared is not there
        return function(*args, **(kwargs or {}))

    def _address(self, storage):
        return self._addresses.setdefault(storage, _APART * (len(self._addresses) + 1) + _ALIGNMENT)


@contextlib.contextmanager
def compile_warmup_only(dispatcher=None):
    """Launches inside compile alone. dispatcher: its `dispatch(*args, kernel=, grid=, test=, **kwargs)` compiles in place of `kernel.warmup`."""
    from .runtime.autotuner import Autotuner
    from .runtime.jit import JITFunction

    def launcher(kernel, grid):
        def launch(*args, **kwargs):
            if dispatcher is None:
                return kernel.warmup(*args, grid=grid, **kwargs)
            return dispatcher.dispatch(*args, kernel=kernel, grid=grid, test=dispatcher.current_test, **kwargs)

        return launch

    def close(*args, **kwargs):
        if not any(isinstance(arg, modes._type) for arg in args):
            compare(*args, **kwargs)

    compare = torch.testing.assert_close
    before = {made: vars(made).get("__getitem__") for made in (KernelInterface, JITFunction, Autotuner)}
    token = _COMPILE_WARMUP_ACTIVE.set(True)
    modes = _TensorsWithoutElements()
    try:
        for made in before:
            made.__getitem__ = launcher
        torch.testing.assert_close = close
        with warnings.catch_warnings(), modes:
            warnings.filterwarnings("ignore", message="Accessing the data pointer of FakeTensor.*")
            yield
    finally:
        torch.testing.assert_close = compare
        for made, own in before.items():
            if own is None:
                del made.__getitem__
            else:
                made.__getitem__ = own
        _COMPILE_WARMUP_ACTIVE.reset(token)
