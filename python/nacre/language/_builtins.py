"""The builtins as Python functions, made from the compiler's table when they are first looked up.

Inside a kernel the compiler gives them their meaning and never looks at these. Outside, they carry the name, the signature and
the documentation, and say so when they are called.
"""

from .. import _core

_PACKAGE = "nacre.language"
_rows = None  # (module, name) -> row
_functions = {}  # (module, name) -> function


def _table():
    global _rows
    if _rows is None:
        _rows = {(row[0], row[1]): row for row in _core.builtins()}
    return _rows


def _outside(name):
    raise RuntimeError(f"tl.{name} works inside a kernel only: call it from a function decorated with @triton.jit")


def find(module, name):
    """The builtin `name` of a module ("triton.language.math"), or None."""
    row = _table().get((module, name))
    if row is None:
        return None
    key = row[:2]
    if key not in _functions:
        _functions[key] = _make(row)
    return _functions[key]


def _make(row):
    module, name, _, signature, documentation, *_ = row
    scope = {"_outside": _outside}
    try:
        exec(f"def {name}({signature}): _outside({name!r})", scope)
    except (SyntaxError, NameError):  # a default that Python cannot write down
        exec(f"def {name}(*args, **kwargs): _outside({name!r})", scope)
    function = _core.Builtin(module, name)  # callable inside a kernel that Python runs
    function.__wrapped__ = scope[name]  # for its signature
    function.__name__ = name
    function.__module__ = _PACKAGE + module[len("triton.language"):]
    function.__qualname__ = name
    function.__doc__ = documentation
    function.__triton_builtin__ = True
    return function


def names(module):
    """The builtins of a module."""
    return [name for owner, name in _table() if owner == module]


def attach(package, modules):
    """(__getattr__, __dir__) of a module that shows the builtins of these modules of the table."""

    def look_up(name):
        if not name.startswith("__"):
            for module in modules:
                function = find(module, name)
                if function is not None:
                    package[name] = function  # kernels that Python runs look it up at every call
                    return function
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")

    def list_names():
        return sorted({*package, *(name for module in modules for name in names(module))})

    return look_up, list_names
