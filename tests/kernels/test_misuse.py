"""Wrong arguments of nacre.kernels: an error that names the argument, never a crash or a result. And values at the ends of what is allowed."""

import numpy as np
import pytest

import nacre.kernels as nk


def ones(*shape):
    return np.ones(shape, np.float32)


def starts(*values):
    return np.array(values, np.int32)


HEADS = (ones(1, 1, 2, 4),) * 3
PACKED = (ones(3, 1, 4),) * 3
CACHE = (ones(2, 1, 4), ones(2, 3, 1, 4), ones(2, 3, 1, 4))
POOL = (ones(1, 1, 4), ones(2, 4, 1, 4), ones(2, 4, 1, 4))
ORDER, PLACES = starts(0, 1), starts(0, 1).reshape(1, 2)

MISUSES = {
    "no array": (lambda: nk.softmax(None, axis=0), "^x must be a torch tensor or a NumPy array"),
    "a list": (lambda: nk.gelu([1.0, 2.0]), "^x must be a torch tensor or a NumPy array, not a"),
    "axis": (lambda: nk.softmax(ones(3, 2), axis=7), "^axis is 7"),
    "no second half": (lambda: nk.swiglu(ones(3), None), "^up must be"),
    "no queries": (lambda: nk.attention(None, None, None), "^q must be"),
    "queries without axes": (lambda: nk.attention(np.ones(()), *HEADS[1:]), r"^q has shape \(\)"),
    "window": (lambda: nk.attention(*HEADS, window=3), "^window is 3; a pair"),
    "side of a window": (lambda: nk.attention(*HEADS, window=(1.5, None)), "left side of window is 1.5; an integer"),
    "scale": (lambda: nk.attention(*HEADS, scale="1"), "^scale is '1'; a number"),
    "softcap": (lambda: nk.attention(*HEADS, softcap=None), "^softcap is None"),
    "no starts": (lambda: nk.attention_varlen(*PACKED, None, max_queries=3), "^q_starts must be"),
    "starts without elements": (lambda: nk.attention_varlen(*PACKED, starts(), max_queries=3), "^q_starts has shape"),
    "length of queries": (lambda: nk.attention_varlen(*PACKED, starts(0, 3), max_queries=-1), "^max_queries is -1"),
    "starts beyond the rows": (lambda: nk.attention_varlen(*PACKED, starts(0, 9), max_queries=9), "^q_starts has the element 9"),
    "starts that go down": (lambda: nk.attention_varlen(*PACKED, starts(0, 3, 1), max_queries=3), "steps between neighbours of q_starts has the element -2"),
    "longer than said": (lambda: nk.attention_varlen(*PACKED, starts(0, 3), max_queries=2), "element 3; 0 to 2 are expected, up to max_queries"),
    "lengths beyond the cache": (lambda: nk.decode_attention(*CACHE, starts(3, 4)), "^lengths has the element 4; 0 to 3"),
    "page": (lambda: nk.paged_attention(*POOL, starts(0, 2)[None], starts(5)), "^block_tables has the element 2; 0 to 1"),
    "parts without rows": (lambda: nk.merge_attention(ones(3), np.ones((), np.float32)), "^outs has shape"),
    "no weight": (lambda: nk.linear_cross_entropy(ones(2, 3), None, np.zeros(2, int)), "^weight must be"),
    "ignored target": (lambda: nk.cross_entropy(ones(2, 3), np.zeros(2, int), ignore_index=None), "^ignore_index is None"),
    "smoothing": (lambda: nk.cross_entropy(ones(2, 3), np.zeros(2, int), label_smoothing="a"), "^label_smoothing is 'a'"),
    "seed of dropout": (lambda: nk.dropout(ones(3), seed=1.5), "^seed is 1.5; an integer"),
    "large seed": (lambda: nk.dropout(ones(3), seed=1 << 64), "^seed is 18446744073709551616; it must be"),
    "eps": (lambda: nk.layer_norm(ones(3), eps=None), "^eps is None"),
    "groups": (lambda: nk.group_norm(ones(2, 4), None), "^groups is None"),
    "no heads": (lambda: nk.rotary(None, None, None, heads_first=True), "^x must be"),
    "length of tables": (lambda: nk.rotary_tables(-1, 4), "^length is -1"),
    "no parameters": (lambda: nk.adamw(None, [], [], [], step=1), "^parameters is None; a list"),
    "betas": (lambda: nk.adamw([ones(2)], [ones(2)], [ones(2)], [ones(2)], step=1, betas=(0.9,)), "^betas is"),
    "scale of a product": (lambda: nk.matmul(ones(2, 2), ones(2, 2), scale=None), "^scale is None"),
    "group": (lambda: nk.quantize(ones(2, 4), format="int8", group=None), "^group is None"),
    "x without axes": (lambda: nk.quantized_matmul(np.ones(()), ones(2, 2), format="int8"), r"^x has shape \(\)"),
    "group of a row": (lambda: nk.from_gptq(*(np.ones(s, np.int32) for s in ((2, 8), (1, 1))), ones(1, 8), -np.ones(16, int)), "^g_idx has the element -1"),
    "experts": (lambda: nk.route(ones(2, 4), 2.0), "^k is 2.0; an integer"),
    "order": (lambda: nk.dispatch(ones(1, 4), ORDER + 5, PLACES), "^order has the element 6"),
    "places": (lambda: nk.collect(ones(2, 4), PLACES + 5, ones(1, 2), ORDER), "^places has the element 6"),
    "offsets": (lambda: nk.grouped_matmul(ones(2, 4), ones(1, 4, 3), starts(0, 7)), "^offsets has the element 7"),
    "seed of sampling": (lambda: nk.sample(ones(2, 3), seed=None), "^seed is None"),
    "seeds": (lambda: nk.sample(ones(2, 3), seed=np.arange(7)), r"^seed has shape \(7,\)"),
    "top k": (lambda: nk.sample(ones(2, 3), top_k=[1, 2]), "^top_k is"),
    "end token": (lambda: nk.beam_search_step(ones(1, 2), ones(1, 2, 3), end_token=None), "^end_token is None"),
    "no scores": (lambda: nk.beam_search_step(None, ones(1, 2, 3)), "^scores must be"),
    "parents": (lambda: nk.reorder_cache(ones(1, 2), starts(0, 2)[None]), "^parents has the element 2"),
}  # fmt: skip


@pytest.mark.parametrize("call, text", MISUSES.values(), ids=MISUSES)
def test_a_wrong_argument_is_named(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call()


def test_numpy_strides_may_be_negative():
    x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    assert np.array_equal(nk.softmax(x[::-1]), nk.softmax(x)[::-1])
    assert np.array_equal(nk.softmax(x[:1][::-1]), nk.softmax(x[:1]))
    heads = x[None, None]
    visible = np.tri(3, dtype=bool)
    assert np.array_equal(nk.attention(heads, heads, heads, mask=visible[::-1]), nk.attention(heads, heads, heads, mask=visible[::-1].copy()))


def test_sides_of_a_window_up_to_the_largest_integer():
    x = np.random.default_rng(0).normal(size=(1, 1, 7, 4)).astype(np.float32)
    for side in ((1 << 31) - 1, (1 << 62)):
        for queries in (x, x[:, :, :3]):
            assert np.array_equal(nk.attention(queries, x, x, window=(side, side)), nk.attention(queries, x, x, window=(7, 7)))


def test_entries_before_a_window_need_no_page():
    x = np.random.default_rng(0).normal(size=(1, 64, 1, 4)).astype(np.float32)
    pages = x.reshape(32, 2, 1, 4).copy()
    pages[0] = np.nan
    tables = np.where(np.arange(32) < 30, -(np.arange(32) % 2), np.arange(32))[None]  # page 0 has no numbers, and -1 is none
    out = nk.paged_attention(x[:, 0], pages, pages, tables, np.array([64]), window=2)
    assert np.allclose(out, nk.decode_attention(x[:, 0], x, x, window=2), atol=1e-6)


def test_a_tiny_temperature_takes_the_largest():
    logits = np.array([[5, 10, 7]], np.float32)
    assert nk.sample(logits, temperature=1e-38) == [1]
    assert nk.sample(-logits, temperature=1e-38) == [0]


def test_beside_an_infinite_logit_filters_keep_nothing():
    logits = np.array([[1, np.inf, 2]], np.float32)
    for filters in ({"top_p": 0.5}, {"min_p": 0.1}, {"top_k": 1}):
        assert np.array_equal(nk.filter_logits(logits, **filters), [[-np.inf, np.inf, -np.inf]])


def test_zeros_of_both_signs_are_equal_continuations():
    _, _, tokens = nk.beam_search_step(np.zeros((1, 1), np.float32), np.array([[[-0.0, 0.0]]], np.float32))
    assert tokens == [[0]]


def test_arrays_without_elements():
    loss = nk.linear_cross_entropy(np.ones((2, 0), np.float32), np.ones((3, 0), np.float32), np.zeros(2, int))
    assert np.allclose(loss, np.log(3))
    assert [x.shape for x in nk.quantize(np.ones((0, 64), np.float32), format="int4", group=32)[:2]] == [(0, 32), (0, 2)]
    assert np.isnan(nk.rotary(ones(2, 1, 4), ones(0, 2), ones(0, 2), np.array([0, 1]))).all()
    assert np.array_equal(nk.rms_norm_quantized(ones(2, 0))[1], [1, 1])


def test_rows_may_be_far_from_each_other():
    """Offsets of rows within a block are beyond int32. Memory between the rows is never touched."""
    torch = pytest.importorskip("torch")
    x = torch.randn(40, 16, generator=torch.Generator().manual_seed(0)).half()
    try:
        far = torch.empty(40 << 26, dtype=torch.float16).as_strided(x.shape, (1 << 26, 1))
    except RuntimeError:
        pytest.skip("this machine promises no 5 GiB of memory")
    far.copy_(x)
    offsets = torch.tensor([0, 40], dtype=torch.int32)
    tables = nk.rotary_tables(1, 16, like=x)
    for operator in (
        lambda x: nk.attention(*[x[None, None]] * 3),
        lambda x: nk.decode_attention(x[None, :1], *[x[None, :, None]] * 2),
        lambda x: nk.grouped_matmul(x, x.T[None], offsets),
        lambda x: nk.rotary(x[None], *tables),
        lambda x: nk.matmul(x, x.T),
    ):
        assert torch.equal(operator(far), operator(x))
