"""The kernels that type checkers have nothing to say of are right: each compiles."""

import importlib.util
import sys
from pathlib import Path

import nacre
import nacre.tools.tensor_descriptor
import numpy as np
import pytest

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.py"))
FLAGS = {"STAGE": 3, "HAS_BIAS": True, "EVEN": True, "MASK": True, "EVEN_K": True, "K": 4, "GROUP_M": 2}
NUMBERS = ("eps", "scale", "factor")


def load(path):
    nacre.activate()
    name = f"typing_kernels_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernels(module):
    """Those that are launched: functions that only others call take tiles, not pointers."""
    for value in vars(module).values():
        while not isinstance(value, nacre.JITFunction) and isinstance(value, nacre.KernelInterface):
            value = value.fn
        if isinstance(value, nacre.JITFunction) and value.__module__ == module.__name__ and not value.__name__.startswith("_"):
            if any(param.name.endswith(("ptr", "desc")) for param in value.params):
                yield value


def argument(param):
    if param.is_constexpr:
        return FLAGS.get(param.name, 16)
    if param.name.endswith("desc"):
        return nacre.tools.tensor_descriptor.TensorDescriptor(np.zeros((64, 64), np.float32), [64, 64], [64, 1], [16, 16])
    if param.name == "counter_ptr":
        return np.zeros(16, np.int32)
    return np.zeros(16, np.float32) if param.name.endswith("ptr") else 0.5 if param.name in NUMBERS else 64


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_they_compile(path):
    compiled = []
    for kernel in kernels(load(path)):
        given = {param.name: argument(param) for param in kernel.params if not param.has_default}
        compiled.append(kernel.warmup(**given, grid=(1,)))
    assert compiled and all(kernel.asm["ttir"] for kernel in compiled)


def test_there_are_many():
    assert sum(len(list(kernels(load(path)))) for path in KERNELS) >= 20
