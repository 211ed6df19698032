"""Memory that a kernel asks for while it is launched (descriptors made on a GPU)."""

_allocator = None


def set_allocator(allocator):
    """Sets the function (size, alignment, stream) -> tensor that provides global scratch memory. Kernels on the CPU have their
    own scratch memory and never call it."""
    global _allocator
    _allocator = allocator
