"""Our kernels beside Triton's on a GPU: the same text compiled by both, launched by turns inside one loop, the L2 flushed
between, medians compared.

    PYTHONPATH=folder-of-nacre python bench/gpu/run.py [--only TEXT,TEXT] [--rounds N] [--compile]

Needs torch and the Triton package of that Python; `import triton` must not be ours. The ratio is Triton's time over ours: above
1 we are faster. A row whose results differ says so. --compile times the first launch of each kernel from a cold cache too, when
both compilers have compiled and launched another kernel before.
"""

import argparse
import importlib.util
import itertools
import math
import os
import sys
import tempfile
import time
import types
from pathlib import Path

_caches = tempfile.TemporaryDirectory(prefix="nacre-bench-")
os.environ["TRITON_CACHE_DIR"] = _caches.name

import memory_rows  # noqa: E402
import torch  # noqa: E402

KERNELS = [Path(__file__).with_name(name) for name in ("kernels.py", "memory_kernels.py")]
DEVICE = "cuda"


def load(name, triton, language):
    """A module of all kernels, compiled by that package."""
    whole = types.ModuleType(name)
    for path in KERNELS:
        spec = importlib.util.spec_from_file_location(f"{name}_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        module.triton, module.tl = triton, language
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        vars(whole).update(vars(module))
    whole.__name__ = name
    return whole


def peers():
    """The file's kernels as Triton compiles them, and as we do."""
    import triton
    import triton.language

    import nacre
    import nacre.language

    if triton is nacre:
        sys.exit("`import triton` gives Nacre: run this with plain Python, not with `nacre run`")
    print(f"Triton {triton.__version__}, Nacre {nacre.__version__}, {torch.cuda.get_device_name()}")
    return load("kernels_triton", triton, triton.language), load("kernels_nacre", nacre, nacre.language)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE).to(dtype)


def described(module, tensor, *block):
    """The tensor's descriptor in the package that compiles `module`, made once."""
    key = (module.__name__, tensor.data_ptr(), block)
    if key not in _descriptors:
        tools = importlib.import_module(f"{module.triton.__name__}.tools.tensor_descriptor")
        _descriptors[key] = tools.TensorDescriptor.from_tensor(tensor, list(block))
    return _descriptors[key]


_descriptors = {}


def power(n):
    return 1 << (n - 1).bit_length()


def rows():
    """(name, bytes moved or operations, unit, launch(module, output), reference, output, perhaps library(output)), one at a time."""
    n = 1 << 26
    x, y = random(n), random(n)
    yield "vector add 64Mi", 12 * n, "GB/s", lambda k, out: k.vector_add[(n // 1024,)](x, y, out, n, BLOCK=1024), lambda: x + y, torch.empty_like(x)
    for r, c in ((16384, 1024), (8192, 4096), (4096, 16384), (8192, 781)):
        t = random(r, c)
        warps = 4 if c <= 2048 else 8 if c <= 8192 else 16
        yield (f"softmax {r}x{c}", 8 * r * c, "GB/s",
               lambda k, out: k.softmax[(r,)](out, t, c, c, BLOCK=power(c), num_warps=warps), lambda: torch.softmax(t, 1), torch.empty_like(t))  # fmt: skip
    r, c = 8192, 4096
    t, w, b = random(r, c), random(c), random(c)
    yield (f"layer norm {r}x{c}", 8 * r * c, "GB/s",
           lambda k, out: k.layer_norm[(r,)](out, t, w, b, c, c, 1e-5, BLOCK=power(c), num_warps=8),
           lambda: torch.nn.functional.layer_norm(t, (c,), w, b, 1e-5), torch.empty_like(t))  # fmt: skip
    for s in (2048, 8192):
        t = random(s, s)
        yield (f"transpose {s}", 8 * s * s, "GB/s", lambda k, out: k.transpose[(s // 64, s // 64)](out, t, s, s, BLOCK=64),
               lambda: t.t().contiguous(), torch.empty_like(t))  # fmt: skip
    r, c = 4096, 16384
    t = random(r, c)
    yield f"row sums {r}x{c}", 4 * r * c, "GB/s", lambda k, out: k.row_sums[(r,)](out, t, c, BLOCK=2048), lambda: t.sum(1), torch.empty(r, device=DEVICE)
    r, c = 65536, 512
    t, index = random(r, c), torch.randperm(r, device=DEVICE)
    yield f"gather {r}x{c}", 8 * r * c, "GB/s", lambda k, out: k.gather_rows[(r,)](out, t, index, c, BLOCK=c), lambda: t[index], torch.empty_like(t)
    for dtype in (torch.float16, torch.bfloat16):
        for s in (4096, 8192):
            a, b = random(s, s, dtype=dtype), random(s, s, dtype=dtype)
            grid = ((s // 128) * (s // 256),)
            yield (f"matmul {str(dtype)[6:]} {s}", 2 * s**3, "GFLOP/s",
                   lambda k, out: k.matmul[grid](a, b, out, s, s, s, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP=8, num_warps=8, num_stages=3),
                   lambda: a @ b, torch.empty_like(a))  # fmt: skip
    for s in (4096, 8192):
        a, b = random(s, s, dtype=torch.bfloat16), random(s, s, dtype=torch.bfloat16)
        grid = ((s // 128) * (s // 256),)
        yield (f"matmul bfloat16 {s} unmasked", 2 * s**3, "GFLOP/s",
               lambda k, out: k.matmul_whole[grid](a, b, out, s, s, s, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP=8, num_warps=8, num_stages=3),
               lambda: a @ b, torch.empty_like(a))  # fmt: skip
        yield (f"matmul bfloat16 {s} descriptors", 2 * s**3, "GFLOP/s",
               lambda k, out: k.matmul_descriptors[grid](
                   described(k, a, 128, 64), described(k, b, 64, 256), described(k, out, 128, 256), s, s, s,
                   BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP=8, num_warps=8, num_stages=3),
               lambda: a @ b, torch.empty_like(a))  # fmt: skip
    s = 4096
    a, b = random(s, s), random(s, s)
    for m, n, stages in ((128, 128, 3), (256, 128, 4)):
        grid = ((s // m) * (s // n),)
        yield (f"matmul tf32 {s} in {m}x{n}", 2 * s**3, "GFLOP/s",
               lambda k, out: k.matmul[grid](a, b, out, s, s, s, BLOCK_M=m, BLOCK_N=n, BLOCK_K=32, GROUP=8, num_warps=8, num_stages=stages),
               lambda: a @ b, torch.empty_like(a), lambda out: torch.matmul(a, b, out=out))  # fmt: skip
    a, b = random(s, s).to(torch.float8_e4m3fn), random(s, s).to(torch.float8_e4m3fn)
    for m, n in ((128, 256), (256, 128)):
        grid = ((s // m) * (s // n),)
        yield (f"matmul fp8 {s} in {m}x{n}", 2 * s**3, "GFLOP/s",
               lambda k, out: k.matmul[grid](a, b, out, s, s, s, BLOCK_M=m, BLOCK_N=n, BLOCK_K=128, GROUP=8, num_warps=8, num_stages=3),
               lambda: a.half() @ b.half(), torch.empty(s, s, dtype=torch.float16, device=DEVICE))  # fmt: skip
    m, s = 16, 8192
    a, b = random(m, s, dtype=torch.bfloat16), random(s, s, dtype=torch.bfloat16)
    yield (f"matmul bfloat16 {m}x{s}x{s}", 2 * (2 * m * s + s * s), "GB/s",
           lambda k, out: k.matmul[(s // 64,)](a, b, out, m, s, s, BLOCK_M=16, BLOCK_N=64, BLOCK_K=128, GROUP=8, num_warps=4, num_stages=4),
           lambda: a @ b, torch.empty_like(a))  # fmt: skip
    heads, length = 4 * 32, 4096
    for d in (64, 128):
        q, k, v = (random(heads, length, d, dtype=torch.bfloat16) for _ in range(3))
        for causal in (False, True):
            yield (f"attention d{d}{' causal' if causal else ''}", 4 * heads * length**2 * d // (2 if causal else 1), "GFLOP/s",
                   lambda module, out: module.attention[(length // 128, heads)](
                       q, k, v, out, length, math.log2(math.e) / d**0.5, D=d, BLOCK_M=128, BLOCK_N=128 if d == 64 else 64, CAUSAL=causal, num_warps=8, num_stages=3),
                   lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0], torch.empty_like(q))  # fmt: skip
    for d in (64, 128):
        for causal in (False, True):
            yield attention_backward(heads, length, d, causal)


def attention_backward(heads, length, d, causal):
    """The row of both kernels backwards. Their results are the gradients of queries, keys and values, one after the other."""
    q, k, v = (random(heads, length, d, dtype=torch.bfloat16).requires_grad_() for _ in range(3))
    gradient = random(heads, length, d, dtype=torch.bfloat16)
    out = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
    with torch.no_grad():
        scaled = (k.float() * (math.log2(math.e) / d**0.5)).bfloat16()
        hidden = torch.ones(length, length, dtype=torch.bool, device=DEVICE).triu(1)
        logs = torch.empty(heads, length, device=DEVICE)
        for head in range(heads):
            scores = q[head].float() @ scaled[head].float().T / math.log2(math.e)
            logs[head] = (scores.masked_fill(hidden, -math.inf) if causal else scores).logsumexp(1) * math.log2(math.e)
    delta = torch.empty(heads, length, device=DEVICE)
    warps, stages = (4, 5) if d == 64 else (8, 3)

    def launch(module, result):
        module.attention_delta[(heads * length // 128,)](out, gradient, delta, D=d, BLOCK=128)
        module.attention_backward[(length // 128, heads)](
            q, scaled, v, gradient, logs, delta, result[0], result[1], result[2], length, d**-0.5,
            D=d, SMALL=32, LARGE=128, CAUSAL=causal, num_warps=warps, num_stages=stages)  # fmt: skip

    return (f"attention backward d{d}{' causal' if causal else ''}", 10 * heads * length**2 * d // (2 if causal else 1), "GFLOP/s", launch,
            lambda: torch.stack(torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)), torch.empty(3, heads, length, d, dtype=torch.bfloat16, device=DEVICE))  # fmt: skip


def medians(launches, rounds, flush):
    """Milliseconds of each, taken by turns."""
    for launch in launches:
        for _ in range(3):
            launch()
    times = [[] for _ in launches]
    for _ in range(rounds):
        for launch, events in zip(launches, times):
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            launch()
            end.record()
            events.append((begin, end))
    torch.cuda.synchronize()
    return [sorted(begin.elapsed_time(end) for begin, end in events)[rounds // 2] for events in times]


def first_launch(launch):
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default="", help="rows whose name holds one of these texts, with commas between them")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--compile", action="store_true", help="time first launches too")
    options = parser.parse_args()
    theirs, ours = peers()
    flush = torch.empty(256 << 20, dtype=torch.uint8, device=DEVICE)
    scratch = torch.empty(128, device=DEVICE)
    for module in (theirs, ours):
        module.fill[(1,)](scratch, BLOCK=128)
    wanted = options.only.split(",")
    ratios = []
    print(f"{'kernel':32} {'Triton':>9} {'Nacre':>9} {'':8} {'ratio':>6}")
    torch.backends.cuda.matmul.allow_tf32 = True
    for name, work, unit, launch, reference, out, *library in itertools.chain(rows(), memory_rows.rows()):
        if not any(text in name for text in wanted):
            continue
        try:
            cold = [first_launch(lambda module=module: launch(module, out)) for module in (theirs, ours)]
            expected = reference()
            error = ((out.float() - expected.float()).norm() / expected.float().norm()).item()
            launches = [lambda: launch(theirs, out), lambda: launch(ours, out), *(lambda: call(out) for call in library)]
            their_time, our_time, *library_time = medians(launches, options.rounds, flush)
        except Exception as problem:
            print(f"{name:32} failed: {type(problem).__name__}: {str(problem).splitlines()[0][:150]}")
            continue
        ratios.append(their_time / our_time)
        rates = [work / t / 1e6 for t in (their_time, our_time)]
        note = "" if error < 2e-2 else f"  WRONG: relative error {error:.1e}"
        if library_time:
            note += f"  torch's {work / library_time[0] / 1e6:.0f}, {library_time[0] / our_time:.3f}"
        if options.compile:
            note += f"  first launch {cold[0]:.0f} -> {cold[1]:.0f} ms ({cold[1] / cold[0]:.2f})"
        print(f"{name:32} {rates[0]:9.0f} {rates[1]:9.0f} {unit:8} {ratios[-1]:6.3f}{note}", flush=True)
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} of {len(ratios)}, least {min(ratios):.3f}")


if __name__ == "__main__":
    main()
