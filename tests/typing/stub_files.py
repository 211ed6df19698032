"""The stubs as syntax trees: their names, and what the parameters of their functions are called."""

import ast
import inspect
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "nacre"


def stubs():
    """{module: path} of every stub of a module that there is at run time; the others are parts of them."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.pyi")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if path.with_suffix(".py").exists():
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def nodes(body):
    """Its statements, with those of either branch where it asks which checker reads it."""
    for node in body:
        if isinstance(node, ast.If):
            yield from nodes(node.orelse)
        else:
            yield node


def tree(path):
    return list(nodes(ast.parse(path.read_text(), str(path)).body))


def public(names):
    return {name for name in names if not name.startswith("_")} - {"MYPY"}


def names(path):
    """The public names of a stub, those that it takes from others included."""
    found = set()
    for node in tree(path):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            for alias in node.names:
                if alias.name == "*":
                    found |= names(next(place for place in (folder / f"{node.module}.pyi", folder / node.module / "__init__.pyi") if place.exists()))
                elif alias.asname is not None:
                    found.add(alias.asname)
    return public(found)


@dataclass
class Parameters:
    positional: list = field(default_factory=list)
    by_name: set = field(default_factory=set)  # by name alone
    optional: set = field(default_factory=set)
    has_rest: bool = False  # *args
    has_others: bool = False  # **kwargs


def of_stub(function, is_method):
    arguments = function.args
    positional = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    defaults = positional[len(positional) - len(arguments.defaults):]
    defaults += [argument.arg for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is not None]
    is_static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in function.decorator_list)
    return Parameters(positional[1:] if is_method and not is_static else positional, {argument.arg for argument in arguments.kwonlyargs}, set(defaults),
                      arguments.vararg is not None, arguments.kwarg is not None)  # fmt: skip


def of_function(function, is_method):
    """None where Python does not tell."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    found = Parameters()
    for parameter in signature.parameters.values():
        found.has_rest |= parameter.kind is parameter.VAR_POSITIONAL
        found.has_others |= parameter.kind is parameter.VAR_KEYWORD
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            found.positional.append(parameter.name)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            found.by_name.add(parameter.name)
        if parameter.default is not parameter.empty:
            found.optional.add(parameter.name)
    if is_method and found.positional:
        found.positional = found.positional[1:]
    return found


def difference(stub, real, is_overload):
    """What the parameters of a stub say that the function does not, as text; "" where they agree."""
    ours, theirs = {*stub.positional, *stub.by_name}, {*real.positional, *real.by_name}
    ours -= {"_semantic"}  # of functions that are marked @tl.core.extern, which pass it on
    if ours - theirs and not real.has_others and not (real.has_rest and not stub.by_name - theirs):
        return f"the function has no {sorted(ours - theirs)}"
    if theirs - ours and not is_overload:
        return f"the stub has no {sorted(theirs - ours)}"
    shared = [name for name in stub.positional if name in real.positional]
    if shared != [name for name in real.positional if name in shared]:
        return f"the order is {real.positional}"
    if not is_overload and {name for name in stub.optional if name in theirs} != {name for name in real.optional if name in ours}:
        return f"those with defaults are {sorted(real.optional)}"
    if not is_overload and [name for name in stub.positional if name in ours] != real.positional and not (real.has_rest or real.has_others):
        return f"the positional ones are {real.positional}"
    return ""
