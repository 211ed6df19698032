"""A decoder of Llama's shape: grouped heads, rotary positions, RMS norms, SwiGLU. Weights are random or come from safetensors files.

One function, `next_logits`, serves prompts and newest tokens of many sequences at once: it computes the tokens of each that the cache lacks.
"""

import dataclasses
import json
from pathlib import Path

import torch

import nacre.kernels as nk

from . import safetensors_file


@dataclasses.dataclass
class Config:
    """The names are those of config.json beside the weights."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    max_position_embeddings: int = 2048
    tie_word_embeddings: bool = False

    @classmethod
    def from_json(cls, fields):
        if fields.get("model_type", "llama") != "llama":
            raise ValueError(f"the model is of the type {fields['model_type']!r}; llama is supported")
        rope = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind != "default":
            raise ValueError(f"positions are embedded by rope_type {kind!r}; default is supported")
        if fields.get("attention_bias") or fields.get("mlp_bias") or fields.get("hidden_act", "silu") != "silu":
            raise ValueError("the model has biases, or another activation than silu: neither is supported")
        fields = dict(fields)
        fields.setdefault("rope_theta", rope.get("rope_theta", 10000.0))
        fields["num_key_value_heads"] = fields.get("num_key_value_heads") or fields["num_attention_heads"]
        fields["head_dim"] = fields.get("head_dim") or fields["hidden_size"] // fields["num_attention_heads"]
        return cls(**{field.name: fields[field.name] for field in dataclasses.fields(cls) if field.name in fields})

    def to_json(self):
        return {"model_type": "llama", **dataclasses.asdict(self)}


def shapes(config):
    """Name -> shape of every weight, named as in the files of Llama."""
    width, size = config.hidden_size, config.head_dim
    found: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (config.vocab_size, width)}
    for index in range(config.num_hidden_layers):
        layer = f"model.layers.{index}."
        found |= {
            layer + "input_layernorm.weight": (width,),
            layer + "self_attn.q_proj.weight": (config.num_attention_heads * size, width),
            layer + "self_attn.k_proj.weight": (config.num_key_value_heads * size, width),
            layer + "self_attn.v_proj.weight": (config.num_key_value_heads * size, width),
            layer + "self_attn.o_proj.weight": (width, config.num_attention_heads * size),
            layer + "post_attention_layernorm.weight": (width,),
            layer + "mlp.gate_proj.weight": (config.intermediate_size, width),
            layer + "mlp.up_proj.weight": (config.intermediate_size, width),
            layer + "mlp.down_proj.weight": (width, config.intermediate_size),
        }
    found["model.norm.weight"] = (width,)
    if not config.tie_word_embeddings:
        found["lm_head.weight"] = (config.vocab_size, width)
    return found


def random_weights(config, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in shapes(config).items():
        values = torch.randn(shape, generator=generator)
        weights[name] = (1 + 0.1 * values if len(shape) == 1 else values / shape[1] ** 0.5).to(dtype)
    return weights


def load(folder):
    """(config, weights) of a folder with config.json and one or more safetensors files."""
    folder = Path(folder)
    weights = {}
    for path in sorted(folder.glob("*.safetensors")):
        weights |= safetensors_file.load(path)
    return Config.from_json(json.loads((folder / "config.json").read_text())), weights


def save(folder, config, weights):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config.to_json(), indent=1))
    safetensors_file.save(folder / "model.safetensors", weights)


class Linear:
    """x @ weight.T, with a weight of floats, or quantized to "q4_0" or "q8_0"."""

    def __init__(self, weight, *others, format=None):
        weight = torch.cat((weight, *others)) if others else weight
        self.format = format
        self.weight = nk.quantize(weight, format=format)[0] if format else weight

    def __call__(self, x):
        if self.format:
            return nk.quantized_matmul(x, self.weight, format=self.format)
        return nk.matmul(x, self.weight.T)


class Layer:
    def __init__(self, weights, index, format):
        def named(*names):
            return [weights[f"model.layers.{index}.{name}.weight"] for name in names]

        (self.input_norm,), (self.output_norm,) = named("input_layernorm"), named("post_attention_layernorm")
        # Products of the same input are one product.
        self.query_key_value = Linear(*named("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), format=format)
        self.attention_output = Linear(*named("self_attn.o_proj"), format=format)
        self.gate_up = Linear(*named("mlp.gate_proj", "mlp.up_proj"), format=format)
        self.down = Linear(*named("mlp.down_proj"), format=format)


class Decoder:
    """`format`: "q4_0" or "q8_0" to multiply with quantized weights, None for the weights as they are."""

    def __init__(self, config, weights, *, format=None):
        for name, shape in shapes(config).items():
            if name not in weights:
                raise ValueError(f"the weights have no {name}")
            if tuple(weights[name].shape) != shape:
                raise ValueError(f"{name} has shape {tuple(weights[name].shape)}; {shape} is expected")
        self.config = config
        self.embedding = weights["model.embed_tokens.weight"]
        self.layers = [Layer(weights, index, format) for index in range(config.num_hidden_layers)]
        self.norm = weights["model.norm.weight"]
        self.output = Linear(self.embedding if config.tie_word_embeddings else weights["lm_head.weight"], format=format)
        self.cos, self.sin = nk.rotary_tables(config.max_position_embeddings, config.head_dim, base=config.rope_theta, like=self.embedding)

    @torch.no_grad()
    def next_logits(self, cache, sequences):
        """(sequences, vocabulary): what follows the last token of each. Every sequence has its pages (`cache.reserve`) and a token that is not cached."""
        device = self.embedding.device
        starts, ends = ([f(sequence) for sequence in sequences] for f in (lambda s: s.cached, len))
        counts = [end - start for start, end in zip(starts, ends)]
        tokens = torch.tensor([token for sequence in sequences for token in sequence.tokens[sequence.cached :]], device=device)
        positions = torch.cat([torch.arange(start, end) for start, end in zip(starts, ends)]).to(device)
        slots = torch.cat([cache.slots(*place) for place in zip(sequences, starts, ends)]).to(device)
        attend = self._attention_of_one(cache, sequences, ends) if max(counts) == 1 else self._attention_of_many(cache, sequences, counts, ends)
        rows = self._forward(cache, tokens, positions, slots, attend)
        last = rows if max(counts) == 1 else rows[torch.tensor(counts, device=device).cumsum(0) - 1]
        for sequence in sequences:
            cache.computed(sequence)
        return self.output(last)

    def _forward(self, cache, tokens, positions, slots, attend):
        config = self.config
        heads, key_heads = config.num_attention_heads, config.num_key_value_heads
        stream, branch = self.embedding[tokens], None
        for index, layer in enumerate(self.layers):
            normal, stream = self._added_and_normalized(stream, branch, layer.input_norm)
            split = layer.query_key_value(normal).unflatten(1, (heads + 2 * key_heads, config.head_dim))
            turned = nk.rotary(split[:, : heads + key_heads], self.cos, self.sin, positions)
            q, k, v = turned[:, :heads], turned[:, heads:], split[:, heads + key_heads :]
            cache.write(index, slots, k, v)
            branch = layer.attention_output(attend(index, q, k, v).flatten(1))
            normal, stream = self._added_and_normalized(stream, branch, layer.output_norm)
            branch = layer.down(nk.swiglu(*layer.gate_up(normal).chunk(2, dim=1)))
        return self._added_and_normalized(stream, branch, self.norm)[0]

    def _added_and_normalized(self, stream, branch, weight):
        if branch is None:
            return nk.rms_norm(stream, weight, eps=self.config.rms_norm_eps), stream
        return nk.rms_norm(branch, weight, residual=stream, eps=self.config.rms_norm_eps)

    def _attention_of_one(self, cache, sequences, lengths):
        """Of the newest token of each sequence, which reads its keys where they lie in pages."""
        tables, lengths = cache.tables(sequences).to(self.embedding.device), torch.tensor(lengths, device=self.embedding.device)
        return lambda layer, q, k, v: nk.paged_attention(q, cache.keys[layer], cache.values[layer], tables, lengths)

    def _attention_of_many(self, cache, sequences, counts, lengths):
        """Of several tokens of each sequence, the last of which stands at its last key."""
        device = self.embedding.device
        q_starts, k_starts = (torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32) for lengths in (counts, lengths))
        most = {"max_queries": max(counts), "max_keys": max(lengths)}
        if counts == lengths:  # all keys are new ones
            return lambda layer, q, k, v: nk.attention_varlen(q, k, v, q_starts, k_starts, **most, causal=True)
        slots = torch.cat([cache.slots(sequence, 0, len(sequence)) for sequence in sequences]).to(device)

        def attend(layer, q, k, v):
            keys, values = (cache.rows(pool, layer)[slots] for pool in (cache.keys, cache.values))
            return nk.attention_varlen(q, keys, values, q_starts, k_starts, **most, causal=True)

        return attend
