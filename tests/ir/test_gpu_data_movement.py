"""Data that moves between the threads of a GPU's block: reductions, scans, transposes, gathers and histograms of tiles that
registers, lanes and warps hold in many ways. The simulator's findings (races, unwritten memory) are failures; transposes are free
of bank conflicts; and without any one of its barriers a kernel is found to race."""

import json
import math
import re
import subprocess

import pytest
from tile_kernels import NACRE_OPT, Kernel, numbers_of

pytestmark = pytest.mark.skipif(not NACRE_OPT.exists(), reason="nacre-opt is not built")
NACRE = NACRE_OPT.parent / "nacre"

# Associative and not commutative: x -> a x + b, one after the other.
COMPOSE = """{ ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
    %m = arith.muli %a, %c : i32
    %n = arith.muli %b, %c : i32
    %o = arith.addi %n, %d : i32
    tile.yield %m, %o : i32, i32 }"""
# The larger number, of equal ones the first.
LARGEST = """{ ^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %before = arith.cmpi slt, %i, %j : i32
    %first = arith.andi %same, %before : i1
    %left = arith.ori %more, %first : i1
    %m = arith.select %left, %a, %b : i32
    %n = arith.select %left, %i, %j : i32
    tile.yield %m, %n : i32, i32 }"""


def small_numbers(count):
    return [n % 5 for n in numbers_of("i32", 11, count)]


class GpuKernel(Kernel):
    """With a number of warps."""

    def __init__(self, shape, warps):
        super().__init__(shape)
        self.warps = warps

    def text(self):
        return f"module attributes {{tile.num_warps = {self.warps} : i32}} {{\n{super().text()}}}\n"

    def places(self):
        """The row-major index of each element, as a tile."""
        flat = self.add(f"tile.arange 0 : tensor<{self.count}xi32>")
        if len(self.shape) == 1:
            return flat
        return self.add(f"tile.reshape {flat} : tensor<{self.count}xi32> -> {self.tile('i32')}")


SHAPES = [(1024,), (100,), (16, 32), (64, 96), (3, 5, 7), (1, 256), (256, 1)]


@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_of_several_values(shape, warps, tmp_path):
    kernel = GpuKernel(shape, warps)
    tile = kernel.tile("i32")
    value, places = kernel.input("i32", small_numbers(kernel.count)), kernel.places()
    for axis in range(len(shape)):
        rest = shape[:axis] + shape[axis + 1:]
        result = kernel.tile("i32", rest) if rest else "i32"
        name = kernel.name()
        kernel.body.append(f"{name}:2 = tile.reduce {value}, {places} axis {axis} {LARGEST} : ({tile}, {tile}) -> ({result}, {result})")
        for number in range(2):
            if rest:
                kernel.output("i32", f"{name}#{number}", rest)
            else:
                kernel.output("i32", kernel.add(f"tile.splat {name}#{number} : i32 -> {tile}"))
    kernel.check(tmp_path, "simulate")


@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("shape", SHAPES)
def test_scans_keep_the_order(shape, warps, tmp_path):
    kernel = GpuKernel(shape, warps)
    tile = kernel.tile("i32")
    factor, summand = kernel.input("i32", numbers_of("i32", 12, kernel.count)), kernel.input("i32", numbers_of("i32", 13, kernel.count))
    for axis in range(len(shape)):
        for reverse in ["", " {reverse = true}"]:
            name = kernel.name()
            kernel.body.append(f"{name}:2 = tile.scan {factor}, {summand} axis {axis} {COMPOSE}{reverse} : ({tile}, {tile}) -> ({tile}, {tile})")
            kernel.output("i32", f"{name}#1")
    kernel.check(tmp_path, "simulate")


@pytest.mark.parametrize("type", ["f32", "i8", "i64"])
@pytest.mark.parametrize("shape, warps", [((256,), 1), ((1024,), 4), ((4, 64), 4), ((64, 4), 16), ((32, 32), 2)])
def test_gathers_at_a_distance(shape, warps, type, tmp_path):
    """x[i ^ distance], as sorts ask for it: through registers, lanes or warps, by a distance known at run time."""
    kernel = GpuKernel(shape, warps)
    tile, places = kernel.tile(type), kernel.tile("i32")
    value = kernel.input(type, [n % 100 for n in range(kernel.count)])
    kernel.parameters.append("%one: i32")
    kernel.arguments.append("i32=1")
    for axis, extent in enumerate(shape):
        coordinate = kernel.add(f"tile.arange 0 : tensor<{extent}xi32>")
        column = tuple(extent if i == axis else 1 for i in range(len(shape)))
        if len(shape) > 1:
            coordinate = kernel.add(f"tile.reshape {coordinate} : tensor<{extent}xi32> -> {kernel.tile('i32', column)}")
            coordinate = kernel.add(f"tile.broadcast {coordinate} : {kernel.tile('i32', column)} -> {places}")
        for bit in [*range(extent.bit_length() - 1), 0]:
            shift = kernel.add(f"arith.constant {bit} : i32")
            distance = kernel.add(f"arith.shli %one, {shift} : i32")
            distance = kernel.add(f"tile.splat {distance} : i32 -> {places}")
            index = kernel.add(f"arith.xori {coordinate}, {distance} : {places}")
            kernel.output(type, kernel.add(f"tile.gather {value}[{index}] {axis} : {tile}, {places} -> {tile}"))
            if shape[0] == shape[-1]:  # not the axis's own coordinate
                kernel.output(type, kernel.add(f"tile.gather {value}[{index}] {len(shape) - 1 - axis} : {tile}, {places} -> {tile}"))
    kernel.check(tmp_path, "simulate")


@pytest.mark.parametrize("warps", [1, 8])
@pytest.mark.parametrize("count, bins", [(256, 16), (1000, 64), (64, 4096)])
def test_histograms(count, bins, warps, tmp_path):
    kernel = GpuKernel((count,), warps)
    value = kernel.input("i32", [n % (bins + 3) for n in numbers_of("i32", 14, count)])
    mask = kernel.input("i1", [int(n % 3 != 0) for n in range(count)])
    kernel.output("i32", kernel.add(f"tile.histogram {value} : {kernel.tile('i32')} -> tensor<{bins}xi32>"), (bins,))
    counts = kernel.add(f"tile.histogram {value} mask {mask} : {kernel.tile('i1')} : {kernel.tile('i32')} -> tensor<{bins}xi32>")
    kernel.output("i32", counts, (bins,))
    kernel.check(tmp_path, "simulate")


def transpose(shape, type, warps):
    """A transpose of which both sides are coalesced; the arrays are aligned."""
    kernel = GpuKernel(shape, warps)
    value = kernel.input(type, [n % 100 for n in range(kernel.count)])
    turned = kernel.add(f"tile.permute {value} [1, 0] : {kernel.tile(type)} -> {kernel.tile(type, shape[::-1])}")
    kernel.output(type, turned, shape[::-1])
    kernel.parameters = [parameter + " {tile.divisibility = 16 : i64}" for parameter in kernel.parameters]
    return kernel


@pytest.mark.parametrize("type", ["i8", "f16", "f32", "f64"])
@pytest.mark.parametrize("shape, warps", [((32, 32), 1), ((64, 64), 4), ((128, 64), 8), ((16, 256), 4), ((24, 40), 2), ((128, 128), 4)])
def test_transposes(shape, warps, type, tmp_path):
    transpose(shape, type, warps).check(tmp_path, "simulate")


def simulate(ptx, kernel, tmp_path):
    """The report of `nacre simulate`, and its exit status."""
    file = tmp_path / "kernel.ptx"
    file.write_text(ptx)
    arrays = [re.match(r"(\w+)\[([\dx]+)\]", argument).groups() for argument in kernel.arguments]
    arguments = ",".join(f"{type}[{math.prod(map(int, shape.split('x')))}]=1" for type, shape in arrays)
    command = [NACRE, "simulate", file, "--kernel", "k", "--grid", "1", "--block", str(32 * kernel.warps), "--shared", "65536", "--args", arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.returncode


def ptx_of(kernel, tmp_path):
    file = tmp_path / "kernel.mlir"
    file.write_text(kernel.text())
    command = [NACRE_OPT, file, "--run=k", "--engine=simulate", "--show-stage=ptx", "--args=" + ",".join(kernel.arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:1000]
    return done.stdout.split("argument 0:")[0]


@pytest.mark.skipif(not NACRE.exists(), reason="nacre is not built")
@pytest.mark.parametrize("type", ["i8", "f16", "f32", "f64"])
@pytest.mark.parametrize("shape, warps", [((32, 32), 1), ((64, 64), 4), ((128, 128), 8)])
def test_transposes_have_no_bank_conflicts(shape, warps, type, tmp_path):
    kernel = transpose(shape, type, warps)
    report, status = simulate(ptx_of(kernel, tmp_path), kernel, tmp_path)
    assert status == 0
    assert report["counters"]["bank_conflicts"] == 0
    if type == "f32" and shape == (64, 64):  # others may do without
        assert report["counters"]["shared_accesses"] > 0


def scan_and_reduce():
    kernel = GpuKernel((64, 64), 4)
    tile = kernel.tile("i32")
    value = kernel.input("i32", small_numbers(kernel.count))
    region = "{ ^bb0(%a: i32, %b: i32): %c = arith.addi %a, %b : i32 tile.yield %c : i32 }"
    for axis in range(2):
        kernel.output("i32", kernel.add(f"tile.reduce {value} axis {axis} {region} : ({tile}) -> {kernel.tile('i32', (64,))}"), (64,))
        kernel.output("i32", kernel.add(f"tile.scan {value} axis {axis} {region} : ({tile}) -> {tile}"))
    return kernel


@pytest.mark.skipif(not NACRE.exists(), reason="nacre is not built")
@pytest.mark.parametrize("make", [lambda: transpose((64, 64), "f32", 4), scan_and_reduce], ids=["transpose", "scan_and_reduce"])
def test_every_barrier_is_needed(make, tmp_path):
    kernel = make()
    lines = ptx_of(kernel, tmp_path).split("\n")
    barriers = [number for number, line in enumerate(lines) if re.search(r"\bbar(rier)?\.(warp\.)?sync", line)]
    # Others keep apart loads and stores of global arrays that might be the same.
    barriers = [number for number in barriers if re.search(r"(ld|st)\.(\w+)", "\n".join(lines[number:])).group(2) == "shared"]
    assert barriers
    for number in barriers:
        report, status = simulate("\n".join(lines[:number] + lines[number + 1:]), kernel, tmp_path)
        assert status != 0, f"without its line {number}, {lines[number]!r}, the kernel is not found to race"
        assert any("race" in finding["kind"] or finding["kind"] == "uninitialized" for finding in report["findings"])
