"""An operator: one function that allocates its results, one that launches kernels on them, for torch and NumPy alike.

    def _allocate(x, factor):            # checks the arguments too; torch also runs it on tensors without memory while it compiles
        check_array("x", x)
        return empty_like(x)

    def _launch(out, x, factor):         # `out` is what _allocate gave: an array or a tuple of them
        ...kernel[grid](...)

    def _save(ctx, inputs, output):      # torch's protocol of autograd: what the gradients need
        ctx.factor = inputs[1]

    def _backward(ctx, gradient):        # a gradient, or None, for each argument
        return _scaled(gradient, ctx.factor), None

    _scaled = Operator("scaled", "(Tensor x, float factor) -> Tensor", _allocate, _launch, _save, _backward)

Called with NumPy arrays it runs at once. Called with torch tensors it is `torch.ops.nacre.scaled`, registered at its first use or when its
module is imported after torch. A gradient's own kernel is another operator, without `_save` and `_backward`: torch says so when a
gradient of a gradient is asked for. An operator that writes its arguments says so in its schema, `(Tensor(a!) x) -> ()`, and allocates None.
"""

import re
import sys

import numpy

from . import _torch
from ._arrays import check_array, is_array


class Operator:
    def __init__(self, name, schema, allocate, launch, save=None, backward=None):
        self.name = name
        self.schema = schema
        self.allocate = allocate
        self.launch = launch
        self.save = save
        self.backward = backward
        self.is_registered = False
        if "torch" in sys.modules:
            self._register()

    def __call__(self, *arguments):
        first = arguments[0]
        if isinstance(first, (list, tuple)) and first:
            first = first[0]
        if isinstance(first, numpy.ndarray):
            return self.run(*arguments)
        if not is_array(first):
            check_array(re.match(r"\(Tensor\S* (\w+)", self.schema)[1], first)
        self._register()
        import torch

        return getattr(torch.ops.nacre, self.name).default(*arguments)

    def _register(self):
        if not self.is_registered:
            _torch.register(self)
            self.is_registered = True

    # torch.compile runs the method as it stands while it compiles: what torch.compiler.assume_constant_result sets, without torch.
    _register._dynamo_marked_constant = True

    def run(self, *arguments):
        """Allocates and launches, on arrays that have memory."""
        outputs = self.allocate(*arguments)
        self.launch(outputs, *arguments)
        return outputs
