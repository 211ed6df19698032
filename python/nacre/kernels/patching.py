"""Puts these operators in the place of those of a model of Hugging Face's transformers: attention, norms, gated layers, activations, the loss.

A module keeps its parameters, its name and its hooks; its class becomes a subclass with another `forward`. Attention and loss go through the
places that transformers has for them: an attention interface and the model's loss function.
"""

import functools
import importlib

from .activations import geglu, gelu, silu, swiglu
from .decoding import decode_attention
from .losses import cross_entropy
from .norms import layer_norm, rms_norm
from .softmax_attention import attention

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "bert", "vit")
ATTENTION = "nacre"


def patch(model):
    """Makes a model of transformers compute with these operators, in place, and gives it back.

    model: of the families Llama, Mistral, Qwen (2, 3), Gemma (1, 2, 3), BERT and ViT, with any head. What is replaced: attention, RMSNorm and
    LayerNorm, SwiGLU and GeGLU layers, GELU and SiLU, and the loss of causal language models. Parameters stay the same objects, so that
    checkpoints, optimizers and adapters around its linear layers work as before. Results and gradients are the same up to rounding.

    Attention has no dropout and gives no weights of attention: asked for either, the model raises an error.

        model = nacre.kernels.patch(transformers.AutoModelForCausalLM.from_pretrained(folder))
    """
    torch, transformers = _imported("torch"), _imported("transformers")
    if not isinstance(model, transformers.PreTrainedModel):
        raise TypeError(f"model is a {type(model).__name__}; a model of transformers is expected")
    kind = model.config.model_type
    if kind not in MODEL_TYPES:
        raise ValueError(f"model is of the type {kind!r}; {', '.join(MODEL_TYPES)} are supported")
    # All modules are looked at before the first one changes.
    changes = [(module, replaced) for module in model.modules() if (replaced := _forward_of(torch, module)) is not None]
    _register_attention(transformers)
    model.set_attn_implementation(ATTENTION)
    for module, forward in changes:
        module.__class__ = _subclass(type(module), forward)
    if model.loss_function is importlib.import_module("transformers.loss.loss_utils").ForCausalLMLoss:
        model.loss_function = _causal_loss
    return model


def _imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"nacre.kernels.patch changes models of transformers: {name} is missing (pip install {name})") from None


@functools.cache
def _subclass(cls, forward):
    return type(cls)(f"Nacre{cls.__name__}", (cls,), {"forward": forward, "__module__": __name__, "__doc__": f"{cls.__name__} by nacre.kernels."})


# ---- modules


def _rms_norm(self, x):
    return rms_norm(x, self.weight, eps=self.variance_epsilon)


def _rms_norm_from_one(self, x):
    return rms_norm(x, 1.0 + self.weight.float(), eps=self.eps)


def _layer_norm(self, x):
    return layer_norm(x, self.weight, self.bias, eps=self.eps)


def _swiglu(self, x):
    return self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))


def _geglu(self, x):
    return self.down_proj(geglu(self.gate_proj(x), self.up_proj(x)))


def _geglu_tanh(self, x):
    return self.down_proj(geglu(self.gate_proj(x), self.up_proj(x), "tanh"))


def _silu(self, x):
    return silu(x)


def _gelu(self, x):
    return gelu(x)


def _gelu_tanh(self, x):
    return gelu(x, "tanh")


# By the names of their classes, which say what they compute.
_FORWARDS = {
    **dict.fromkeys(("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm"), _rms_norm),
    **dict.fromkeys(("GemmaRMSNorm", "Gemma2RMSNorm", "Gemma3RMSNorm"), _rms_norm_from_one),
    "SiLUActivation": _silu,
    "GELUActivation": _gelu,
    **dict.fromkeys(("GELUTanh", "NewGELUActivation"), _gelu_tanh),
}
_GATED = ("LlamaMLP", "MistralMLP", "Qwen2MLP", "Qwen3MLP", "GemmaMLP", "Gemma2MLP", "Gemma3MLP")
_GATES = {"SiLUActivation": _swiglu, "SiLU": _swiglu, "GELUActivation": _geglu, "GELUTanh": _geglu_tanh, "NewGELUActivation": _geglu_tanh}


def _forward_of(torch, module):
    """The function that takes the place of a module's `forward`, or None."""
    name = type(module).__name__
    if type(module) is torch.nn.LayerNorm:
        return _layer_norm if len(module.normalized_shape) == 1 else None
    if name not in _GATED:
        return _FORWARDS.get(name)
    activation = type(module.act_fn).__name__
    if activation not in _GATES:
        raise ValueError(f"{name} has the activation {activation}; {', '.join(_GATES)} are supported")
    return _GATES[activation]


# ---- attention


def _register_attention(transformers):
    masks = importlib.import_module("transformers.masking_utils")
    transformers.AttentionInterface.register(ATTENTION, _attention)
    # Masks as torch's attention gets them: booleans, and none where `is_causal` or nothing says the same.
    transformers.AttentionMaskInterface.register(ATTENTION, masks.ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


_REFUSED = ("position_bias", "s_aux", "cache", "output_attentions")


def _attention(module, query, key, value, attention_mask, dropout=0.0, scaling=None, softcap=None, is_causal=None, **options):
    """What transformers calls: (batch, heads, positions, size) to (batch, positions, heads, size), and no weights of attention."""
    if dropout:
        raise ValueError(
            f"{type(module).__name__} has a dropout of {dropout} in its attention, which nacre.kernels.attention has not: set it to 0 in the "
            "configuration, or call model.eval()"
        )
    for name in _REFUSED:
        if options.get(name) is not None and options[name] is not False:
            raise ValueError(f"nacre.kernels.attention takes no {name}: load the model with attn_implementation='eager' for it")
    queries, keys = query.shape[2], key.shape[2]
    if queries == 1 and attention_mask is None and not _has_gradient(query, key, value):  # the newest token
        turned = (x.transpose(1, 2) for x in (query, key, value))
        return decode_attention(*turned, scale=scaling, softcap=softcap or 0.0), None
    causal = attention_mask is None and queries > 1 and (module.is_causal if is_causal is None else is_causal)
    if causal and keys > queries:  # a cache of fixed size, whose first part is filled by these queries
        key, value = key[:, :, :queries], value[:, :, :queries]
    out = attention(query, key, value, mask=attention_mask, causal=causal, scale=scaling, softcap=softcap or 0.0)
    return out.transpose(1, 2).contiguous(), None


def _has_gradient(*tensors):
    import torch

    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)


# ---- loss


def _causal_loss(logits, labels, vocab_size, num_items_in_batch=None, ignore_index=-100, shift_labels=None, **options):
    """The mean over tokens of the cross entropy of each with the one that follows; with `num_items_in_batch`, the sum divided by that."""
    if shift_labels is None:
        following = labels.new_full(labels.shape, ignore_index)
        following[..., :-1] = labels[..., 1:]
        shift_labels = following
    rows = logits.float().reshape(-1, vocab_size)
    loss = cross_entropy(rows, shift_labels.reshape(-1).to(rows.device), ignore_index=ignore_index, reduction="mean" if num_items_in_batch is None else "sum")
    return loss if num_items_in_batch is None else loss / num_items_in_batch
