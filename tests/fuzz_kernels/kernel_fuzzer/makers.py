"""Every kind of statement with how often it is chosen; the simplest kinds stand first."""

from . import control_flow, dots, elementwise, memory_statements, reductions, shapes
from .program import Program

MAKERS = [(make.__name__, make) for module in (elementwise, shapes, memory_statements, reductions, dots, control_flow)
          for weight, make in module.MAKERS for _ in range(weight)]  # fmt: skip


def random_program(seed):
    return Program.fresh(seed, MAKERS)


def replayed_program(data):
    return Program.replayed(data, MAKERS)
