"""Beam search: the best continuations of each beam, then the best of all beams of a sequence, and the copying of what beams carry along.

A candidate is one int64: the bits of its number, in order, above the complement of its place, so that the largest is the best one and, of equal
ones, the first.
"""

import nacre
import nacre.language as tl

from ._sampling_kernels import bits_in_order, number_of


@nacre.jit
def candidates_of(x, place):
    x = tl.where(x == 0, 0.0, x)  # one zero, whose bits are equal
    return (bits_in_order(x).to(tl.int64) << 32) | (0xFFFFFFFF - place.to(tl.int64))


@nacre.jit
def number_in(candidate):
    return number_of((candidate >> 32).to(tl.int32))


@nacre.jit
def place_in(candidate):
    return 0xFFFFFFFF - (candidate & 0xFFFFFFFF)


@nacre.jit
def continuations_kernel(logits_ptr, candidates_ptr, lse_ptr, row_stride, columns, KEPT: tl.constexpr, BLOCK: tl.constexpr):
    """The KEPT best tokens of one beam, and the logarithm of its sum of exponentials. NaN counts as -inf. BLOCK is at least KEPT."""
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((KEPT,), -0x8000000000000000, tl.int64)
    worst = tl.min(best, axis=0)
    largest = tl.full((), float("-inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * row_stride + c, mask=c < columns, other=float("-inf")).to(tl.float32)
        x = tl.where(x == x, x, float("-inf"))
        new_largest = tl.maximum(largest, tl.max(x, axis=0))
        reference = tl.where(new_largest == float("-inf"), 0.0, new_largest)
        total = total * tl.exp(largest - reference) + tl.sum(tl.exp(x - reference), axis=0)
        largest = new_largest
        found = tl.where(c < columns, candidates_of(x, c), -0x8000000000000000)
        if tl.max(found, axis=0) > worst:
            best = tl.topk(tl.cat(best, tl.topk(found, KEPT)), KEPT)
            worst = tl.min(best, axis=0)
    tl.store(candidates_ptr + row * KEPT + tl.arange(0, KEPT), best)
    tl.store(lse_ptr + row, largest + tl.log(total))


@nacre.jit
def choosing_kernel(
    candidates_ptr, lse_ptr, scores_ptr, finished_ptr, new_scores_ptr, parents_ptr, tokens_ptr, beams, end_token,
    KEPT: tl.constexpr, BEAMS: tl.constexpr,
):  # fmt: skip
    """The best continuations of all beams of one sequence. BEAMS and KEPT are powers of two from the number of beams on. A finished beam has one
    continuation, the end token, at no cost."""
    sequence = tl.program_id(0).to(tl.int64)
    beam = tl.arange(0, BEAMS)[:, None]
    number = tl.arange(0, KEPT)[None, :]
    row = sequence * beams + beam
    is_beam = beam < beams
    candidate = tl.load(candidates_ptr + row * KEPT + number, mask=is_beam, other=-0x8000000000000000)
    score = tl.load(scores_ptr + row, mask=is_beam, other=float("-inf")).to(tl.float32)
    lse = tl.load(lse_ptr + row, mask=is_beam, other=0.0)
    value = score + tl.where(lse == float("-inf"), float("-inf"), number_in(candidate) - lse)
    exists = is_beam & (candidate != -0x8000000000000000)
    if finished_ptr is not None:
        ended = tl.load(finished_ptr + row, mask=is_beam, other=0) != 0
        value = tl.where(ended, score, value)
        exists = exists & ((number == 0) | (ended == 0))
    place = beam * KEPT + number
    found = tl.where(exists, candidates_of(tl.where(value == value, value, float("-inf")), place), -0x8000000000000000)
    best = tl.topk(tl.reshape(found, (BEAMS * KEPT,)), KEPT)
    rank = tl.arange(0, KEPT)
    chosen = place_in(best)
    is_real = (rank < beams) & (best != -0x8000000000000000)
    parent = tl.where(is_real, chosen // KEPT, 0)
    token = place_in(tl.load(candidates_ptr + (sequence * beams + parent) * KEPT + chosen % KEPT, mask=is_real, other=0))
    if finished_ptr is not None:
        token = tl.where(tl.load(finished_ptr + sequence * beams + parent) != 0, end_token, token)
    out = sequence * beams + rank
    tl.store(new_scores_ptr + out, tl.where(is_real, number_in(best), float("-inf")), mask=rank < beams)
    tl.store(parents_ptr + out, parent, mask=rank < beams)
    tl.store(tokens_ptr + out, tl.where(is_real, token, end_token), mask=rank < beams)


@nacre.jit
def reordering_kernel(cache_ptr, parents_ptr, out_ptr, beams, columns, BLOCK: tl.constexpr):
    """Row (sequence, beam) of `out` is row (sequence, parents[sequence, beam]) of the cache, in pieces of BLOCK elements."""
    blocks = tl.cdiv(columns, BLOCK)
    row = (tl.program_id(0) // blocks).to(tl.int64)
    c = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    parent = row // beams * beams + tl.load(parents_ptr + row).to(tl.int64)
    tl.store(out_ptr + row * columns + c, tl.load(cache_ptr + parent * columns + c, mask=c < columns), mask=c < columns)
