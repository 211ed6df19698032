"""Modules in the place of those that an adapter's package imports and its kernels do not need."""

import contextlib
import importlib.machinery
import sys
import types

import torch


def bare_packages(folder, *names):
    """Packages whose own `__init__.py` does not run: the modules in them are imported one by one."""
    for name in names:
        module = types.ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        _put(module, name)


def stand_in(name, **attributes):
    """A module with these attributes. Any other is a function that says that it is not there, when it is called."""
    module = types.ModuleType(name)
    module.__dict__.update(attributes)

    def missing(attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)

        def call(*arguments, **keywords):
            raise NotImplementedError(f"{name}.{attribute} has only a stand-in here")

        return call

    module.__getattr__ = missing
    module.__path__ = []
    _put(module, name)
    return module


def _put(module, name):
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


def take_any_device():
    """Tensors of the host pass for those of a GPU, which has the properties of a small H100, and `with torch.cuda.device(d)` does nothing for them."""
    if torch.cuda.is_available():
        return
    torch.cuda.device = lambda device=None: contextlib.nullcontext()
    torch.Tensor.is_cuda = property(lambda tensor: True)
    torch.cuda.get_device_capability = lambda device=None: (9, 0)
    torch.cuda.get_device_properties = lambda device=None: types.SimpleNamespace(name="NVIDIA H100", multi_processor_count=4, major=9, minor=0)
    torch.cuda.current_device = lambda: 0
