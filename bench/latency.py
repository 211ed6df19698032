"""What a user waits for before the kernel runs: importing, compiling, reading the cache, launching.

Each measurement but the launch is taken in fresh processes, one after the other; the smallest of a few counts. Run as a
program (`nacre run bench/latency.py KERNEL`) it is such a process: it makes one first launch and prints its milliseconds.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "nacre", "run"]


@dataclass
class Row:
    name: str
    value: float
    target: float
    unit: str

    @property
    def passed(self):
        return self.value <= self.target


def import_ms(repetitions):
    program = (
        "import sys, time; start = time.perf_counter(); import nacre; print((time.perf_counter() - start) * 1e3); "
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    )
    with tempfile.TemporaryDirectory() as bytecode:  # which an installed package has, whatever this checkout has
        variables = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        times = [float(_run([sys.executable, "-c", program], **variables)) for _ in range(repetitions + 1)]
    return min(times)


def _run(command, **variables):
    child = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if child.returncode != 0:
        raise RuntimeError(child.stderr.strip() or f"exit code {child.returncode}")
    return child.stdout.strip().splitlines()[-1]


def first_launch_ms(kernel, repetitions):
    """(with an empty cache on disk, with the entry in it)"""
    cold, warm = [], []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            command = [*COMMAND, __file__, kernel]
            cold.append(float(_run(command, TRITON_CACHE_DIR=cache)))
            warm.append(float(_run(command, TRITON_CACHE_DIR=cache)))
    return min(cold), min(warm)


def launch_us(batches=200, launches=500):
    """One small program with three pointers, two integers and a constexpr: Python's whole cost of a launch."""
    import torch
    import vector_add

    x, y, out = torch.ones(16), torch.ones(16), torch.empty(16)
    kernel, grid = vector_add.add_kernel, (1,)
    kernel[grid](x, y, out, 16, BLOCK=16)
    best = float("inf")
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(launches):
            kernel[grid](x, y, out, 16, BLOCK=16)
        best = min(best, time.perf_counter() - start)
    return best / launches * 1e6


def compiled_calls_us(batches=200, calls=500):
    """backend -> the call of a small kernel, two pointers and a size, as the code that torch.compile makes has it. Taking turns."""
    import torch
    from torch._inductor.codecache import PyCodeCache

    x, out = torch.ones(16), torch.empty(16)
    called = {}
    for backend in ("inductor", "nacre"):
        torch.compiler.reset()
        compiled = torch.compile(lambda x: x + 1, backend=backend, dynamic=False)
        for _ in range(3):
            compiled(x)
        module = PyCodeCache.modules[-1]
        (name,) = [name for name in vars(module) if "_fused_" in name]
        kernel = getattr(module, name)
        namespace = {"x": x, "out": out, "kernel": kernel, "get_raw_stream": vars(module).get("get_raw_stream")}
        statement = "kernel(x, out)" if callable(kernel) else "kernel.run(x, out, 16, stream=get_raw_stream(None))"
        exec(f"def turn(x=x, out=out, kernel=kernel, get_raw_stream=get_raw_stream):\n for _ in range({calls}):\n  {statement}", namespace)
        called[backend] = namespace["turn"]
        namespace["turn"]()
        if not torch.equal(out, x + 1):
            raise RuntimeError(f"{name} of {backend} computes something else")
        out.zero_()
    best = dict.fromkeys(called, float("inf"))
    for _ in range(batches):
        for backend, turn in called.items():
            start = time.perf_counter()
            turn()
            best[backend] = min(best[backend], (time.perf_counter() - start) / calls * 1e6)
    return best


def profiler_us(batches=100, turns=500):
    """(a scope, a profiled launch over a plain one, a plain launch after a session over one before): the smallest of batches by turns."""
    import nacre.profiler as profiler
    import torch
    import vector_add

    x, y, out = torch.ones(16), torch.ones(16), torch.empty(16)
    kernel, grid = vector_add.add_kernel, (1,)

    def launches():
        for _ in range(turns):
            kernel[grid](x, y, out, 16, BLOCK=16)

    def scopes():
        for _ in range(turns):
            with profiler.scope("scope"):
                pass

    def best(function, known=float("inf")):
        start = time.perf_counter()
        function()
        return min(known, (time.perf_counter() - start) / turns * 1e6)

    launches()
    times = dict.fromkeys(("before", "launch", "plain", "scope", "after"), float("inf"))
    for _ in range(batches):
        times["before"] = best(launches, times["before"])
    with tempfile.TemporaryDirectory() as folder:
        session = profiler.start(os.path.join(folder, "profile"))
        for _ in range(batches):
            times["launch"], times["scope"] = best(launches, times["launch"]), best(scopes, times["scope"])
            profiler.deactivate(session)
            times["plain"] = best(launches, times["plain"])
            profiler.activate(session)
        profiler.finalize(session)
    for _ in range(batches):
        times["after"] = best(launches, times["after"])
    return times["scope"], times["launch"] - times["plain"], times["after"] - times["before"]


def compile_of_a_large_dot(repetitions):
    """(milliseconds, kilobytes of object code) of a 256x256x64 dot, by the command line."""
    signature = "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, 256, 256, 64, 8"
    times = []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "dot.o"
        command = [sys.executable, "-m", "nacre", "compile", str(ROOT / "examples" / "matmul.py"), "--kernel", "grouped_matmul_kernel",
                   "--signature", signature, "--emit", "obj", "-o", str(target)]  # fmt: skip
        for _ in range(repetitions):
            start = time.perf_counter()
            subprocess.run(command, check=True)
            times.append((time.perf_counter() - start) * 1e3)
        return min(times), target.stat().st_size / 1e3


def measure(repetitions):
    softmax_cold, softmax_warm = first_launch_ms("softmax", repetitions)
    matmul_cold, matmul_warm = first_launch_ms("matmul", repetitions)
    scope, launch, after = profiler_us()
    compiled = compiled_calls_us()
    dot_ms, dot_kilobytes = compile_of_a_large_dot(repetitions)
    return [
        Row("import nacre, without torch", import_ms(repetitions), 40, "ms"),
        Row("first launch, cold cache: softmax", softmax_cold, 80, "ms"),
        Row("first launch, cold cache: matmul 128x128x32", matmul_cold, 150, "ms"),
        Row("first launch, warm disk cache: softmax", softmax_warm, 10, "ms"),
        Row("first launch, warm disk cache: matmul", matmul_warm, 10, "ms"),
        Row("launch of one small program from Python", launch_us(), 2, "us"),
        Row(f"kernel called by code of torch.compile (Inductor's C++: {compiled['inductor']:.2f} us)", compiled["nacre"], 2.5, "us"),
        Row("profiler: a scope", scope, 0.3, "us"),
        Row("profiler: a profiled launch, over a plain one", launch, 0.5, "us"),
        Row("profiler: a plain launch after a session, over one before", after, 0.05, "us"),
        Row("nacre compile, a 256x256x64 dot, the whole command", dot_ms, 1000, "ms"),
        Row("its object code", dot_kilobytes, 200, "KB"),
    ]


def main():
    sys.path.insert(0, str(ROOT / "examples"))
    import torch

    if sys.argv[1] == "softmax":
        import softmax

        x = torch.randn(4, 781)
        out = torch.empty_like(x)
        launch = lambda: softmax.softmax(x, out)  # noqa: E731
    else:
        import matmul

        a, b, out = torch.randn(128, 128), torch.randn(128, 128), torch.empty(128, 128)
        launch = lambda: matmul.grouped_matmul(a, b, out)  # noqa: E731
    start = time.perf_counter()
    launch()
    print((time.perf_counter() - start) * 1e3)


if __name__ == "__main__":
    main()
