"""unsloth: what fine-tuning of language models needs, forward and backward."""

import contextlib

import packages
import torch
from torch.nn import functional

from . import HALVES, Operator
from .stand_ins import bare_packages, take_any_device, stand_in


def _imports():
    import triton
    from triton import language as tl
    from triton.language.extra import libdevice

    def settings(n):
        return triton.next_power_of_2(n), 4

    bare_packages(packages.folder(packages.PACKAGES["unsloth"]), "unsloth", "unsloth.kernels")
    stand_in("unsloth.kernels.utils", calculate_settings=settings, MAX_FUSED_SIZE=65536, next_power_of_2=triton.next_power_of_2, triton_tanh=libdevice.tanh,
             triton_cast=tl.cast, torch_gpu_device=lambda device: contextlib.nullcontext(), torch_device_stream=lambda device: None, is_cdna=lambda: False,
             long_indexing=lambda *tensors, block=0: False, norm_num_warps=lambda table, columns, warps, device: warps, DEVICE_TYPE="cuda", DEVICE_COUNT=1)  # fmt: skip
    stand_in("unsloth.device_type", DEVICE_COUNT=1, DEVICE_TYPE="cuda", DEVICE_TYPE_TORCH="cuda")
    for name in ("unsloth_zoo", "unsloth_zoo.utils", "unsloth_zoo.patching_utils", "unsloth_zoo.loss_utils", "unsloth_zoo.log"):
        stand_in(name, Version=lambda text: (9,))
    for name in ("transformers", "transformers.models", "transformers.models.llama"):
        stand_in(name, __version__="5.0.0")
    stand_in("transformers.models.llama.modeling_llama", LlamaRMSNorm=torch.nn.Module, logger=None)
    take_any_device()


def operators():
    _imports()
    from unsloth.kernels.geglu import geglu_approx_backward_kernel, geglu_approx_forward_kernel, geglu_exact_backward_kernel, geglu_exact_forward_kernel
    from unsloth.kernels.large_head_attention import _dense_intervals, large_head_attention
    from unsloth.kernels.layernorm import Fast_Layernorm
    from unsloth.kernels.rms_layernorm import Fast_RMS_Layernorm
    from unsloth.kernels.swiglu import swiglu_DWf_DW_dfg_kernel, swiglu_fg_kernel

    def gated(draw):
        shape = draw.size(1, 3), draw.size(1, 5, 16), draw.size(16, 64, 100)
        return {"gate": draw.tensor(*shape), "up": draw.tensor(*shape), "grad": draw.tensor(*shape)}

    def call(forward, backward):
        def both(gate, up, grad):
            rows = [x.clone().flatten(0, 1) for x in (grad, gate, up)]
            return forward(gate, up), *backward(*rows)
        return both

    def reference(activation):
        """The gate's activation times `up`; then what the backward kernel leaves: that product again, and the gradients of both."""
        def both(gate, up, grad):
            gate = gate.detach().requires_grad_()
            active = activation(gate)
            (slope,) = torch.autograd.grad(active, gate, grad * up)
            return active * up, *(x.flatten(0, 1) for x in (active * up, grad * active, slope))
        return both

    def normed(draw):
        rows, width = draw.size(1, 3, 8, 17), draw.size(16, 33, 64, 257)
        return {"x": draw.tensor(rows, width, grad=True), "weight": draw.tensor(width, grad=True)}

    def frozen(draw):
        return {name: value.detach().requires_grad_(name == "x") for name, value in normed(draw).items()}

    def with_bias(draw):
        arguments = frozen(draw)
        return {**arguments, "bias": draw.tensor(arguments["weight"].shape[0])}

    def heads(draw):
        batch, groups, heads, length, width = draw.choice(1, 2), draw.choice(1, 2), draw.choice(1, 2), draw.size(17, 40, 70), draw.choice(64, 128)
        return {"q": draw.tensor(batch, groups * heads, length, width, grad=True), "k": draw.tensor(batch, heads, length, width, grad=True),
                "v": draw.tensor(batch, heads, length, width, grad=True)}  # fmt: skip

    def attention(q, k, v):
        lo, hi = _dense_intervals(q.shape[0], q.shape[2], True, q.device)
        return large_head_attention(q, k, v, lo, hi)

    def attention_reference(q, k, v):
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)

    def norm(x, weight):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight

    return [
        Operator("swiglu", gated, call(swiglu_fg_kernel, swiglu_DWf_DW_dfg_kernel), reference(functional.silu), tolerance=2),
        Operator("geglu_exact", gated, call(geglu_exact_forward_kernel, geglu_exact_backward_kernel), reference(functional.gelu), tolerance=2),
        Operator("geglu_approx", gated, call(geglu_approx_forward_kernel, geglu_approx_backward_kernel),
                 reference(lambda x: functional.gelu(x, approximate="tanh")), tolerance=2),
        Operator("rms_layernorm", frozen, lambda x, weight: Fast_RMS_Layernorm.apply(x, weight, 1e-6, False), norm, tolerance=2),
        Operator("layernorm", with_bias, lambda x, weight, bias: Fast_Layernorm.apply(x, weight, bias, 1e-5),
                 lambda x, weight, bias: functional.layer_norm(x, weight.shape, weight, bias, 1e-5), tolerance=2),
        Operator("large_head_attention", heads, attention, attention_reference, HALVES, tolerance=2),
    ]  # fmt: skip
