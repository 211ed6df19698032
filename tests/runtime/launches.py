"""The kernels and arrays that tests of launches and of their arguments share."""

import numpy as np

import nacre
import nacre.language as tl


@nacre.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@nacre.jit
def scale_kernel(x, factor, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets) * factor)


@nacre.jit
def write_kernel(out, value):
    tl.store(out, value)


def arrays(n=1000, dtype=np.float32):
    rng = np.random.default_rng(0)
    return rng.random(n).astype(dtype), rng.random(n).astype(dtype), np.zeros(n, dtype)


def launch(kernel, *args, grid=(1,), **kwargs):
    return kernel[grid](*args, **kwargs)
