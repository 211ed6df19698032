"""Attention: softmax(Q K^T) V over dense batches and over sequences of unequal lengths, with gradients.

Decoding from a cache of keys is in `decoding`. The kernels are in _attention_forward.py and _attention_backward.py.
"""

import math

from . import _attention_backward, _attention_forward
from ._arrays import (
    FLOATING, INTEGERS, accumulation_dtype, check_array, check_axes, check_dtype, check_integer, check_number, check_same_dtype, check_shape,
    check_values, contiguous, dtype_name, empty, is_numpy, nothing, readable, strides, with_near_rows, zeros,
)  # fmt: skip
from ._attention_blocks import backward_blocks, forward_blocks, keys_own_queries
from ._blocks import cdiv
from ._operator import Operator

LARGEST_HEAD = 256


def attention(q, k, v, *, causal=False, window=None, scale=None, softcap=0.0, alibi_slopes=None, mask=None, return_lse=False):
    """softmax(scores) V, with scores = scale * Q K^T, for each head.

    q: (batch, heads, queries, size). k: (batch, key_heads, keys, size). v: (batch, key_heads, keys, value_size); key_heads divides heads, and
    neighbouring heads share one head of keys (grouped and multi-query attention). All of one type: float16, bfloat16, float32 or float64.
    Sizes: 1 to 256. Gives (batch, heads, queries, value_size), and with `return_lse` also the logarithm of each row's sum of exponentials,
    (batch, heads, queries), in float32 (float64 for float64).

    The last query stands at the last key: query i is at position keys - queries + i.

    - `causal`: a query sees no key after its position.
    - `window`: (left, right): it sees `left` keys before its position and `right` after; None for no end. With `causal`, right is 0.
    - `scale`: 1 / sqrt(size) unless given. A constant of the kernel: each new value is compiled once.
    - `softcap`: the scaled scores become softcap * tanh(scores / softcap); 0 leaves them. A constant of the kernel too.
    - `alibi_slopes`: (heads,) or (batch, heads): slope * |position - key| is taken from the scores.
    - `mask`: broadcasts to (batch, heads, queries, keys). Booleans: True where the query sees the key. Floats: added to the scores.

    A row that sees no key is 0, its logarithm -inf, and its gradients are 0. Gradients: q, k, v, and a mask of floats; the slopes have none.

        q, k, v = (torch.randn(2, 8, 128, 64) for _ in range(3))
        out = nacre.kernels.attention(q, k, v, causal=True)
    """
    left, right = _window(causal, window)
    out, lse = _attention(q, k, v, mask, alibi_slopes, None, None, 0, 0, left, right, scale_of(scale, q), softcap_of(softcap), False)
    return (out, lse) if return_lse else out


def attention_varlen(
    q, k, v, q_starts, k_starts=None, *, max_queries, max_keys=None, causal=False, window=None, scale=None, softcap=0.0, alibi_slopes=None,
    return_lse=False,
):  # fmt: skip
    """Attention within each of several sequences that lie one after the other, as `attention` computes it.

    q: (all queries, heads, size). k: (all keys, key_heads, size). v: (all keys, key_heads, value_size). `q_starts`, `k_starts`: (sequences + 1,),
    int32 or int64: sequence s has the rows starts[s] to starts[s + 1]; k_starts is q_starts unless given. `max_queries`, `max_keys`: the
    longest sequence, or more: the grid is made for it, without a look at the starts. Rows beyond the last start are left as 0, with -inf.
    Gives (all queries, heads, value_size), and with `return_lse` (heads, all queries).

    `causal`, `window`, `scale`, `softcap` and `alibi_slopes`, (heads,) or (sequences, heads), are those of `attention`.

        starts = torch.tensor([0, 5, 12], dtype=torch.int32)
        q, k, v = (torch.randn(12, 8, 64) for _ in range(3))
        out = nacre.kernels.attention_varlen(q, k, v, starts, max_queries=7, causal=True)
    """
    left, right = _window(causal, window)
    check_array("q", q)
    check_shape("q", q, (None, None, None))
    check_starts("q_starts", q_starts, q)
    check_integer("max_queries", max_queries, least=0)
    if max_keys is not None:
        check_integer("max_keys", max_keys, least=0)
    if k_starts is None:
        k_starts = q_starts
        max_keys = max_queries if max_keys is None else max_keys
    elif max_keys is None:
        raise TypeError("attention_varlen: max_keys is missing, the length of the longest sequence of keys (it goes with k_starts)")
    out, lse = _attention(
        q, k, v, None, alibi_slopes, q_starts, k_starts, max_queries, max_keys, left, right, scale_of(scale, q), softcap_of(softcap), False
    )
    return (out, lse) if return_lse else out


# ---- arguments


def _window(causal, window):
    if window is not None and (not isinstance(window, (tuple, list)) or len(window) != 2):
        raise TypeError(f"window is {window!r}; a pair is expected, (left, right), each a number of keys or None")
    left, right = (None, None) if window is None else window
    for name, side in (("left", left), ("right", right)):
        if side is not None:
            check_integer(f"the {name} side of window", side, least=0)
    return left, 0 if causal else right


def scale_of(scale, q):
    if scale is None:
        check_array("q", q)
        check_axes("q", q, 1)
        return 1 / math.sqrt(max(q.shape[-1], 1))
    check_number("scale", scale)
    return float(scale)


def softcap_of(softcap):
    check_number("softcap", softcap, least=0)
    return float(softcap)


def side_of(side, queries, keys):
    """A side of a window that is wider than all positions, so that sums of it and a position stay within int32."""
    return None if side is None else min(side, queries + keys)


def check_heads(q, k, v, heads, key_heads):
    """What all forms of attention ask of queries, keys and values; the last axis is the size of a head."""
    check_array("q", q)
    check_dtype("q", q, FLOATING)
    for name, x in (("k", k), ("v", v)):
        check_array(name, x, q, "q")
        check_same_dtype(name, x, q, "q")
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(f"k has heads of {k.shape[-1]} elements and q of {q.shape[-1]}: they must be equal")
    for name, x in (("q", q), ("v", v)):
        if not 1 <= x.shape[-1] <= LARGEST_HEAD:
            raise ValueError(f"{name} has heads of {x.shape[-1]} elements; 1 to {LARGEST_HEAD} are supported")
    if key_heads < 1 or heads % key_heads:
        raise ValueError(f"q has {heads} heads and k has {key_heads}: the heads of keys must divide those of queries")


def check_slopes(slopes, q, batch, heads):
    check_array("alibi_slopes", slopes, q, "q")
    check_dtype("alibi_slopes", slopes, FLOATING)
    if tuple(slopes.shape) not in ((heads,), (batch, heads)):
        raise ValueError(f"alibi_slopes has shape {tuple(slopes.shape)}; ({heads},) or ({batch}, {heads}) is expected")
    if not is_numpy(slopes) and slopes.requires_grad:
        raise ValueError("alibi_slopes requires a gradient, and attention has none for it: give a mask of floats, or detach the slopes")


def check_starts(name, starts, q):
    check_array(name, starts, q, "q")
    check_dtype(name, starts, INTEGERS)
    if len(starts.shape) != 1 or starts.shape[0] == 0:
        raise ValueError(f"{name} has shape {tuple(starts.shape)}; (sequences + 1,) is expected")


def _check_rows(name, starts, rows, most_name, most):
    """The starts go up from 0 or later to the number of rows at most, in steps up to `most`. Not for what torch runs while it compiles."""
    check_values(name, starts, 0, rows + 1, "a place among the rows")
    check_values(f"the steps between neighbours of {name}", starts[1:] - starts[:-1], 0, most + 1, f"up to {most_name}")


def slope_strides(slopes):
    """(batch, head)."""
    if slopes is None:
        return (0, 0)
    return (0, *strides(slopes)) if len(slopes.shape) == 1 else strides(slopes)


def _sizes(q, k, q_starts, max_queries, max_keys):
    """(batch, heads, key heads, queries, keys)."""
    if q_starts is None:
        return q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    return q_starts.shape[0] - 1, q.shape[1], k.shape[1], max_queries, max_keys


def _check(q, k, v, mask, slopes, q_starts, k_starts, batch, heads, key_heads):
    check_heads(q, k, v, heads, key_heads)
    if q_starts is None:
        check_shape("k", k, (batch, None, None, None), "the batch is that of q")
        check_shape("v", v, (*k.shape[:3], None), "as many keys as k has")
    else:
        check_shape("k", k, (None, None, None))
        check_shape("v", v, (*k.shape[:2], None), "as many keys as k has")
        for name, starts in (("q_starts", q_starts), ("k_starts", k_starts)):
            check_array(name, starts, q, "q")
            check_dtype(name, starts, INTEGERS)
            check_shape(name, starts, (batch + 1,), "one more than there are sequences")
    if slopes is not None:
        check_slopes(slopes, q, batch, heads)
    if mask is not None:
        check_array("mask", mask, q, "q")
        check_dtype("mask", mask, ("bool", *FLOATING))
        shape = (batch, heads, q.shape[2], k.shape[2])
        short = len(shape) - len(mask.shape)
        if short < 0 or any(size not in (1, whole) for size, whole in zip(mask.shape, shape[short:])):
            raise ValueError(f"mask has shape {tuple(mask.shape)}, which does not broadcast to (batch, heads, queries, keys) = {shape}")


def _layout(x, is_packed):
    """Strides as (batch, head, row, element)."""
    if is_packed:
        row, head, element = strides(x)
        return (0, head, row, element)
    return tuple(strides(x))


def _row_layout(x, is_packed):
    """Those of lse: (batch, head, row)."""
    return (0, *strides(x)) if is_packed else tuple(strides(x))


def _mask_layout(mask):
    if mask is None:
        return (0, 0, 0, 0)
    steps = [0 if size == 1 else step for size, step in zip(mask.shape, strides(mask))]
    return (0,) * (4 - len(steps)) + tuple(steps)


# ---- the operators


def _allocate(q, k, v, mask, slopes, q_starts, k_starts, max_queries, max_keys, left, right, scale, softcap, wide):
    is_packed = q_starts is not None
    check_array("q", q)
    check_shape("q", q, (None,) * (3 if is_packed else 4))
    check_array("k", k, q, "q")
    check_shape("k", k, (None,) * (3 if is_packed else 4))
    batch, heads, key_heads, _, _ = _sizes(q, k, q_starts, max_queries, max_keys)
    _check(q, k, v, mask, slopes, q_starts, k_starts, batch, heads, key_heads)
    wide_dtype = accumulation_dtype(q)
    rows = (q.shape[1], q.shape[0]) if is_packed else tuple(q.shape[:3])
    shape = (*q.shape[:-1], v.shape[-1])
    dtype = wide_dtype if wide else dtype_name(q)
    if is_packed:
        return zeros(q, shape, dtype), zeros(q, rows, wide_dtype) - math.inf
    return empty(q, shape, dtype), empty(q, rows, wide_dtype)


def _launch(outputs, q, k, v, mask, slopes, q_starts, k_starts, max_queries, max_keys, left, right, scale, softcap, wide):
    out, lse = outputs
    is_packed = q_starts is not None
    batch, heads, key_heads, queries, keys = _sizes(q, k, q_starts, max_queries, max_keys)
    if is_packed:
        _check_rows("q_starts", q_starts, q.shape[0], "max_queries", queries)
        _check_rows("k_starts", k_starts, k.shape[0], "max_keys", keys)
    left, right = side_of(left, queries, keys), side_of(right, queries, keys)
    mask, slopes, q_starts, k_starts = readable(mask), readable(slopes), contiguous(q_starts), contiguous(k_starts)
    q, k, v = (with_near_rows(x, 0 if is_packed else 2) for x in (q, k, v))
    blocks = forward_blocks(q, queries, keys, q.shape[-1], v.shape[-1], heads // key_heads)
    _attention_forward.forward_kernel[(cdiv(queries, blocks["BLOCK_M"]) * heads * batch,)](
        q, k, v, out, lse, mask, slopes, q_starts, k_starts,
        *(_layout(x, is_packed) for x in (q, k, v, out)), _row_layout(lse, is_packed), _mask_layout(mask), slope_strides(slopes),
        heads, queries, keys, left, right,
        SCALE=scale, SOFTCAP=softcap, BASE2=_is_base2(mask), GROUP=heads // key_heads, HEAD=q.shape[-1], VALUE=v.shape[-1], **blocks,
    )  # fmt: skip


def _is_base2(mask):
    return mask is None or dtype_name(mask) == "bool"


def _save(ctx, inputs, output):
    tensors, ctx.numbers = inputs[:7], inputs[7:]
    ctx.save_for_backward(*tensors, *output)
    ctx.set_materialize_grads(False)


def _backward(ctx, d_out, d_lse):
    *inputs, out, lse = ctx.saved_tensors
    if d_out is None:
        d_out = out.new_zeros(out.shape)
    mask = inputs[3]
    wants_mask = mask is not None and ctx.needs_input_grad[3]
    d_q, d_k, d_v, d_mask = _attention_backward_operator(d_out, d_lse, out, lse, *inputs, *ctx.numbers[:-1], wants_mask)
    d_mask = d_mask.sum_to_size(mask.shape).to(mask.dtype) if wants_mask else None
    return d_q, d_k, d_v, d_mask, *(None,) * 10


def _allocate_backward(d_out, d_lse, out, lse, q, k, v, mask, slopes, q_starts, k_starts, max_queries, max_keys, left, right, scale, softcap, wants_mask):
    wide = accumulation_dtype(q)
    make = empty if q_starts is None else zeros  # rows of no sequence have no gradient
    d_mask = zeros(q, (*q.shape[:3], k.shape[2]), wide) if wants_mask else nothing(lse)
    return make(q, q.shape), make(q, k.shape), make(q, v.shape), d_mask


def _launch_backward(
    outputs, d_out, d_lse, out, lse, q, k, v, mask, slopes, q_starts, k_starts, max_queries, max_keys, left, right, scale, softcap, wants_mask
):
    d_q, d_k, d_v, d_mask = outputs
    is_packed = q_starts is not None
    batch, heads, key_heads, queries, keys = _sizes(q, k, q_starts, max_queries, max_keys)
    left, right = side_of(left, queries, keys), side_of(right, queries, keys)
    mask, slopes, q_starts, k_starts = readable(mask), readable(slopes), contiguous(q_starts), contiguous(k_starts)
    q, k, v, d_out = (with_near_rows(x, 0 if is_packed else 2) for x in (q, k, v, d_out))
    size, value_size = q.shape[-1], v.shape[-1]
    blocks = backward_blocks(q, queries, keys, size, value_size)
    delta = empty(lse, lse.shape)
    rows = _row_layout(delta, is_packed)
    if d_lse is not None:
        d_lse = d_lse.expand(lse.shape).contiguous()
    # Packed rows are one long sequence here.
    whole = (1, q.shape[0]) if is_packed else (batch, queries)
    _attention_backward.delta_kernel[(cdiv(whole[1], blocks["BLOCK_M"]) * heads * whole[0],)](
        out, d_out, d_lse, delta, _layout(out, is_packed), _layout(d_out, is_packed), rows, heads, whole[1], VALUE=value_size, BLOCK_M=blocks["BLOCK_M"]
    )
    constants = dict(SCALE=scale, SOFTCAP=softcap, BASE2=_is_base2(mask), GROUP=heads // key_heads, HEAD=size, VALUE=value_size, **blocks)
    inputs = [_layout(x, is_packed) for x in (q, k, v, d_out)]
    masks = (_mask_layout(mask), slope_strides(slopes))
    is_joint = not wants_mask and keys_own_queries(q, batch * key_heads)
    sums = zeros(q, q.shape, accumulation_dtype(q)) if is_joint else None
    span = max(keys, 1) if is_joint else blocks["BLOCK_N"]
    span = cdiv(span, blocks["BLOCK_N"]) * blocks["BLOCK_N"]
    _attention_backward.key_value_kernel[(cdiv(keys, span) * key_heads * batch,)](
        q, k, v, d_out, sums, d_k, d_v, lse, delta, mask, slopes, q_starts, k_starts,
        *inputs, _layout(d_q, is_packed), _layout(d_k, is_packed), _layout(d_v, is_packed), rows, *masks,
        key_heads, queries, keys, span, left, right, **constants,
    )  # fmt: skip
    if is_joint:
        d_q.copy_(sums)
        return
    _attention_backward.query_kernel[(cdiv(queries, blocks["BLOCK_M"]) * heads * batch,)](
        q, k, v, d_out, d_q, d_mask if wants_mask else None, lse, delta, mask, slopes, q_starts, k_starts,
        *inputs, _layout(d_q, is_packed), strides(d_mask) if wants_mask else (0, 0, 0, 0), rows, *masks, heads, queries, keys, left, right, **constants,
    )  # fmt: skip


_PARAMETERS = (
    "Tensor q, Tensor k, Tensor v, Tensor? mask, Tensor? alibi_slopes, Tensor? q_starts, Tensor? k_starts, "
    "SymInt max_queries, SymInt max_keys, SymInt? left, SymInt? right, float scale, float softcap"
)
_attention = Operator("attention", f"({_PARAMETERS}, bool wide) -> (Tensor, Tensor)", _allocate, _launch, _save, _backward)
_attention_backward_operator = Operator(
    "attention_backward", f"(Tensor d_out, Tensor? d_lse, Tensor out, Tensor lse, {_PARAMETERS}, bool wants_mask) -> (Tensor, Tensor, Tensor, Tensor)",
    _allocate_backward, _launch_backward,
)  # fmt: skip


def attention_with_wide_output(q, k, v, scale, softcap):
    """(out, lse) without masks, both in the type that sums are kept in: a part that is to be merged."""
    return _attention(q, k, v, None, None, None, None, 0, 0, None, None, scale, softcap, True)
