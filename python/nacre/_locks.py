"""Locks that the child of a fork finds free, whichever thread of its parent held them."""

import os
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
