"""sageattention: attention whose products of queries and keys are of int8."""

import torch
from torch.nn import functional

from . import HALVES, Operator


def operators():
    from sageattention.attn_qk_int8_per_block import forward
    from sageattention.attn_qk_int8_per_block_causal import forward as forward_causal
    from sageattention.quant_per_block import per_block_int8

    def make(draw):
        shape = draw.choice(1, 2), draw.choice(1, 2), draw.size(64, 100, 128, 130), draw.choice(64, 128)
        return {"q": draw.tensor(*shape), "k": draw.tensor(*shape), "v": draw.tensor(*shape, dtype=torch.float16)}

    def call(is_causal):
        def attention(q, k, v):
            q8, q_scale, k8, k_scale = per_block_int8(q, k)
            return (forward_causal if is_causal else forward)(q8, k8, v, q_scale, k_scale, output_dtype=q.dtype)
        return attention

    def reference(is_causal):
        return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    def unmasked(error, arguments):
        return "keys past the end of the last block of 64 are not masked: each counts with a score of 0" if arguments["k"].shape[2] % 64 else None

    def past_the_end(error, arguments):
        blocks = -(-arguments["k"].shape[2] // 64)
        return "the last block of 128 queries reads a second scale of keys, past the end of K_scale, when the number of those is odd" if blocks % 2 else None

    return [
        Operator("attention", make, call(False), reference(False), HALVES, tolerance=8, theirs=unmasked),
        Operator("causal_attention", make, call(True), reference(True), HALVES, tolerance=8, theirs=past_the_end),
    ]
