"""Functions marked with @tl.core.extern: they name functions of a user's own library, and kernels call them like builtins."""

from .jit import JITFunction


class ExternFunction(JITFunction):
    """A function whose text is compiled into the kernels that call it. Unlike a kernel's text it may hold dicts and read any
    constant around it; `_semantic` and `_builder`, which it passes on, are None."""

    _is_external = True
    __triton_builtin__ = True

    def _interpreted(self):
        return self.fn

    def __repr__(self):
        return f"ExternFunction({self.__module__}:{self.__qualname__})"


def extern(fn):
    """Marks a function that calls tl.core.extern_elementwise: kernels call it like a builtin."""
    return ExternFunction(fn)


def builtin(fn):
    """Marks a function that is written over other builtins, and passes them the `_semantic` that it is given: kernels call it like
    one of them."""
    return extern(fn)
