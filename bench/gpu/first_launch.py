"""The first launch of a kernel from a cold cache, ours and Triton's: each in a process of its own, by turns.

    PYTHONPATH=folder-of-nacre python bench/gpu/first_launch.py [--only TEXT,TEXT] [--repeat N] [--together N]

torch has started CUDA, and the arrays are there; what is timed is the launch and waiting for it. "cold": the first kernel of the process, with an
empty cache. "second": another kernel was compiled and launched before, so that each compiler has started and has compiled the C helpers that it
needs. The processes of some kernels start side by side and are timed one after the other. Of ours, the last columns say what of a cold launch ptxas
took and what all else did. Milliseconds, least of N.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BF16_MATMUL = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP": 8, "num_warps": 8, "num_stages": 3}


def launches(torch):
    """name -> launch(module of kernels)."""
    n = 1 << 20
    x, y, z = (torch.randn(n, device="cuda") for _ in range(3))
    rows = torch.randn(1024, 4096, device="cuda")
    s = 4096
    a, b, c = (torch.randn(s, s, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    a16, b16, c16 = a.half(), b.half(), c.half()
    heads, length = 8, 1024

    def attention(d, causal):
        q, k, v, out = (torch.randn(heads, length, d, device="cuda", dtype=torch.bfloat16) for _ in range(4))
        return lambda module: module.attention[(length // 128, heads)](
            q, k, v, out, length, math.log2(math.e) / d**0.5, D=d, BLOCK_M=128, BLOCK_N=128 if d == 64 else 64, CAUSAL=causal, num_warps=8, num_stages=3
        )

    return {
        "vector add": lambda module: module.vector_add[(n // 1024,)](x, y, z, n, BLOCK=1024),
        "softmax 1024": lambda module: module.softmax[(1024,)](rows, rows, 4096, 1024, BLOCK=1024, num_warps=4),
        "softmax 4096": lambda module: module.softmax[(1024,)](rows, rows, 4096, 4096, BLOCK=4096, num_warps=8),
        "matmul bf16": lambda module: module.matmul[((s // 128) * (s // 256),)](a, b, c, s, s, s, **BF16_MATMUL),
        "matmul f16": lambda module: module.matmul[((s // 128) * (s // 256),)](a16, b16, c16, s, s, s, **BF16_MATMUL),
        "attention d64": attention(64, False),
        "attention d128 causal": attention(128, True),
    }


def child(package, kind, name):
    """Gets everything ready, says so, and launches when told to."""
    import time

    import torch
    from run import load

    module = __import__(package)
    language = __import__(f"{package}.language").language
    kernels = load("first_launch", module, language)
    launch = launches(torch)[name]
    stages = {}
    if kind == "second":
        kernels.fill[(1,)](torch.empty(128, device="cuda"), BLOCK=128)
    if package == "nacre":

        def listener(*, times=None, **_):
            stages.update((stage, microseconds / 1e3) for stage, microseconds in times.lowering_stages)

        module.knobs.compilation.listener = listener
    torch.cuda.synchronize()
    print("ready", flush=True)
    if not sys.stdin.readline():
        return
    begin = time.perf_counter()
    launch(kernels)
    torch.cuda.synchronize()
    print(json.dumps({"total": (time.perf_counter() - begin) * 1e3, "stages": stages}), flush=True)


class Process:
    def __init__(self, package, kind, name, folder, errors):
        folder.mkdir(parents=True)
        command = [sys.executable, __file__, "--child", package, kind, name]
        environment = {**os.environ, "TRITON_CACHE_DIR": str(folder)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise RuntimeError("a child ended early")
        return text

    def wait(self):
        assert self.line() == "ready\n"

    def measure(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        result = json.loads(self.line())
        self.process.stdin.close()
        self.process.wait()
        return result


KINDS = [("nacre", "cold"), ("triton", "cold"), ("nacre", "second"), ("triton", "second")]


def show(name, processes):
    """`processes`: by turns, of each kind one."""
    turns = [[process.measure() for process in turn] for turn in processes]
    ours, theirs, our_second, their_second = (min((turn[kind] for turn in turns), key=lambda result: result["total"]) for kind in range(len(KINDS)))
    ptxas = ours["stages"].get("cubin", float("nan"))
    print(f"{name:24} {ours['total']:7.0f} {theirs['total']:7.0f} {ours['total'] / theirs['total']:6.2f} "
          f"{our_second['total']:7.0f} {their_second['total']:7.0f} {our_second['total'] / their_second['total']:6.2f} {ptxas:7.0f} {ours['total'] - ptxas:9.0f}  "
          + ", ".join(f"{stage} {time:.1f}" for stage, time in ours["stages"].items()), flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default="", help="kernels whose name holds one of these texts, with commas between them")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--together", type=int, default=1, help="kernels whose processes start together")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*options.child)
    names = ["vector add", "softmax 1024", "softmax 4096", "matmul bf16", "matmul f16", "attention d64", "attention d128 causal"]
    names = [name for name in names if any(text in name for text in options.only.split(","))]
    print(f"{'':24} {'cold':^22} {'second':^22}\n{'kernel':24} " + 2 * f"{'Nacre':>7} {'Triton':>7} {'ratio':>6} " + f"{'ptxas':>7} {'all else':>9}")
    with tempfile.TemporaryDirectory(prefix="nacre-first-launch-") as folder, open(Path(folder) / "errors", "w+") as errors:
        for first in range(0, len(names), options.together):
            started = {
                name: [[Process(package, kind, name, Path(folder) / name / f"{turn}{package}{kind}", errors) for package, kind in KINDS]
                       for turn in range(options.repeat)]
                for name in names[first : first + options.together]
            }  # fmt: skip
            for name, processes in started.items():
                try:
                    for turn in processes:
                        for process in turn:
                            process.wait()
                except RuntimeError:
                    pass  # told below
            for name, processes in started.items():
                try:
                    show(name, processes)
                except (RuntimeError, ValueError) as problem:
                    errors.seek(0)
                    print(f"{name:24} failed: {problem}\n{errors.read()[-1500:]}")


if __name__ == "__main__":
    main()
