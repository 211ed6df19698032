"""A step of beam search, and the reordering of caches by it. Without gradients. The kernels are in _beam_kernels.py."""

import math

from . import _beam_kernels as kernels
from ._arrays import (
    FLOATING, INTEGERS, as_rows, check_array, check_dtype, check_number, check_int64, check_shape, check_values,
    contiguous, empty, is_numpy, row_stride, size,
)  # fmt: skip
from ._blocks import cdiv, elements_block, power_of_two
from ._operator import Operator

_MOST_BEAMS = 64


def beam_search_step(scores, logits, *, finished=None, end_token=0):
    """The best continuations of the beams of each sequence: (scores, parents, tokens), best first, each (sequences, beams).

    scores: (sequences, beams) float32, the sum of log-probabilities of each beam; -inf for beams that do not count, as all but the first in the
    first step. logits: (sequences, beams, vocabulary), any float type; NaN counts as -inf. `finished`: (sequences, beams) booleans: such a beam has one
    continuation, `end_token`, at no cost. Up to 64 beams.

    scores: float32. parents: int64, the beam that is continued. tokens: int64. Of equal scores the earlier beam and the better token win.

        scores, parents, tokens = nacre.kernels.beam_search_step(torch.zeros(2, 4), torch.randn(2, 4, 32000))
    """
    return _step(scores, logits, finished, end_token)


def reorder_cache(cache, parents):
    """What each beam carries along, after a step: result[s, b] = cache[s, parents[s, b]].

    cache: (sequences, beams, ...), any type; a cache of keys, a table of blocks, the tokens so far. parents: (sequences, beams) int32 or int64, those
    of `beam_search_step`.

        tables = nacre.kernels.reorder_cache(tables, parents)
    """
    return _reorder(cache, parents)


def _allocate_step(scores, logits, finished, end_token):
    check_array("scores", scores)
    check_array("logits", logits, scores, "scores")
    check_dtype("logits", logits, FLOATING)
    check_shape("logits", logits, (None, None, None))
    sequences, beams, columns = logits.shape
    check_number("the number of beams", beams, least=1, most=_MOST_BEAMS)
    check_number("the size of the vocabulary", columns, least=1)
    check_dtype("scores", scores, ("float32",))
    check_shape("scores", scores, (sequences, beams), "as logits has")
    check_int64("end_token", end_token)
    if finished is not None:
        check_array("finished", finished, logits, "logits")
        check_dtype("finished", finished, ("bool",))
        check_shape("finished", finished, (sequences, beams), "as logits has")
    return empty(scores, (sequences, beams)), empty(scores, (sequences, beams), "int64"), empty(scores, (sequences, beams), "int64")


def _launch_step(outputs, scores, logits, finished, end_token):
    rows = as_rows(logits)
    sequences, beams, _ = logits.shape
    kept = power_of_two(beams)
    candidates = empty(scores, (sequences * beams, kept), "int64")
    lse = empty(scores, (sequences * beams,))
    kernels.continuations_kernel[(sequences * beams,)](
        rows, candidates, lse, row_stride(rows), rows.shape[1], KEPT=kept, BLOCK=max(kept, 16, min(1024, power_of_two(rows.shape[1])))
    )
    kernels.choosing_kernel[(sequences,)](
        candidates, lse, contiguous(scores), contiguous(finished), *outputs, beams, end_token, KEPT=kept, BEAMS=power_of_two(beams)
    )


def _allocate_reorder(cache, parents):
    check_array("cache", cache)
    check_array("parents", parents, cache, "cache")
    check_dtype("parents", parents, INTEGERS)
    check_shape("parents", parents, (None, None))
    if tuple(cache.shape[:2]) != tuple(parents.shape):
        raise ValueError(f"cache has shape {tuple(cache.shape)}; it must begin with that of parents, {tuple(parents.shape)}")
    return empty(cache, cache.shape)


def _launch_reorder(out, cache, parents):
    if size(out) == 0:
        return
    check_values("parents", parents, 0, parents.shape[1], "a beam of the same sequence")
    columns = math.prod(cache.shape[2:])
    block = elements_block(cache, columns)
    kernels.reordering_kernel[(cdiv(columns, block["BLOCK"]) * size(parents),)](
        _bytes_as_numbers(contiguous(cache)), contiguous(parents), _bytes_as_numbers(out), parents.shape[1], columns, **block
    )


def _bytes_as_numbers(x):
    """Elements as integers of their width, which every kernel can copy."""
    kind = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}.get(x.itemsize)
    if kind is None:
        raise TypeError(f"cache has elements of {x.itemsize} bytes; 1, 2, 4 or 8 are supported")
    if is_numpy(x):
        return x.view(kind)
    import torch

    return x.view(getattr(torch, kind))


_step = Operator(
    "beam_search_step", "(Tensor scores, Tensor logits, Tensor? finished, int end_token) -> (Tensor, Tensor, Tensor)", _allocate_step, _launch_step
)
_reorder = Operator("reordered_cache", "(Tensor cache, Tensor parents) -> Tensor", _allocate_reorder, _launch_reorder)
