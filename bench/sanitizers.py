"""What the sanitizers cost: kernels under each kind beside themselves without, one after the other.

    nacre run bench/sanitizers.py [--quick]

The bounds are 3 for asan and 10 for tsan.
"""

import argparse
import time

import nacre.sanitizer as sanitizer
import numpy as np
import triton
import triton.language as tl

BOUNDS = {"asan": 3, "tsan": 10, "msan": None, "ub": None}


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=offsets < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a + rows[:, None] * K + (k * BK + inner)[None, :])
        total = tl.dot(left, tl.load(b + (k * BK + inner)[:, None] * N + columns[None, :]), total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


def kernels():
    """name -> a function that launches."""
    def floats(*shape):
        return np.random.default_rng(0).random(shape, np.float32)

    n = 1 << 22
    x, y, out = floats(n), floats(n), np.zeros(n, np.float32)
    cached, cached_out = floats(1 << 16), np.zeros(1 << 16, np.float32)
    rows, soft = floats(4096, 1000), np.zeros((4096, 1000), np.float32)
    a, b, c = floats(512, 512), floats(512, 512), np.zeros((512, 512), np.float32)
    return {
        "vector add, 4 Mi": lambda: add[(n // 4096,)](x, y, out, n, BLOCK=4096),
        "vector add, 64 Ki, in the cache": lambda: add[(16,)](cached, cached, cached_out, 1 << 16, BLOCK=4096),
        "softmax, 4096 x 1000": lambda: softmax[(4096,)](rows, soft, 1000, BLOCK=1024),
        "matmul, 512": lambda: matmul[(16, 16)](a, b, c, 512, 512, 512, BM=32, BN=32, BK=32),
    }


def shortest(launch, seconds):
    """Of as many launches as fit in the time, at least three."""
    launch()
    best, count, end = float("inf"), 0, time.perf_counter() + seconds
    while count < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        launch()
        best = min(best, time.perf_counter() - begin)
        count += 1
    return best


def rows(seconds):
    """(kernel, {kind: times slower})"""
    found = []
    for name, launch in kernels().items():
        plain = shortest(launch, seconds)
        slower = {}
        for kind in BOUNDS:
            sanitizer.start(kind)
            try:
                slower[kind] = shortest(launch, seconds) / plain
            finally:
                sanitizer.stop()
        found.append((name, plain, slower))
    return found


def table(found):
    lines = ["| kernel | plain ms | " + " | ".join(BOUNDS) + " | within bounds |", "|---|---|" + "---|" * len(BOUNDS) + "---|"]
    for name, plain, slower in found:
        within = all(bound is None or slower[kind] <= bound for kind, bound in BOUNDS.items())
        lines.append(f"| {name} | {plain * 1e3:.3f} | " + " | ".join(f"{slower[kind]:.1f}" for kind in BOUNDS) + f" | {'yes' if within else 'NO'} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the time")
    print("\n".join(table(rows(0.05 if parser.parse_args().quick else 0.5))))


if __name__ == "__main__":
    main()
