"""The same kernels at small sizes, beside Triton's own interpreter: compiled, and some in our interpreter mode too.

Run as a program (`python bench/interpreter.py KEY`) it is the peer: the Triton package in interpreter mode, in a process of
its own that knows nothing of Nacre. It prints the smallest time of a call in milliseconds. Imported, it measures both.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = 100
TARGETS_AS_PYTHON = {"vector_add": 30, "softmax": 30, "matmul": 30}


def cases():
    """key -> (name, function). Imports torch and the kernels, under whichever package is named triton."""
    import attention
    import gelu
    import greyscale
    import layer_norm
    import matmul
    import softmax
    import torch
    import vector_add

    torch.manual_seed(0)
    x, y = torch.rand(98432), torch.rand(98432)
    rows, wide = torch.randn(512, 781), torch.randn(128, 1024)
    weight, bias = torch.rand(1024), torch.rand(1024)
    image = torch.randint(0, 256, (256, 256, 3), dtype=torch.uint8)
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    q, k, v = (torch.randn(2, 128, 64) for _ in range(3))
    return {
        "vector_add": ("vector add, 98432 by 1024", lambda: vector_add.add(x, y, block=1024)),
        "softmax": ("softmax, 512x781", lambda: softmax.softmax(rows)),
        "layer_norm": ("layer norm, 128x1024", lambda: layer_norm.layer_norm(wide, weight, bias)),
        "gelu": ("bias + GELU + scale, 2^17 by 1024", lambda: gelu.bias_gelu_scale(wide, bias, 0.7, block=1024)),
        "greyscale": ("greyscale, 256x256 by 1024", lambda: greyscale.greyscale(image, block=1024)),
        "matmul": ("matmul, 256^3 by 32", lambda: matmul.grouped_matmul(a, b, block=32)),
        "attention": ("attention, 2x128x64 by 64", lambda: attention.attention(q, k, v)),
    }


def peer_time_ms(key):
    """The interpreter's smallest time, from a process of its own. Raises with what that process said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NACRE_", "TRITON_"))}
    environment["TRITON_INTERPRET"] = "1"
    environment.pop("PYTHONPATH", None)  # by which processes that this one starts have its triton
    child = subprocess.run([sys.executable, __file__, key], capture_output=True, text=True, env=environment)
    if child.returncode != 0:
        raise RuntimeError(child.stderr.strip().splitlines()[-1] if child.stderr.strip() else f"exit code {child.returncode}")
    return float(child.stdout.strip().splitlines()[-1])


def measure(keys, say):
    import triton
    from throughput import Row
    from timing import smallest_times_ms

    driver = triton.runtime.driver.active

    rows = []
    for key, (name, function) in cases().items():
        if key not in keys:
            continue
        try:
            peers = {"interpreter": peer_time_ms(key)}
        except RuntimeError as error:
            say(f"Triton's interpreter could not run {name}: {error}")
            continue
        ours = smallest_times_ms({"ours": function}, rounds=10, seconds=0.3)["ours"]
        rows.append(Row(name, "", ours, peers, TARGET))
        if key in TARGETS_AS_PYTHON:
            driver.set_interpret_mode(True)
            ours = smallest_times_ms({"ours": function}, rounds=10, seconds=0.3)["ours"]
            driver.set_interpret_mode(False)
            rows.append(Row(f"{name}, our interpreter", "", ours, peers, TARGETS_AS_PYTHON[key]))
    return rows


def main():
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "bench")]
    from timing import smallest_times_ms

    import triton

    if "nacre" in sys.modules or not getattr(triton, "__file__", "").endswith("triton/__init__.py"):
        sys.exit("the package named triton here is not Triton itself")
    _, function = cases()[sys.argv[1]]
    print(smallest_times_ms({"interpreter": function}, rounds=3, seconds=0.3, calls=1)["interpreter"])


if __name__ == "__main__":
    main()
