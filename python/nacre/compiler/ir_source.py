"""Kernels given as a file of tile IR instead of source."""

import os

from .. import _core


class IRSource:
    """A kernel in a file of tile IR (`.ttir` or `.tile`), as `.asm["ttir"]` and TRITON_KERNEL_DUMP=1 write it.

    signature: place of the argument -> "*fp32", "i32", ... The kernel takes the arguments that are left at run time, in order:
    constexprs are in the text already.
    """

    constants = {}

    def __init__(self, path, context=None, backend=None):
        self.path = os.fspath(path)
        self.ext = os.path.splitext(self.path)[1][1:]
        if self.ext not in ("tile", "ttir"):
            raise ValueError(
                f"{self.path}: kernels are compiled from tile IR (.ttir or .tile). A later stage does not say what the arguments "
                "are: put it in its stage's place with TRITON_KERNEL_OVERRIDE=1 or ir_override="
            )
        with open(self.path) as file:
            self.src = file.read()
        self._compiled = None

    def _compile(self, options):
        """(native kernel, name, types, divisibilities, report)"""
        self._compiled = _core.compile_ir(self.path, self.src, options)
        return self._compiled

    def _text(self):
        return self.src

    def _kernel_name(self):
        return self.name

    def _facts(self):
        return self._compiled or self._compile({})

    @property
    def name(self):
        return self._facts()[1]

    @property
    def signature(self):
        return dict(enumerate(self._facts()[2]))

    @property
    def attrs(self):
        return {(i,): [["tt.divisibility", divisor]] for i, divisor in enumerate(self._facts()[3]) if divisor > 1}

    def hash(self):
        return _core.fingerprint(f"{self.ext}-{self.src}")

    def make_ir(self, target, options, codegen_fns, module_map, context):
        """A summary of the kernel's IR: what it reads and writes."""
        from .summary import Module

        native, name, types, *_ = self._facts()
        return Module(name, len(types), *native.access)

    def parse_options(self):
        return {}
