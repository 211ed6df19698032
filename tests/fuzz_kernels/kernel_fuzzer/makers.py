"""Every kind of statement, and every whole kernel, with how often it is chosen; the simplest kinds stand first."""

from . import (
    control_flow, dots, elementwise, grouped_lanes, memory_statements, reductions, shapes, templates_dense, templates_math, templates_products, templates_scaled,
    templates_sparse,
)  # fmt: skip
from .program import Program

MAKERS = [(make.__name__, make) for module in (elementwise, shapes, memory_statements, grouped_lanes, reductions, dots, control_flow)
          for weight, make in module.MAKERS for _ in range(weight)]  # fmt: skip

TEMPLATES = [(make.__name__, make) for module in (templates_dense, templates_sparse, templates_math, templates_products, templates_scaled)
             for weight, make in module.TEMPLATES for _ in range(weight)]  # fmt: skip


def random_program(seed):
    return Program.fresh(seed, MAKERS, TEMPLATES)


def replayed_program(data):
    return Program.replayed(data, MAKERS, TEMPLATES)
