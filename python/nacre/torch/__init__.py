"""`torch.compile(model, backend="nacre")`: PyTorch's Inductor writes kernels in the Triton language and this package compiles them, on a
CPU without any C++ compiler.

torch finds `backend` through the entry point `torch_dynamo_backends` of the installed distribution.
"""

from ._inductor import configuration, other_triton, prepare

__all__ = ["backend"]


def backend(model, example_inputs, *, mode=None, options=None, **unknown):
    """Compiles a graph of torch.compile. `mode` and `options` are Inductor's own and mean what they mean there."""
    if unknown:
        raise TypeError(f"the backend nacre takes mode and options, not {', '.join(sorted(unknown))}")
    prepare()
    from torch._inductor.compile_fx import compile_fx

    from ._blocks import compile_graph

    return compile_fx(model, example_inputs, inner_compile=compile_graph, config_patches=configuration(mode, options))


def _take_kernels():
    """Before dynamo looks at the user's program: torch imports this module when `torch.compile` is given the backend's name."""
    other = other_triton()
    if other is not None:
        from ._beside import take_kernels

        take_kernels(other)


_take_kernels()
