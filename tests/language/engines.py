"""What a language test runs on. An engine makes arrays, reads them back, and is switched on around each test.

`available` gives the engines of this machine and build; `missing` gives the others, each with the reason.
"""

import importlib.util
import zlib
from contextlib import contextmanager

import numpy as np
import pytest

from scalar_types import TYPES, decode, encode

torch = None
if importlib.util.find_spec("torch"):
    import torch

HIP = ("hip:gfx942", "hip:gfx1100")

_TORCH_NAMES = {
    "int1": "bool", "float8e4nv": "float8_e4m3fn", "float8e5": "float8_e5m2",
    "float8e4b8": "float8_e4m3fnuz", "float8e5b16": "float8_e5m2fnuz",
}  # fmt: skip


class Engine:
    """Arrays in host memory: torch tensors where torch is installed (they know every type), NumPy arrays otherwise."""

    device = "cpu"
    is_cuda = False
    is_hip = False
    is_reference_implementation = False  # the Triton package itself, for checking what a test expects

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def leaves_out(self, test):
        """Whether a run of all engines has the test on the others alone: a sample is enough."""
        return False

    @contextmanager
    def active(self):
        yield

    def finish(self):
        """Waits for what was launched: what it printed is there."""

    def array(self, values, type_name=None):
        """The values, rounded to the type, where a kernel can read and write them."""
        values = np.asarray(values)
        type_name = type_name or {"bool": "int1"}.get(values.dtype.name, values.dtype.name)
        return self.from_bits(np.array(encode(values, type_name), order="C"), type_name)

    def from_bits(self, bits, type_name):
        t = TYPES[type_name]
        bits = np.ascontiguousarray(bits, dtype=t.numpy)
        if torch is None:
            if not t.native:
                pytest.skip(f"{type_name} arrays need PyTorch")
            return bits
        torch_type = getattr(torch, _TORCH_NAMES.get(type_name, type_name))
        carrier = torch.from_numpy(bits if t.native else bits.view(f"int{t.bits}"))
        return carrier.view(torch_type).to(self.device)

    def empty(self, shape, type_name):
        """An array full of a pattern that no test expects, so that an element never written shows."""
        t = TYPES[type_name]
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if t.kind == "bool":
            return self.from_bits(np.ones(shape, np.bool_), type_name)
        count = int(np.prod(shape, dtype=np.int64)) * (t.bits // 8)
        return self.from_bits(np.full(count, 0xA5, np.uint8).view(t.numpy).reshape(shape), type_name)

    def zeros(self, shape, type_name):
        return self.array(np.zeros(shape), type_name)

    def bits(self, array, type_name=None):
        """The stored bits, as NumPy's own type or, for bfloat16 and fp8, as unsigned integers."""
        if torch is None or isinstance(array, np.ndarray):
            return array
        name = type_name or self.type_name(array)
        t = TYPES[name]
        array = array.detach().cpu()
        if t.native:
            return array.numpy().copy()
        return array.view(torch.int8 if t.bits == 8 else torch.int16).numpy().view(t.numpy).copy()

    def type_name(self, array):
        if isinstance(array, np.ndarray):
            return {"bool": "int1"}.get(array.dtype.name, array.dtype.name)
        name = str(array.dtype).removeprefix("torch.")
        return next((ours for ours, theirs in _TORCH_NAMES.items() if theirs == name), name)

    def numpy(self, array):
        """The stored values: NumPy's own type, float64 for bfloat16 and fp8."""
        return decode(self.bits(array), self.type_name(array))


class Interpreter(Engine):
    """CPython runs the kernel's body; each operation goes to the reference evaluator."""

    @contextmanager
    def active(self):
        import triton

        triton.runtime.driver.active.set_interpret_mode(True)
        try:
            yield
        finally:
            triton.runtime.driver.active.set_interpret_mode(False)


class Simulated(Engine):
    """The CUDA target's code on the simulator, on arrays in host memory; what it finds fails the test."""

    is_cuda = True

    @contextmanager
    def active(self):
        from nacre import _core

        _core.set_active_device("simulate")
        try:
            yield
        finally:
            _core.set_active_device(None)


class SimulatedHip(Engine):
    """The HIP target's code for one GPU of AMD's on the simulator, on arrays in host memory; what it finds fails the test."""

    is_hip = True
    SAMPLE = 100  # of so many tests one runs

    def leaves_out(self, test):
        return zlib.crc32(f"{self.name} {test.split('/')[-1]}".encode()) % self.SAMPLE != 0

    @contextmanager
    def active(self):
        from nacre import _core, knobs

        before = knobs.runtime.override_arch
        knobs.runtime.override_arch = self.name.removeprefix("hip:")
        _core.set_active_device("simulate-hip")
        try:
            yield
        finally:
            _core.set_active_device(None)
            knobs.runtime.override_arch = before


class Cuda(Engine):
    device = "cuda"
    is_cuda = True

    def finish(self):
        torch.cuda.synchronize()


class ReferenceImplementation(Engine):
    is_reference_implementation = True

    def __init__(self, name):
        super().__init__(name)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"


def find(requested):
    """(engines to run, [(name, why not)]). `requested`: None for all there are, or one name."""
    if requested == "triton":
        return [ReferenceImplementation("triton")], []
    import triton

    engines, missing = [Engine("cpu")], []
    if hasattr(triton.runtime.driver.active, "set_interpret_mode"):
        engines.append(Interpreter("interpreter"))
    else:
        missing.append(("interpreter", "this build has no interpreter mode"))
    engines.append(Simulated("cuda-simulated"))
    if torch is not None and torch.cuda.is_available():
        engines.append(Cuda("cuda"))
    else:
        missing.append(("cuda", "there is no GPU"))
    engines += [SimulatedHip(name) for name in HIP]
    if requested:
        engines = [engine for engine in engines if engine.name == requested]
        if not engines:
            raise pytest.UsageError(f"NACRE_TEST_ENGINE={requested}: " + dict(missing).get(requested, "no engine of that name"))
    return engines, missing
