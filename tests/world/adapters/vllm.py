"""vllm: attention over paged memory, products of quantized weights, state-space models. Its kernels are imported one module at a time."""

import enum
from unittest.mock import Mock

import packages
import torch
from torch.nn import functional

from . import HALVES, Operator
from .stand_ins import bare_packages, stand_in


class Platform:
    """A GPU of NVIDIA, whatever it runs on."""

    fp8_dtype = staticmethod(lambda: torch.float8_e4m3fn)

    def __getattr__(self, name):
        return lambda *arguments, **keywords: name in ("is_cuda_alike", "has_device_capability")


def _imports():
    import triton
    from triton import language as tl
    from triton.language.extra import libdevice

    layers = "vllm.model_executor.layers"
    bare_packages(packages.folder(packages.PACKAGES["vllm"]), "vllm", "vllm.utils", "vllm.v1", "vllm.v1.attention", "vllm.v1.attention.ops", "vllm.model_executor",
                  layers, f"{layers}.mamba", f"{layers}.mamba.ops", f"{layers}.quantization", f"{layers}.quantization.compressed_tensors",
                  f"{layers}.quantization.utils", f"{layers}.fused_moe")  # fmt: skip
    stand_in("vllm.platforms", current_platform=Platform())
    stand_in("vllm.envs", VLLM_BATCH_INVARIANT=False, VLLM_TUNED_CONFIG_FOLDER=None)
    stand_in("vllm.logger", init_logger=lambda name: Mock())
    stand_in("vllm._custom_ops")
    stand_in("vllm.triton_utils", HAS_TRITON=True, triton=triton, tl=tl, tldevice=libdevice, use_tensor_descriptor=bool,
             LOG2E=1.4426950408889634, LOGE2=0.6931471805599453)  # fmt: skip
    stand_in("vllm.triton_utils.allocation", set_triton_allocator=lambda device: None)
    stand_in("vllm.utils.platform_utils", get_device_name_as_file_name=lambda: "gpu", num_compute_units=lambda: 4)
    stand_in("vllm.v1.attention.backends")
    stand_in("vllm.v1.attention.backends.utils", PAD_SLOT_ID=-1, NULL_BLOCK_ID=0)
    names = "NONE FP8_PER_TENSOR INT8_PER_TOKEN_HEAD FP8_PER_TOKEN_HEAD INT4_PER_TOKEN_HEAD"
    stand_in("vllm.v1.kv_cache_interface", KVQuantMode=enum.IntEnum("KVQuantMode", names, start=0))


def operators():
    _imports()
    from vllm.model_executor.layers.lightning_attn import lightning_attention
    from vllm.model_executor.layers.mamba.ops.causal_conv1d import causal_conv1d_fn
    from vllm.model_executor.layers.mamba.ops.layernorm_gated import rms_norm_gated
    from vllm.model_executor.layers.mamba.ops.mamba_ssm import selective_state_update
    from vllm.model_executor.layers.mamba.ops.ssd_combined import mamba_chunk_scan_combined_varlen
    from vllm.model_executor.layers.quantization.awq_triton import awq_dequantize_triton, awq_gemm_triton
    from vllm.model_executor.layers.quantization.compressed_tensors.triton_scaled_mm import triton_scaled_mm
    from vllm.model_executor.layers.quantization.utils.int8_utils import per_token_quant_int8
    from vllm.v1.attention.ops.triton_decode_attention import decode_attention_fwd
    from vllm.v1.attention.ops.triton_merge_attn_states import merge_attn_states
    from vllm.v1.attention.ops.triton_prefill_attention import context_attention_fwd
    from vllm.v1.attention.ops.triton_unified_attention import unified_attention

    def causal(q, k, v, is_causal=True, window=0):
        """q [queries, heads, width], the last of the keys' positions; k and v [keys, fewer heads, width]."""
        groups = q.shape[1] // k.shape[1]
        k, v = (x.repeat_interleave(groups, 1).transpose(0, 1) for x in (k, v))
        scores = q.transpose(0, 1) @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        row = torch.arange(q.shape[0], device=q.device)[:, None] + k.shape[1] - q.shape[0]
        column = torch.arange(k.shape[1], device=q.device)
        is_seen = column <= row if is_causal else torch.ones_like(column <= row)
        if window:
            is_seen &= column > row - window
        return (scores.masked_fill(~is_seen, -torch.inf).softmax(-1) @ v).transpose(0, 1)

    def packed(draw):
        lengths = [draw.size(1, 17, 64, 90) for _ in range(draw.choice(1, 2, 3))]
        heads, groups, width = draw.choice(1, 2), draw.choice(1, 3, 4), draw.choice(32, 64, 128)
        total = sum(lengths)
        return {"q": draw.tensor(total, heads * groups, width), "k": draw.tensor(total, heads, width), "v": draw.tensor(total, heads, width),
                "lengths": lengths, "is_causal": draw.choice(True, False)}  # fmt: skip

    def starts_of(lengths, device):
        return torch.tensor([0, *lengths], device=device, dtype=torch.int32).cumsum(0, dtype=torch.int32)

    def prefill(q, k, v, lengths, is_causal):
        out = torch.empty_like(q)
        counts = torch.tensor(lengths, device=q.device, dtype=torch.int32)
        context_attention_fwd(q, k, v, out, starts_of(lengths, q.device)[:-1], counts, max(lengths), is_causal=is_causal)
        return out

    def prefill_reference(q, k, v, lengths, is_causal):
        return torch.cat([causal(*parts, is_causal) for parts in zip(*(x.split(lengths) for x in (q, k, v)))])

    def paged(draw):
        count, heads, groups, width, page = draw.choice(1, 3), draw.choice(1, 2), draw.choice(1, 4), draw.choice(32, 64, 128), draw.choice(16, 32)
        keys = [draw.size(1, 16, 40, 100) for _ in range(count)]
        queries = [draw.size(1, min(length, 20)) for length in keys]
        pages = 7 * count + 1
        return {"q": draw.tensor(sum(queries), heads * groups, width), "k": draw.tensor(pages, page, heads, width),
                "v": draw.tensor(pages, page, heads, width), "order": draw.integers(0, 2**20, pages).argsort(stable=True)[: 7 * count].reshape(count, 7).to(torch.int32),
                "keys": keys, "queries": queries, "window": draw.choice(0, 0, 24)}  # fmt: skip

    def unified(q, k, v, order, keys, queries, window):
        out = torch.empty_like(q)
        unified_attention(q, k, v, out, starts_of(queries, q.device), max(queries), torch.tensor(keys, device=q.device, dtype=torch.int32), max(keys),
                          q.shape[-1] ** -0.5, True, (window - 1, 0) if window else (-1, -1), order, 0.0, None, None, None)  # fmt: skip
        return out

    def unified_reference(q, k, v, order, keys, queries, window):
        outs = []
        for part, length, pages in zip(q.split(queries), keys, order.long()):
            outs.append(causal(part, k[pages].flatten(0, 1)[:length], v[pages].flatten(0, 1)[:length], True, window))
        return torch.cat(outs)

    def decoded(draw):
        arguments = paged(draw)
        count = len(arguments["keys"])
        return {**arguments, "q": draw.tensor(count, *arguments["q"].shape[1:]), "queries": [1] * count, "window": 0, "splits": draw.choice(1, 4)}

    def decode(q, k, v, order, keys, queries, window, splits):
        out, lse = torch.empty_like(q), q.new_empty(q.shape[:2], dtype=torch.float32)
        logits = q.new_empty(*q.shape[:2], splits, q.shape[2] + 1, dtype=torch.float32)
        lengths = torch.tensor(keys, device=q.device, dtype=torch.int32)
        decode_attention_fwd(q, k, v, out, lse, order, lengths, logits, splits, q.shape[-1] ** -0.5, k.shape[1],
                             k_scale=torch.ones((), device=q.device), v_scale=torch.ones((), device=q.device))  # fmt: skip
        return out

    def states(draw):
        shape = draw.size(1, 5, 16), draw.choice(1, 4), draw.choice(32, 64, 100)
        return {"prefix": draw.tensor(*shape), "suffix": draw.tensor(*shape), "prefix_sum": draw.tensor(shape[1], shape[0], dtype=torch.float32),
                "suffix_sum": draw.tensor(shape[1], shape[0], dtype=torch.float32)}  # fmt: skip

    def merge(prefix, suffix, prefix_sum, suffix_sum):
        out = torch.empty_like(prefix)
        merge_attn_states(out, prefix, prefix_sum, suffix, suffix_sum)
        return out

    def merge_reference(prefix, suffix, prefix_sum, suffix_sum):
        share = torch.sigmoid(prefix_sum - suffix_sum).T[..., None]
        return prefix * share + suffix * (1 - share)

    def products(draw):
        m, k, n = draw.size(1, 16, 33, 70), draw.choice(64, 128, 200), draw.choice(32, 64, 96)
        return {"a": draw.integers(-128, 128, m, k, dtype=torch.int8), "b": draw.integers(-128, 128, n, k, dtype=torch.int8).T,
                "scale_a": draw.tensor(draw.choice(1, m), 1, dtype=torch.float32, of=torch.abs, scale=0.01),
                "scale_b": draw.tensor(draw.choice(1, n), 1, dtype=torch.float32, of=torch.abs, scale=0.01), "bias": draw.choice(None, draw.tensor(n)),
                "dtype": draw.dtype}  # fmt: skip

    def product(a, b, scale_a, scale_b, bias, dtype):
        result = a.double() @ b.double() * scale_a * scale_b.T
        return result if bias is None else result + bias

    def awq(draw):
        group, groups, n = draw.choice(32, 64), draw.choice(1, 2), draw.choice(32, 64)
        k = group * groups
        int32 = lambda rows: draw.integers(-(2**31), 2**31, rows, n // 8).to(torch.int32)  # noqa: E731
        return {"x": draw.tensor(draw.size(1, 8, 40), k), "weight": int32(k), "scales": draw.tensor(groups, n, scale=0.02), "zeros": int32(groups),
                "splits": draw.choice(1, 2)}  # fmt: skip

    def unpacked(values):
        shifts = torch.tensor([0, 16, 4, 20, 8, 24, 12, 28], device=values.device)
        return (values[..., None].long() >> shifts & 15).flatten(-2).double()

    def awq_weight(weight, scales, zeros, **_):
        repeat = weight.shape[0] // scales.shape[0]
        return (unpacked(weight) - unpacked(zeros).repeat_interleave(repeat, 0)) * scales.repeat_interleave(repeat, 0)

    def rows(draw):
        return {"x": draw.tensor(draw.size(1, 5, 16), draw.choice(64, 128, 256))}

    def restored(values, scales):
        return (values.float().unflatten(-1, (scales.shape[-1], -1)) * scales[..., None]).flatten(-2)

    def gated(draw):
        shape = draw.size(1, 5, 16), draw.choice(64, 128)
        return {"x": draw.tensor(*shape), "weight": draw.tensor(shape[1]), "z": draw.tensor(*shape), "group_size": draw.choice(None, 32), "first": draw.choice(True, False)}

    def gated_norm(x, weight, z, group_size, first):
        gate = functional.silu(z)
        x = x if first else x * gate
        parts = x.unflatten(-1, (-1, group_size or x.shape[-1]))
        x = (parts * torch.rsqrt(parts.square().mean(-1, keepdim=True) + 1e-6)).flatten(-2) * weight
        return x * gate if first else x

    def scanned(draw):
        chunk, heads, groups = draw.choice(16, 32, 64), draw.choice(2, 4), draw.choice(1, 2)
        lengths = [draw.size(5, 40, 100) for _ in range(draw.choice(1, 2))]
        total, width, states = sum(lengths), draw.choice(32, 64), draw.choice(16, 64)
        return {"x": draw.tensor(total, heads, width), "dt": draw.tensor(total, heads, dtype=torch.float32, of=lambda x: functional.softplus(x - 2)),
                "a": draw.tensor(heads, dtype=torch.float32, of=lambda x: -x.exp()), "b": draw.tensor(total, groups, states), "c": draw.tensor(total, groups, states),
                "d": draw.tensor(heads, dtype=torch.float32), "lengths": lengths, "chunk": chunk}  # fmt: skip

    def scan(x, dt, a, b, c, d, lengths, chunk):
        edges, last, sequence, start = [0], [], [], 0
        for number, length in enumerate(lengths):
            ends = [*range(chunk, length, chunk), length]
            edges += [start + end for end in ends]
            sequence += [number] * len(ends)
            last.append(len(sequence) - 1)
            start += length
        numbers = lambda values: torch.tensor(values, device=x.device, dtype=torch.int32)  # noqa: E731
        out = torch.empty_like(x)
        states = mamba_chunk_scan_combined_varlen(x, dt, a, b, c, chunk, starts_of(lengths, x.device), numbers(edges), numbers(last), numbers(sequence), out,
                                                  D=d, state_dtype=torch.float32)  # fmt: skip
        return out, states

    def scan_reference(x, dt, a, b, c, d, lengths, chunk):
        repeat = x.shape[1] // b.shape[1]
        outs, states = [], []
        for xs, dts, bs, cs in zip(*(value.split(lengths) for value in (x, dt, b.repeat_interleave(repeat, 1), c.repeat_interleave(repeat, 1)))):
            state = xs.new_zeros(xs.shape[1], xs.shape[2], bs.shape[2])
            for t in range(len(xs)):
                state = state * (a * dts[t]).exp()[:, None, None] + (dts[t][:, None] * xs[t])[..., None] * bs[t][:, None]
                outs.append((state * cs[t][:, None]).sum(-1) + d[:, None] * xs[t])
            states.append(state)
        return torch.stack(outs), torch.stack(states)

    def stepped(draw):
        batch, heads, width, states = draw.choice(1, 3), draw.choice(2, 4), draw.choice(32, 64), draw.choice(16, 64)
        return {"state": draw.tensor(batch, heads, width, states, dtype=torch.float32), "x": draw.tensor(batch, heads, width),
                "dt": draw.tensor(batch, heads, width), "a": draw.tensor(heads, width, states, dtype=torch.float32, of=lambda x: -x.exp()),
                "b": draw.tensor(batch, 1, states), "c": draw.tensor(batch, 1, states), "d": draw.tensor(heads, width, dtype=torch.float32)}  # fmt: skip

    def step(state, x, dt, a, b, c, d):
        state, out = state.clone(), torch.empty_like(x)
        selective_state_update(state, x, dt, a, b, c, d, torch.zeros_like(d), dt_softplus=True, out=out, state_batch_indices=None)
        return out, state

    def step_reference(state, x, dt, a, b, c, d):
        dt = functional.softplus(dt)
        state = state * (dt[..., None] * a).exp() + (dt * x)[..., None] * b[:, :, None]
        return (state * c[:, :, None]).sum(-1) + d * x, state

    def convolved(draw):
        lengths, channels, width = [draw.size(2, 17, 40) for _ in range(draw.choice(1, 2))], draw.choice(32, 64), draw.choice(2, 3, 4)
        return {"x": draw.tensor(sum(lengths), channels).T, "weight": draw.tensor(channels, width), "bias": draw.tensor(channels), "lengths": lengths}

    def convolve(x, weight, bias, lengths):
        memory = x.new_zeros(len(lengths) + 1, weight.shape[1] - 1, x.shape[0]).transpose(1, 2)
        numbers = torch.arange(1, len(lengths) + 1, device=x.device, dtype=torch.int32)
        return causal_conv1d_fn(x, weight, bias, memory, starts_of(lengths, x.device), numbers,
                                torch.zeros(len(lengths), device=x.device, dtype=torch.bool), "silu")  # fmt: skip

    def convolve_reference(x, weight, bias, lengths):
        parts = [functional.conv1d(functional.pad(part[None], (weight.shape[1] - 1, 0)), weight[:, None], bias, groups=len(bias))[0] for part in x.split(lengths, 1)]
        return functional.silu(torch.cat(parts, 1))

    def lightning(draw):
        shape = draw.choice(1, 2), draw.choice(1, 2), draw.size(30, 64, 300), 64
        return {"q": draw.tensor(*shape, scale=0.3), "k": draw.tensor(*shape, scale=0.3), "v": draw.tensor(*shape), "slopes": draw.tensor(shape[1], dtype=torch.float32, of=lambda x: x.abs() / 8)}

    def lightning_reference(q, k, v, slopes):
        position = torch.arange(q.shape[2], device=q.device)
        distance = position[:, None] - position
        decay = torch.where(distance >= 0, (-slopes[:, None, None] * distance.clamp(min=0)).exp(), 0.0)
        return (q @ k.transpose(-1, -2) * decay) @ v

    return [
        Operator("prefill_attention", packed, prefill, prefill_reference, tolerance=2),
        Operator("unified_attention", paged, unified, unified_reference, HALVES, tolerance=2),
        Operator("decode_attention", decoded, decode, lambda splits, **a: unified_reference(**a), HALVES, tolerance=2),
        Operator("merge_attn_states", states, merge, merge_reference),
        Operator("scaled_mm", products, lambda a, b, scale_a, scale_b, bias, dtype: triton_scaled_mm(a, b, scale_a, scale_b, dtype, bias), product, HALVES),
        Operator("awq_dequantize", awq, lambda x, weight, scales, zeros, splits: awq_dequantize_triton(weight, scales, zeros),
                 lambda x, splits, **a: awq_weight(**a), (torch.float16,)),
        Operator("awq_gemm", awq, lambda x, weight, scales, zeros, splits: awq_gemm_triton(x, weight, scales, zeros, splits),
                 lambda x, splits, **a: x @ awq_weight(**a), (torch.float16,), tolerance=2),
        Operator("per_token_quant_int8", rows, lambda x: restored(*per_token_quant_int8(x)), lambda x: x, tolerance=10),
        Operator("rms_norm_gated", gated, lambda x, weight, z, group_size, first: rms_norm_gated(x, weight, None, z, 1e-6, group_size, first), gated_norm),
        Operator("mamba_chunk_scan", scanned, scan, scan_reference, tolerance=3),
        Operator("selective_state_update", stepped, step, step_reference),
        Operator("causal_conv1d", convolved, convolve, convolve_reference),
        Operator("lightning_attention", lightning, lambda q, k, v, slopes: lightning_attention(q, k, v, slopes)[0], lightning_reference,
                 (torch.float32,), tolerance=2),  # its kernels multiply keys by decays of float32, and take no other values
    ]  # fmt: skip
