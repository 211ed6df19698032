"""flash-linear-attention: linear attention of many kinds, in chunks, forward and backward."""

import torch
from torch.nn import functional

from . import HALVES, Operator


def operators():
    from fla.ops.attn import parallel_attn
    from fla.ops.delta_rule import chunk_delta_rule, fused_recurrent_delta_rule
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    from fla.ops.gla import chunk_gla, fused_recurrent_gla
    from fla.ops.hgrn import chunk_hgrn, fused_recurrent_hgrn
    from fla.ops.kda import chunk_kda
    from fla.ops.linear_attn import chunk_linear_attn
    from fla.ops.retention import chunk_retention
    from fla.ops.simple_gla import chunk_simple_gla

    def heads(draw, **others):
        """q, k and v of [batch, time, heads, width] and what else is asked for: `g` a head, `gk` an element, `beta` a head."""
        batch, time, count = draw.choice(1, 2), draw.choice(15, 63, 64, 100, 130), draw.choice(1, 2)
        width, values = draw.choice(32, 64), draw.choice(32, 64, 128)
        arguments = {"q": draw.tensor(batch, time, count, width, grad=True),
                     "k": draw.tensor(batch, time, count, width, grad=True, of=lambda x: functional.normalize(x, dim=-1)),
                     "v": draw.tensor(batch, time, count, values, grad=True)}  # fmt: skip
        if "g" in others:
            arguments["g"] = draw.tensor(batch, time, count, grad=True, dtype=torch.float32, of=lambda x: functional.logsigmoid(x) / 4)
        if "gk" in others:
            arguments["g"] = draw.tensor(batch, time, count, width, grad=True, dtype=torch.float32, of=lambda x: functional.logsigmoid(x) / 8)
        if "beta" in others:
            arguments["beta"] = draw.tensor(batch, time, count, grad=True, of=torch.sigmoid)
        return arguments

    def made(**others):
        return lambda draw: heads(draw, **others)

    def recurrence(q, k, v, g=None, beta=None, is_delta=False):
        """S = decay(S) + k (v - k S if it is a delta rule) beta; o = q S. g: log decays, of each head or of each key element."""
        scale, batch, time, count, width = q.shape[-1] ** -0.5, *q.shape
        state = q.new_zeros(batch, count, width, v.shape[-1])
        outputs = []
        for t in range(time):
            if g is not None:
                state = state * (g[:, t].exp()[..., None, None] if g.dim() == 3 else g[:, t].exp()[..., None])
            value = v[:, t]
            if is_delta:
                value = value - torch.einsum("bhk,bhkv->bhv", k[:, t], state)
            if beta is not None:
                value = value * beta[:, t, :, None]
            state = state + k[:, t, :, :, None] * value[:, :, None, :]
            outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
        return torch.stack(outputs, 1), state

    def delta(**arguments):
        return recurrence(**arguments, is_delta=True)

    def retention(q, k, v):
        count = q.shape[2]
        decay = torch.log2(1 - 2.0 ** (-5 - torch.arange(count, dtype=q.dtype, device=q.device))) * 0.6931471805599453
        return recurrence(q, k, v, decay.expand(q.shape[:3]))

    def attention(q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)

    def gated(draw):
        shape = draw.choice(1, 2), draw.choice(15, 64, 100), draw.choice(32, 100, 128)
        return {"x": draw.tensor(*shape, grad=True), "g": draw.tensor(*shape, grad=True, of=functional.logsigmoid)}

    def gated_sum(x, g):
        state, outputs = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            state = g[:, t].exp() * state + x[:, t]
            outputs.append(state)
        return torch.stack(outputs, 1)

    def with_state(function):
        return lambda **arguments: function(**arguments, output_final_state=True)

    return [
        Operator("chunk_linear_attn", made(), lambda **a: chunk_linear_attn(**a, normalize=False, output_final_state=True), recurrence, HALVES),
        Operator("chunk_retention", made(), with_state(chunk_retention), retention, HALVES),
        Operator("chunk_simple_gla", made(g=1), with_state(chunk_simple_gla), recurrence, HALVES),
        Operator("chunk_gla", made(gk=1), with_state(chunk_gla), recurrence, HALVES),
        Operator("fused_recurrent_gla", made(gk=1), lambda q, k, v, g: fused_recurrent_gla(q, k, v, gk=g, output_final_state=True), recurrence),
        Operator("chunk_delta_rule", made(beta=1), with_state(chunk_delta_rule), delta, HALVES, tolerance=1.5),
        Operator("fused_recurrent_delta_rule", made(beta=1), with_state(fused_recurrent_delta_rule), delta, HALVES, tolerance=1.5),
        Operator("chunk_gated_delta_rule", made(g=1, beta=1), with_state(chunk_gated_delta_rule), delta, HALVES, tolerance=1.5),
        Operator("chunk_kda", made(gk=1, beta=1), with_state(chunk_kda), delta, HALVES, tolerance=1.5),
        Operator("chunk_hgrn", gated, lambda x, g: chunk_hgrn(x, g)[0], gated_sum),
        Operator("fused_recurrent_hgrn", gated, lambda x, g: fused_recurrent_hgrn(x, g)[0], gated_sum),
        Operator("parallel_attn", made(), lambda q, k, v: parallel_attn(q, k, v), attention, HALVES),
    ]
