"""Attention of the newest tokens to a cache of keys and values, contiguous or in pages, and merging of parts. Without gradients.

The kernels are in _attention_decoding.py.
"""

import numpy

from . import _attention_decoding
from ._arrays import (
    FLOATING, INTEGERS, accumulation_dtype, check_array, check_axes, check_dtype, check_integer, check_shape, check_values, contiguous, dtype_name,
    empty, is_in_host_memory, readable, strides, with_near_rows,
)  # fmt: skip
from ._attention_blocks import decoding_blocks
from ._blocks import cdiv
from ._operator import Operator
from .softmax_attention import attention_with_wide_output, check_heads, check_slopes, scale_of, side_of, slope_strides, softcap_of


def decode_attention(q, k, v, lengths=None, *, window=None, scale=None, softcap=0.0, alibi_slopes=None, return_lse=False):
    """Attention of the last queries of each sequence to all its keys, divided over the keys.

    q: (batch, heads, size), one query each, or (batch, queries, heads, size): the last tokens, each of which sees the keys up to its own.
    k: (batch, keys, key_heads, size). v: (batch, keys, key_heads, value_size). Types as in `attention`. `lengths`: (batch,) int32 or int64, how
    many keys of each sequence count, up to those of the cache; the memory behind them is not read. Gives q's shape with value_size at its end, and with `return_lse`
    the logarithms of the sums too, of q's shape without its last axis. A query without keys gives 0.

    `window`: how many keys before its own a query sees. `scale`, `softcap`, `alibi_slopes`: those of `attention`.

        q, k, v = torch.randn(4, 8, 64), torch.randn(4, 1024, 2, 64), torch.randn(4, 1024, 2, 64)
        out = nacre.kernels.decode_attention(q, k, v, torch.tensor([1024, 700, 5, 0]))
    """
    return _decode(q, k, v, None, lengths, alibi_slopes, window, scale, softcap, return_lse)


def paged_attention(q, k_pages, v_pages, block_tables, lengths, *, window=None, scale=None, softcap=0.0, alibi_slopes=None, return_lse=False):
    """`decode_attention` with a cache in pages of a common pool.

    q: (batch, heads, size) or (batch, queries, heads, size). k_pages: (pages, page_size, key_heads, size). v_pages: (pages, page_size, key_heads,
    value_size). `block_tables`: (batch, most pages) int32 or int64: entry i of a row is the page that holds its keys i * page_size and on;
    entries behind the last key, and before a window, are not looked at. `lengths`: (batch,). A page_size that is a multiple of 16 is fastest.

        k_pages, v_pages = torch.randn(64, 16, 2, 64), torch.randn(64, 16, 2, 64)
        tables = torch.randperm(64, dtype=torch.int32).view(4, 16)
        out = nacre.kernels.paged_attention(torch.randn(4, 8, 64), k_pages, v_pages, tables, torch.tensor([256, 17, 100, 1]))
    """
    return _decode(q, k_pages, v_pages, block_tables, lengths, alibi_slopes, window, scale, softcap, return_lse)


def merge_attention(outs, lses):
    """The attention to all keys from the attention to parts of them, as (out, lse).

    outs: (parts, ..., value_size). lses: (parts, ...), the logarithms of the sums, -inf where a row saw no key of a part. The results have
    these shapes without the axis of the parts.

        outs, lses = zip(*(nacre.kernels.attention(q, k[:, :, part], v[:, :, part], return_lse=True) for part in (slice(0, 64), slice(64, 128))))
        out, lse = nacre.kernels.merge_attention(torch.stack(outs), torch.stack(lses))
    """
    return _merge(outs, lses, None)


def cascade_attention(q, prefix_k, prefix_v, k_pages, v_pages, block_tables, lengths, *, scale=None, softcap=0.0):
    """Attention of one query a sequence to a prefix that all sequences share, which is read once for all of them, and to pages of its own.

    q: (batch, heads, size). prefix_k: (prefix, key_heads, size). prefix_v: (prefix, key_heads, value_size). The others are those of
    `paged_attention`; `lengths` counts the keys in pages, 0 for none. Gives (batch, heads, value_size).

        prefix_k, prefix_v = torch.randn(100, 2, 64), torch.randn(100, 2, 64)
        out = nacre.kernels.cascade_attention(torch.randn(4, 8, 64), prefix_k, prefix_v, k_pages, v_pages, tables, torch.tensor([256, 17, 100, 0]))
    """
    check_array("q", q)
    check_shape("q", q, (None, None, None))
    batch, heads, size = q.shape
    check_array("prefix_k", prefix_k, q, "q")
    check_array("prefix_v", prefix_v, q, "q")
    check_shape("prefix_k", prefix_k, (None, None, size), "as q has")
    check_shape("prefix_v", prefix_v, (prefix_k.shape[0], prefix_k.shape[1], None), "as many keys as prefix_k has")
    key_heads, value_size = prefix_k.shape[1], prefix_v.shape[2]
    check_heads(q, prefix_k, prefix_v, heads, key_heads)
    group = heads // key_heads
    # Queries of all sequences are the rows of one attention: a program reads a block of keys for many of them.
    rows = q.reshape(batch, key_heads, group, size).swapaxes(0, 1).reshape(1, key_heads, batch * group, size)
    scale = scale_of(scale, q)
    shared, shared_lse = attention_with_wide_output(
        rows, prefix_k.swapaxes(0, 1)[None], prefix_v.swapaxes(0, 1)[None], scale, softcap_of(softcap)
    )
    own, own_lse = _decoding(q[:, None], k_pages, v_pages, block_tables, lengths, None, None, scale, softcap_of(softcap), True)
    outs = empty(own, (2, batch, heads, value_size))
    lses = empty(own_lse, (2, batch, heads))
    outs[0] = shared.reshape(key_heads, batch, group, value_size).swapaxes(0, 1).reshape(batch, heads, value_size)
    lses[0] = shared_lse.reshape(key_heads, batch, group).swapaxes(0, 1).reshape(batch, heads)
    outs[1], lses[1] = own[:, 0], own_lse[:, 0]
    return _merge(outs, lses, dtype_name(q))[0]


# ---- the operators


def _decode(q, k, v, tables, lengths, slopes, window, scale, softcap, return_lse):
    check_array("q", q)
    if len(q.shape) not in (3, 4):
        raise ValueError(f"q has shape {tuple(q.shape)}; (batch, heads, size) or (batch, queries, heads, size) is expected")
    if window is not None:
        check_integer("window", window, least=0)
    is_single = len(q.shape) == 3
    out, lse = _decoding(q[:, None] if is_single else q, k, v, tables, lengths, slopes, window, scale_of(scale, q), softcap_of(softcap), False)
    if is_single:
        out, lse = out[:, 0], lse[:, 0]
    return (out, lse) if return_lse else out


def _allocate(q, k, v, tables, lengths, slopes, window, scale, softcap, wide):
    check_shape("q", q, (None, None, None, None))
    batch, queries, heads, _ = q.shape
    names = ("k", "v") if tables is None else ("k_pages", "v_pages")
    for name, x in zip(names, (k, v)):
        check_array(name, x, q, "q")
        check_shape(name, x, (batch if tables is None else None, None, None, None))
    check_shape(names[1], v, (*k.shape[:3], None), f"as many keys as {names[0]} has")
    check_heads(q, k, v, heads, k.shape[2])
    for name, x, shape in (("block_tables", tables, (batch, None)), ("lengths", lengths, (batch,))):
        if x is not None:
            check_array(name, x, q, "q")
            check_dtype(name, x, INTEGERS)
            check_shape(name, x, shape, "one row a sequence")
    if tables is not None and lengths is None:
        raise TypeError("paged_attention: lengths is missing, the number of keys of each sequence")
    if slopes is not None:
        check_slopes(slopes, q, batch, heads)
    wide_dtype = accumulation_dtype(q)
    return empty(q, (batch, queries, heads, v.shape[-1]), wide_dtype if wide else dtype_name(q)), empty(q, (batch, queries, heads), wide_dtype)


def _check_tables(tables, lengths, queries, page, pages, window):
    """The entries of tables that the kernel reads are pages of the pool, where they lie in host memory."""
    if tables is None or not is_in_host_memory(tables):
        return
    tables, lengths = (numpy.asarray(x) for x in (tables, lengths))
    first = numpy.arange(tables.shape[1]) * page
    is_read = first < lengths[:, None]
    if window is not None:
        is_read &= first + page > lengths[:, None] - queries - window
    check_values("block_tables", tables[is_read], 0, pages, "a page of the pool")


def _launch(outputs, q, k, v, tables, lengths, slopes, window, scale, softcap, wide):
    out, lse = outputs
    q, k, v = with_near_rows(q, 1, 2), with_near_rows(k, 1), with_near_rows(v, 1)
    tables, lengths = contiguous(tables), contiguous(lengths)
    batch, queries, heads, size = q.shape
    key_heads, value_size = k.shape[2], v.shape[3]
    page = None if tables is None else k.shape[1]
    keys = k.shape[1] if tables is None else tables.shape[1] * page
    check_values("lengths", lengths, 0, keys + 1, "up to the keys of the cache")
    window = side_of(window, queries, keys)
    _check_tables(tables, lengths, queries, page, k.shape[0], window)
    slopes = readable(slopes)
    blocks, span, parts = decoding_blocks(q, batch * key_heads, keys, page, size, value_size)
    part_outs, part_lses = out[None], lse[None]
    if parts > 1:
        part_outs = empty(lse, (parts, *out.shape))
        part_lses = empty(lse, (parts, *lse.shape))
    _attention_decoding.decoding_kernel[(batch * key_heads * parts,)](
        q, k, v, part_outs, part_lses, tables, lengths, slopes,
        *(tuple(strides(x)) for x in (q, k, v, part_outs, part_lses)), 0 if tables is None else strides(tables)[0], slope_strides(slopes),
        key_heads, keys, span, parts, window,
        SCALE=scale, SOFTCAP=softcap, QUERIES=queries, GROUP=heads // key_heads, HEAD=size, VALUE=value_size, PAGE=page or 1, **blocks,
    )  # fmt: skip
    if parts > 1:
        _launch_merge((out, lse), part_outs, part_lses, None)


def _allocate_merge(outs, lses, dtype):
    check_array("outs", outs)
    check_dtype("outs", outs, FLOATING)
    check_axes("outs", outs, 2)
    if outs.shape[-1] < 1:
        raise ValueError(f"outs has shape {tuple(outs.shape)}: its last axis is the size of a head, which is at least 1")
    check_array("lses", lses, outs, "outs")
    check_dtype("lses", lses, FLOATING)
    check_shape("lses", lses, tuple(outs.shape[:-1]), "the shape of outs without its last axis")
    return empty(outs, outs.shape[1:], dtype), empty(lses, lses.shape[1:])


def _launch_merge(outputs, outs, lses, dtype):
    out, lse = outputs
    outs, lses = contiguous(outs), contiguous(lses)
    parts, value_size = outs.shape[0], outs.shape[-1]
    rows = 1
    for extent in lse.shape:
        rows *= extent
    _attention_decoding.merging_kernel[(cdiv(rows, 4),)](
        outs, lses, out, lse, rows * value_size, value_size, rows, parts, rows, VALUE=value_size, BLOCK=4
    )


_decoding = Operator(
    "attention_decoding",
    "(Tensor q, Tensor k, Tensor v, Tensor? block_tables, Tensor? lengths, Tensor? alibi_slopes, SymInt? window, float scale, float softcap, bool wide)"
    " -> (Tensor, Tensor)",
    _allocate, _launch,
)  # fmt: skip
_merge = Operator("attention_merging", "(Tensor outs, Tensor lses, str? dtype) -> (Tensor, Tensor)", _allocate_merge, _launch_merge)
