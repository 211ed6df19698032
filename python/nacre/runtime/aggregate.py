"""Aggregates: classes whose instances kernels make, pass around and call methods on.

    @triton.aggregate
    class Interval:
        start: tl.tensor
        SIZE: tl.constexpr

        @triton.constexpr_function
        def __init__(self, start, SIZE):
            self.start = start
            self.SIZE = tl.constexpr(SIZE)

        @triton.jit
        def offsets(self):
            return self.start + tl.arange(0, self.SIZE)

An instance does not change once it is made. Without an __init__ of its own the fields are the parameters, in order, those of
the aggregates it inherits from first.

An instance may be made outside kernels too and passed to one, alone or in tuples: its fields are then arrays, numbers,
constexprs, tuples, descriptors, or other aggregates, and each is specialized as it would be by itself.
"""

import functools

from ..language.core import _make_run_time
from .jit import ConstexprFunction, JITCallable, JITFunction


class _Method:
    """A function of the language as a member of a class: taken from an instance, it is bound to it."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        return self.function if instance is None else functools.partial(self.function, instance)


def _evaluated(function):
    """A Python function that the compiler evaluates from its text: it may be given run-time values."""
    made = JITFunction(function)
    made._is_constexpr_function = True
    return made


def _is_constexpr(annotation):
    return getattr(annotation, "__name__", annotation) == "constexpr" or str(annotation).endswith(".constexpr")


def _fields(cls):
    """(annotations, defaults) by name, those of the bases first."""
    import inspect  # slow to import, and few programs make aggregates

    annotations, defaults = {}, {}
    for base in reversed(cls.__mro__[:-1]):
        if base is not cls and not hasattr(base, "__aggregate__"):
            raise TypeError(f"an aggregate inherits from aggregates alone, and {base.__qualname__} is not one")
        for name, annotation in inspect.get_annotations(base).items():
            annotations[name] = annotation
            if name in base.__dict__:
                defaults[name] = base.__dict__[name]
    return annotations, defaults


def aggregate(cls):
    """Makes a class whose instances kernels can make and use; its fields are its annotations."""
    import inspect

    annotations, defaults = _fields(cls)
    members = {}
    for name, member in inspect.getmembers_static(cls):
        member = member.function if isinstance(member, _Method) else member
        if isinstance(member, ConstexprFunction):
            members[name] = _evaluated(member.fn)
        elif isinstance(member, JITCallable):
            members[name] = member
            setattr(cls, name, _Method(member))
        elif inspect.isfunction(member) and not hasattr(member, "_is_made"):
            members[name] = _evaluated(member)
    init = members.pop("__init__", None)
    if "__init__" not in cls.__dict__:
        init = None
        cls.__init__ = _make_init(cls.__name__, tuple(annotations), defaults)
    cls.__init__ = _settling(cls, cls.__dict__["__init__"])
    # What the compiler asks for (Aggregates.cpp).
    description = {
        **members,
        "__fields__": tuple(annotations),
        "__constexprs__": tuple(name for name, annotation in annotations.items() if _is_constexpr(annotation)),
        "__constructor__": init,
        "__defaults__": tuple(defaults.items()),
        "__ancestors__": cls.__mro__[1:-1],
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__ + ".__aggregate__",
    }
    cls.__aggregate__ = type("__aggregate__", (), description)
    cls.__aggregate_fields__ = tuple(annotations)
    cls.__aggregate_defaults__ = defaults
    cls.__triton_aggregate__ = True
    return cls


def _settling(cls, init):
    """An __init__ after which the fields hold what they do in compiled code."""

    def __init__(self, *args, **kwargs):
        init.__get__(self, cls)(*args, **kwargs)
        if type(self) is cls:
            _make_run_time(self)

    __init__._is_made = True
    __init__.__doc__ = init.__doc__
    return __init__


def _make_init(class_name, fields, defaults):
    def __init__(self, *args, **kwargs):
        if len(args) > len(fields):
            raise TypeError(f"{class_name} has {len(fields)} fields, but {len(args)} values were given")
        values = {**defaults, **dict(zip(fields, args)), **kwargs}
        for name, value in values.items():
            if name not in fields or (name in kwargs and name in fields[: len(args)]):
                raise TypeError(f"{class_name} {'got its field twice: ' if name in fields else 'has no field '}{name!r}")
            setattr(self, name, value)
        missing = [name for name in fields if name not in values]
        if missing:
            raise TypeError(f"{class_name} needs a value for its field {missing[0]!r}")

    __init__._is_made = True
    return __init__
