"""What an adapter is made of. `adapters/<package>.py` has `operators()`: it imports the package's kernels and gives a list of Operator.

`make(draw)` draws the arguments of a case by name. `call(**arguments)` is the package's, `reference(**arguments)` is torch's and gets
floating-point tensors in float64. What either returns, and the gradients of the tensors that were drawn with `grad=True`, are compared.

A case that fails by the package's own fault is known by `theirs(error, arguments)`, which gives the reason, or None for a case that must be
right. It counts as `theirs`, with the reason, and fails nothing.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (torch.float32, *HALVES)


class Skip(Exception):
    """A case that the package itself does not take."""


@dataclass
class Operator:
    name: str
    make: Callable
    call: Callable
    reference: Callable
    dtypes: tuple = FLOATS
    tolerance: float = 1.0  # a factor on what the type allows
    theirs: Callable = lambda error, arguments: None


class Draw:
    """The random numbers of one case."""

    def __init__(self, seed, dtype, device, is_mutated=False):
        self._random = random.Random(seed)
        self._is_mutated = is_mutated
        self._generator = torch.Generator().manual_seed(self._random.getrandbits(48))
        self.dtype = dtype
        self.device = device

    def choice(self, *values):
        return self._random.choice(values)

    def size(self, *values):
        """An extent that kernels take whatever it is: one of the values; in a mutated case any between the least and the greatest."""
        return self._random.randint(min(values), max(values)) if self._is_mutated else self._random.choice(values)

    def number(self):
        return self._random.getrandbits(30)

    def tensor(self, *shape, grad=False, dtype=None, scale=1.0, of=None):
        """Normal values, or what `of` makes of them, rounded to the type."""
        values = torch.randn(shape, generator=self._generator) * scale
        values = (of(values) if of else values).to(dtype or self.dtype).to(self.device)
        return values.requires_grad_() if grad else values

    def integers(self, low, high, *shape, dtype=torch.int64):
        return torch.randint(low, high, shape, generator=self._generator).to(dtype).to(self.device)
