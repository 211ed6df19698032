"""What tuning costs: a launch of a tuned kernel, 18 configurations from cold, a second process, and a search beside random search.

Run as a program (`nacre run bench/tuning.py compile|tune|ready|search ...`) it is one fresh process of a measurement and prints a number.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from latency import Row

import triton
import triton.language as tl

ROOT = Path(__file__).resolve().parents[1]


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    sum = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        inner = k + tl.arange(0, BLOCK_K)
        x = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows < M)[:, None] & (inner < K)[None, :], other=0.0)
        y = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner < K)[:, None] & (columns < N)[None, :], other=0.0)
        sum += tl.dot(x, y)
    tl.store(c + rows[:, None] * N + columns[None, :], sum, mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    for row in range(ROWS):
        start = (tl.program_id(0) * ROWS + row) * columns
        largest = -float("inf")
        total = 0.0
        for k in range(0, columns, BLOCK):
            at = k + tl.arange(0, BLOCK)
            part = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
            new = tl.maximum(largest, tl.max(part))
            total = total * tl.exp(largest - new) + tl.sum(tl.exp(part - new))
            largest = new
        for k in range(0, columns, BLOCK):
            at = k + tl.arange(0, BLOCK)
            part = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
            tl.store(out + start + at, tl.exp(part - largest) / total, mask=at < columns)


@triton.jit
def transpose(x, out, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(x + rows[:, None] * N + columns[None, :], mask=(rows < M)[:, None] & (columns < N)[None, :])
    tl.store(out + columns[:, None] * M + rows[None, :], tl.trans(tile), mask=(columns < N)[:, None] & (rows < M)[None, :])


CONFIGS = [triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}) for m in (16, 32, 64) for n in (32, 64, 128) for k in (16, 32)]


def _matmul_grid(meta):
    return (triton.cdiv(meta["M"], meta["BLOCK_M"]), triton.cdiv(meta["N"], meta["BLOCK_N"]))


def _child(*arguments, **variables):
    command = [sys.executable, "-m", "nacre", "run", __file__, *map(str, arguments)]
    child = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if child.returncode != 0:
        raise RuntimeError(child.stderr.strip())
    return float(child.stdout.strip().splitlines()[-1])


def _fresh(*arguments, **variables):
    with tempfile.TemporaryDirectory() as folder:
        return _child(*arguments, TRITON_CACHE_DIR=f"{folder}/cache", NACRE_TUNE_DIR=f"{folder}/tuning", **variables)


def compile_speedup(repetitions):
    """Seconds to compile 18 configurations one by one, over seconds with all cores."""
    one = min(_fresh("compile", TRITON_AUTOTUNING_COMPILE_WORKERS="1") for _ in range(repetitions))
    all_cores = min(_fresh("compile") for _ in range(repetitions))
    return one / all_cores


def tuning_speedup(repetitions):
    """Seconds to compile 18 configurations one by one and time each in full, over seconds of a tuning as it is."""
    one = min(_fresh("tune", "all in full", TRITON_AUTOTUNING_COMPILE_WORKERS="1") for _ in range(repetitions))
    return one / min(_fresh("tune", "as it is") for _ in range(repetitions))


def second_process_ms(repetitions):
    with tempfile.TemporaryDirectory() as folder:
        variables = {"TRITON_CACHE_DIR": f"{folder}/cache", "NACRE_TUNE_DIR": f"{folder}/tuning"}
        _child("ready", **variables)
        return min(_child("ready", **variables) for _ in range(repetitions))


def launch_costs(batches=200, launches=300):
    """Microseconds over a plain launch: (of a tuned one, of a tuned one with a heuristic on top)"""
    import torch
    import vector_add

    plain = vector_add.add_kernel
    configs = [triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})]

    def once(call, quantiles):
        call()
        return [1.0, 1.0, 1.0]

    tuned = triton.autotune(configs=configs, key=["count"], do_bench=once)(plain)
    both = triton.heuristics({"num_warps": lambda args: 4})(triton.autotune(
        configs=[triton.Config({"BLOCK": block}, num_warps=None) for block in (16, 32)], key=["count"], do_bench=once)(plain))  # fmt: skip
    x, y, out, grid = torch.ones(16), torch.ones(16), torch.empty(16), (1,)

    def microseconds(call):
        call()
        best = float("inf")
        for _ in range(batches):
            start = time.perf_counter()
            for _ in range(launches):
                call()
            best = min(best, time.perf_counter() - start)
        return best / launches * 1e6

    base = microseconds(lambda: plain[grid](x, y, out, 16, BLOCK=16))
    return microseconds(lambda: tuned[grid](x, y, out, 16)) - base, microseconds(lambda: both[grid](x, y, out, 16)) - base


SEARCHES = ("matmul", "softmax", "transpose")


def search_ratio(kernel, seeds):
    """The time of the configuration that random search finds over that which halving finds, at an equal budget; the median of a few seeds."""
    import statistics

    return statistics.median(_fresh("search", kernel, "random", seed) / _fresh("search", kernel, "halving", seed) for seed in range(seeds))


def measure(repetitions):
    tuned, both = launch_costs()
    rows = [
        Row("a tuned launch, over a plain one", tuned, 1.0, "us"),
        Row("a tuned launch with a heuristic, over a plain one", both, 1.5, "us"),
        Row("second process, tuned before: first launch", second_process_ms(repetitions), 20, "ms"),
        Row("18 matmul configurations compiled from cold: time of all cores over one by one (1/1.7)", 1 / compile_speedup(repetitions), 1 / 1.7, "x"),
        Row("18 matmul configurations tuned from cold: time over one by one, all timed in full (1/1.7)", 1 / tuning_speedup(repetitions), 1 / 1.7, "x"),
    ]
    for kernel in SEARCHES:
        rows.append(Row(f"search of {kernel}: halving's choice over random search's", 1 / search_ratio(kernel, repetitions), 1.05, "x"))
    return rows


# One fresh process.


def _compile():
    import torch

    a, b, c = torch.randn(256, 256), torch.randn(256, 256), torch.empty(256, 256)
    tuned = triton.autotune(configs=CONFIGS, key=["M"])(matmul)
    start = time.perf_counter()
    tuned.warmup(a, b, c, 256, 256, 256, grid=(1, 1))
    return time.perf_counter() - start


def _tune(how):
    import torch

    def in_full(call, quantiles):
        return triton.testing.do_bench(call, quantiles=quantiles)

    a, b, c = torch.randn(256, 256), torch.randn(256, 256), torch.empty(256, 256)
    tuned = triton.autotune(configs=CONFIGS, key=["M"], do_bench=in_full if how == "all in full" else None)(matmul)
    start = time.perf_counter()
    tuned[_matmul_grid](a, b, c, 256, 256, 256)
    return time.perf_counter() - start


def _ready():
    import torch

    a, b, c = torch.randn(64, 64), torch.randn(64, 64), torch.empty(64, 64)
    tuned = triton.autotune(configs=CONFIGS, key=["M"])(matmul)
    start = time.perf_counter()
    tuned[_matmul_grid](a, b, c, 64, 64, 64)
    return (time.perf_counter() - start) * 1e3


def _search(kernel, method, seed):
    """Milliseconds of the configuration that a search finds, measured anew."""
    import torch

    powers = triton.powers_of_two
    if kernel == "matmul":
        a, b, c = torch.randn(384, 384), torch.randn(384, 384), torch.empty(384, 384)
        values = {"BLOCK_M": powers(8, 128), "BLOCK_N": powers(8, 128), "BLOCK_K": powers(8, 128)}
        function, args, grid, key = matmul, (a, b, c, 384, 384, 384), _matmul_grid, ["M"]
    elif kernel == "softmax":
        x, out = torch.randn(512, 2000), torch.empty(512, 2000)
        values = {"BLOCK": powers(16, 4096), "ROWS": powers(1, 64)}
        function, args, grid, key = softmax, (x, out, 2000), lambda meta: (512 // meta["ROWS"],), ["columns"]
    else:
        x, out = torch.randn(1000, 1200), torch.empty(1200, 1000)
        values = {"BLOCK_M": powers(4, 256), "BLOCK_N": powers(4, 256)}
        function, args, key = transpose, (x, out, 1000, 1200), ["M"]
        grid = lambda meta: (triton.cdiv(1000, meta["BLOCK_M"]), triton.cdiv(1200, meta["BLOCK_N"]))  # noqa: E731
    space = triton.Space(values, budget=4.0, method=method, seed=int(seed))
    tuned = triton.autotune(search=space, key=key)(function)
    tuned[grid](*args)
    return triton.testing.do_bench(lambda: tuned[grid](*args), rep=300, return_mode="median")


def main():
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]
    what, *arguments = sys.argv[1:]
    print({"compile": _compile, "tune": _tune, "ready": _ready, "search": _search}[what](*arguments))


if __name__ == "__main__":
    main()
