"""Writes the stubs for type checkers that follow from a table; `make install` runs it, and what it writes is not committed.

    python/nacre/language/      from the compiler's table of builtins and the standard library's text. What has no row there (tiles, types,
                                constexprs) is written by hand, in core.pyi, _tensor.pyi, constants.pyi and types.pyi
    python/nacre/_knob_rows.pyi    the attributes of nacre.knobs
    python/alias/triton-stubs/  `import triton` for type checkers: each module has the names of nacre's. The distribution nacre-triton brings it

The first line of each file says that it is from here; `make clean` removes those.
"""

import argparse
import ast
import importlib
import inspect
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from describe_language import Parameter, builtins, is_public, standard_functions  # noqa: E402

PACKAGE = HERE / "nacre"
LANGUAGE = PACKAGE / "language"
ALIAS = HERE / "alias" / "triton-stubs"
NEEDING_OTHERS = ("nacre.torch",)  # packages that import what need not be installed
HEADER = "# Written by python/write_stubs.py.\n"

# ---- Types of parameters and results -----------------------------------------------------------------------------------------

TYPES = {
    "tensor": "Value", "scalar": "Value", "dtype": "Dtype", "constexpr str": "str | None", "constexpr int": "int", "constexpr bool": "bool",
    "constexpr": "Any", "constexpr tuple": "Sequence[int]", "tuple": "Sequence[Any]", "int": "Value", "bool": "Value",
    "function": "Callable[..., Any]", "aggregate": "Any", "tensor_descriptor": "tensor_descriptor", "dict": "Mapping[Any, Any]",
    "constexpr PropagateNan": "str",
}  # fmt: skip
# By the name of the parameter: of the rows, where one annotation is too narrow; of the standard library, whose text says `constexpr` alone.
WIDER = {"values": "int | Sequence[int]", "cond": "Any"}
SEVERAL = {("expand_dims", "axis"): "int | Sequence[int]", ("reduce", "axis"): "int | None",
           ("inline_asm_elementwise", "dtype"): "Dtype | Sequence[Dtype]"}  # fmt: skip
CONSTEXPRS = {"axis": "int", "dim": "int", "k": "int", "n_rounds": "int", "dtype": "Dtype", "sem": "str", "scope": "str", "timeout_ns": "int"}

NOTHING = ("None", "store store_tensor_descriptor atomic_store scatter assume debug_barrier static_print static_assert device_print device_assert "
           "gdc_wait gdc_launch_dependents")  # fmt: skip
PAIR = ("_tuple[Tile, Tile]", "split pair_uniform_to_normal swizzle2d")
FOUR = ("_tuple[Tile, Tile, Tile, Tile]", "philox philox_impl randint4x rand4x randn4x")
ANYTHING = ("Any", "cdiv condition map_elementwise inline_asm_elementwise tuple slice aggregate_replace current_target")
TRUTH = ("bool", "is_cuda is_hip is_hip_cdna3 is_hip_cdna4 is_hip_gfx1250 cuda_capability_geq")
RESULTS = {name: result for result, names in (NOTHING, PAIR, FOUR, ANYTHING, TRUTH) for name in names.split()}
RESULTS.update({"range": "Iterable[Any]", "static_range": "Iterable[Any]", "make_tensor_descriptor": "tensor_descriptor", "num_warps": "int",
                "num_threads": "int"})  # fmt: skip
# Results that depend on an argument: (parameter, its type, the result) of each overload.
OVERLOADS = {
    "max": [("return_indices", "Literal[False]", "Tile"), ("return_indices", "Literal[True]", "_tuple[Tile, Tile]"),
            ("return_indices", "bool", "Any")],
    "reduce": [("input", "Value", "Tile"), ("input", "_tuple[Any, ...]", "_tuple[Tile, ...]")],
}
OVERLOADS["min"], OVERLOADS["associative_scan"] = OVERLOADS["max"], OVERLOADS["reduce"]
# Written by hand, in core.pyi.
BY_HAND = {"constexpr", "tensor", "tensor_descriptor", "const", "dtype", "pointer_type", "block_type", "get_int_dtype", "aggregate_replace"}
ONLY_METHODS = {"to", "item"}


def parameter_type(function, parameter):
    if parameter.stars:
        return "int | Sequence[int]" if parameter.annotation == "constexpr int" else "Any"
    kind = TYPES[parameter.annotation]
    if (function.name, parameter.name) in SEVERAL:
        kind = SEVERAL[function.name, parameter.name]
    elif parameter.name in WIDER:
        kind = WIDER[parameter.name]
    elif parameter.annotation == "constexpr":
        kind = "bool" if parameter.default in ("True", "False") else CONSTEXPRS.get(parameter.name, "Any")
    return f"{kind} | None" if parameter.default == "None" and kind not in ("Any", "Value") and "None" not in kind else kind


def parameters(function, is_method, special=None):
    """The text between the parentheses. special: (parameter, type) that an overload narrows; one that must be given then loses its default, and
    stands behind a star."""
    parts, receiver = [], function.parameters[0] if is_method else None
    for parameter in function.parameters:
        if parameter is receiver:
            parts.append("self")
            continue
        kind, default = parameter_type(function, parameter), None if parameter.default is None else "..."
        if special and parameter.name == special[0]:
            kind = special[1]
            if kind == "Literal[True]":
                parts.append("*")
                default = None
        parts.append(Parameter(parameter.name, "", default, parameter.stars).text(lambda _, kind=kind: kind))
    if function.name == "extern_elementwise":  # a function marked @tl.core.extern passes it on
        parts.append("_semantic: Any = ...")
    return ", ".join(parts)


def function_stub(function, is_method=False):
    indent = "    " if is_method else ""
    documentation = function.documentation.replace("\\", "\\\\").replace('"""', '\\"""')
    body = textwrap.indent(f'"""{documentation}"""', indent + "    ")
    receiver = function.parameters[0].name if is_method else ""
    versions = [version for version in OVERLOADS.get(function.name, []) if version[0] != receiver and "libdevice" not in function.module]
    if not versions or not any(parameter.name == versions[0][0] for parameter in function.parameters):
        return f"{indent}def {function.name}({parameters(function, is_method)}) -> {RESULTS.get(function.name, 'Tile')}:\n{body}\n"
    heads = (f"def {function.name}({parameters(function, is_method, version[:2])}) -> {version[2]}:" for version in versions)
    return "".join(f"{indent}@overload\n{indent}{head}\n{body}\n" for head in heads)


# ---- The language ------------------------------------------------------------------------------------------------------------

TYPING = """from builtins import tuple as _tuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload

"""
FROM_TILES = "from {0}_tensor import Dtype, Value\nfrom {0}_tile import Tile\nfrom {0}core import tensor_descriptor\n\n"


def language_stubs():
    table, standard = builtins(), standard_functions()

    def of(*modules):
        return [function for function in table if function.module in modules and is_public(function)]

    def stubs_of(functions):
        return "".join(function_stub(function) for function in functions)

    def methods_of(name, functions):
        return f"class {name}:\n" + "".join(function_stub(function, is_method=True) for function in functions)

    core = [function for function in of("triton.language") if function.name not in BY_HAND | ONLY_METHODS]
    math = of("triton.language.math")
    libdevice = math + of("triton.language.extra.libdevice")
    cuda = of("triton.language.extra.cuda")
    methods = [function for function in table + standard if function.is_method and is_public(function)]
    descriptors = of("triton.language.tensor_descriptor")
    here, above, far = (TYPING + FROM_TILES.format("." * dots) for dots in (1, 2, 3))
    texts = {
        "_functions": here + stubs_of(core + math),
        "_methods": here + methods_of("TensorMethods", methods) + "\n" + methods_of("DescriptorMethods", descriptors),
        "math": here + stubs_of(libdevice),
        "target_info": here + stubs_of(of("triton.language.target_info")),
        "extra/libdevice": above + stubs_of(libdevice),
        "extra/__init__": "from . import cuda as cuda, hip as hip, intel as intel, libdevice as libdevice\n",
        "extra/intel": "from . import libdevice as libdevice\n",
        "extra/cuda/__init__": far + "from .. import libdevice as libdevice\n\n" + stubs_of(cuda),
        "extra/cuda/gdc": "from . import gdc_launch_dependents as gdc_launch_dependents, gdc_wait as gdc_wait\n",
        "extra/cuda/utils": "".join(f"from . import {name} as {name}\n" for name in ("globaltimer", "num_threads", "num_warps", "smid")),
        "extra/cuda/libdevice": "from ..libdevice import *\n",
        "extra/hip/__init__": "from ..cuda import num_threads as num_threads, num_warps as num_warps, smid as smid\n"
                              "from . import libdevice as libdevice, utils as utils\n",
        "extra/hip/utils": "from ..cuda import num_threads as num_threads, num_warps as num_warps, smid as smid\n",
        "extra/hip/libdevice": "from ..libdevice import *\n",
        "__init__": language_package(core + math, standard),
    }  # fmt: skip
    for file in ("standard", "random"):
        texts[file] = here + stubs_of(function for function in standard if function.module.endswith(file) and is_public(function))
    return {LANGUAGE / f"{name}.pyi": HEADER + "\n" + text for name, text in texts.items()}


def language_package(functions, standard):
    """Its names, each from where it is."""
    from nacre.language import _SUBMODULES, core, types

    hand = set(BY_HAND) | {"constexpr_type", "tensor_descriptor_base", "tensor_descriptor_type", "tuple_type", "PropagateNan", "must_use_result",
                           "pi32_t", "TRITON_MAX_TENSOR_NUMEL"} | set(types.SCALARS)  # fmt: skip
    assert all(hasattr(core, name) for name in hand)
    modules = sorted({*_SUBMODULES, "core", "extra", "math", "target_info"})
    lines = ["from builtins import tuple as _tuple", "from typing import Any", "", f"from . import {', '.join(f'{name} as {name}' for name in modules)}"]
    lines += [f"from .core import {name} as {name}" for name in sorted(hand | {function.name for function in functions})]
    lines += [f"from .{function.module.rpartition('.')[2]} import {function.name} as {function.name}" for function in standard if is_public(function)]
    return "\n".join([*lines, "", "def str_to_ty(name: str | _tuple[Any, ...], c: Any = None) -> Any: ...", ""])


# ---- Knobs -------------------------------------------------------------------------------------------------------------------


def knob_stubs():
    """A class for each group, from which the group's own in knobs.pyi derives."""
    from nacre import _core, _variables, knobs

    groups = {name: [] for name in ("autotuning", "cache", "compilation", "language", "nvidia", "proton", "redis", "runtime")}
    for group, name, kind, *_ in _core.knobs():
        knob = getattr(knobs, group).knob_descriptors[name]
        if isinstance(knob, (knobs.ToolKnob, knobs.ClassKnob)):
            kind = "NvidiaTool" if isinstance(knob, knobs.ToolKnob) else "Any"
        groups[group].append((name, {"str": "str | None"}.get(kind, kind)))
    groups["amd"] = [(name, "Any") for name in _variables.AMD]
    lines = ["from typing import Any", "", "from ._toolkit import Tool as NvidiaTool", ""]
    for group, rows in groups.items():
        lines += [f"class {group.capitalize()}Rows:", *(f"    {name}: {kind}" for name, kind in rows)]
    return {PACKAGE / "_knob_rows.pyi": HEADER + "\n" + "\n".join(lines) + "\n"}


# ---- The alias ---------------------------------------------------------------------------------------------------------------


def public_modules(folder=PACKAGE):
    """(path, whether it is a package) of the modules that others import, below the package's folder."""
    for path in sorted(folder.iterdir()):
        is_package = (path / "__init__.py").exists()
        if path.name.startswith("_") or not (is_package or path.suffix == ".py"):
            continue
        yield path.relative_to(PACKAGE).with_suffix(""), is_package
        if is_package:
            yield from public_modules(path)


def alias_stubs():
    """A package of stubs alone, as PEP 561 names it: it means something to type checkers, and nothing to Python."""
    modules = list(public_modules())
    texts = {}
    for path, is_package in [(Path(), True), *modules]:
        name = ".".join(("nacre", *path.parts))
        children = [module.name for module, _ in modules if module.parent == path] if is_package else []
        lines = [f"from {name} import *"]
        if not path.parts:
            lines.append("from nacre import __version__ as __version__")
        shown = attributes(PACKAGE / path / "__init__.pyi", name) if is_package else ()
        lines += [f"from . import {child} as {child}" for child in children if child in shown]
        texts[ALIAS / path / "__init__.pyi" if is_package else ALIAS / path.with_suffix(".pyi")] = HEADER + "\n".join(lines) + "\n"
    return texts


def attributes(stub, package):
    """The modules that a package has as attributes; others need an import of their own, as they do when a program runs."""
    if stub.exists():
        nodes = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None]
        return {alias.name for node in nodes for alias in node.names}
    if package in NEEDING_OTHERS:
        return set()
    return {name for name, value in vars(importlib.import_module(package)).items() if inspect.ismodule(value)}


def write(stubs):
    for path, text in stubs.items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    write(language_stubs())
    write(knob_stubs())
    write(alias_stubs())  # reads the others


if __name__ == "__main__":
    main()
