"""The operators of nacre.kernels beside PyTorch's, eager and compiled by Inductor's C++.

    python bench/library.py [--only TEXT] [--threads N] [--quick] [--eager] [--write]

Each row is an operator, checked against PyTorch and then timed in turns in this process, with as many threads for everybody as --threads says (1).
Times of one thread are its processor time, so that other work on the machine counts less. "and gradients" is a forward and its backward.
The ratios are the peer's time over ours. --write puts the table in bench/RESULTS.md.
"""

import argparse
import datetime
import os
import platform
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
THREADS = int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else 1
for variable in ("NACRE_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import nacre.kernels as nk  # noqa: E402
from timing import smallest_times_ms  # noqa: E402

torch.set_num_threads(THREADS)


class Case:
    """`ours` and `theirs` take the tensors. With `gradients` a call is a forward and the gradients of all tensors of floating point."""

    def __init__(self, ours, theirs, tensors, gradients=True, tolerance=1e-3):
        self.ours, self.theirs, self.tensors, self.gradients, self.tolerance = ours, theirs, tensors, gradients, tolerance


def rows(count, columns, dtype=torch.float32):
    return torch.randn(count, columns).to(dtype)


def layer_norm(count, columns, dtype=torch.float32):
    tensors = [rows(count, columns, dtype), torch.rand(columns, dtype=dtype), torch.rand(columns, dtype=dtype)]
    return Case(nk.layer_norm, lambda x, w, b: F.layer_norm(x, (columns,), w, b), tensors, tolerance=1e-3 if dtype == torch.float32 else 1.0)


def rms_norm(count, columns):
    return Case(nk.rms_norm, lambda x, w: F.rms_norm(x, (columns,), w, 1e-6), [rows(count, columns), torch.rand(columns)])


def rms_norm_residual(count, columns):
    def theirs(x, w, r):
        x = x + r
        return F.rms_norm(x, (columns,), w, 1e-6), x

    return Case(lambda x, w, r: nk.rms_norm(x, w, residual=r), theirs, [rows(count, columns), torch.rand(columns), rows(count, columns)])


def rms_norm_quantized(count, columns):
    def theirs(x, w):
        y = F.rms_norm(x, (columns,), w, 1e-6)
        steps = y.abs().amax(-1, keepdim=True) / 127
        return (y / steps).round().to(torch.int8), steps[:, 0]

    return Case(nk.rms_norm_quantized, theirs, [rows(count, columns), torch.rand(columns)], gradients=False, tolerance=1)


def group_norm(images, channels, size, groups):
    tensors = [torch.randn(images, channels, size, size), torch.rand(channels), torch.rand(channels)]
    return Case(lambda x, w, b: nk.group_norm(x, groups, w, b), lambda x, w, b: F.group_norm(x, groups, w, b), tensors, tolerance=1e-2)


def softmax(count, columns):
    return Case(nk.softmax, lambda x: torch.softmax(x, -1), [rows(count, columns)])


def log_softmax(count, columns):
    return Case(nk.log_softmax, lambda x: torch.log_softmax(x, -1), [rows(count, columns)])


def cross_entropy(count, columns, smoothing=0.0):
    target = torch.randint(0, columns, (count,))
    return Case(lambda x: nk.cross_entropy(x, target, label_smoothing=smoothing), lambda x: F.cross_entropy(x, target, label_smoothing=smoothing),
                [rows(count, columns)])  # fmt: skip


def linear_cross_entropy(count, width, classes):
    target = torch.randint(0, classes, (count,))
    return Case(lambda x, w: nk.linear_cross_entropy(x, w, target), lambda x, w: F.cross_entropy(F.linear(x, w), target),
                [rows(count, width), rows(classes, width) / width**0.5])  # fmt: skip


def elementwise(ours, theirs, arrays, count=1 << 21, dtype=torch.float32):
    return Case(ours, theirs, [torch.randn(count).to(dtype) for _ in range(arrays)], tolerance=1e-3 if dtype == torch.float32 else 0.1)


def swiglu(dtype=torch.float32):
    return elementwise(nk.swiglu, lambda g, u: F.silu(g) * u, 2, dtype=dtype)


def bias_gelu(count, columns):
    return Case(nk.bias_activation, lambda x, b: F.gelu(x + b), [rows(count, columns), torch.randn(columns)])


def rotary(interleaved):
    batch, places, heads, width = 2, 1024, 16, 64
    cos, sin = nk.rotary_tables(places, width, like=torch.empty(0))

    def theirs(x):
        c, s = cos[:, None, :], sin[:, None, :]
        a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
        turned = (a * c - b * s, b * c + a * s)
        return torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)

    return Case(lambda x: nk.rotary(x, cos, sin, interleaved=interleaved), theirs, [torch.randn(batch, places, heads, width)])


def dropout():
    """No two generators drop the same elements: what is compared is how many."""
    x = torch.ones(1 << 21)
    return Case(lambda x: nk.dropout(x, 0.1), lambda x: F.dropout(x, 0.1), [x], tolerance=float("inf"))


def adamw(shapes):
    arrays = [[torch.randn(shape) for shape in shapes] for _ in range(2)]
    ours = [[torch.zeros(shape) for shape in shapes] for _ in range(2)]
    parameters = [p.clone().requires_grad_() for p in arrays[0]]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    for parameter, gradient in zip(parameters, arrays[1]):
        parameter.grad = gradient
    steps = [0]

    def step():
        steps[0] += 1
        nk.adamw(arrays[0], arrays[1], *ours, step=steps[0], lr=1e-4)
        return arrays[0][0]

    def theirs():
        optimizer.step()
        return parameters[0].detach()

    return Case(step, theirs, [], gradients=None)


CASES = {
    "layer norm, 4096x1024": lambda: layer_norm(4096, 1024),
    "layer norm, 4096x1024 bf16": lambda: layer_norm(4096, 1024, torch.bfloat16),
    "RMS norm, 4096x1024": lambda: rms_norm(4096, 1024),
    "RMS norm of a sum, 2048x3000": lambda: rms_norm_residual(2048, 3000),
    "RMS norm to int8, 4096x1024": lambda: rms_norm_quantized(4096, 1024),
    "group norm, 16x64x56x56, 8 groups": lambda: group_norm(16, 64, 56, 8),
    "softmax, 4096x1000": lambda: softmax(4096, 1000),
    "log softmax, 4096x1000": lambda: log_softmax(4096, 1000),
    "softmax, 64x50000": lambda: softmax(64, 50000),
    "cross entropy, 512x32000": lambda: cross_entropy(512, 32000),
    "cross entropy, smoothed, 4096x1000": lambda: cross_entropy(4096, 1000, 0.1),
    "linear cross entropy, 512x256 to 32000": lambda: linear_cross_entropy(512, 256, 32000),
    "GELU, 2M": lambda: elementwise(nk.gelu, F.gelu, 1),
    "GELU tanh, 2M": lambda: elementwise(lambda x: nk.gelu(x, "tanh"), lambda x: F.gelu(x, approximate="tanh"), 1),
    "SiLU, 2M": lambda: elementwise(nk.silu, F.silu, 1),
    "SwiGLU, 2M": swiglu,
    "SwiGLU, 2M bf16": lambda: swiglu(torch.bfloat16),
    "GeGLU, 2M": lambda: elementwise(nk.geglu, lambda g, u: F.gelu(g) * u, 2),
    "bias + GELU, 2048x1024": lambda: bias_gelu(2048, 1024),
    "dropout, 2M": dropout,
    "rotary, 2x1024x16x64": lambda: rotary(False),
    "rotary, interleaved, 2x1024x16x64": lambda: rotary(True),
    "AdamW, 2M in 3 tensors": lambda: adamw([(1024, 1024), (1024, 1023), (1024,)]),
    "AdamW, 200 tensors of 1000": lambda: adamw([(1000,)] * 200),
}


def first(result):
    return result[0] if isinstance(result, tuple) else result


def called(function, case, gradients):
    """A function without arguments, on tensors of its own."""
    if case.gradients is None:
        return function
    tensors = [x.clone() for x in case.tensors]
    if not gradients:

        def forward():
            with torch.no_grad():
                return first(function(*tensors))

        return forward
    tensors = [x.requires_grad_() for x in tensors]
    upstream = []

    def both():
        result = first(function(*tensors))
        if not upstream:
            torch.manual_seed(1)
            upstream.append(torch.randn_like(result))
        return torch.autograd.grad(result, tensors, upstream[0])[0]

    return both


def measure(name, case, gradients, with_compiled, rounds, seconds):
    """A row of the table."""
    ours, eager = called(case.ours, case, gradients), called(case.theirs, case, gradients)
    difference = (ours().double() - eager().double()).abs().max().item()
    if not difference <= case.tolerance and case.tolerance != float("inf"):
        raise AssertionError(f"{name}: largest difference {difference:.3g} is over {case.tolerance:.3g}")
    contenders = {"ours": ours, "eager": eager}
    if with_compiled and case.gradients is not None:
        contenders["compiled"] = called(torch.compile(case.theirs, dynamic=False), case, gradients)
    clock = time.process_time if THREADS == 1 else time.perf_counter
    times = smallest_times_ms(contenders, rounds=rounds, seconds=seconds, clock=clock)
    cells = [name + (" and gradients" if gradients else ""), f"{times['ours']:.3f}", f"{times['eager']:.3f}"]
    compiled = times.get("compiled")
    cells += [f"{compiled:.3f}" if compiled else "", f"{times['eager'] / times['ours']:.2f}", f"{compiled / times['ours']:.2f}" if compiled else ""]
    return "| " + " | ".join(cells) + " |", min(times["eager"], compiled or float("inf")) / times["ours"]


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.processor())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few rounds, for a first look")
    parser.add_argument("--eager", action="store_true", help="beside eager PyTorch alone: Inductor's C++ takes long to compile")
    parser.add_argument("--write", action="store_true", help="put the table in bench/RESULTS.md")
    arguments = parser.parse_args()
    rounds, seconds = (2, 0.1) if arguments.quick else (6, 1.0)
    lines = ["| operator | ours, ms | eager | compiled | eager/ours | compiled/ours |", "|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    ratios = []
    for name, make in CASES.items():
        if arguments.only.lower() not in name.lower():
            continue
        torch.manual_seed(0)
        torch._dynamo.reset()
        case = make()
        for gradients in (False, True) if case.gradients else (False,):
            line, ratio = measure(name, case, gradients, not arguments.eager, rounds, seconds)
            lines.append(line)
            ratios.append(ratio)
            print(line, flush=True)
    mean = torch.tensor(ratios).log().mean().exp().item()
    lines += ["", f"Geometric mean of the better peer's time over ours: {mean:.2f} of {len(ratios)}, least {min(ratios):.2f}."]
    print("\n".join(lines[-2:]))
    if arguments.write:
        write(lines)


TITLE = "Operators of nacre.kernels"


def write(lines):
    file = ROOT / "bench" / "RESULTS.md"
    sections = [section for section in file.read_text().split("\n## ") if not section.startswith(TITLE)]
    command = f"make bench-library ARGS='{' '.join(sys.argv[1:])}'"
    what = "one thread for everybody, processor time" if THREADS == 1 else f"{THREADS} threads for everybody"
    intro = f"`{command}`, {datetime.date.today().isoformat()}, {processor()}, torch {torch.__version__}; {what}. Compiled: by Inductor's C++."
    file.write_text("\n## ".join([*sections, "\n".join([TITLE, "", intro, "", *lines]) + "\n"]))


if __name__ == "__main__":
    main()
