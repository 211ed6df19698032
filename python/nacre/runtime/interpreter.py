"""Kernels run by Python itself. This version does not have that mode; the names are here for packages that look for them."""


class InterpretedFunction:
    """A kernel that Python runs."""

    def __init__(self, *_, **__):
        raise NotImplementedError("this version of nacre compiles every kernel; it cannot run one in Python")
