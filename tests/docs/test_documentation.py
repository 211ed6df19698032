"""The documentation is true: generated pages are in step with the language, examples and snippets run, links lead somewhere."""

import ast
import builtins
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run(*command):
    return subprocess.run([sys.executable, *map(str, command)], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def describe_language():
    sys.path.insert(0, str(ROOT / "python"))
    return load("describe_language", ROOT / "python" / "describe_language.py")


def test_reference_pages_are_in_step():
    done = run(ROOT / "python" / "describe_language.py", "--check")
    assert done.returncode == 0, done.stderr


def test_the_check_notices_a_difference(monkeypatch, tmp_path):
    module = describe_language()
    page = DOCS / "language" / "memory.md"
    stale = tmp_path / "python"
    monkeypatch.setattr(module, "pages", lambda: {page: page.read_text() + "more"})
    monkeypatch.setattr(sys, "argv", [str(stale), "--check"])
    with pytest.raises(SystemExit, match="docs/language/memory.md"):
        module.main()


def test_stubs_are_python_and_name_everything():
    module = describe_language()
    names = {}
    for path, text in module.stubs().items():
        tree = ast.parse(text, str(path))
        found = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        found |= {alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        found |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
        found |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        assert used <= found | set(dir(builtins)), f"{path.name} names what it does not define"
        names[str(path.relative_to(module.LANGUAGE))] = found
    functions = [function for function in module.builtins() + module.standard_functions() if module.is_public(function)]
    only_methods = {"to", "item"}
    in_language = {f.name for f in functions if f.module in ("triton.language", "triton.language.math", "triton.language.standard", "triton.language.random")}
    assert in_language - only_methods <= names["__init__.pyi"]
    assert {f.name for f in functions if f.module == "triton.language.extra.libdevice"} <= names["extra/libdevice.pyi"]
    tensor = next(node for node in ast.parse(module.stubs()[module.LANGUAGE / "core.pyi"]).body if getattr(node, "name", "") == "tensor")
    methods = {node.name for node in tensor.body if isinstance(node, ast.FunctionDef)}
    assert {"to", "sum", "store", "reshape", "atomic_add", "__add__", "__rsub__", "__lt__"} <= methods


def test_every_function_is_documented():
    module = describe_language()
    functions = [function for function in module.builtins() + module.standard_functions() if module.is_public(function)]
    assert [function.title for function in functions if not function.documentation.strip()] == []


def test_help_shows_signature_and_parameters():
    done = run("-c", "import nacre.language as tl; help(tl.load); help(tl.sum)")
    assert "load(pointer, mask=None, other=None" in done.stdout
    assert "mask: int1; where it is false nothing is read." in done.stdout
    assert "Adds up the elements along an axis." in done.stdout


# ---- Examples and snippets


@pytest.fixture(scope="module")
def examples():
    import nacre

    nacre.activate()
    return load("language_examples", DOCS / "language" / "examples.py")


EXAMPLES = re.findall(r"^def ([a-z]\w*)\(", (DOCS / "language" / "examples.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(examples, name):
    x = np.linspace(-2, 2, 4096, dtype=np.float32)
    out = np.full(4096, 7, dtype=np.float32)
    getattr(examples, name)[(1,)](x, out, 64)
    assert not (out == 7).all(), "the example stores nothing"


def test_examples_are_shown():
    pages = "".join(path.read_text() for path in (DOCS / "language").glob("*.md"))
    assert [name for name, body in describe_language().examples().items() if body not in pages] == []


GUIDES = sorted(DOCS.glob("[0-9]-*.md"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_snippets_of_a_guide_run(path, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
    script = tmp_path / "guide.py"
    script.write_text("\n".join(blocks))
    done = run("-m", "nacre", "run", script)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("clang++-22"), reason="clang++-22 is not installed")
def test_cpp_snippets_compile(tmp_path):
    blocks = re.findall(r"^```cpp\n(.*?)^```", (DOCS / "5-cpp.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    file = tmp_path / "snippets.cpp"
    parameters = "float *x, float *y, float *out, int n, uint32_t grid"
    file.write_text("\n".join([*includes, "#include <cstdio>", f"void snippets({parameters}) {{", *body, "}"]))
    done = subprocess.run(["clang++-22", "-std=c++17", "-fsyntax-only", "-I", ROOT / "include", file], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_links_lead_somewhere(path):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        assert "://" in target or (path.parent / target).exists(), target


# ---- The language's surface

KERNEL_NAMES = load("kernel_names", ROOT / "tests" / "language" / "kernel_names.py").KERNEL_NAMES


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_name_exists(name):
    import nacre.language

    found = nacre.language
    for part in name.split("."):
        found = getattr(found, part)
    assert found is not None


def test_functions_have_reference_entries():
    pages = "".join(path.read_text() for path in (DOCS / "language").glob("*.md"))
    table = describe_language()
    documented = {function.name for function in table.builtins() + table.standard_functions()}
    for name in KERNEL_NAMES:
        last = name.rsplit(".", 1)[-1]
        if last in documented and not last.startswith("_"):
            assert re.search(rf"^## (tl\.|dtype\.|)([\w.]+\.)?{last}$", pages, re.MULTILINE), name
