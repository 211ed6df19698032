"""help() and inspect.signature() of everything the language shows: true signatures, documentation that reads well, tidy listings."""

import importlib
import inspect
import pydoc
import types

import pytest

import nacre
import nacre.language as tl
from nacre import _core

MODULES = ["nacre.language", "nacre.language.core", "nacre.language.math", "nacre.language.standard", "nacre.language.random",
           "nacre.language.target_info", "nacre.language.extra.libdevice", "nacre.language.extra.cuda"]  # fmt: skip
ROWS = {}  # name -> signatures that the compiler's table has for it
for _, name, _, signature, *_ in _core.builtins():
    ROWS.setdefault(name, set()).add(f"({signature})")


def functions():
    for module in MODULES:
        module = importlib.import_module(module)
        for name in dir(module):
            member = getattr(module, name)
            is_pythons = getattr(member, "__module__", "") == "builtins"
            if callable(member) and not isinstance(member, (type, tl.constexpr)) and not name.startswith("_") and not is_pythons:
                yield pytest.param(name, member, id=f"{module.__name__.removeprefix('nacre.')}.{name}")


def methods():
    return [(name, getattr(tl.tensor, name)) for name in dir(tl.tensor) if not name.startswith("_") and name not in ("numpy", "tolist")]


def check(name, function, receiver=None):
    signature = inspect.signature(function)
    documentation = inspect.getdoc(function)
    assert documentation and documentation[0] == documentation[0].strip() and len(documentation.split()) > 1
    shown = pydoc.plain(pydoc.render_doc(function))
    assert f"\n{name}{signature}\n" in shown and documentation.splitlines()[0] in shown
    return signature


@pytest.mark.parametrize("name, function", list(functions()))
def test_functions(name, function):
    signature = check(name, function)
    if isinstance(function, _core.Builtin):
        assert str(signature) in ROWS[name]
    elif isinstance(function, nacre.JITFunction):
        written = inspect.signature(function.fn)
        assert list(signature.parameters) == list(written.parameters)
        assert "constexpr" not in str(signature) and "object at" not in str(signature)
        for parameter in written.parameters.values():
            default = getattr(parameter.default, "value", parameter.default)
            assert signature.parameters[parameter.name].default is default or signature.parameters[parameter.name].default == default


@pytest.mark.parametrize("name, method", methods(), ids=lambda value: value if isinstance(value, str) else "")
def test_methods_of_tensors(name, method):
    signature = check(name, method)
    assert next(iter(signature.parameters)) == "self"
    function = getattr(tl, name, None)
    if name not in ("to", "item", "T"):
        assert list(inspect.signature(function).parameters)[1:] == list(signature.parameters)[1:]
        assert inspect.getdoc(function) == inspect.getdoc(method)


def test_every_method_is_shown():
    rows = {name for _, name, _, _, _, is_method, _ in _core.builtins() if is_method}
    rows |= {name for name, _, is_method, _ in _core.standard_functions() if is_method}
    assert {name for name, _ in methods()} == {name for name in rows if not name.startswith("_")}
    shown = pydoc.plain(pydoc.render_doc(tl.tensor))
    assert "sum(self, axis=None, keep_dims=False, dtype=None)" in shown and "Adds up the elements along an axis." in shown


def test_some_signatures():
    assert str(inspect.signature(tl.sum)) == "(input, axis=None, keep_dims=False, dtype=None)"
    assert str(inspect.signature(tl.arange)) == "(start, end)"
    assert str(inspect.signature(tl.tensor.sum)) == "(self, axis=None, keep_dims=False, dtype=None)"
    assert str(inspect.signature(tl.aggregate_replace)) == "(instance, /, **fields)"

    @nacre.jit
    def kernel(x, N: "tl.constexpr", y=2):
        """A kernel of the user's."""

    assert str(inspect.signature(kernel)) == "(x, N: 'tl.constexpr', y=2)" and kernel.signature == inspect.signature(kernel)
    assert "kernel(x, N: 'tl.constexpr', y=2)\n    A kernel of the user's." in pydoc.plain(pydoc.render_doc(kernel))
    assert isinstance(inspect.signature(nacre.JITFunction), inspect.Signature)


def test_a_kernel_in_a_class_stays_itself():
    @nacre.jit
    def kernel(x):
        pass

    class Holder:
        held = kernel

    assert Holder.held is kernel and Holder().held is kernel


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith(("standard", "random"))])
def test_listings_are_tidy(module):
    module = importlib.import_module(module)
    listed = dir(module)
    assert listed == sorted(set(listed)) and not [name for name in listed if name.startswith("_")]
    for name in listed:
        member = getattr(module, name)
        if isinstance(member, types.ModuleType):
            assert member.__name__.startswith("nacre.language"), f"{name} is a module from elsewhere"


def test_the_language_lists_what_it_has():
    listed = set(dir(tl))
    assert {"load", "sum", "exp", "randn", "float32", "tensor", "constexpr", "math", "extra", "swizzle2d"} <= listed
    assert not {"to", "item"} & listed  # methods of tensors alone
    assert not {name for name, *_ in _core.standard_functions() if not name.startswith("_")} - listed
