"""Values known when a kernel is compiled."""

import operator

from .. import _core


class constexpr:
    """A value known when a kernel is compiled: an annotation for parameters, and a wrapper for globals that kernels read."""

    def __init__(self, value):
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self):
        return constexpr_type(self.value)

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((constexpr, self.value))

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})

    def __getitem__(self, *args):
        return self.value.__getitem__(*map(_plain, args))

    def __iter__(self):
        return iter(self.value)

    def __len__(self):
        return len(self.value)

    def __getattr__(self, name):
        if name.startswith("__") or name == "value":
            raise AttributeError(name)
        return getattr(self.value, name)

    def logical_and(self, other):
        return constexpr(self.value and _plain(other))

    def logical_or(self, other):
        return constexpr(self.value or _plain(other))

    def __deepcopy__(self, memo):
        import copy

        return constexpr(copy.deepcopy(self.value, memo))


def _plain(value):
    return value.value if isinstance(value, constexpr) else value


def _result(value):
    """A constexpr, unless a tile took part (in a kernel that Python runs)."""
    return value if type(value) is _core.Tensor else constexpr(value)


def _add_operators():
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
        function = getattr(operator, name + "_" if name in ("and", "or") else name)
        setattr(constexpr, f"__{name}__", lambda self, other, f=function: _result(f(self.value, _plain(other))))
        setattr(constexpr, f"__r{name}__", lambda self, other, f=function: _result(f(_plain(other), self.value)))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(constexpr, f"__{name}__", lambda self, other, f=getattr(operator, name): _result(f(self.value, _plain(other))))
    for name in ("neg", "pos", "invert"):
        setattr(constexpr, f"__{name}__", lambda self, f=getattr(operator, name): constexpr(f(self.value)))


_add_operators()


class constexpr_type:
    """The type of a constexpr: known by its value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


class const:
    """Annotates a pointer parameter that the kernel only reads."""
