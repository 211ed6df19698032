"""The targets against the evaluator, operation by operation: random and corner numbers through every elementwise operation,
conversion, reduction and scan of tile IR, in every type; what comes out must be the same, bit for bit where the operation is exact.
The CUDA target's code runs on the simulator, whose findings are failures."""

import random

import pytest
from tile_kernels import FLOATS, FP8, INTEGERS, NACRE_OPT, Kernel, numbers_of

pytestmark = pytest.mark.skipif(not NACRE_OPT.exists(), reason="nacre-opt is not built")


@pytest.fixture(params=["cpu", "simulate"])
def engine(request):
    return request.param


SHAPE = (3, 37)
COUNT = 3 * 37


@pytest.mark.parametrize("type", INTEGERS)
def test_integer_operations(type, tmp_path, engine):
    kernel = Kernel(SHAPE)
    width = INTEGERS[type]
    tile = kernel.tile(type)
    a, b = kernel.input(type, numbers_of(type, 1, COUNT)), kernel.input(type, numbers_of(type, 2, COUNT))
    # Division by zero, overflow of a division and wide shifts are undefined.
    divisor = kernel.input(type, numbers_of(type, 3, COUNT, lambda n: 1 if width == 1 else n if n not in (0, -1) else 3))
    amount = kernel.input(type, numbers_of(type, 4, COUNT, lambda n: n % width))
    for op in ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"]:
        kernel.output(type, kernel.add(f"arith.{op} {a}, {b} : {tile}"))
    for op in ["divui", "remui"] + (["divsi", "remsi"] if width > 1 else []):
        kernel.output(type, kernel.add(f"arith.{op} {a}, {divisor} : {tile}"))
    for op in ["shli", "shrsi", "shrui"]:
        kernel.output(type, kernel.add(f"arith.{op} {a}, {amount} : {tile}"))
    for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]:
        kernel.output("i1", kernel.add(f"arith.cmpi {predicate}, {a}, {b} : {tile}"))
    if width > 1:
        kernel.output(type, kernel.add(f"math.absi {a} : {tile}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("type", FLOATS)
def test_float_operations(type, tmp_path, engine):
    kernel = Kernel(SHAPE)
    tile = kernel.tile(type)
    a, b, c = (kernel.input(type, numbers_of(type, seed, COUNT)) for seed in (1, 2, 3))
    for op in ["addf", "subf", "mulf", "divf", "minnumf", "maxnumf", "minimumf", "maximumf"]:
        kernel.output(type, kernel.add(f"arith.{op} {a}, {b} : {tile}"))
    for op in ["arith.negf", "math.absf", "math.sqrt", "math.floor", "math.ceil", "math.trunc", "math.roundeven"]:
        kernel.output(type, kernel.add(f"{op} {a} : {tile}"))
    kernel.output(type, kernel.add(f"math.fma {a}, {b}, {c} : {tile}"))
    for predicate in ["oeq", "une", "olt", "ole", "ogt", "oge", "ult", "ord", "uno", "one", "ueq"]:
        kernel.output("i1", kernel.add(f"arith.cmpf {predicate}, {a}, {b} : {tile}"))
    condition = kernel.add(f"arith.cmpf olt, {a}, {b} : {tile}")
    kernel.output(type, kernel.add(f"arith.select {condition}, {a}, {c} : {kernel.tile('i1')}, {tile}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("source", list(INTEGERS))
def test_integer_conversions(source, tmp_path, engine):
    kernel = Kernel(SHAPE)
    value = kernel.input(source, numbers_of(source, 1, COUNT))
    for target, width in INTEGERS.items():
        ops = ["extsi", "extui"] if width > INTEGERS[source] else ["trunci"] if width < INTEGERS[source] else []
        for op in ops:
            kernel.output(target, kernel.add(f"arith.{op} {value} : {kernel.tile(source)} to {kernel.tile(target)}"))
    for target in FLOATS:
        for op in ["sitofp", "uitofp"]:
            kernel.output(target, kernel.add(f"arith.{op} {value} : {kernel.tile(source)} to {kernel.tile(target)}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("source", FLOATS + FP8)
def test_float_conversions(source, tmp_path, engine):
    kernel = Kernel(SHAPE)
    value = kernel.input(source, numbers_of(source, 1, COUNT))
    for target in FLOATS + FP8:
        if target == source:
            continue
        for rounding in ["", " round rtz"]:
            kernel.output(target, kernel.add(f"tile.fp_cast {value}{rounding} : {kernel.tile(source)} -> {kernel.tile(target)}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer(source, tmp_path, engine):
    kernel = Kernel(SHAPE)
    for target, width in INTEGERS.items():
        if width == 1:
            continue
        largest = min(2.0 ** (width - 1) * 0.99, 60000.0)  # out of range is undefined
        inside = kernel.input(source, numbers_of(source, width, COUNT, lambda n: max(-largest, min(largest, n)) if n == n else 0.0))
        kernel.output(target, kernel.add(f"arith.fptosi {inside} : {kernel.tile(source)} to {kernel.tile(target)}"))
        positive = kernel.add(f"math.absf {inside} : {kernel.tile(source)}")
        kernel.output(target, kernel.add(f"arith.fptoui {positive} : {kernel.tile(source)} to {kernel.tile(target)}"))
    kernel.check(tmp_path, engine)


COMBINE = {
    "i32": ["arith.addi", "arith.maxsi", "arith.minui", "arith.xori"],
    "f32": ["arith.maxnumf", "arith.minimumf"],
    "i8": ["arith.addi", "arith.maxsi"],
    "f64": ["arith.maxnumf"],
    "bf16": ["arith.maxnumf"],
    "i1": ["arith.ori"],
}


@pytest.mark.parametrize("type", COMBINE)
@pytest.mark.parametrize("shape", [(64,), (37,), (3, 37), (37, 3), (2, 5, 16)])
def test_reductions_and_scans(type, shape, tmp_path, engine):
    kernel = Kernel(shape)
    tile = kernel.tile(type)
    value = kernel.input(type, numbers_of(type, 5, kernel.count))
    for op in COMBINE[type]:
        region = f"{{ ^bb0(%a: {type}, %b: {type}): %c = {op} %a, %b : {type} tile.yield %c : {type} }}"
        for axis in range(len(shape)):
            rest = shape[:axis] + shape[axis + 1:]
            result = kernel.tile(type, rest) if rest else type
            reduced = kernel.add(f"tile.reduce {value} axis {axis} {region} : ({tile}) -> {result}")
            if rest:
                kernel.output(type, reduced, rest)
            else:
                kernel.output(type, kernel.add(f"tile.splat {reduced} : {type} -> {tile}"))
            for reverse in ["", " {reverse = true}"]:
                kernel.output(type, kernel.add(f"tile.scan {value} axis {axis} {region}{reverse} : ({tile}) -> {tile}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("operand, result", [("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("i8", "i32"), ("f64", "f64")])
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (5, 7, 3), (33, 20, 40)])
def test_dot(operand, result, m, n, k, tmp_path, engine):
    small = random.Random(7)
    kernel = Kernel((m, k))
    a = kernel.input(operand, [small.randint(-4, 4) for _ in range(m * k)])  # exact in every type
    kernel.shape = (k, n)
    b = kernel.input(operand, [small.randint(-4, 4) for _ in range(k * n)])
    kernel.shape = (m, n)
    c = kernel.input(result, [small.randint(-9, 9) for _ in range(m * n)])
    types = f"{kernel.tile(operand, (m, k))}, {kernel.tile(operand, (k, n))} -> {kernel.tile(result)}"
    kernel.output(result, kernel.add(f"tile.dot {a}, {b}, {c} : {types}"))
    kernel.check(tmp_path, engine)


@pytest.mark.parametrize("type", ["f32", "i8", "i1", "i64", "bf16"])
def test_rearrangements(type, tmp_path, engine):
    kernel = Kernel((4, 6))
    tile = kernel.tile(type)
    a, b = kernel.input(type, numbers_of(type, 1, 24)), kernel.input(type, numbers_of(type, 2, 24))
    turned = kernel.add(f"tile.permute {a} [1, 0] : {tile} -> {kernel.tile(type, (6, 4))}")
    kernel.output(type, turned, (6, 4))
    kernel.output(type, kernel.add(f"tile.reshape {turned} : {kernel.tile(type, (6, 4))} -> {kernel.tile(type, (3, 8))}"), (3, 8))
    for axis, shape in enumerate([(8, 6), (4, 12)]):
        kernel.output(type, kernel.add(f"tile.concatenate {a}, {b} {axis} : {tile}, {tile} -> {kernel.tile(type, shape)}"), shape)
    joined = kernel.add(f"tile.join {a}, {b} : {tile} -> {kernel.tile(type, (4, 6, 2))}")
    kernel.output(type, joined, (4, 6, 2))
    split = kernel.name()
    kernel.body.append(f"{split}:2 = tile.split {joined} : {kernel.tile(type, (4, 6, 2))} -> {tile}")
    kernel.output(type, f"{split}#0")
    kernel.output(type, f"{split}#1")
    index = kernel.input("i32", [random.Random(3).randrange(4) for _ in range(24)])
    for axis in (0, 1):
        kernel.output(type, kernel.add(f"tile.gather {a}[{index}] {axis} : {tile}, {kernel.tile('i32')} -> {tile}"))
    kernel.check(tmp_path, engine)
