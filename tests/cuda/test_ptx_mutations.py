"""The simulator sees what is missing: one barrier, fence or wait is taken out of good PTX of ours, and the launch fails.

Kernels that move data between threads in as many ways. A mutant that runs without a word is a survivor: either the
instruction was not needed, or the simulator is blind to it. They are printed, and there are few.
"""

import re

import nacre
import nacre.language as tl
import numpy as np
import pytest
from nacre import _core
from nacre.tools.tensor_descriptor import TensorDescriptor


@nacre.jit
def softmax(x_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + columns)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + tl.program_id(0) * N + columns, e / tl.sum(e, 0))


@nacre.jit
def normalize(x_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + columns)
    x -= tl.sum(x, 0) / N
    x *= tl.rsqrt(tl.sum(x * x, 0) / N + 1e-5)
    tl.store(out_ptr + columns, x + tl.max(x, 0))


@nacre.jit
def transpose(x_ptr, out_ptr, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(out_ptr + i * N + j, tl.trans(tl.load(x_ptr + i * N + j)))


@nacre.jit
def running_sums(x_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    tl.store(out_ptr + columns, tl.cumsum(tl.load(x_ptr + columns), 0))


@nacre.jit
def count(x_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + tl.arange(0, N)), BINS))


@nacre.jit
def pick(x_ptr, places_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    tl.store(out_ptr + columns, tl.gather(tl.load(x_ptr + columns), tl.load(places_ptr + columns), 0))


@nacre.jit
def order(x_ptr, out_ptr, N: tl.constexpr):
    columns = tl.arange(0, N)
    tl.store(out_ptr + columns, tl.sort(tl.load(x_ptr + columns)))


@nacre.jit
def in_place(x_ptr, N: tl.constexpr):
    """Two accesses of the same memory by different threads."""
    columns = tl.arange(0, N)
    tl.store(x_ptr + columns, columns.to(tl.float32))
    tl.store(x_ptr + columns, tl.load(x_ptr + (N - 1 - columns)))


@nacre.jit
def move(x, out):
    out.store([0, 0], tl.trans(x.load([0, 0])))


@nacre.jit
def by_pointers(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    i, j, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    a_ptrs, b_ptrs = a_ptr + i[:, None] * K + k[None, :], b_ptr + k[:, None] * BLOCK + j[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, K, DEPTH):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += DEPTH
        b_ptrs += DEPTH * BLOCK
    tl.store(c_ptr + i[:, None] * BLOCK + j[None, :], total)


@nacre.jit
def by_descriptors(a, b, c, K, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, DEPTH):
        total = tl.dot(a.load([0, k]), b.load([k, 0]), total)
    c.store([0, 0], total)


def described(array, block):
    return TensorDescriptor(array, list(array.shape), [array.shape[1], 1], block)


def arguments(kernel):
    """Of a launch of the kernel: its arguments, and the options."""
    rng = np.random.default_rng(0)
    floats = lambda *shape: rng.integers(-3, 4, shape).astype(np.float32)  # noqa: E731
    halves = lambda *shape: rng.integers(-3, 4, shape).astype(np.float16)  # noqa: E731
    numbers = lambda most, *shape: rng.integers(0, most, shape).astype(np.int32)  # noqa: E731
    if kernel is softmax:
        return (floats(2, 1024), floats(2, 1024)), {"N": 1024}
    if kernel is transpose:
        return (floats(64, 64), floats(64, 64)), {"N": 64}
    if kernel in (running_sums, order, normalize):
        return (floats(512), floats(512)), {"N": 512}
    if kernel is count:
        return (numbers(32, 512), numbers(1, 32)), {"N": 512, "BINS": 32}
    if kernel is pick:
        return (floats(512), numbers(512, 512), floats(512)), {"N": 512}
    if kernel is in_place:
        return (floats(1024),), {"N": 512}
    if kernel is move:
        return (described(floats(64, 64), [64, 64]), described(floats(64, 64), [64, 64])), {}
    a, b, c = halves(128, 160), halves(160, 128), floats(128, 128)
    options = {"BLOCK": 128, "DEPTH": 32, "num_stages": 3, "num_warps": 8}
    if kernel is by_pointers:
        return (a, b, c, 160), options
    return (described(a, [128, 32]), described(b, [32, 128]), described(c, [128, 128]), 160), options


KERNELS = [softmax, normalize, transpose, running_sums, count, pick, order, in_place, move, by_pointers, by_descriptors]

SINGLE = re.compile(
    r"\s*(?:@%\w+ )?(?:bar\.sync|barrier\.sync|bar\.warp\.sync|barrier\.cta\.sync|fence\.proxy|fence\.mbarrier_init|"
    r"cp\.async\.wait_group|cp\.async\.bulk\.wait_group|wgmma\.fence|wgmma\.wait_group)[^\n]*"
)


def mutants(ptx):
    """(what was taken out, the rest) for each barrier, fence and wait."""
    lines = ptx.split("\n")
    for number, line in enumerate(lines):
        if SINGLE.fullmatch(line):
            yield f"{number + 1}: {line.strip()}", "\n".join(lines[:number] + lines[number + 1 :])
        elif "mbarrier.try_wait" in line:  # with the branch back to it
            rest = [other for i, other in enumerate(lines) if i != number and not (i == number + 1 and "bra" in other)]
            yield f"{number + 1}: {line.strip()}", "\n".join(rest)


@pytest.fixture
def simulated():
    _core.set_active_device("simulate")
    yield
    _core.set_active_device(None)


def test_the_simulator_objects(simulated, tmp_path):
    made, survivors = 0, []
    for kernel in KERNELS:
        grid = (2,) if kernel is softmax else (1,)
        values, options = arguments(kernel)
        ptx = kernel[grid](*values, **options).asm["ptx"]
        own = list(mutants(ptx))
        assert own, f"{kernel.__name__} has nothing to take out"
        for number, (what, text) in enumerate(own):
            path = tmp_path / f"{kernel.__name__}_{number}.ptx"
            path.write_text(text)
            values, options = arguments(kernel)
            made += 1
            try:
                kernel[grid](*values, **options, ir_override=str(path))
                survivors.append(f"{kernel.__name__}, line {what}")
            except Exception as error:
                assert "simulator" in str(error) or "race" in str(error), error
    print(f"{made} mutants, {len(survivors)} survivors")
    print("\n".join(survivors))
    assert made >= 30
    assert len(survivors) <= 0.05 * made, "\n".join(survivors)
