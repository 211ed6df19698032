"""What the sanitizers cost: kernels under each kind beside themselves without, one after the other.

    nacre run bench/sanitizers.py [--quick] [--cpu]

The bounds are 3 for asan and 10 for tsan. On a machine that has other work --cpu tells more: the processors' time of all threads instead of the
clock's, which a launch that is interrupted does not lose.
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


def shortest(launch, seconds, clock):
    """Of as many launches as fit in the time, at least three; short ones are timed several at once."""
    launch()
    begin = clock()
    launch()
    together = max(1, int(0.001 / max(clock() - begin, 1e-6)))
    best, count, end = float("inf"), 0, clock() + seconds
    while count < 3 or clock() < end:
        begin = clock()
        for _ in range(together):
            launch()
        best = min(best, (clock() - begin) / together)
        count += 1
    return best


def rows(seconds, clock=time.perf_counter):
    """(kernel, {kind: times slower})"""
    found = []
    for name, launch in kernels().items():
        plain = shortest(launch, seconds, clock)
        slower = {}
        for kind in BOUNDS:
            sanitizer.start(kind)
            try:
                slower[kind] = shortest(launch, seconds, clock) / plain
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
    parser.add_argument("--cpu", action="store_true", help="the processors' time")
    options = parser.parse_args()
    print("\n".join(table(rows(0.05 if options.quick else 0.5, time.process_time if options.cpu else time.perf_counter))))


if __name__ == "__main__":
    main()
