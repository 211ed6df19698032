"""Choosing the next token: penalties, temperature, top-k, top-p, min-p, and a repeatable draw. Without gradients.

The kernels are in _sampling_kernels.py.
"""

from . import _sampling_kernels as kernels
from ._arrays import (
    FLOATING, INTEGERS, as_rows, check_array, check_dtype, check_int64, check_integer, check_number, check_shape, contiguous, empty, is_array,
    row_stride, zeros,
)  # fmt: skip
from ._blocks import power_of_two, runs_on_host
from ._operator import Operator

_MOST_COLUMNS = 1 << 24  # what numbers of float32 count exactly


def sample(
    logits, *, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, token_counts=None, repetition_penalty=1.0, presence_penalty=0.0, frequency_penalty=0.0,
    seed=0, offset=0,
):  # fmt: skip
    """One token of each row, (rows,) int64, drawn from softmax(logits / temperature) after penalties and filters.

    logits: (rows, vocabulary), any float type, computed in float32. NaN counts as -inf; a row without anything above -inf gives -1. Each setting is a
    number or an array of one number a row, and they apply in this order:

    - penalties, of tokens that `token_counts`, (rows, vocabulary) int32, has counted (see `count_tokens`): a logit above 0 is divided by
      `repetition_penalty`, others are multiplied; `presence_penalty` and count * `frequency_penalty` are taken off.
    - `temperature`; 0 takes the largest logit, of equal ones the first, and leaves out the rest.
    - `min_p`: drops tokens less likely than min_p times the likeliest. 0 keeps all.
    - `top_k`: keeps the k largest logits. 0 keeps all.
    - `top_p`: keeps the likeliest tokens whose probabilities, among those kept so far, add up to top_p. 1 keeps all.

    Logits equal to the last one kept by top_k or top_p are kept too. The same `seed` and `offset` (the number of the step, say) give the same
    tokens on every target, up to the rounding of exponentials. One seed gives every row numbers of its own; an array of seeds, one a row, makes
    a row's token independent of the place of the row.

        tokens = nacre.kernels.sample(torch.randn(4, 32000), temperature=0.8, top_k=50, top_p=0.9, seed=1234, offset=17)
    """
    check_array("logits", logits)
    check_shape("logits", logits, (None, None))
    settings, flags = _settings(logits, temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, 0)
    for name, value in (("seed", seed), ("offset", offset)):
        if is_array(value):
            check_array(name, value, logits, "logits")
            check_dtype(name, value, INTEGERS)
            check_shape(name, value, (logits.shape[0],), "one number a row")
        else:
            check_int64(name, value)
    pairs = zeros(logits, (logits.shape[0] if is_array(seed) or is_array(offset) else 1, 2), "int64")
    pairs[:, 0], pairs[:, 1] = seed, offset
    return _sample(logits, settings, token_counts, pairs, is_array(seed), *flags)


def greedy(logits):
    """The place of the largest logit of each row, (rows,) int64; of equal ones the first, -1 where nothing is above -inf. NaN counts as -inf.

        tokens = nacre.kernels.greedy(torch.randn(4, 32000))
    """
    return sample(logits, temperature=0.0)


def filter_logits(
    logits, *, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, token_counts=None, repetition_penalty=1.0, presence_penalty=0.0, frequency_penalty=0.0
):
    """What `sample` draws from: the logits after penalties and temperature, -inf where a filter drops them. A temperature is above 0.

        kept = nacre.kernels.filter_logits(torch.randn(4, 32000), top_k=50)
    """
    check_array("logits", logits)
    check_shape("logits", logits, (None, None))
    settings, flags = _settings(logits, temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty, None)
    return _filter(logits, settings, token_counts, *flags)


def count_tokens(tokens, vocabulary, lengths=None):
    """How often each token occurs in each row: (rows, vocabulary) int32.

    tokens: (rows, most) int32 or int64; numbers outside the vocabulary, such as padding of -1, are not counted. `lengths`: (rows,), how many
    tokens of a row count.

        counts = nacre.kernels.count_tokens(torch.tensor([[5, 5, 2, -1]]), 8)
    """
    return _count(tokens, vocabulary, lengths)


# ---- settings


def _settings(logits, temperature, top_k, top_p, min_p, repetition, presence, frequency, coldest):
    """((rows, 7) numbers, whether there is a top-k, a top-p, a min-p)."""
    values = (
        ("temperature", temperature, 0, None), ("top_k", top_k, 0, None), ("top_p", top_p, 0, 1), ("min_p", min_p, 0, 1),
        ("repetition_penalty", repetition, None, None), ("presence_penalty", presence, None, None), ("frequency_penalty", frequency, None, None),
    )  # fmt: skip
    settings = empty(logits, (logits.shape[0], len(values)), "float32")
    for column, (name, value, least, most) in enumerate(values):
        if is_array(value):
            check_array(name, value, logits, "logits")
            check_shape(name, value, (logits.shape[0],), "one number a row")
        else:
            check_number(name, value, least=least, most=most)
        settings[:, column] = value
    if not is_array(temperature) and temperature == 0 and coldest is None:
        raise ValueError("temperature is 0, which has no filtered logits: take greedy()")
    if not is_array(repetition) and repetition <= 0:
        raise ValueError(f"repetition_penalty is {repetition}; it must be above 0")
    return settings, (is_array(top_k) or top_k > 0, is_array(top_p) or top_p < 1, is_array(min_p) or min_p > 0)


def _check(logits, counts):
    check_array("logits", logits)
    check_dtype("logits", logits, FLOATING)
    check_shape("logits", logits, (None, None))
    if logits.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"logits has {logits.shape[1]} columns; up to {_MOST_COLUMNS} are supported")
    if counts is not None:
        check_array("token_counts", counts, logits, "logits")
        check_dtype("token_counts", counts, ("int32",))
        check_shape("token_counts", counts, tuple(logits.shape), "that of logits")


def _block(logits):
    return {"BLOCK": min(4096 if runs_on_host(logits) else 1024, max(16, power_of_two(logits.shape[1]))), "num_warps": 4}


# ---- the operators


def _allocate_sample(logits, settings, counts, seeds, has_seeds, has_top_k, has_top_p, has_min_p):
    _check(logits, counts)
    return empty(logits, (logits.shape[0],), "int64")


def _launch_sample(out, logits, settings, counts, seeds, has_seeds, has_top_k, has_top_p, has_min_p):
    rows = as_rows(logits)
    kernels.sampling_kernel[(rows.shape[0],)](
        rows, settings, contiguous(counts), seeds, out, row_stride(rows), rows.shape[1],
        HAS_TOP_K=has_top_k, HAS_TOP_P=has_top_p, HAS_MIN_P=has_min_p, HAS_PAIRS=seeds.shape[0] == rows.shape[0], HAS_SEEDS=has_seeds,
        **_block(rows),
    )  # fmt: skip


def _allocate_filter(logits, settings, counts, has_top_k, has_top_p, has_min_p):
    _check(logits, counts)
    return empty(logits, logits.shape)


def _launch_filter(out, logits, settings, counts, has_top_k, has_top_p, has_min_p):
    rows = as_rows(logits)
    kernels.filtering_kernel[(rows.shape[0],)](
        rows, settings, contiguous(counts), out, row_stride(rows), rows.shape[1],
        HAS_TOP_K=has_top_k, HAS_TOP_P=has_top_p, HAS_MIN_P=has_min_p, **_block(rows),
    )  # fmt: skip


def _allocate_count(tokens, vocabulary, lengths):
    check_array("tokens", tokens)
    check_dtype("tokens", tokens, INTEGERS)
    check_shape("tokens", tokens, (None, None))
    check_integer("vocabulary", vocabulary, least=1)
    if lengths is not None:
        check_array("lengths", lengths, tokens, "tokens")
        check_dtype("lengths", lengths, INTEGERS)
        check_shape("lengths", lengths, (tokens.shape[0],), "one number a row")
    return zeros(tokens, (tokens.shape[0], vocabulary), "int32")


def _launch_count(out, tokens, vocabulary, lengths):
    rows = as_rows(tokens)
    kernels.counting_kernel[(rows.shape[0],)](rows, contiguous(lengths), out, row_stride(rows), rows.shape[1], vocabulary, BLOCK=256)


_FLAGS = "bool has_top_k, bool has_top_p, bool has_min_p"
_sample = Operator(
    "sampled", f"(Tensor logits, Tensor settings, Tensor? token_counts, Tensor seeds, bool has_seeds, {_FLAGS}) -> Tensor",
    _allocate_sample, _launch_sample,
)  # fmt: skip
_filter = Operator("filtered_logits", f"(Tensor logits, Tensor settings, Tensor? token_counts, {_FLAGS}) -> Tensor", _allocate_filter, _launch_filter)
_count = Operator("counted_tokens", "(Tensor tokens, int vocabulary, Tensor? lengths) -> Tensor", _allocate_count, _launch_count)
