"""Loops whose loads have warps of their own, on the simulated GPU: results, which kernels get them, and what the simulator says
when a part of the protocol is missing."""

import re

import nacre
import nacre.language as tl
import numpy as np
import pytest
from nacre import _core, knobs
from nacre.tools.tensor_descriptor import TensorDescriptor

PRODUCER = "setmaxnreg.dec"


@nacre.jit
def product(a, b, c, K, DEPTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, ASKED: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for k in tl.range(0, K, DEPTH, warp_specialize=ASKED):
        total = tl.dot(a.load([tl.program_id(0) * M, k]), b.load([k, 0]), total)
    c.store([tl.program_id(0) * M, 0], total)


@nacre.jit
def attend(sums, total, most, queries, k, v, first, last, rows, scale, N: tl.constexpr, MASKED: tl.constexpr, ASKED: tl.constexpr):
    for start in tl.range(first, last, N, warp_specialize=ASKED):
        scores = tl.dot(queries, k.load([start, 0]).T) * scale
        if MASKED:
            scores += tl.where(rows[:, None] >= start + tl.arange(0, N)[None, :], 0, -1.0e6)
        larger = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        decay = tl.exp2(most - larger)
        total = total * decay + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), v.load([start, 0]), sums * decay[:, None])
        most = larger
    return sums, total, most


@nacre.jit
def attention(q, k, v, out, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, ASKED: tl.constexpr):
    """Two loops over the same arrays, the first of which may not run at all."""
    first = tl.program_id(0) * M
    rows = first + tl.arange(0, M)
    most = tl.full((M,), -1.0e6, tl.float32)
    total = tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    queries = q.load([first, 0])
    sums, total, most = attend(sums, total, most, queries, k, v, 0, first, rows, scale, N, False, ASKED)
    sums, total, most = attend(sums, total, most, queries, k, v, first, first + M, rows, scale, N, True, ASKED)
    out.store([first, 0], sums / total[:, None])


@nacre.jit
def stores_first(a, b, c, flag, K, DEPTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    tl.store(flag, 1)
    total = tl.zeros((M, N), tl.float32)
    for k in tl.range(0, K, DEPTH, warp_specialize=True):
        total = tl.dot(a.load([0, k]), b.load([k, 0]), total)
    c.store([0, 0], total)


def described(array, *block):
    return TensorDescriptor(array, list(array.shape), [array.shape[1], 1], list(block))


def integers(*shape):
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float16)


def of_product(m, n, depth, k, programs=1):
    """Arguments, options, the result's array, and what it should be."""
    a, b, c = integers(m * programs, max(k, depth)), integers(max(k, depth), n), np.full((m * programs, n), 7, np.float32)
    values = described(a, m, depth), described(b, depth, n), described(c, m, n), k
    return values, {"DEPTH": depth, "M": m, "N": n}, c, a[:, :k].astype(np.float32) @ b[:k].astype(np.float32)


def of_attention(m, n, d, length):
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((length, d)).astype(np.float16) for _ in range(3))
    out = np.zeros((length, d), np.float32)
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.2
    scores[np.triu_indices(length, 1)] = -np.inf
    weights = np.exp2(scores - scores.max(1, keepdims=True))
    values = described(q, m, d), described(k, n, d), described(v, n, d), described(out, m, d), 0.2
    return values, {"M": m, "N": n, "D": d, "ASKED": True}, out, weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)


@pytest.fixture(autouse=True)
def simulated():
    _core.set_active_device("simulate")
    yield
    _core.set_active_device(None)


@pytest.fixture
def features():
    before = knobs.nvidia.features

    def choose(text):
        knobs.nvidia.features = text

    yield choose
    knobs.nvidia.features = before


@pytest.mark.parametrize("warps, m, n, stages, k", [(8, 128, 64, 3, 224), (8, 128, 64, 2, 32), (4, 64, 64, 4, 160), (8, 128, 64, 3, 0), (8, 32, 32, 3, 160)])
def test_products(warps, m, n, stages, k):
    values, options, result, expected = of_product(m, n, 32, k, programs=2)
    kernel = product[(2,)](*values, **options, ASKED=True, num_warps=warps, num_stages=stages)
    np.testing.assert_array_equal(result, expected)
    assert "simt.producer" in kernel.asm["ttgir"]


@pytest.mark.parametrize("chosen", ["+overlap-dots", "-overlap-dots"])
@pytest.mark.parametrize("warps, m, n, d", [(8, 128, 64, 64), (4, 64, 32, 64)])
def test_attention(features, chosen, warps, m, n, d):
    features(chosen)
    values, options, result, expected = of_attention(m, n, d, 2 * m)
    kernel = attention[(2,)](*values, **options, num_warps=warps, num_stages=2)
    np.testing.assert_allclose(result, expected, rtol=2e-2, atol=2e-3)
    assert "simt.producer" in kernel.asm["ttgir"]


@pytest.mark.parametrize("warps, m, n, d, gains", [
    (8, 128, 128, 128, True), (8, 128, 64, 128, True), (4, 64, 128, 128, True), (8, 256, 64, 64, True),  # a multiprocessor for each block
    (8, 128, 64, 64, False), (4, 64, 64, 64, False),  # several share one
    (4, 128, 64, 128, False),  # more registers than a thread has
])  # fmt: skip
def test_who_gets_it_unasked(features, warps, m, n, d, gains):
    values, options, *_ = of_attention(m, n, d, 2 * m)
    for chosen in ("", "-producers", "-overlap-dots"):
        features(chosen)
        kernel = attention.warmup(*values, **{**options, "ASKED": False}, num_warps=warps, num_stages=2, grid=(2,))
        assert ("simt.producer" in kernel.asm["ttgir"]) == (gains and not chosen)


def test_who_gets_it(features):
    """A loop with one product where it asks, unless the features say otherwise; a refusal is told."""
    values, options, result, expected = of_product(128, 64, 32, 96)
    for chosen, asked, has in [("", False, False), ("", True, True), ("-producers", True, False), ("+producers", False, True)]:
        features(chosen)
        result[:] = 7
        kernel = product[(1,)](*values, **options, ASKED=asked, num_warps=8, num_stages=3)
        np.testing.assert_array_equal(result, expected)
        assert ("simt.producer" in kernel.asm["ttgir"]) == has, (chosen, asked)
        assert (PRODUCER in kernel.asm["ptx"]) == has
        assert kernel.metadata.num_warps == (12 if has else 8)  # whoever launches the code by itself needs them all
    features("")
    result[:] = 7
    kernel = stores_first[(1,)](*values[:3], np.zeros(1, np.int32), 96, **options, num_warps=8, num_stages=3)
    np.testing.assert_array_equal(result, expected)
    assert 'simt.together = "memory may be written before the loop"' in kernel.asm["ttgir"]
    limited = product[(1,)](*values, **options, ASKED=True, num_warps=8, num_stages=3, maxnreg=128)
    np.testing.assert_array_equal(result, expected)
    assert PRODUCER not in limited.asm["ptx"] and ".maxnreg 128" in limited.asm["ptx"]


def test_unknown_features(features):
    features("+warp-drive")
    values, options, _, _ = of_product(128, 64, 32, 96)
    with pytest.raises(Exception, match="NACRE_CUDA_FEATURES takes producers and overlap-dots"):
        product[(1,)](*values, **options, ASKED=True, num_warps=8, num_stages=3)


PARTS = re.compile(
    r"\s*(?:@%\w+ )?(?:bar\.sync|barrier\.sync|barrier\.cta\.sync|fence\.proxy|mbarrier\.arrive|wgmma\.fence|wgmma\.wait_group|setmaxnreg\.dec)[^\n]*")  # fmt: skip


def mutants(ptx):
    """(what was taken out, the rest) for each barrier, fence, wait, arrival and gift of registers."""
    lines = ptx.split("\n")
    for number, line in enumerate(lines):
        if PARTS.fullmatch(line):
            yield f"{number + 1}: {line.strip()}", "\n".join(lines[:number] + lines[number + 1 :])
        elif "mbarrier.try_wait" in line:  # with the branch back to it
            rest = [other for i, other in enumerate(lines) if i != number and not (i == number + 1 and "bra" in other)]
            yield f"{number + 1}: {line.strip()}", "\n".join(rest)


@pytest.mark.parametrize("kernel", [product, attention], ids=["product", "attention"])
def test_the_simulator_objects(kernel, tmp_path):
    def launch(**more):  # the product has a multiprocessor for itself, so that its registers are few
        values, options, _, _ = of_product(128, 64, 64, 512) if kernel is product else of_attention(128, 32, 64, 256)
        if kernel is product:
            options["ASKED"] = True
        return kernel[(1 if kernel is product else 2,)](*values, **options, num_warps=8, num_stages=5 if kernel is product else 2, **more)

    made, survivors = 0, []
    for number, (what, text) in enumerate(mutants(launch().asm["ptx"])):
        path = tmp_path / f"{number}.ptx"
        path.write_text(text)
        made += 1
        try:
            launch(ir_override=str(path))
            survivors.append(what)
        except Exception as error:
            assert "simulator" in str(error) or "race" in str(error), error
    print(f"{made} mutants, {len(survivors)} survivors")
    assert made >= 12
    # Attention looks twice more at barriers, one in each loop, for the assembler alone. The last releases are for nobody.
    assert len(survivors) <= 0.15 * made, "\n".join(survivors)
