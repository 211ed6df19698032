"""`import triton_viz`: the calls of its versions 3.0, 2.0 and 1.1.1, over nacre.viz. Nothing is a server, and nothing is shared."""

from . import clients, core, interpreter
from .clients import Profiler, RaceDetector, Sanitizer, Tracer
from .core.config import config
from .core.trace import clear, launch, load, save, trace

__all__ = [
    "Profiler", "RaceDetector", "Sanitizer", "Tracer", "clear", "clients", "config", "core", "dump", "interpreter", "launch", "load", "sample", "save",
    "trace",
]  # fmt: skip
__version__ = "3.0"


def dump(path):
    """1.1.1: the launches as a file."""
    save(path)


def sample(idx):
    """1.1.1: which programs to keep; those of every launch are chosen by its size."""
