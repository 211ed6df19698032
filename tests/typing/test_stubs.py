"""The stubs agree with the package: what they name is there, what is there they name, and parameters are called the same."""

import ast
import importlib
import inspect
import subprocess
import sys
import zipfile
from pathlib import Path

import nacre
import nacre.language as tl
import numpy as np
import pytest
import stub_files

STUBS = stub_files.stubs()
BY_HAND = {"nacre", "nacre.knobs", "nacre.language.core", "nacre.runtime.jit", "nacre.runtime.autotuner", "nacre.compiler.compiler"}


def test_there_are_stubs():
    written = {"nacre.language", "nacre.language.math", "nacre.language.standard", "nacre.language.extra.libdevice"}
    if not written <= set(STUBS):
        pytest.fail("python/write_stubs.py has not run: make install")
    assert BY_HAND <= set(STUBS) and len(STUBS) > 30


@pytest.mark.parametrize("module", STUBS)
def test_what_is_named_is_there(module):
    loaded = importlib.import_module(module)
    # Types that have a name in the stubs alone.
    aliases = {"Grid", "Dtype", "Value", "Index"}
    for child in ("backends", "compiler", "errors", "profiler", "sanitizer", "testing", "tools", "viz") if module == "nacre" else ():
        importlib.import_module(f"nacre.{child}")
    assert [name for name in sorted(stub_files.names(STUBS[module]) - aliases) if not hasattr(loaded, name)] == []


@pytest.mark.parametrize("module", STUBS)
def test_what_is_there_is_named(module):
    """Whatever others may use: what a module defines, and of a package whatever it shows."""
    loaded = importlib.import_module(module)

    def counts(value):
        where = getattr(value, "__module__", None) or ""
        return where.startswith("nacre") if hasattr(loaded, "__path__") or module == "nacre.language.core" else where == module

    here = {name for name in stub_files.public(dir(loaded)) if not inspect.ismodule(getattr(loaded, name)) and counts(getattr(loaded, name))}
    private = {name for name in here if getattr(getattr(loaded, name), "__name__", "").startswith("_")}
    assert sorted({*here, *getattr(loaded, "__all__", ())} - private - stub_files.names(STUBS[module]) - {"__version__"}) == []


def functions(module):
    """(qualified name, node, function, is a method, is an overload)"""
    loaded = importlib.import_module(module)
    body = stub_files.tree(STUBS[module])
    if module == "nacre.language.core":
        body += [node for name in ("_functions", "_tensor") for node in stub_files.tree(stub_files.PACKAGE / "language" / f"{name}.pyi")]
    for node in body:
        members = node.body if isinstance(node, ast.ClassDef) else ()
        for member, owner in ((node, loaded), *((inner, getattr(loaded, node.name, None)) for inner in members)):
            is_private = member.name.startswith("_") and member.name != "__init__" if isinstance(member, ast.FunctionDef) else True
            decorators = {getattr(decorator, "id", "") for decorator in getattr(member, "decorator_list", ())}
            if is_private or "property" in decorators or inspect.ismodule(owner) and not hasattr(owner, member.name):
                continue
            is_method = owner is not loaded
            # A module may pass on names of others.
            function = inspect.getattr_static(owner, member.name, None) if is_method else getattr(owner, member.name, None)
            yield f"{getattr(owner, '__name__', owner)}.{member.name}", member, function, is_method, "overload" in decorators


@pytest.mark.parametrize("module", STUBS)
def test_parameters_are_called_the_same(module):
    wrong = {}
    for name, node, function, is_method, is_overload in functions(module):
        if function is None:
            wrong[name] = "is not there"
            continue
        is_static = isinstance(function, staticmethod)
        real = stub_files.of_function(function.__func__ if is_static else function, is_method and not is_static)
        if real is not None and (said := stub_files.difference(stub_files.of_stub(node, is_method), real, is_overload)):
            wrong[name] = said
    assert wrong == {}


# ---- Attributes of instances


@nacre.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, offsets < n)
    tl.static_assert(x.shape[0] == BLOCK and x.numel == BLOCK and x.dtype == x.type.element_ty)
    tl.store(x_ptr + offsets, x, offsets < n)


@pytest.fixture(scope="module")
def instances():
    """{class: an instance}"""
    from nacre import knobs, profiler, simulator
    from nacre.compiler.compiler import ASTSource
    from nacre.runtime.jit import JitFunctionInfo
    from nacre.testing.reports import Mark, Progress, Result
    from nacre.tools.tensor_descriptor import TensorDescriptor

    x = np.ones((16, 16), np.float32)
    compiled = kernel[(1,)](x, 16, BLOCK=16)
    tuned = nacre.autotune([nacre.Config({"BLOCK": 16})], key=["n"])(kernel)
    tuned[(1,)](x, 16)
    benchmark = nacre.testing.Benchmark(["n"], [1], "line", [1], ["1"], "plot", {})
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }"
    place = dict.fromkeys(("file", "line", "ptx_line", "inner_file", "inner_line"))
    found = simulator.Finding({"kind": "", "message": "", "place": place, "other": None, "instruction": "", "block": (), "thread": None, "count": 1})
    made = [
        compiled, compiled.metadata, compiled.asm, tuned, kernel, kernel.params[0], nacre.heuristics({"BLOCK": lambda args: 16})(kernel),
        nacre.Config({}), nacre.bucket("n"), nacre.Space({"BLOCK": [16]}), ASTSource(kernel, {"x_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 16}),
        nacre.MockTensor(tl.float32), nacre.reinterpret(x, tl.int32), TensorDescriptor(x, x.shape, [16, 1], [16, 16]),
        JitFunctionInfo("", "", kernel),
        benchmark, Progress(), Result(benchmark, "name"), Mark(print, benchmark), profiler.scope("name"), profiler.state("name"),
        found, simulator.Module(ptx), simulator.run(ptx, "f", 1, 1, []), simulator.TensorMap(x, (16, 16)),
        tl.constexpr(3), tl.core.constexpr_type(3), tl.pointer_type(tl.int8), tl.block_type(tl.int8, [4]), tl.core.tuple_type([]),
        tl.core.tensor_descriptor_type(tl.block_type(tl.int8, [4])), knobs.HookChain(), knobs.CompileTimes(1, [], 1),
        knobs.runtime.knob_descriptors["debug"],
        *(getattr(knobs, group) for group in ("runtime", "compilation", "autotuning", "cache", "language", "nvidia", "amd", "build", "proton", "redis")),
    ]  # fmt: skip
    return {type(instance): instance for instance in made}


def attributes(body):
    return stub_files.public(node.target.id for node in stub_files.nodes(body) if isinstance(node, ast.AnnAssign))


# What exists inside kernels alone, and what a class has by what it derives from.
WITHOUT_INSTANCES = {"tensor", "tensor_descriptor", "PropagateNan", "dtype", "JITCallable", "ConstexprFunction", "AggregateTypes", "Specialization",
                     "Unfinished"}  # fmt: skip


@pytest.mark.parametrize("module", STUBS)
def test_attributes_are_there(module, instances):
    loaded = importlib.import_module(module)
    wrong = []
    for node in stub_files.tree(STUBS[module]):
        if not isinstance(node, ast.ClassDef) or not attributes(node.body) or not hasattr(loaded, node.name):
            continue
        instance = instances.get(getattr(loaded, node.name))
        if instance is None:
            assert node.name in WITHOUT_INSTANCES, f"an instance of {node.name} is wanted above"
            continue
        wrong += [f"{node.name}.{name}" for name in attributes(node.body) if name not in dir(instance) and not hasattr(instance, name)]
    assert wrong == []


def test_types_have_their_attributes():
    (node,) = (node for node in stub_files.tree(STUBS["nacre.language.types"]) if getattr(node, "name", "") == "dtype")
    of_one_kind = {"int_signedness", "int_bitwidth", "fp_mantissa_width", "exponent_bias"}
    assert attributes(node.body) - {name for name in dir(tl.int8)} <= of_one_kind and attributes(node.body) - {*dir(tl.int8), *dir(tl.float32)} == set()


def test_tensors_have_their_methods():
    methods = {node.name for node in stub_files.tree(stub_files.PACKAGE / "language" / "_methods.pyi")[-2].body}
    assert {name for name in methods if not hasattr(tl.tensor, name)} == set()
    assert {"to", "sum", "store", "reshape", "atomic_add"} <= methods
    (tensor,) = (node for node in stub_files.tree(stub_files.PACKAGE / "language" / "_tensor.pyi") if getattr(node, "name", "") == "tensor")
    operators = {node.name for node in tensor.body if isinstance(node, ast.FunctionDef)}
    assert {"__add__", "__rsub__", "__lt__", "__getitem__"} <= operators and {name for name in operators if not hasattr(tl.tensor, name)} == set()


def test_every_function_of_the_language_is_named():
    sys.path.insert(0, str(stub_files.PACKAGE.parent))
    from describe_language import builtins, is_public, standard_functions

    found = [function for function in builtins() + standard_functions() if is_public(function)]
    modules = ("triton.language", "triton.language.math", "triton.language.standard", "triton.language.random")
    assert {function.name for function in found if function.module in modules} - {"to", "item"} <= stub_files.names(STUBS["nacre.language"])
    libdevice = {function.name for function in found if function.module == "triton.language.extra.libdevice"}
    assert len(libdevice) > 100 and libdevice <= stub_files.names(STUBS["nacre.language.extra.libdevice"])


def test_the_alias_has_every_module():
    """`import triton.x.y` is resolved wherever `import nacre.x.y` is."""
    folder = stub_files.PACKAGE.parent / "alias" / "triton-stubs"
    modules = {str(path.relative_to(stub_files.PACKAGE).with_suffix("")) for path in stub_files.PACKAGE.rglob("*.py")}
    public = {module for module in modules if not any(part.startswith("_") and part != "__init__" for part in Path(module).parts)}
    assert public == {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.pyi")}


def test_the_wheel_of_the_alias_has_them(tmp_path):
    sys.path.insert(0, str(stub_files.PACKAGE.parent))
    from build_wheel import build_alias

    with zipfile.ZipFile(build_alias(tmp_path)) as archive:
        names = set(archive.namelist())
    assert {"triton-stubs/__init__.pyi", "triton-stubs/language/core.pyi", "_nacre_triton.py"} <= names
    assert not [name for name in names if name.startswith("triton/")], "a folder of Triton's own name would be a package to Python"


def test_what_is_written_is_in_step():
    """The written stubs are those that the table gives now."""
    code = ("import sys; sys.path.insert(0, 'python'); import write_stubs as w\n"
            "texts = {**w.language_stubs(), **w.knob_stubs(), **w.alias_stubs()}\n"
            "print([str(path) for path, text in texts.items() if not path.exists() or path.read_text() != text])")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], cwd=stub_files.PACKAGE.parents[1], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
