"""Attention to caches of keys, contiguous and in pages, merging of parts, shared prefixes; against float64."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import attention_reference as reference  # noqa: E402
import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near  # noqa: E402

WORKING = {torch.float16: "float16", torch.bfloat16: "bfloat16"}


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def caches(batch, queries, heads, key_heads, keys, size, value_size=None, dtype=torch.float32):
    shapes = ((batch, queries, heads, size), (batch, keys, key_heads, size), (batch, keys, key_heads, value_size or size))
    return [random(*shape, seed=number).to(dtype) for number, shape in enumerate(shapes)]


def paged(k, v, lengths, page):
    """The same keys in pages of a pool, in any order; what no sequence uses is NaN."""
    batch, keys = k.shape[:2]
    count = -(-keys // page)
    tables = torch.randperm(batch * count, generator=torch.Generator().manual_seed(3)).view(batch, count).int()
    pools = [torch.full((batch * count, page, *x.shape[2:]), math.nan, dtype=x.dtype) for x in (k, v)]
    for number, length in enumerate(lengths):
        for key in range(length):
            for pool, x in zip(pools, (k, v)):
                pool[tables[number, key // page], key % page] = x[number, key]
    return *pools, tables


@pytest.mark.parametrize("queries, heads, key_heads", [(1, 2, 2), (1, 8, 2), (1, 8, 1), (3, 2, 2)])
def test_forms_of_heads(queries, heads, key_heads):
    q, k, v = caches(3, queries, heads, key_heads, 90, 40, 24)
    lengths = [90, queries, 65]
    out = kernels.decode_attention(q, k, v, torch.tensor(lengths))
    assert_near(out, reference.decoding(q.double(), k.double(), v.double(), lengths), terms=32)


def test_divided_over_the_keys():
    q, k, v = caches(2, 1, 4, 2, 2500, 32)
    lengths = [2500, 700]
    out, lse = kernels.decode_attention(q[:, 0], k, v, torch.tensor(lengths), return_lse=True)
    assert_near(out, reference.decoding(q.double(), k.double(), v.double(), lengths)[:, 0], terms=64)
    assert lse.shape == (2, 4)


@pytest.mark.parametrize("page, dtype", [(5, torch.float32), (16, torch.bfloat16), (64, torch.float32), (8, torch.float64)], ids=str)
def test_pages(page, dtype):
    q, k, v = caches(3, 1, 4, 2, 80, 80, dtype=dtype)
    lengths = [80, 17, 1]
    out = kernels.paged_attention(q[:, 0], *paged(k, v, lengths, page), torch.tensor(lengths))
    assert_near(out, reference.decoding(q.double(), k.double(), v.double(), lengths)[:, 0], terms=32, working=WORKING.get(dtype))


def test_options():
    q, k, v = caches(2, 2, 4, 2, 70, 32)
    slopes, lengths = random(4).abs(), [70, 9]
    out = kernels.decode_attention(q, k, v, torch.tensor(lengths), window=11, softcap=2.0, alibi_slopes=slopes, scale=0.2)
    expected = reference.decoding(q.double(), k.double(), v.double(), lengths, window=(11, None), softcap=2.0, slopes=slopes.double(), scale=0.2)
    assert_near(out, expected, terms=32)


def test_sequences_without_keys_are_zero():
    q, k, v = caches(2, 1, 2, 2, 600, 32)
    out, lse = kernels.decode_attention(q[:, 0], k, v, torch.tensor([0, 600]), return_lse=True)
    assert not out[0].any() and bool((lse[0] == -math.inf).all()) and bool(torch.isfinite(out[1]).all())
    assert kernels.decode_attention(q[:0, 0], k[:0], v[:0]).shape == (0, 2, 32)


def test_merging_parts_gives_the_whole():
    q, k, v = (random(2, 3, 50, 32, seed=seed) for seed in range(3))
    pieces = (slice(0, 20), slice(20, 21), slice(21, 50))
    outs, lses = zip(*(kernels.attention(q, k[:, :, piece], v[:, :, piece], return_lse=True) for piece in pieces))
    nothing = torch.zeros_like(outs[0]), torch.full_like(lses[0], -math.inf)
    out, lse = kernels.merge_attention(torch.stack([*outs, nothing[0]]), torch.stack([*lses, nothing[1]]))
    expected, sums = reference.attention(q.double(), k.double(), v.double())
    assert_near(out, expected, terms=32)
    assert_near(lse, sums, terms=32)
    empty, lse = kernels.merge_attention(nothing[0][None], nothing[1][None])
    assert not empty.any() and bool((lse == -math.inf).all())


def test_a_prefix_that_all_share():
    q, k, v = caches(3, 1, 4, 2, 48, 32)
    prefix_k, prefix_v = random(70, 2, 32, seed=7), random(70, 2, 32, seed=8)
    lengths = [48, 3, 0]
    out = kernels.cascade_attention(q[:, 0], prefix_k, prefix_v, *paged(k, v, lengths, 16), torch.tensor(lengths))
    for number, length in enumerate(lengths):
        whole_k, whole_v = torch.cat([prefix_k, k[number, :length]])[None], torch.cat([prefix_v, v[number, :length]])[None]
        expected = reference.decoding(q[number : number + 1].double(), whole_k.double(), whole_v.double(), [70 + length])
        assert_near(out[number], expected[0, 0], terms=32)


def test_numpy():
    q, k, v = (x.numpy() for x in caches(2, 1, 2, 1, 40, 32))
    out = kernels.decode_attention(q, k, v, np.array([40, 7]))
    assert isinstance(out, np.ndarray)
    assert_near(out, reference.decoding(*(torch.from_numpy(x).double() for x in (q, k, v)), [40, 7]), terms=32)


def test_compiled_in_one_graph():
    q, k, v = caches(2, 1, 2, 1, 40, 32)
    lengths = [40, 7]
    pages = paged(k, v, lengths, 16)
    compiled = torch.compile(lambda q, *x: kernels.paged_attention(q * 2, *x), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(q[:, 0], *pages, torch.tensor(lengths)), kernels.paged_attention(q[:, 0] * 2, *pages, torch.tensor(lengths)))


def test_a_gradient_is_refused():
    q, k, v = caches(1, 1, 2, 1, 8, 32)
    with pytest.raises(NotImplementedError, match="no gradient of attention_decoding"):
        kernels.decode_attention(q.requires_grad_(), k, v).sum().backward()


@pytest.mark.parametrize("call, text", [
    (lambda q, k, v: kernels.decode_attention(q[0, 0], k, v), r"q has shape \(4, 32\); \(batch, heads, size\)"),
    (lambda q, k, v: kernels.decode_attention(q, k, v[:, :5]), "v has shape .* as many keys as k has"),
    (lambda q, k, v: kernels.decode_attention(q, k, v, torch.ones(3).int()), r"lengths has shape \(3,\); \(2,\)"),
    (lambda q, k, v: kernels.decode_attention(q, k, v, torch.ones(2)), "lengths has elements of type float32; int32, int64"),
    (lambda q, k, v: kernels.paged_attention(q, k, v, torch.zeros(2, 1).int(), None), "lengths is missing"),
    (lambda q, k, v: kernels.decode_attention(q, k, v, window=-1), "window is -1"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call(*caches(2, 1, 4, 2, 8, 32))


def test_engines(engine):
    q, k, v = caches(2, 1, 4, 2, 40, 24)
    lengths = [40, 5]
    arguments = [x.to(engine.device) for x in (q[:, 0], *paged(k, v, lengths, 16), torch.tensor(lengths))]
    out = kernels.paged_attention(*arguments)
    assert_near(out, reference.decoding(q.double(), k.double(), v.double(), lengths)[:, 0], terms=32)
    out = kernels.merge_attention(torch.stack([out.cpu()] * 2).to(engine.device), torch.zeros(2, 2, 4, device=engine.device))[0]
    assert_near(out, reference.decoding(q.double(), k.double(), v.double(), lengths)[:, 0], terms=32)
