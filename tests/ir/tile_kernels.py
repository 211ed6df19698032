"""Kernels of tile IR under construction, run by nacre-opt's engines and compared with the evaluator."""

import os
import random
import re
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NACRE_OPT = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build")) / "cli" / "nacre-opt"

INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = ["f16", "bf16", "f32", "f64"]
FP8 = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "!tile.f8E4B15"]


def argument_name(type):
    return type.replace("!tile.", "")


class Kernel:
    """Tile IR under construction: loads its inputs, stores its outputs; every tile has the shape given."""

    options = ()  # more of nacre-opt's

    def __init__(self, shape):
        self.shape = shape
        self.count = int(np.prod(shape))
        self.parameters, self.arguments, self.body = [], [], []
        self.made_by = {}  # the operation behind each stored array

    def tile(self, type, shape=None):
        return f"tensor<{'x'.join(map(str, shape or self.shape))}x{type}>"

    def name(self):
        return f"%v{len(self.body)}"

    def add(self, text):
        name = self.name()
        self.body.append(f"{name} = {text}")
        return name

    def pointers(self, type, shape, contents):
        """Addresses of the elements of a new array of the shape, in row-major order."""
        parameter = f"%p{len(self.parameters)}"
        self.parameters.append(f"{parameter}: !tile.ptr<{type}>")
        self.arguments.append(f"{argument_name(type)}[{'x'.join(map(str, shape))}]={contents}")
        count = int(np.prod(shape))
        offsets = self.add(f"tile.arange 0 : tensor<{count}xi32>")
        if len(shape) > 1:
            offsets = self.add(f"tile.reshape {offsets} : tensor<{count}xi32> -> {self.tile('i32', shape)}")
        pointer_type = f"!tile.ptr<{type}>"
        base = self.add(f"tile.splat {parameter} : {pointer_type} -> {self.tile(pointer_type, shape)}")
        places = self.add(f"tile.addptr {base}, {offsets} : {self.tile(pointer_type, shape)}, {self.tile('i32', shape)}")
        return places, self.tile(pointer_type, shape)

    def input(self, type, numbers):
        places, place_type = self.pointers(type, self.shape, "{" + ",".join(map(str, numbers)) + "}")
        return self.add(f"tile.load {places} : {place_type} -> {self.tile(type)}")

    def output(self, type, value, shape=None):
        shape = shape or self.shape
        made_by = next((line for line in self.body if line.startswith(value.split("#")[0])), value)
        self.made_by[len(self.parameters)] = made_by
        places, place_type = self.pointers(type, shape, "0")
        self.body.append(f"tile.store {places}, {value} : {place_type}, {self.tile(type, shape)}")

    def text(self):
        lines = "\n".join("  " + line for line in self.body)
        return f"func.func @k({', '.join(self.parameters)}) attributes {{tile.kernel}} {{\n{lines}\n  return\n}}\n"

    def run(self, engine, file):
        """The arrays the kernel leaves, as lists of texts."""
        file.write_text(self.text())
        command = [NACRE_OPT, file, "--run=k", f"--engine={engine}", "--args=" + ",".join(self.arguments), *self.options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{engine}: {done.stderr[:1000]}"
        parts = re.split(r"argument \d+: .*\n", done.stdout)[1:]
        return [part.replace("[", " ").replace("]", " ").split() for part in parts]

    def check(self, tmp_path, engine, tolerance=0.0):
        expected, found = self.run("reference", tmp_path / "kernel.mlir"), self.run(engine, tmp_path / "kernel.mlir")
        problems = []
        for position, (a, b) in enumerate(zip(expected, found, strict=True)):
            if a == b:
                continue
            if tolerance:
                np.testing.assert_allclose(np.array(b, float), np.array(a, float), rtol=tolerance, atol=tolerance)
                continue
            different = [i for i in range(len(a)) if a[i] != b[i]]
            shown = [(i, a[i], b[i]) for i in different[:5]]
            problems.append(f"{self.made_by.get(position, 'input')}\n    {len(different)} lanes differ: (lane, evaluator, {engine}) {shown}")
        assert not problems, "\n".join(problems)


def numbers_of(type, seed, count, only=None):
    """Corner numbers and random ones."""
    generator = random.Random(f"{type}{seed}")
    if type in INTEGERS:
        width = INTEGERS[type]
        corners = [0, 1, -1, 2, 7, 2 ** (width - 1) - 1, -(2 ** (width - 1)), -(2 ** (width - 1)) + 1]
        numbers = [generator.choice(corners) if generator.random() < 0.4 else generator.randrange(-(2 ** (width - 1)), 2 ** (width - 1))
                   for _ in range(count)]  # fmt: skip
        return [only(n) for n in numbers] if only else numbers
    corners = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-7, -1e-3, 100.0, 65504.0, 6e-8, float("inf"), float("-inf"), float("nan")]
    numbers = [generator.choice(corners) if generator.random() < 0.3 else generator.gauss(0, 1) * 10.0 ** generator.randint(-4, 4)
               for _ in range(count)]  # fmt: skip
    return [only(n) for n in numbers] if only else numbers
