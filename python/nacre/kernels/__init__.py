"""Operators of neural networks, each a kernel in the language with the Python function that launches it.

    import nacre.kernels as nk

    y = nk.rms_norm(x, weight)

A function takes torch tensors or NumPy arrays, all of one kind, and gives the same kind back. On torch tensors it is an operator of
torch: gradients flow through it and `torch.compile(fullgraph=True)` keeps it in its graph. The texts are the same on every target.

    attention attention_varlen                              with masks, windows, heads that share keys
    decode_attention paged_attention cascade_attention      from caches of keys, contiguous and in pages
    merge_attention                                         of parts of the keys
    matmul                                                  with bias, activation, residual
    quantized_matmul quantize dequantize from_gptq          weights of 4 and 8 bits
    route sort_by_expert dispatch collect grouped_matmul    mixtures of experts
    sample greedy filter_logits count_tokens                the next token
    beam_search_step reorder_cache                          a step of beam search
    layer_norm rms_norm rms_norm_quantized group_norm       norms over rows, and over groups of channels
    softmax log_softmax cross_entropy                       of rows
    linear_cross_entropy                                    without the memory of all logits
    gelu silu swiglu geglu bias_activation dropout          elementwise
    rotary rotary_tables                                    rotary position embedding
    adamw sgd                                               steps of optimizers, in place
    patch                                                   a model of transformers, to compute with these

Importing this module needs neither torch nor any kernel: a family is imported when one of its functions is asked for.
"""

import importlib
from typing import Any

# Module of this package -> its functions.
FAMILIES = {
    "norms": ("layer_norm", "rms_norm", "rms_norm_quantized"),
    "norms_of_groups": ("group_norm",),
    "losses": ("softmax", "log_softmax", "cross_entropy"),
    "linear_losses": ("linear_cross_entropy",),
    "activations": ("gelu", "silu", "swiglu", "geglu", "bias_activation", "dropout"),
    "rotary_embedding": ("rotary", "rotary_tables"),
    "optimizers": ("adamw", "sgd"),
    "softmax_attention": ("attention", "attention_varlen"),
    "decoding": ("decode_attention", "paged_attention", "cascade_attention", "merge_attention"),
    "products": ("matmul",),
    "quantized": ("quantized_matmul", "quantize", "dequantize", "from_gptq"),
    "experts": ("route", "sort_by_expert", "dispatch", "collect", "grouped_matmul"),
    "sampling": ("sample", "greedy", "filter_logits", "count_tokens"),
    "beam_search": ("beam_search_step", "reorder_cache"),
    "patching": ("patch",),
}

_MODULES = {name: module for module, names in FAMILIES.items() for name in names}

__all__ = ["FAMILIES", *_MODULES]


def __getattr__(name) -> Any:
    module = _MODULES.get(name, name if name in FAMILIES else None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    family = importlib.import_module("." + module, __name__)
    value = family if module == name else getattr(family, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *FAMILIES, *_MODULES})
