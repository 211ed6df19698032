"""Runs a program on every engine and compares what is left in memory.

An engine is switched on and launches a kernel on host memory. A new one (a simulator, a GPU) is one more row of `ENGINES`; the file
that NACRE_FUZZ_ENGINES names is run by every worker and may add some.
"""

import importlib.util
import os
import sys
from pathlib import Path

import nacre
import numpy as np

from nacre import _core

from .guarded_memory import GuardedArray, contents_of, differences

nacre.activate()
import triton  # noqa: E402  (the alias must stand by now)
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402


def argument_of(array, guarded):
    return TensorDescriptor(guarded.argument(), *map(list, array.described)) if array.described else guarded.argument()


class Failure(Exception):
    """An engine that did not run the program: the programs are valid, so this is a finding."""

    def __init__(self, text, kind="error"):
        super().__init__(text)
        self.kind = kind


class Engine:
    def __init__(self, interpret=False, cpu_target="", device=None, **options):
        self.options = options  # of every launch
        self.interpret = interpret
        self.cpu_target = cpu_target
        self.device = device

    def launch(self, kernel, program, memory, compile_only=False):
        triton.runtime.driver.active.set_interpret_mode(self.interpret)
        if nacre.knobs.compilation.cpu_target != self.cpu_target:
            nacre.knobs.compilation.cpu_target = self.cpu_target
        _core.set_active_device(self.device)
        arguments = [argument_of(array, guarded) for array, guarded in zip(program.arrays, memory)] + list(program.named(program.scalars).values())
        options = {**program.named(program.constants), **program.options(), **self.options}
        if compile_only:
            kernel.warmup(*arguments, grid=program.grid, **options)
        else:
            kernel[program.grid](*arguments, **options)


class SimulatedGpu(Engine):
    """The CUDA target's code on the simulator: what that finds in it (races, accesses out of bounds) is an error."""

    def __init__(self, architecture, **options):
        super().__init__(device="simulate", **options)
        self.architecture = architecture

    def launch(self, kernel, program, memory, compile_only=False):
        nacre.knobs.runtime.override_arch = self.architecture
        try:
            super().launch(kernel, program, memory, compile_only)
        finally:
            _core.set_active_device(None)
            nacre.knobs.runtime.override_arch = None


ENGINES = {"interpreter": Engine(interpret=True), "cpu": Engine(), "cpu-v3": Engine(cpu_target="x86-64-v3"),
           "cuda:90": SimulatedGpu("90"), "cuda:90/2": SimulatedGpu("90", num_ctas=2), "cuda:90/4": SimulatedGpu("90", num_ctas=4), "cuda:80": SimulatedGpu("80"), "cuda:75": SimulatedGpu("75")}  # fmt: skip


def load_module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


if os.environ.get("NACRE_FUZZ_ENGINES"):
    ENGINES.update(load_module("more_engines", os.environ["NACRE_FUZZ_ENGINES"]).engines(Engine))


class Runner:
    """Kernels are written to a folder, since the compiler reads their source."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.count = 0

    def kernel(self, program):
        self.count += 1
        name = f"fuzzed_{os.getpid()}_{self.count}"
        path = self.folder / f"{name}.py"
        path.write_text(program.source())
        return load_module(name, path).kernel

    @staticmethod
    def memory(program):
        memory = {}
        for array in program.arrays:
            memory[array.name] = memory[array.same_as] if array.same_as else GuardedArray(array.type, array.count, array.at_end)
        return list(memory.values())

    @staticmethod
    def launch(program, engine, kernel, memory, **options):
        try:
            ENGINES[engine].launch(kernel, program, memory, **options)
        except Exception as error:  # noqa: BLE001
            kind = "crash" if type(error).__name__ == "KernelFaultError" else "error"
            raise Failure(f"{type(error).__name__}: {error}", kind) from error

    def run(self, program, engine, kernel, memory):
        """The bits of every array afterwards."""
        for array, guarded in zip(program.arrays, memory):
            guarded.fill(contents_of(array.type, array.count, array.contents))
        self.launch(program, engine, kernel, memory)
        for array, guarded in zip(program.arrays, memory):
            if not guarded.intact():
                raise Failure(f"wrote beyond {array.name}", "crash")
        return [guarded.array.copy() for guarded in memory]

    def check(self, program, engines, begin=lambda engine: None):
        """None, or {kind, engine, text}: the first thing that is wrong. `begin` hears of each engine before it runs."""
        memory = self.memory(program)
        kernel = self.kernel(program)
        expected, first = None, None
        for engine in engines:
            begin(engine)
            try:
                result = self.run(program, engine, kernel, memory)
            except Failure as failure:
                return {"kind": failure.kind, "engine": engine, "text": str(failure)}
            if expected is None:
                expected, first = result, engine
            elif found := difference(program, first, expected, engine, result):
                return found
        return None


def difference(program, first, expected, engine, result):
    """Where the bits that two engines left differ, or None."""
    for array, a, b in zip(program.arrays, expected, result):
        places = np.flatnonzero(differences(array.type, a, b, array.tolerance))
        if places.size:
            shown = ", ".join(f"[{place}] {a[place]!r} and {b[place]!r}" for place in places[:3])
            text = f"{array.name} ({places.size} of {array.count}): {first} and {engine} give {shown}"
            return {"kind": "difference", "engine": engine, "text": text}
    return None
