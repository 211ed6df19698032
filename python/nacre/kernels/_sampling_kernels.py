"""Choosing tokens from logits: penalties, temperature, filters, and a draw. One program a row, which walks it in blocks.

No row is sorted. The least logit that top-k and top-p keep is found by halving the range of its bits, 32 counts or sums of the row each, so that
rows of any length need no memory of their own; equal logits are kept or dropped together. The draw adds to each logit that is left a random
number of the Gumbel distribution and takes the largest sum, which has the distribution of the softmax. Every element has a random number of its
own, from the seed, the offset, its row and its column: results do not depend on blocks or on the order of programs.
"""

import nacre
import nacre.language as tl
from nacre.language.extra import libdevice

# Columns of the settings of a row.
TEMPERATURE, TOP_K, TOP_P, MIN_P, REPETITION, PRESENCE, FREQUENCY = (tl.constexpr(i) for i in range(7))


@nacre.jit
def bits_in_order(x):
    """The bits of fp32 numbers as int32 numbers of the same order."""
    bits = x.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@nacre.jit
def number_of(bits):
    """The inverse of bits_in_order."""
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


@nacre.jit
def logits_block(logits_at, counts_at, first, columns, settings_at, factor, HAS_COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """A block of a row after penalties, times `factor`; -inf for NaN and behind the end."""
    c = first + tl.arange(0, BLOCK)
    x = tl.load(logits_at + c, mask=c < columns, other=float("-inf")).to(tl.float32)
    x = tl.where(x == x, x, float("-inf"))
    if HAS_COUNTS:
        count = tl.load(counts_at + c, mask=c < columns, other=0).to(tl.float32)
        repetition = tl.load(settings_at + REPETITION)
        x = tl.where(count > 0, tl.where(x > 0, x / repetition, x * repetition), x)
        x -= count * tl.load(settings_at + FREQUENCY) + tl.where(count > 0, tl.load(settings_at + PRESENCE), 0.0)
    return c, x * factor


@nacre.jit
def best_of_row(logits_at, counts_at, columns, settings_at, factor, HAS_COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest logit of a row, and its first place; -1 where nothing is above -inf."""
    largest = tl.full((), float("-inf"), tl.float32)
    place = tl.full((), -1, tl.int32)
    for first in range(0, columns, BLOCK):
        c, x = logits_block(logits_at, counts_at, first, columns, settings_at, factor, HAS_COUNTS, BLOCK)
        block_largest, block_place = tl.max(x, axis=0, return_indices=True)
        is_larger = block_largest > largest
        place = tl.where(is_larger, first + block_place, place)
        largest = tl.where(is_larger, block_largest, largest)
    return largest, place


@nacre.jit
def weight_from(logits_at, counts_at, columns, settings_at, factor, largest, least, COUNTS: tl.constexpr, HAS_COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """How many logits are not below `least`, with COUNTS, or the sum of their exponentials."""
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        c, x = logits_block(logits_at, counts_at, first, columns, settings_at, factor, HAS_COUNTS, BLOCK)
        if COUNTS:
            total += tl.where(x >= least, 1.0, 0.0)
        else:
            total += tl.where(x >= least, tl.exp(x - largest), 0.0)
    return tl.sum(total, axis=0)


@nacre.jit
def least_kept(
    logits_at, counts_at, columns, settings_at, factor, largest,
    HAS_TOP_K: tl.constexpr, HAS_TOP_P: tl.constexpr, HAS_MIN_P: tl.constexpr, HAS_COUNTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The least logit that passes the filters: min-p first, then top-k, then top-p of what these leave."""
    least = tl.where(largest == float("inf"), largest, float("-inf"))  # beside an infinite logit nothing else is likely
    if HAS_MIN_P:
        min_p = tl.load(settings_at + MIN_P)
        if min_p > 0:
            least = largest + tl.log(min_p)
    if HAS_TOP_K:
        top_k = tl.load(settings_at + TOP_K)
        if (top_k > 0) & (top_k < columns):
            low = bits_in_order(least).to(tl.int64)
            high = bits_in_order(largest).to(tl.int64)
            while low < high:
                middle = (low + high + 1) >> 1
                enough = weight_from(
                    logits_at, counts_at, columns, settings_at, factor, largest, number_of(middle.to(tl.int32)), True, HAS_COUNTS, BLOCK
                ) >= top_k
                low = tl.where(enough, middle, low)
                high = tl.where(enough, high, middle - 1)
            least = number_of(low.to(tl.int32))
    if HAS_TOP_P:
        top_p = tl.load(settings_at + TOP_P)
        if (top_p < 1) & (largest < float("inf")):
            wanted = top_p * weight_from(logits_at, counts_at, columns, settings_at, factor, largest, least, False, HAS_COUNTS, BLOCK)
            low = bits_in_order(least).to(tl.int64)
            high = bits_in_order(largest).to(tl.int64)
            while low < high:
                middle = (low + high + 1) >> 1
                enough = weight_from(
                    logits_at, counts_at, columns, settings_at, factor, largest, number_of(middle.to(tl.int32)), False, HAS_COUNTS, BLOCK
                ) >= wanted
                low = tl.where(enough, middle, low)
                high = tl.where(enough, high, middle - 1)
            least = number_of(low.to(tl.int32))
    return least


@nacre.jit
def sampling_kernel(
    logits_ptr, settings_ptr, counts_ptr, seeds_ptr, out_ptr, row_stride, columns,
    HAS_TOP_K: tl.constexpr, HAS_TOP_P: tl.constexpr, HAS_MIN_P: tl.constexpr, HAS_PAIRS: tl.constexpr, HAS_SEEDS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The token of a row. Settings are (row, 7) numbers; `seeds_ptr` has (seed, offset), one pair for all rows or, with HAS_PAIRS, for each; with
    HAS_SEEDS the row's number is no part of its random numbers."""
    HAS_COUNTS: tl.constexpr = counts_ptr is not None
    row = tl.program_id(0).to(tl.int64)
    logits_at = logits_ptr + row * row_stride
    settings_at = settings_ptr + row * 7
    counts_at = None
    if HAS_COUNTS:
        counts_at = counts_ptr + row * columns
    temperature = tl.load(settings_at + TEMPERATURE)
    factor = tl.where(temperature > 0, 1.0 / temperature, 1.0)
    # Without the factor, which may make large logits infinite: then the largest of them is taken.
    largest, token = best_of_row(logits_at, counts_at, columns, settings_at, 1.0, HAS_COUNTS, BLOCK)
    largest = largest * factor
    if (temperature > 0) & (token >= 0) & (largest < float("inf")):
        least = least_kept(
            logits_at, counts_at, columns, settings_at, factor, largest, HAS_TOP_K, HAS_TOP_P, HAS_MIN_P, HAS_COUNTS, BLOCK)  # fmt: skip
        pair = 0 * row
        stream = row.to(tl.int32)
        if HAS_PAIRS:
            pair = 2 * row
        if HAS_SEEDS:
            stream = stream * 0
        seed = tl.load(seeds_ptr + pair)
        offset = tl.load(seeds_ptr + pair + 1)
        best = tl.full((), float("-inf"), tl.float32)
        for first in range(0, columns, BLOCK):
            c, x = logits_block(logits_at, counts_at, first, columns, settings_at, factor, HAS_COUNTS, BLOCK)
            zero = tl.zeros((BLOCK,), tl.int32)
            words, _, _, _ = tl.philox(seed, c, zero + stream, zero + offset.to(tl.int32), zero + (offset >> 32).to(tl.int32))
            exponential = tl.maximum(-libdevice.log1p(-tl.uint_to_uniform_float(words)), 1.0e-10)
            x = tl.where((x >= least) & (x > float("-inf")), x - tl.log(exponential), float("-inf"))
            block_best, block_place = tl.max(x, axis=0, return_indices=True)
            is_larger = block_best > best
            token = tl.where(is_larger, first + block_place, token)
            best = tl.where(is_larger, block_best, best)
    tl.store(out_ptr + row, token.to(tl.int64))


@nacre.jit
def filtering_kernel(
    logits_ptr, settings_ptr, counts_ptr, out_ptr, row_stride, columns,
    HAS_TOP_K: tl.constexpr, HAS_TOP_P: tl.constexpr, HAS_MIN_P: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The logits of a row after penalties and temperature, and -inf where a filter drops them."""
    HAS_COUNTS: tl.constexpr = counts_ptr is not None
    row = tl.program_id(0).to(tl.int64)
    logits_at = logits_ptr + row * row_stride
    settings_at = settings_ptr + row * 7
    counts_at = None
    if HAS_COUNTS:
        counts_at = counts_ptr + row * columns
    factor = 1.0 / tl.load(settings_at + TEMPERATURE)
    largest, _ = best_of_row(logits_at, counts_at, columns, settings_at, factor, HAS_COUNTS, BLOCK)
    least = least_kept(logits_at, counts_at, columns, settings_at, factor, largest, HAS_TOP_K, HAS_TOP_P, HAS_MIN_P, HAS_COUNTS, BLOCK)
    for first in range(0, columns, BLOCK):
        c, x = logits_block(logits_at, counts_at, first, columns, settings_at, factor, HAS_COUNTS, BLOCK)
        tl.store(out_ptr + row * columns + c, tl.where(x >= least, x, float("-inf")).to(out_ptr.dtype.element_ty), mask=c < columns)


@nacre.jit
def counting_kernel(tokens_ptr, lengths_ptr, counts_ptr, row_stride, most, columns, BLOCK: tl.constexpr):
    """How often each token occurs in a row, of `length` tokens; others than those of the vocabulary are not counted."""
    row = tl.program_id(0).to(tl.int64)
    length = most
    if lengths_ptr is not None:
        length = tl.minimum(tl.load(lengths_ptr + row).to(tl.int32), most)
    for first in range(0, length, BLOCK):
        i = first + tl.arange(0, BLOCK)
        token = tl.load(tokens_ptr + row * row_stride + i, mask=i < length, other=-1).to(tl.int64)
        tl.atomic_add(counts_ptr + row * columns + token, 1, mask=(token >= 0) & (token < columns))
