"""Reports uninitialized memory: the results of torch.empty, numpy.empty and similar functions.

NumPy and torch may be imported before the sanitizers start or after: a module that comes later is wrapped at the end of its import, before
the program can take a function out of it."""

import functools
import importlib.abc
import sys

from .. import _core

_originals = []  # (owner, name, function; None where the class had none of its own)
_wrapped = set()  # names of modules


def _mark(array):
    if hasattr(array, "untyped_storage"):
        if array.device.type == "cpu" and array.numel():
            storage = array.untyped_storage()
            _core.mark_unwritten(storage.data_ptr(), storage.nbytes())
    elif array.size and array.dtype.kind != "O":
        _core.mark_unwritten(array.__array_interface__["data"][0], array.nbytes)


def _wrap(owner, name):
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def allocate(*args, **kwargs):
        made = original(*args, **kwargs)
        if kwargs.get("out") is None:
            _mark(made)
        return made

    _originals.append((owner, name, original))
    setattr(owner, name, allocate)


def _wrap_constructor(tensor):
    """torch.Tensor(2, 3) has a shape and no values; torch.Tensor([2, 3]) has values."""
    make = tensor.__new__

    def __new__(cls, *args, **kwargs):
        made = make(cls, *args, **kwargs)
        if args and all(hasattr(size, "__index__") and not hasattr(size, "shape") for size in args):
            _mark(made)
        return made

    _originals.append((tensor, "__new__", tensor.__dict__.get("__new__")))
    tensor.__new__ = __new__


def _wrap_numpy(numpy):
    for name in ("empty", "empty_like"):
        _wrap(numpy, name)


def _wrap_torch(torch):
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted"):
        _wrap(torch, name)
    for name in ("new_empty", "new_empty_strided"):
        _wrap(torch.Tensor, name)
    _wrap_constructor(torch.Tensor)


_MODULES = {"numpy": _wrap_numpy, "torch": _wrap_torch}


def _is_importing(module):
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what the others find, and has it wrapped once its module's text has run."""

    def find_spec(self, name, path, target=None):
        if name not in _MODULES or name in _wrapped:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    _wrap_after(spec.loader, name)
                return spec
        return None


def _wrap_after(loader, name):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        if _finder in sys.meta_path:
            _wrap_module(name, module)

    loader.exec_module = exec_module


def _wrap_module(name, module):
    if name not in _wrapped:
        _wrapped.add(name)
        _MODULES[name](module)


_finder = _Finder()


def watch():
    """From now on, also of modules that are imported later."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    for name in _MODULES:
        module = sys.modules.get(name)
        if module is not None and not _is_importing(module):
            _wrap_module(name, module)


def unwatch():
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    _wrapped.clear()
    while _originals:
        owner, name, original = _originals.pop()
        if original is None:
            delattr(owner, name)
        else:
            setattr(owner, name, original)
