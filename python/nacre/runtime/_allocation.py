"""Memory that a kernel asks for while it is launched (descriptors made on a GPU, profiles). Kernels on the CPU have their own
scratch memory and never ask."""

from contextvars import ContextVar


class Buffer:
    """What an allocator gives: a tensor, or anything else that says where it lies."""

    def data_ptr(self):
        raise NotImplementedError


class Allocator:
    """A function that provides memory."""

    def __call__(self, size, alignment, stream):
        raise NotImplementedError


class NullAllocator:
    """The allocator while none is set."""

    def __call__(self, size, alignment, stream):
        raise RuntimeError(f"a kernel asks for {size} bytes of memory, and no allocator is set: call triton.set_allocator")


_NULL_ALLOCATOR = NullAllocator()
_allocator = ContextVar("_allocator", default=_NULL_ALLOCATOR)


class _ProfileAllocator:
    """Read and set as a context variable is, but one for all threads: who profiles wants them all."""

    def __init__(self):
        self._current = _NULL_ALLOCATOR

    def get(self):
        return self._current

    def set(self, allocator):
        self._current = allocator

    def __call__(self, size, alignment, stream):
        return self._current(size, alignment, stream)


_profile_allocator = _ProfileAllocator()


def set_allocator(allocator):
    """Sets the function (size, alignment, stream) -> tensor that provides global scratch memory, for this context."""
    _allocator.set(allocator)


def set_profile_allocator(allocator):
    """Sets the function that provides memory for profiles; None: none."""
    _profile_allocator.set(_NULL_ALLOCATOR if allocator is None else allocator)


def has_profile_allocator():
    return not isinstance(_profile_allocator.get(), NullAllocator)
