"""Where Inductor writes for a CPU what only its C++ would understand, or what the language does not have: the other way it has is taken."""

import inspect
import types

import torch
from torch._inductor import config, decomposition, lowering, utils
from torch._inductor.codegen.triton import TritonKernelOverrides


def amend(rebind):
    """Once for the process; what depends on a compile's settings asks for them. `rebind(name, old, new)` changes what modules of torch
    took from each other."""
    _add_atomically_what_can_be(rebind)
    _write_flexible_attention_in_triton()
    _convolve_without_bias()
    TritonKernelOverrides.signbit = staticmethod(_sign_bit)


def _is_ours():
    return config.cpu_backend == "triton"


def _has_atomics(dtype):
    """Integers of 8 and 16 bits have none in the language."""
    return dtype.is_floating_point or dtype.itemsize >= 4


def _add_atomically_what_can_be(rebind):
    """Sums at computed places of a type without atomics are ATen's, as those of types whose atomics a GPU lacks."""
    needs_fallback, use_fallback = utils.needs_fallback_due_to_atomic_add_limitations, utils.use_scatter_fallback
    assert lowering.use_scatter_fallback is decomposition.use_scatter_fallback is use_fallback

    def needs_fallback_here(dtype):
        return needs_fallback(dtype) or (_is_ours() and not _has_atomics(dtype))

    def use_fallback_here(operator, reduction, dtype, *others):
        return use_fallback(operator, reduction, dtype, *others) or (_is_ours() and reduction is not None and not _has_atomics(dtype))

    rebind(needs_fallback.__name__, needs_fallback, needs_fallback_here)
    rebind(use_fallback.__name__, use_fallback, use_fallback_here)


def _write_flexible_attention_in_triton():
    """Its lowering turns to C++ where the device is a CPU; here the rest of it is taken, the template for all other devices."""
    try:
        from torch._inductor.kernel.flex import flex_attention as module
    except ImportError:  # torch before 2.9
        return
    whole, in_cpp = inspect.unwrap(module.flex_attention), module.lower_cpu
    if whole.__code__.co_consts.count("cpu") != 1:  # a torch whose lowering is another: it refuses in its own words, and all else works
        return
    constants = tuple("a device of C++" if constant == "cpu" else constant for constant in whole.__code__.co_consts)
    in_triton = types.FunctionType(whole.__code__.replace(co_consts=constants), module.__dict__)
    parameters = inspect.signature(whole)

    def lower_cpu(*arguments, **keywords):
        if not _is_ours():
            return in_cpp(*arguments, **keywords)
        bound = parameters.bind(*arguments, **keywords).arguments
        # The kernel for few queries splits its work by a GPU's number of processors.
        bound["kernel_options"] = {**bound["kernel_options"], "FORCE_USE_FLEX_ATTENTION": True}
        return in_triton(**bound)

    module.lower_cpu = lower_cpu


def _convolve_without_bias():
    """Templates of convolutions add none: as on other devices, where they are candidates it is added afterwards."""
    aten = torch.ops.aten
    add, view = lowering.lowerings[aten.add.Tensor], lowering.lowerings[aten.view.default]

    def amended(convolution):
        def lower(x, weight, bias, *others, **keywords):
            has_templates = config.max_autotune_gemm or config.max_autotune
            if bias is None or not (_is_ours() and has_templates and utils._use_conv_autotune_backend("TRITON")):
                return convolution(x, weight, bias, *others, **keywords)
            result = convolution(x, weight, None, *others, **keywords)
            return add(result, view(bias, [bias.get_size()[0]] + [1] * (len(weight.get_size()) - 2)))

        return lower

    for overload in (aten.convolution, aten.convolution.default):
        if overload in lowering.lowerings:
            lowering.lowerings[overload] = amended(lowering.lowerings[overload])


def _sign_bit(x):
    """That of a negative zero too, of both widths."""
    return f"(libdevice.signbit({x}) != 0) if ({x}).dtype.is_floating() else {x} < 0"
