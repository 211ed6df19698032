"""What packages ask of a compiler for AMD's GPUs, which is not there."""

from ..compiler import BaseBackend

NO_TARGET = "there is no target for AMD's GPUs in this version; targets: cpu, cuda"


def get_min_dot_size(target):
    """A function from the types of a product's operands to the least (M, N, K) of its blocks: there is no least."""
    return lambda lhs_type, rhs_type: (1, 1, 1)


class HIPBackend(BaseBackend):
    """Refuses: there is none."""

    binary_ext = "hsaco"

    def __init__(self, target):
        raise RuntimeError(NO_TARGET)

    @staticmethod
    def supports_target(target):
        return target.backend == "hip"


class HIPOptions:
    """Refuses: there are none."""

    def __init__(self, **options):
        raise RuntimeError(NO_TARGET)
