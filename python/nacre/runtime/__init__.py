"""Kernels at run time: launching, tuning, drivers, caches, errors."""

from .driver import driver
from .errors import InterpreterError, OutOfResources
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .cache import RemoteCacheBackend
from . import cache, errors

__all__ = [
    "Autotuner", "Config", "Heuristics", "InterpreterError", "JITFunction", "KernelInterface", "MockTensor", "OutOfResources",
    "RemoteCacheBackend", "TensorWrapper", "autotune", "cache", "driver", "errors", "heuristics", "reinterpret",
]  # fmt: skip
