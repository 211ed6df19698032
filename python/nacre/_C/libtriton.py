"""What torch.compile asks of the compiler's bindings: a context to make a kernel's IR in. Ours needs none."""

from types import SimpleNamespace


class context:
    """Stands for the compiler's context."""


def load_dialects(context):
    """There is nothing to load."""


ir = SimpleNamespace(context=context, load_dialects=load_dialects)
