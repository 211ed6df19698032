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


class _Written:
    """A default as the signature writes it."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _make(row):
    module, name, _, signature, documentation, *_ = row
    scope = {"_outside": _outside}
    while name not in scope:
        try:
            exec(f"def {name}({signature}): _outside({name!r})", scope)
        except NameError as error:  # a type as a default
            scope[error.name] = _Written(error.name)
        except SyntaxError:  # a default that Python cannot write down
            exec(f"def {name}(*args, **kwargs): _outside({name!r})", scope)
    function = _core.Builtin(module, name)  # callable inside a kernel that Python runs
    function.__wrapped__ = scope[name]  # for its signature
    function.__name__ = name
    function.__module__ = _PACKAGE + module[len("triton.language"):]
    function.__qualname__ = name
    function.__doc__ = documentation
    function.__triton_builtin__ = True
    return function


class TensorMethod:
    """A method of tensors, as tl.tensor shows it: a function of the language that takes the tensor first."""

    def __init__(self, name, find):
        self._find = find
        self.__name__ = name
        self.__qualname__ = "tensor." + name
        self.__module__ = _PACKAGE

    @property
    def __signature__(self):
        import inspect

        signature = inspect.signature(self._find())
        receiver, *rest = signature.parameters.values()
        return signature.replace(parameters=[receiver.replace(name="self"), *rest])

    @property
    def __doc__(self):
        return self._find().__doc__

    def __get__(self, instance, owner=None):
        return self

    def __call__(self, *args, **kwargs):
        return self._find()(*args, **kwargs)

    def __repr__(self):
        return f"<method tl.{self.__qualname__}>"


def show_methods(tensor):
    """Gives the type of tensors its methods as attributes. Instances have them anyway: these are for help()."""
    import functools
    import importlib

    def from_library(file, name):
        return getattr(importlib.import_module(f"{_PACKAGE}.{file.removesuffix('.py')}"), name)

    found = {name: functools.partial(find, module, name) for (module, name), row in _table().items() if row[5]}
    found.update((name, functools.partial(from_library, file, name)) for name, file, is_method, _ in _core.standard_functions() if is_method)
    for name, function in found.items():
        if not name.startswith("_"):
            setattr(tensor, name, TensorMethod(name, function))
    return tensor


_METHODS_ALONE = ("to", "item")  # of tensors: rows of the table that are no functions of the module


def listing(found, *modules):
    """What dir() of a module shows: the names it has found so far, and the builtins of modules of the table."""
    builtins = (name for owner, name in _table() if owner in modules)
    return sorted(name for name in {*found, *builtins} if not name.startswith("_") and name not in _METHODS_ALONE)


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
        return listing(package, *modules)

    return look_up, list_names
