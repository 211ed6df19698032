"""The kernels of examples/ beside PyTorch, eager and compiled, in one process with two threads.

A case makes its inputs once and names its contenders: our kernel at several ordinary block sizes, PyTorch eager, and the
function that torch.compile is given. Outputs are allocated beforehand for everybody where PyTorch has an `out=` form, and
inside the call for everybody where it has none.
"""

from dataclasses import dataclass

import torch

import attention
import gelu
import greyscale
import layer_norm
import matmul
import softmax
import vector_add
from timing import smallest_times_ms


@dataclass
class Case:
    name: str
    ours: dict  # block size -> (function, target ratio)
    eager: object
    compiled: object  # function for torch.compile, or None where eager is one call of the library
    tolerance: float


@dataclass
class Row:
    name: str
    block: str
    ours_ms: float
    peers_ms: dict
    target: float

    @property
    def best_peer(self):
        return min(self.peers_ms, key=self.peers_ms.get)

    @property
    def ratio(self):
        return self.peers_ms[self.best_peer] / self.ours_ms

    @property
    def passed(self):
        return self.ratio >= self.target


def vector_add_case():
    x, y = torch.rand(1 << 24), torch.rand(1 << 24)
    out, eager_out, compiled_out = (torch.empty_like(x) for _ in range(3))

    def added(x, y, out):
        out.copy_(x + y)
        return out

    return Case(
        "vector add, 2^24 f32",
        {block: (lambda block=block: vector_add.add(x, y, out, block=block), 0.95) for block in (1024, 4096, 8192)},
        lambda: torch.add(x, y, out=eager_out), lambda: added(x, y, compiled_out), 0,
    )  # fmt: skip


def softmax_case(rows, columns):
    def make():
        x = torch.randn(rows, columns)
        out, eager_out = torch.empty_like(x), torch.empty_like(x)
        return Case(
            f"softmax, {rows}x{columns} f32", {"row": (lambda: softmax.softmax(x, out), 1.2)},
            lambda: torch.softmax(x, 1, out=eager_out), lambda: torch.softmax(x, 1), 1e-6,
        )  # fmt: skip

    return make


def layer_norm_case():
    x, weight, bias = torch.randn(4096, 1024), torch.rand(1024), torch.rand(1024)
    theirs = lambda: torch.nn.functional.layer_norm(x, (1024,), weight, bias)  # noqa: E731
    return Case("layer norm, 4096x1024 f32", {"row": (lambda: layer_norm.layer_norm(x, weight, bias), 0.95)}, theirs, theirs, 1e-5)


def gelu_case():
    x, bias = torch.randn(4096, 1024), torch.randn(1024)
    theirs = lambda: gelu.bias_gelu_scale_torch(x, bias, 0.7)  # noqa: E731
    return Case(
        "bias + GELU + scale, 2^22 f32",
        {block: (lambda block=block: gelu.bias_gelu_scale(x, bias, 0.7, block=block), 1.2) for block in (1024, 4096, 8192)},
        theirs, theirs, 5e-6,
    )  # fmt: skip


def greyscale_case(layout):
    def make():
        image = torch.randint(0, 256, (4096, 4096, 3), dtype=torch.uint8)
        if layout == "planes":
            image = image.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        theirs = lambda: greyscale.greyscale_torch(image)  # noqa: E731
        return Case(
            f"greyscale, 4096x4096 uint8, {layout}",
            {block: (lambda block=block: greyscale.greyscale(image, block=block), 0.95) for block in (1024, 4096, 8192)},
            theirs, theirs, 1,
        )  # fmt: skip

    return make


def matmul_case(M, N, K, dtype, target):
    def make():
        a, b = torch.randn(M, K).to(dtype), torch.randn(K, N).to(dtype)
        out, eager_out = torch.empty(M, N, dtype=dtype), torch.empty(M, N, dtype=dtype)
        name = f"{M}^3" if M == N == K else f"{M}x{N}x{K}"
        short = {torch.float32: "f32", torch.bfloat16: "bf16"}[dtype]
        return Case(
            f"matmul, {name} {short}",
            {
                block: (lambda block=block: matmul.grouped_matmul(a, b, out, block=block), goal)
                for block, goal in ((128, target), (64, target - 0.1))
            },
            lambda: torch.mm(a, b, out=eager_out), None, 1e-5 * K if dtype is torch.float32 else 1.0,
        )  # fmt: skip

    return make


def attention_case(causal):
    def make():
        q, k, v = (torch.randn(8, 1024, 64) for _ in range(3))
        theirs = lambda: attention.attention_torch(q, k, v, causal)  # noqa: E731
        return Case(
            f"attention{' causal' if causal else ''}, 8x1024x64 f32",
            {
                f"{m}x{n}": (lambda m=m, n=n: attention.attention(q, k, v, causal, block_m=m, block_n=n), 1.0)
                for m, n in ((128, 64), (64, 64))
            },
            theirs, theirs, 1e-5,
        )  # fmt: skip

    return make


CASES = {
    "vector_add": vector_add_case,
    "softmax_1024": softmax_case(4096, 1024),
    "softmax_781": softmax_case(8192, 781),
    "softmax_16384": softmax_case(512, 16384),
    "layer_norm": layer_norm_case,
    "gelu": gelu_case,
    "greyscale_interleaved": greyscale_case("interleaved"),
    "greyscale_planes": greyscale_case("planes"),
    "matmul_512": matmul_case(512, 512, 512, torch.float32, 0.8),
    "matmul_1024": matmul_case(1024, 1024, 1024, torch.float32, 0.8),
    "matmul_2048": matmul_case(2048, 2048, 2048, torch.float32, 0.8),
    "matmul_odd": matmul_case(1000, 777, 555, torch.float32, 0.8),
    "matmul_bf16": matmul_case(1024, 1024, 1024, torch.bfloat16, 1.0),
    "attention": attention_case(False),
    "attention_causal": attention_case(True),
}


def largest_difference(actual, expected):
    return (actual.double() - expected.double()).abs().max().item()


def measure(key, rounds, seconds, say):
    """The rows of one case: checked first, then timed in turns."""
    torch.manual_seed(0)
    case = CASES[key]()
    expected = case.eager().clone()
    contenders = {}
    for block, (function, _) in case.ours.items():
        difference = largest_difference(function(), expected)
        if not difference <= case.tolerance:
            raise AssertionError(f"{case.name}, block {block}: largest error {difference:.3g} is over {case.tolerance:.3g}")
        contenders["ours", block] = function
    contenders["eager"] = case.eager
    if case.compiled is not None:
        compiled = torch.compile(case.compiled)
        try:
            compiled()
            contenders["compiled"] = compiled
        except Exception as error:  # the peer is missing from the row, and the row says so
            say(f"torch.compile failed on {case.name}: {type(error).__name__}: {str(error).splitlines()[0]}")
    times = smallest_times_ms(contenders, rounds, seconds)
    peers = {name: times[name] for name in ("eager", "compiled") if name in times}
    return [Row(case.name, str(block), times["ours", block], peers, target) for block, (_, target) in case.ours.items()]
