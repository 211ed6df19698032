"""How fast the PTX simulator is: kernels of several kinds, compiled for a GPU, all checks on.

    nacre run bench/simulator.py [PATTERN]

A rate is thread instructions a second of processor time, whatever the number of cores: the best of several runs, for a loaded
machine. A second one is without checks. A matrix instruction is as many as it has multiplications: that is what its time goes to.
"""

import fnmatch
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # or NumPy's threads take processor time, too

import numpy as np
import triton
import triton.language as tl
from nacre import _core
from nacre import simulator
from triton.compiler import ASTSource

TARGET = 50  # million thread instructions a second
RUNS = 7


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def polynomial(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    total = value
    for i in range(64):
        total = total * value + i
    tl.store(out + offsets, total)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + offsets, mask=offsets < n, other=-float("inf"))
    numerator = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * n + offsets, numerator / tl.sum(numerator, 0), mask=offsets < n)


@triton.jit
def transpose(x, out, n, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + rows[:, None] * n + columns[None, :])
    tl.store(out + columns[:, None] * n + rows[None, :], tl.trans(tile))


@triton.jit
def cumsum(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.cumsum(tl.load(x + offsets), 0))


@triton.jit
def sort(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.sort(tl.load(x + offsets)))


@triton.jit
def gather(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = (offsets * 7919) % n
    tl.store(out + offsets, tl.load(x + places))


@triton.jit
def counts(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + offsets) % 64, 1)


@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr):
    rows, columns, inner = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK, BLOCK], tl.float32)
    for k in range(0, n, BLOCK):
        left = tl.load(a + rows[:, None] * n + (k + inner)[None, :])
        total = tl.dot(left, tl.load(b + (k + inner)[:, None] * n + columns[None, :]), total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


# kernel, arrays' types, elements of each, n, BLOCK, grid, GPU, multiplications of matrix instructions
F32, F16, I32 = "fp32", "fp16", "i32"
CASES = [
    (add, [F32] * 3, 1 << 18, 1 << 18, 1024, (256,), 90, 0),
    (polynomial, [F32] * 2, 1 << 17, 1 << 17, 1024, (128,), 90, 0),
    (softmax, [F32] * 2, 256 * 1024, 1024, 1024, (256,), 90, 0),
    (transpose, [F32] * 2, 512 * 512, 512, 64, (8, 8), 90, 0),
    (cumsum, [F32] * 2, 1 << 17, 1 << 17, 1024, (128,), 90, 0),
    (sort, [F32] * 2, 1 << 15, 1 << 15, 1024, (32,), 90, 0),
    (gather, [F32] * 2, 1 << 18, 1 << 18, 1024, (256,), 90, 0),
    (counts, [I32] * 2, 1 << 18, 1 << 18, 1024, (256,), 90, 0),
    (matmul, [F16, F16, F32], 256 * 256, 256, 64, (4, 4), 80, 256**3),
    (matmul, [F16, F16, F32], 256 * 256, 256, 64, (4, 4), 90, 256**3),
]
TYPES = {F32: np.float32, F16: np.float16, I32: np.int32}


def compiled(kernel, types, block, capability):
    names = kernel.arg_names
    signature = {name: f"*{kind}" for name, kind in zip(names, types)} | {"n": "i32", "BLOCK": "constexpr"}
    attributes = {(place,): [["tt.divisibility", 16]] for place in range(len(types) + 1)}
    triton.knobs.runtime.override_arch = str(capability)
    _core.set_active_device("simulate")
    try:
        return triton.compile(ASTSource(kernel, signature, {"BLOCK": block}, attributes))
    finally:
        _core.set_active_device(None)
        triton.knobs.runtime.override_arch = None


def rate(module, kernel, grid, threads, arguments, shared, products, checks):
    best, report = 0, None
    for _ in range(RUNS):
        begin = time.process_time()
        report = module.run(kernel.__name__, grid, threads, arguments, shared=shared, checks=checks)
        best = max(best, (report.counters["thread_instructions"] + products) / (time.process_time() - begin))
    if not report.clean:
        raise SystemExit(f"{kernel.__name__}: {report}")
    return best / 1e6, report.counters["thread_instructions"] + products


def main(pattern="*"):
    print(f"{'kernel':16} {'GPU':>4} {'thread instructions':>20} {'M a second':>11} {'unchecked':>10}")
    slow = False
    for kernel, types, elements, n, block, grid, capability, products in CASES:
        if not fnmatch.fnmatchcase(kernel.__name__, pattern):
            continue
        made = compiled(kernel, types, block, capability)
        random = np.random.default_rng(1)
        arrays = [random.integers(0, 1000, elements).astype(TYPES[kind]) for kind in types]
        module = simulator.load(made.asm["ptx"])
        arguments = [*arrays, np.int32(n)]
        arguments = arguments[: len(module.kernels[kernel.__name__]["parameters"])]
        threads, shared = made.metadata.num_warps * 32, made.metadata.shared
        checked, count = rate(module, kernel, grid, threads, arguments, shared, products, True)
        plain, _ = rate(module, kernel, grid, threads, arguments, shared, products, False)
        slow |= checked < TARGET
        print(f"{kernel.__name__:16} {capability:4} {count:20,} {checked:11.0f} {plain:10.0f}", flush=True)
    print(f"each is to be {TARGET} at least{': some are not' if slow else ''}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
