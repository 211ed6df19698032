"""Kernels that Triton's own package compiles for AMD: a request of JSON a line on standard input, the path of the code object on standard output."""

import json
import sys
import tempfile
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, out_dtype=c.dtype.element_ty)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm, rd = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        rn = start + tl.arange(0, BN)
        y = tl.load(k + rn[None, :] * D + rd[:, None], mask=rn[None, :] < n, other=0.0)
        s = tl.where(rn[None, :] < n, tl.dot(x, y) * scale, -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p, alpha = tl.exp(s - new[:, None]), tl.exp(m - new)
        l, m = l * alpha + tl.sum(p, 1), new
        z = tl.load(v + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        acc = tl.dot(p.to(z.dtype), z, acc * alpha[:, None])
    tl.store(out + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(out.dtype.element_ty), mask=rm[:, None] < n)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.load(x + i, mask=i < n, other=0), tl.full((BLOCK,), 1, tl.int32), mask=i < n)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def functions(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.sin(v) + tl.log(tl.abs(v) + 1) + tl.sqrt(tl.abs(v)) + tl.floor(v) + tl.erf(v) + v / (v * v + 1))


def compiled(kernel, signature, constants, arch, options, folder):
    attributes = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind[0] == "*"}
    source = triton.compiler.ASTSource(fn=globals()[kernel], signature=signature, constexprs=constants, attrs=attributes)
    result = triton.compile(source, target=GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32), options=options)
    path = Path(tempfile.mkdtemp(dir=folder)) / f"{kernel}.hsaco"
    path.write_bytes(result.asm["hsaco"])
    return str(path), result.metadata.name, result.metadata.shared, result.metadata.num_warps


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(compiled(**json.loads(line))), flush=True)
