"""What the result of a Python function depends on besides its arguments, as far as its text tells: the globals, variables of enclosing
functions and attributes of modules and classes that it and what it calls read. A kernel that was compiled with the result is launched
again only while they are the same."""

import builtins
import sys
import types

_ATOMS = (int, float, complex, str, bytes, type(None), type(...))
_NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
           types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType)  # fmt: skip


class _Unknown(Exception):
    """It depends on something that can change without being replaced: a list, an instance."""


def inputs_of(function, arguments, keywords):
    """[(owner, name, value)], where the owner is a dictionary of globals, an object with that attribute, or a cell; None when calling the
    function again is the only way to know."""
    found, seen = [], set()
    try:
        for value in (*arguments, *keywords.values()):
            _add_value(value, (), found, seen)
        _add_value(function, ("__call__",), found, seen)
    except _Unknown:
        return None
    return found


def _add_value(value, names, found, seen):
    """What using `value` in a text with these names depends on."""
    from ..language.core import constexpr, dtype
    from ..language.run_time_values import is_run_time
    from .jit import ConstexprFunction, JITFunction

    if is_run_time(value) or isinstance(value, (*_ATOMS, *_NATIVE, dtype)):
        return
    if isinstance(value, constexpr):
        return _add_value(value.value, names, found, seen)
    if isinstance(value, (tuple, frozenset)):
        for item in value:
            _add_value(item, names, found, seen)
        return
    if isinstance(value, (ConstexprFunction, JITFunction)):
        value = value.fn
    if isinstance(value, types.FunctionType):
        return _add_function(value, found, seen)
    if isinstance(value, types.ModuleType) or (isinstance(value, type) and not {"__init__", "__new__"} & vars(value).keys()):
        return _add_attributes(value, names, found, seen)
    if isinstance(value, type) and value.__module__.partition(".")[0] in ("builtins", "nacre"):
        return
    raise _Unknown


def _add_attributes(owner, names, found, seen):
    for name in names:
        if (id(owner), name) in seen or not hasattr(owner, name):
            continue
        seen.add((id(owner), name))
        value = getattr(owner, name)
        found.append((owner, name, value))
        _add_value(value, names, found, seen)


def _add_function(function, found, seen):
    if id(function) in seen:
        return
    seen.add(id(function))
    found.append((function, "__code__", function.__code__))
    names = tuple(sorted(_names(function.__code__)))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            found.append((function.__globals__, name, value))
            _add_value(value, names, found, seen)
        elif name in sys.modules and not hasattr(builtins, name):  # imported where it is used
            _add_value(sys.modules[name], names, found, seen)
    for cell in function.__closure__ or ():
        found.append((cell, "cell_contents", cell.cell_contents))
        _add_value(cell.cell_contents, names, found, seen)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _add_value(value, names, found, seen)


def _names(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
