"""A specialization as text: what `jit_post_compile_hook` gives and `JITFunction.preload` takes, in this or another process."""

import sys


def _encode(value):
    from ..language.core import constexpr, dtype
    from .jit import JITCallable

    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, constexpr):
        return {"constexpr": _encode(value.value)}
    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, JITCallable):
        return {"jit_function": f"{value.__module__}:{value.__qualname__}"}
    if type(value) is tuple:
        return {"tuple": [_encode(item) for item in value]}
    return {"unknown": repr(value)}


def _decode(value):
    from ..language import types
    from ..language.core import constexpr

    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "constexpr":
        return constexpr(_decode(content))
    if kind == "dtype":
        return types.from_signature(content)
    if kind == "tuple":
        return tuple(_decode(item) for item in content)
    if kind == "jit_function":
        return _find(content)
    raise RuntimeError(f"the constant {content} has no form in text: this specialization cannot be preloaded")


def _find(place):
    """The function or class of a module."""
    module, _, path = place.partition(":")
    found = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    if found is None:
        raise RuntimeError(f"{place} cannot be found: import {module} before the kernel is preloaded")
    return found


def _encode_type(type):
    from .jit import AggregateTypes

    if not isinstance(type, tuple):
        return type
    types = [_encode_type(element) for element in type]
    made = type.aggregate if isinstance(type, AggregateTypes) else type.__class__
    return types if made is tuple else {"class": f"{made.__module__}:{made.__qualname__}", "types": types}


def _decode_type(type):
    from .jit import AggregateTypes

    if isinstance(type, dict):
        made, types = _find(type["class"]), [_decode_type(element) for element in type["types"]]
        return AggregateTypes(made, types) if hasattr(made, "__aggregate_fields__") else made(*types)
    return tuple(_decode_type(element) for element in type) if isinstance(type, list) else type


def _target():
    from .driver import driver

    return dict(vars(driver.active.get_current_target()))


def as_text(name, key, signature, constants, attrs, options, target):
    """The specialization of the kernel of that name as JSON."""
    import json

    return json.dumps({
        "name": name, "key": key,
        "signature": {parameter: _encode_type(type) for parameter, type in signature.items()},
        "constant_keys": list(constants), "constant_vals": [_encode(value) for value in constants.values()],
        "attrs_keys": list(attrs), "attrs_vals": list(attrs.values()), "options": options, "target": target,
    })  # fmt: skip


def serialize(fn, key, signature, constants, attrs, options):
    return as_text(f"{fn.__module__}.{fn.__qualname__}", key, signature, constants, attrs, options, _target())


def preload(fn, text):
    """Compiles, or finds in the cache, what `serialize` described. A launch with such arguments finds it ready."""
    import json

    from ..compiler.compiler import ASTSource

    data = json.loads(text)
    name = f"{fn.__module__}.{fn.__qualname__}"
    if data["name"] != name:
        raise RuntimeError(f"this specialization is of {data['name']}, not of {name}")
    if data["target"] != _target():
        raise RuntimeError(f"this specialization is for the target {data['target']}, not for {_target()}")
    signature = {parameter: _decode_type(type) for parameter, type in data["signature"].items()}
    constants = {tuple(path): _decode(value) for path, value in zip(data["constant_keys"], data["constant_vals"])}
    attrs = {tuple(path): facts for path, facts in zip(data["attrs_keys"], data["attrs_vals"])}
    # What a launch does not say is not said here either: then both find the same kernel.
    said = {option: value for option, value in data["options"].items() if value != fn._default_options()[option]}
    return fn._compile(ASTSource(fn, signature, constants, attrs), said)
