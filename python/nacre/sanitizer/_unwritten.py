"""Tells of memory that nobody has written: what torch.empty, numpy.empty and their kin give."""

import functools
import sys

from .. import _core

_originals = []  # (owner, name, function)


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


def watch():
    """From now on; torch is looked at when it is imported."""
    if _originals:
        return
    if "numpy" in sys.modules:
        for name in ("empty", "empty_like"):
            _wrap(sys.modules["numpy"], name)
    if "torch" in sys.modules and hasattr(sys.modules["torch"], "Tensor"):
        torch = sys.modules["torch"]
        for name in ("empty", "empty_like", "empty_strided", "empty_permuted"):
            _wrap(torch, name)
        for name in ("new_empty", "new_empty_strided"):
            _wrap(torch.Tensor, name)


def unwatch():
    while _originals:
        owner, name, original = _originals.pop()
        setattr(owner, name, original)
