"""The hook "triton": a kernel's launch_metadata names its frame and gives its metrics."""

import itertools
import re
from contextvars import ContextVar

from ... import _core
from ..metric import plain
from ..state import COMPUTE_METADATA_SCOPE_NAME, metadata_state  # noqa: F401  (the name, for others)
from .hook import Hook

op_name = ContextVar("op_name", default=None)
id = ContextVar("id", default=None)
enabled = ContextVar("enabled", default=False)
in_hook = ContextVar("in_hook", default=False)

_ids = itertools.count()
_NO_METRICS = ("name", "function", "stream")


class LaunchHook(Hook):
    """One for the process. `configure` chooses kernels by their names."""

    priority = 100
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.include = cls._instance.exclude = None
        return cls._instance

    def configure(self, include=None, exclude=None):
        """Regular expressions that a kernel's name is to match from its beginning, and is not to match."""
        self.include = include and re.compile(include)
        self.exclude = exclude and re.compile(exclude)
        return self

    def _wants(self, name):
        return not (self.include and not self.include.match(name)) and not (self.exclude and self.exclude.match(name))

    def enter(self, metadata):
        if in_hook.get():
            return
        in_hook.set(True)
        try:
            data = getattr(metadata, "data", {})
            kernel = data.get("name")
            if not self._wants(kernel or ""):
                enabled.set(False)
                return
            with metadata_state(kernel):
                known = metadata.get()
        finally:
            in_hook.set(False)
        metrics = {}
        for name, value in known.items():
            if name not in _NO_METRICS and (isinstance(value, (int, float)) or hasattr(value, "item") or hasattr(value, "tolist")):
                metrics[name] = value
        op_name.set(known["name"])
        id.set(next(_ids))
        enabled.set(True)
        in_hook.set(True)  # noting a metric may launch a kernel
        try:
            metrics = plain(metrics, known["name"], kernel)
        finally:
            in_hook.set(False)
        _core.profiler_enter_operation(known["name"], metrics)

    def exit(self, metadata):
        if in_hook.get() or not enabled.get():
            return
        enabled.set(False)
        op_name.set(None)
        _core.profiler_exit_operation()
