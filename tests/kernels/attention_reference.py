"""Attention in torch, written for clarity: what the kernels are compared with, in float64."""

import math

import torch


def attention(q, k, v, mask=None, causal=False, window=None, scale=None, softcap=0.0, slopes=None):
    """(out, lse) of (batch, heads, rows, size); rows that see nothing are 0."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    rows, keys = scores.shape[-2:]
    position, key = torch.arange(rows)[:, None] + keys - rows, torch.arange(keys)[None, :]
    if slopes is not None:
        scores = scores - slopes.expand(scores.shape[:2])[..., None, None] * (position - key).abs()
    visible = torch.ones(scores.shape, dtype=torch.bool)
    if mask is not None and mask.dtype == torch.bool:
        visible = visible & mask
    elif mask is not None:
        scores = scores + mask
    left, right = window or (None, None)
    if causal:
        right = 0
    if left is not None:
        visible = visible & (key >= position - left)
    if right is not None:
        visible = visible & (key <= position + right)
    scores = scores.masked_fill(~visible, -math.inf)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - lse.masked_fill(lse == -math.inf, 0)[..., None])
    return weights @ v, lse


def packed(q, k, v, q_starts, k_starts, **options):
    """The same for sequences one after the other, (rows, heads, size)."""
    out = torch.zeros(*q.shape[:2], v.shape[-1], dtype=q.dtype)
    for (q0, q1), (k0, k1) in zip(zip(q_starts, q_starts[1:]), zip(k_starts, k_starts[1:])):
        parts = [x[None, a:b].transpose(1, 2) for x, a, b in ((q, q0, q1), (k, k0, k1), (v, k0, k1))]
        out = torch.cat([out[:q0], attention(*parts, **options)[0][0].transpose(0, 1), out[q1:]])
    return out


def decoding(q, k, v, lengths, **options):
    """(batch, queries, heads, size) against the first keys of (batch, keys, key heads, size)."""
    rows = []
    for number, length in enumerate(lengths):
        parts = [x.transpose(1, 2) for x in (q[number : number + 1], k[number : number + 1, :length], v[number : number + 1, :length])]
        rows.append(attention(*parts, causal=True, **options)[0].transpose(1, 2))
    return torch.cat(rows)
