"""Locks that the child of a fork finds free, whichever thread of its parent held them: ours, and Python's own of
modules that are being imported. What a function imports at its first call may be in the middle of that elsewhere."""

import _frozen_importlib as _bootstrap
import os
import sys
import threading


class RenewedLock:
    """A lock for `with`. A child makes its own; `kind` is threading.Lock or threading.RLock."""

    def __init__(self, kind=threading.Lock):
        self._kind = kind
        self._renew()

    def _renew(self):
        self._lock = self._kind()
        self._process = os.getpid()

    def __enter__(self):
        if self._process != os.getpid():
            with _renewing:
                if self._process != os.getpid():
                    self._renew()
        self._lock.acquire()

    def __exit__(self, *_):
        if self._process == os.getpid():  # else the thread that forked held it
            self._lock.release()


_renewing = threading.Lock()


def _renew_own():
    global _renewing
    _renewing = threading.Lock()


os.register_at_fork(after_in_child=_renew_own)


def _forget_imports():
    """What other threads imported when the process forked, the child begins anew, and it finds the locks free."""
    me = threading.get_ident()
    for name, reference in list(_bootstrap._module_locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner == me:
            continue
        _bootstrap._module_locks.pop(name, None)
        if owner is not None and getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]
    _bootstrap._blocking_on.clear()


if hasattr(_bootstrap, "_module_locks") and hasattr(_bootstrap, "_blocking_on"):
    os.register_at_fork(after_in_child=_forget_imports)
