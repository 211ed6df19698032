"""Attention, decoding, products with weights of 4 and 8 bits, and sampling of nacre.kernels, beside PyTorch and beside the memory.

    python bench/library_attention.py [--only TEXT] [--threads N] [--quick] [--write]

Each row is checked against PyTorch, then timed in turns with it in this process, with as many threads for everybody as --threads says (1). Times of
one thread are its processor time, so that other work on the machine counts less. Rows that are bound by memory say how many bytes a second they
read, and how many a sum of as many bytes reads in the same run. --write puts the table in bench/RESULTS.md.
"""

import argparse
import datetime
import os
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
sdpa = F.scaled_dot_product_attention


class Case:
    """`ours` and `theirs` are functions without arguments, whose results are compared where there is a tolerance. `bytes`: what ours must read."""

    def __init__(self, ours, theirs, peer, tolerance=None, bytes=None):
        self.ours, self.theirs, self.peer, self.tolerance, self.bytes = ours, theirs, peer, tolerance, bytes


def attention(heads, rows, size, gradients=False, dtype=torch.float32, **options):
    q, k, v = (torch.randn(1, heads, rows, size).to(dtype).requires_grad_(gradients) for _ in range(3))
    d_out = torch.randn_like(q)
    tolerance = (1e-5 if dtype == torch.float32 else 0.05) * (30 if gradients else 1)
    if not gradients:
        return Case(lambda: nk.attention(q, k, v, **options), lambda: sdpa(q, k, v, is_causal="causal" in options), "sdpa", tolerance)

    def gradient_of(function):
        out = function()
        return lambda: torch.autograd.grad(out, (q, k, v), d_out, retain_graph=True)[1]

    ours = gradient_of(lambda: nk.attention(q, k, v, **options))
    return Case(ours, gradient_of(lambda: sdpa(q, k, v, is_causal="causal" in options)), "sdpa", tolerance)


def sliding(heads, rows, size, left):
    q, k, v = (torch.randn(1, heads, rows, size) for _ in range(3))
    distance = torch.arange(rows)[:, None] - torch.arange(rows)
    mask = (distance >= 0) & (distance <= left)
    return Case(lambda: nk.attention(q, k, v, causal=True, window=(left, None)), lambda: sdpa(q, k, v, attn_mask=mask), "sdpa with a mask", 1e-5)


def decoding(batch, heads, key_heads, keys, size, page=None, dtype=torch.float32):
    q = torch.randn(batch, heads, size).to(dtype)
    k, v = (torch.randn(batch, keys, key_heads, size).to(dtype) for _ in range(2))
    lengths = torch.full((batch,), keys)

    def theirs():
        return sdpa(q[:, :, None], k.transpose(1, 2), v.transpose(1, 2), enable_gqa=True)[:, :, 0]

    read = 2 * k.numel() * k.element_size()
    if page is None:
        return Case(lambda: nk.decode_attention(q, k, v, lengths), theirs, "sdpa", 1e-2, read)
    pages = batch * keys // page
    order = torch.randperm(pages)
    k_pages, v_pages = (x.view(pages, page, key_heads, size)[order.argsort()].contiguous() for x in (k, v))
    tables = order.view(batch, -1).int()
    # Page number `order[i]` of the pool is the i-th page of the cache.
    return Case(lambda: nk.paged_attention(q, k_pages, v_pages, tables, lengths), theirs, "sdpa, contiguous", 1e-2, read)


def quantized(format, rows, size=4096):
    weight, x = torch.randn(size, size), torch.randn(rows, size)
    packed = nk.quantize(weight, format=format)
    read = sum(part.numel() * part.element_size() for part in packed if part is not None)
    floats = nk.dequantize(*packed, format=format)
    return Case(lambda: nk.quantized_matmul(x, *packed, format=format), lambda: x @ floats.T, "float32 product", 0.02, read if rows == 1 else None)


def product(rows, columns, inner, **options):
    x, weight, bias = torch.randn(rows, inner), torch.randn(columns, inner), torch.randn(columns)
    return Case(lambda: nk.matmul(x, weight.T, bias, activation="gelu"), lambda: F.gelu(F.linear(x, weight, bias)), "linear, gelu", 1e-2)


def experts(tokens, count, size, inner):
    x, logits, weight = torch.randn(tokens, size), torch.randn(tokens, count), torch.randn(count, size, inner) / size**0.5

    def ours():
        weights, chosen = nk.route(logits, 2)
        order, places, offsets = nk.sort_by_expert(chosen, count)
        return nk.collect(nk.grouped_matmul(nk.dispatch(x, order, places), weight, offsets), places, weights, order)

    def theirs():
        weights, chosen = logits.softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros(tokens, inner)
        for expert in range(count):
            token, number = torch.where(chosen == expert)
            out.index_add_(0, token, (x[token] @ weight[expert]) * weights[token, number, None])
        return out

    return Case(ours, theirs, "a loop over experts", 1e-3)


def sampling(columns, **options):
    logits = 3 * torch.randn(1, columns)

    def theirs():
        if not options:
            return torch.multinomial(logits.softmax(-1), 1)
        values, places = logits.sort(-1, descending=True)
        weights = values.softmax(-1)
        if "top_k" in options:
            weights[:, options["top_k"] :] = 0
        if "top_p" in options:
            weights = weights.masked_fill(weights.cumsum(-1) - weights >= options["top_p"], 0)
        return places.gather(1, torch.multinomial(weights, 1))

    return Case(lambda: nk.sample(logits, seed=1, **options), theirs, "sort, multinomial" if options else "softmax, multinomial")


CASES = {
    "attention, 8x1024x64": lambda: attention(8, 1024, 64),
    "attention causal, 8x1024x64": lambda: attention(8, 1024, 64, causal=True),
    "attention causal, 4x1024x128": lambda: attention(4, 1024, 128, causal=True),
    "attention causal, 4x1024x80": lambda: attention(4, 1024, 80, causal=True),
    "attention causal, 8x1024x64 bf16": lambda: attention(8, 1024, 64, dtype=torch.bfloat16, causal=True),
    "attention, window of 128, 8x2048x64": lambda: sliding(8, 2048, 64, 127),
    "gradients of attention, 8x1024x64": lambda: attention(8, 1024, 64, True),
    "gradients of attention causal, 8x1024x64": lambda: attention(8, 1024, 64, True, causal=True),
    "gradients of attention causal, 4x1024x128": lambda: attention(4, 1024, 128, True, causal=True),
    "decode, 4 sequences x 4096 keys, 8 heads of 64": lambda: decoding(4, 8, 8, 4096, 64),
    "decode, 4 x 2048 keys, 32 heads on 8, of 128": lambda: decoding(4, 32, 8, 2048, 128),
    "decode in pages of 16, 4 x 2048 keys, 32 heads on 8, of 128": lambda: decoding(4, 32, 8, 2048, 128, 16),
    "decode in pages of 64, the same in bf16": lambda: decoding(4, 32, 8, 2048, 128, 64, torch.bfloat16),
    "matmul + bias + GELU, 512x512x512": lambda: product(512, 512, 512),
    "matmul + bias + GELU, 1x4096x4096": lambda: product(1, 4096, 4096),
    "8 experts, 2 a token, 512 tokens, 512x512": lambda: experts(512, 8, 512, 512),
    **{f"{name}, 1x4096x4096": lambda name=name: quantized(name, 1) for name in ("q4_0", "q8_0", "int4", "int8")},
    "q4_0, 64x4096x4096": lambda: quantized("q4_0", 64),
    "sample, 128256 logits": lambda: sampling(128256),
    "sample, top-k 50": lambda: sampling(128256, top_k=50),
    "sample, top-p 0.9": lambda: sampling(128256, top_p=0.9),
}
HEAD = ["| operator | ours, ms | peer, ms | peer/ours | ours, GB/s | a sum, GB/s | peer |", "|---|---|---|---|---|---|---|"]


def measure(name, case, rounds, seconds):
    if case.tolerance is not None:
        difference = (case.ours().double() - case.theirs().double()).abs().max().item()
        if not difference <= case.tolerance:
            raise AssertionError(f"{name}: largest difference {difference:.3g} is over {case.tolerance:.3g}")
    contenders = {"ours": case.ours, "theirs": case.theirs}
    if case.bytes:
        memory = torch.ones(case.bytes // 4)
        contenders["sum"] = memory.sum
    times = smallest_times_ms(contenders, rounds=rounds, seconds=seconds, clock=time.process_time if THREADS == 1 else time.perf_counter)
    rates = [f"{case.bytes / times[key] / 1e6:.1f}" if case.bytes else "" for key in ("ours", "sum")]
    cells = [name, f"{times['ours']:.3f}", f"{times['theirs']:.3f}", f"{times['theirs'] / times['ours']:.2f}", *rates, case.peer]
    return "| " + " | ".join(cells) + " |"


TITLE = "Attention, products and sampling of nacre.kernels"


def write(lines):
    with open("/proc/cpuinfo") as file:
        processor = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown processor")
    file = ROOT / "bench" / "RESULTS.md"
    sections = [section.rstrip("\n") + "\n" for section in file.read_text().split("\n## ") if not section.startswith(TITLE)]
    command = " ".join(["python bench/library_attention.py", *sys.argv[1:]])
    what = "one thread for everybody, processor time" if THREADS == 1 else f"{THREADS} threads for everybody"
    intro = f"`{command}`, {datetime.date.today().isoformat()}, {processor}, torch {torch.__version__}; {what}."
    file.write_text("\n## ".join([*sections, "\n".join([TITLE, "", intro, "", *lines]) + "\n"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--threads", type=int, default=1, help="of everybody")
    parser.add_argument("--quick", action="store_true", help="a few rounds, for a first look")
    parser.add_argument("--write", action="store_true", help="put the table in bench/RESULTS.md")
    arguments = parser.parse_args()
    rounds, seconds = (2, 0.1) if arguments.quick else (5, 0.8)
    lines = list(HEAD)
    print("\n".join(lines), flush=True)
    for name, make in CASES.items():
        if arguments.only.lower() in name.lower():
            torch.manual_seed(0)
            lines.append(measure(name, make(), rounds, seconds))
            print(lines[-1], flush=True)
    if arguments.write:
        write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
