"""Kernels that do nothing but move memory, or multiply and add."""

from .. import jit
from .. import language as tl


@jit
def copy(source, target, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + offsets, tl.load(source + offsets))


@jit
def multiply_add(out, rounds, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    factor = (offsets * 0).to(out.dtype.element_ty) + 0.5
    a = factor + 1
    b = factor + 2
    c = factor + 3
    d = factor + 4
    e = factor + 5
    f = factor + 6
    g = factor + 7
    h = factor + 8
    for _ in range(rounds):
        a = a * factor + 1
        b = b * factor + 1
        c = c * factor + 1
        d = d * factor + 1
        e = e * factor + 1
        f = f * factor + 1
        g = g * factor + 1
        h = h * factor + 1
    tl.store(out + offsets, a + b + c + d + e + f + g + h)
