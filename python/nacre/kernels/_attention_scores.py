"""What all attention kernels say of one score: its size, which keys a query sees, and the exponential that weighs it.

Positions of queries count from the end of the keys: query i of M stands at N - M + i, so that the last query stands at the last key.
Scores are in units of log 2, so that the exponential is exp2; with an additive mask they are natural, since its lowest finite
numbers would become infinite in the other unit.
"""

import nacre
import nacre.language as tl
from nacre.language.extra import libdevice

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@nacre.jit
def capped(products, SCALE: tl.constexpr, SOFTCAP: tl.constexpr):
    """tanh of the scaled products over the cap."""
    return libdevice.tanh(products * (SCALE / SOFTCAP))


@nacre.jit
def score_tile(products, positions, n, slope, added, SCALE: tl.constexpr, SOFTCAP: tl.constexpr, BASE2: tl.constexpr):
    """The scores of products of queries and keys. `positions` and `n` are tiles of whole numbers that broadcast to the products' shape."""
    UNIT: tl.constexpr = LOG2E if BASE2 else 1.0
    if SOFTCAP > 0:
        scores = capped(products, SCALE, SOFTCAP) * (SOFTCAP * UNIT)
    else:
        scores = products * (SCALE * UNIT)
    if slope is not None:
        scores -= slope.to(scores.dtype) * UNIT * tl.abs(positions - n).to(scores.dtype)
    if added is not None:
        if added.dtype.is_bool():
            scores = tl.where(added, scores, float("-inf"))
        else:
            scores += added.to(scores.dtype) * UNIT
    return scores


@nacre.jit
def visible_tile(positions, n, keys, left, right):
    """Which keys a query sees: those of its window, of which a side that is None has no end."""
    visible = n < keys
    if left is not None:
        visible = visible & (n >= positions - left)
    if right is not None:
        visible = visible & (n <= positions + right)
    return visible


@nacre.jit
def exponential(x, BASE2: tl.constexpr):
    if BASE2:
        return tl.exp2(x)
    else:
        return tl.exp(x)


@nacre.jit
def natural_logarithm(largest, total, BASE2: tl.constexpr):
    """log(sum(exp(scores))) of a row from its largest score and the sum of its weights; -inf where no key is seen."""
    if BASE2:
        return tl.where(total == 0, float("-inf"), (largest + tl.log2(total)) * LN2)
    else:
        return tl.where(total == 0, float("-inf"), largest + tl.log(total))


@nacre.jit
def finite_or_zero(x):
    """x, and 0 where it is -inf: what a row without visible keys is measured from."""
    return tl.where(x == float("-inf"), 0.0, x)


@nacre.jit
def sequence_of(starts_ptr, batch, count):
    """The first row of a sequence and its number of rows: from `starts_ptr`, and all `count` rows where there is none."""
    first = batch.to(tl.int64) * 0
    if starts_ptr is not None:
        first = tl.load(starts_ptr + batch).to(tl.int64)
        count = (tl.load(starts_ptr + batch + 1).to(tl.int64) - first).to(tl.int32)
    return first, count + tl.zeros((), tl.int32)


@nacre.jit
def key_range(first_position, last_position, keys, left, right, BLOCK_N: tl.constexpr):
    """The keys that rows at these positions see, as (start, whole, edge, end): from start to end some row sees something, and from whole
    to edge every row sees all. start, whole and edge are multiples of BLOCK_N, or end."""
    start = keys * 0
    whole = start
    end = keys
    edge = keys
    if left is not None:
        start = tl.maximum(first_position - left, 0) // BLOCK_N * BLOCK_N
        whole = tl.cdiv(tl.maximum(last_position - left, 0), BLOCK_N) * BLOCK_N
    if right is not None:
        end = tl.minimum(keys, tl.maximum(last_position + right + 1, 0))
        edge = tl.minimum(keys, tl.maximum(first_position + right + 1, 0))
    edge = edge // BLOCK_N * BLOCK_N
    start = tl.minimum(start, end)
    edge = tl.minimum(tl.maximum(edge, start), end)
    whole = tl.minimum(tl.maximum(whole, start), edge)
    return start, whole, edge, end
