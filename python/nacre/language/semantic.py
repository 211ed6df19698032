"""The meaning of the language under the name that functions written for Triton's front end ask for. The meaning itself is the
compiler's: what a TritonSemantic is asked for is the builtin of that name."""

from typing import Generic, TypeVar

TensorTy = TypeVar("TensorTy")


class IncompatibleTypeErrorImpl(Exception):
    """Operands of types that do not go together."""

    def __init__(self, type_a, type_b):
        self.type_a = type_a
        self.type_b = type_b
        self.message = f"invalid operands of type {type_a!r} and {type_b!r}"
        super().__init__(self.message)


class TritonSemantic(Generic[TensorTy]):
    """The operations on tiles: `semantic.add(x, y)` is tl.add(x, y), inside a kernel that Python runs."""

    def __init__(self, builder=None):
        self.builder = builder

    @property
    def tensor(self):
        from . import core

        return core.tensor

    def __getattr__(self, name):
        import nacre.language as tl

        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(tl, name)
