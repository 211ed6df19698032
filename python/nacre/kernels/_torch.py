"""Makes an Operator one of torch's: its schema, what it computes, what it gives for tensors without memory, and its gradient.

Nothing here runs without torch, and torch is imported by the first function that is called.
"""

NAMESPACE = "nacre"

_library = None


def register(operator):
    """Registers the operator with torch.library, once. It is opaque to torch.compile, which keeps it as one node of its graph."""
    global _library
    try:
        import torch
    except ImportError:
        raise TypeError(f"{operator.name} takes NumPy arrays, or torch tensors where torch is installed") from None
    if _library is None:
        _library = torch.library.Library(NAMESPACE, "FRAGMENT")
    name = f"{NAMESPACE}::{operator.name}"
    _library.define(operator.name + operator.schema, tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(operator.name, operator.run, "CompositeExplicitAutograd")
    torch.library.register_fake(name, operator.allocate, lib=_library)
    if operator.backward is not None:
        torch.library.register_autograd(name, operator.backward, setup_context=operator.save, lib=_library)
    elif operator.schema.endswith("-> ()"):
        _library.impl(operator.name, _counting_changes(name), "ADInplaceOrView", with_keyset=True)
    else:
        torch.library.register_autograd(name, _no_gradient_of(operator.name), lib=_library)


def _counting_changes(name):
    """What torch calls before an operator that writes its arguments: autograd then notices that saved values have changed."""
    import torch

    overload = getattr(getattr(torch.ops, NAMESPACE), name.partition("::")[2]).default
    written = [place for place, argument in enumerate(overload._schema.arguments) if argument.alias_info and argument.alias_info.is_write]

    def run(keyset, *arguments):
        for place in written:
            torch.autograd.graph.increment_version(arguments[place])
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return overload.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *arguments)

    return run


def _no_gradient_of(name):
    """What autograd calls for an operator that has no gradient: without it torch would take the result for a constant."""

    def fail(ctx, *gradients):
        raise NotImplementedError(
            f"nacre.kernels has no gradient of {name}: where it is the gradient of another operator, take gradients without create_graph=True"
        )

    return fail
