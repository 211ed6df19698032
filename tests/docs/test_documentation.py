"""The documentation is true: generated pages are in step with the language, examples and snippets run, links lead somewhere."""

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
    return subprocess.run([sys.executable, *map(str, command)], env=ENVIRONMENT, capture_output=True, text=True, timeout=600)


def describe_language():
    sys.path.insert(0, str(ROOT / "python"))
    return load("describe_language", ROOT / "python" / "describe_language.py")


def test_reference_pages_are_in_step():
    done = run(ROOT / "python" / "describe_language.py", "--check")
    assert done.returncode == 0, done.stderr


def test_the_stages_of_a_kernel_are_real():
    done = run(DOCS / "site" / "stages.py", "--check")
    assert done.returncode == 0, done.stderr


def test_the_stages_are_found_by_expressions():
    excerpt = load("stages", DOCS / "site" / "stages.py").excerpt
    text = "one\ntwo\nthree\nfour\nfive\n"
    assert excerpt(text, [], "tw") == "one\nthree\nfour\nfive"
    assert excerpt(text, [("one", "two"), ("four", "four")], None) == "one\ntwo\n...\nfour\n..."
    with pytest.raises(SystemExit, match="six"):
        excerpt(text, [("six", "six")], None)


def test_the_check_notices_a_difference(monkeypatch, tmp_path):
    module = describe_language()
    page = DOCS / "language" / "memory.md"
    stale = tmp_path / "python"
    monkeypatch.setattr(module, "pages", lambda: {page: page.read_text() + "more"})
    monkeypatch.setattr(sys, "argv", [str(stale), "--check"])
    with pytest.raises(SystemExit, match="docs/language/memory.md"):
        module.main()


def test_the_table_of_packages_is_in_step():
    results = load("world_results", ROOT / "tests" / "world" / "results.py")
    packages = load("world_packages", ROOT / "tests" / "world" / "packages.py")
    kept = results.read()
    versions = {name: package.version for name, package in packages.PACKAGES.items()}
    assert {name: package["version"] for name, package in kept["packages"].items()}.items() <= versions.items(), "run make test-world ARGS=--write"
    shown = results.PAGE.read_text().partition(results.BEGIN + "\n")[2].partition("\n" + results.END)[0]
    assert shown == results.table(kept), "run make test-world ARGS=--write"


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


# Every block of code is run as it is pasted from the page: alone, into a file.

PROSE = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FENCES = re.compile(r"^```(\w*)\n(.*?)^```$(?=(?:\n\n```\n(.*?)^```$)?)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [*PROSE, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def blocks(*languages):
    """(page and number, text, the output shown below it) of the blocks of these languages."""
    found = []
    for path in PROSE:
        for number, (language, text, output) in enumerate(FENCES.findall(path.read_text()), 1):
            if language in languages:
                found.append(pytest.param(text, output, id=f"{path.relative_to(ROOT)}-{number}"))
    return found


LAUNCH = """
import numpy
x, out = numpy.linspace(-2, 2, 4096, dtype=numpy.float32), numpy.full(4096, 7, dtype=numpy.float32)
kernel[(1,)](x, out, 64)
assert not (out == 7).all(), "the example stores nothing"
"""


@pytest.mark.parametrize("text, output", blocks("python"))
def test_a_block_of_python_runs(text, output, tmp_path):
    for package in ("torch", "transformers"):
        if f"import {package}" in text or (package == "torch" and "from llm " in text):  # the example's decoder is a torch module
            pytest.importorskip(package)
    is_kernel = re.search(r"^def kernel\(x_ptr, out_ptr, N: tl.constexpr\):", text, re.MULTILINE)
    if is_kernel and "import triton" not in text:  # a page of the reference, which says so at its beginning
        text = "import triton\nimport triton.language as tl\n\n\n" + text
    if "from llm " in text:  # a page that says it is in the folder of the examples
        shutil.copytree(ROOT / "examples" / "llm", tmp_path / "llm")
    (tmp_path / "script.py").write_text(text + (LAUNCH if is_kernel else ""))
    done = subprocess.run([sys.executable, "-m", "nacre", "run", "script.py"], env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=600, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    missing = [line for line in output.splitlines() if line != "..." and line not in done.stdout]
    assert not missing, done.stdout


PROGRAMS = load("distribution", ROOT / "python" / "distribution.py").PROGRAMS


def shell_blocks():
    """Blocks of commands: those of a shell, and those without a name whose lines begin with a program of ours."""
    programs = "|".join([r"\.venv/bin/nacre", "make", *PROGRAMS])
    plain = [block for block in blocks("") if re.match(rf"(\w+=\S+ )?({programs}) ", block.values[0])]
    return [*plain, *blocks("sh")]


@pytest.mark.parametrize("text, output", shell_blocks())
def test_a_block_of_commands_runs(text, output, tmp_path, folder_of_commands):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"^make (\S+)", text, re.MULTILINE):
        assert target in targets
    lines = [line for line in text.splitlines() if not line.startswith("make ")]
    if not lines:
        return
    if any(compiler in text.split() and not shutil.which(compiler) for compiler in ("g++", "cc")):
        pytest.skip("there is no compiler")
    scripts = [folder_of_commands / name for name in re.findall(r"[\w-]+\.py", text)]
    if any("import torch" in script.read_text() for script in scripts if script.exists()):
        pytest.importorskip("torch")
    if "--emit cubin" in text and not shutil.which("ptxas"):
        pytest.skip("there is no ptxas")
    shutil.copytree(folder_of_commands, tmp_path, dirs_exist_ok=True)
    command = "set -e\n" + "\n".join(lines)
    path = os.pathsep.join([str(tmp_path / ".venv" / "bin"), os.environ["PATH"]])
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env={**ENVIRONMENT, "PATH": path}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in re.findall(r"(?:-o|--json|--html)[ =]([\w/]+\.[\w.]+)", re.sub("#.*", "", text)):
        assert (tmp_path / name).stat().st_size > 0, f"{name} was not written"


SCRIPT = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


def launch():
    x, y, out = np.ones(1000, np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    add[(4,)](x, y, out, 1000, BLOCK=256)
    assert (out == 2).all()


if __name__ == "__main__":
    launch()
"""


@pytest.fixture(scope="module")
def folder_of_commands(tmp_path_factory):
    """What the pages' commands are given: the kernel of README as add.py, that of the quick start as scale.py, the tutorials, programs that use
    the first, profiles, and the environment."""
    folder = tmp_path_factory.mktemp("commands")
    write_files_of_commands(folder)
    return folder


def write_files_of_commands(folder):
    readme = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    (folder / "add.py").write_text(readme)
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    started = {"python": "", "pytest": "-m pytest "}
    for name, function in PROGRAMS.items():
        module, function = function.split(":")
        started[name] = f"-c 'import sys; from {module} import {function}; sys.exit({function}())' "
    for name, arguments in started.items():
        (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (binaries / name).chmod(0o755)
    (folder / "script.py").write_text(SCRIPT)
    (folder / "kernel.py").write_text(SCRIPT.replace("(x, y, out, n, BLOCK: ", "(x, out, n, BLOCK: ").replace(" + tl.load(y + offsets, mask=mask)", ""))
    programs = {page: page.stem for page in (DOCS / "tutorials").glob("[0-9]*.md")} | {DOCS / "1-quick-start.md": "scale"}
    for page, name in programs.items():
        (folder / f"{name}.py").write_text(re.search(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)[1])
    (folder / "tests").mkdir()
    (folder / "tests" / "test_script.py").write_text("import script\n\n\ndef test_launch():\n    script.launch()\n")
    (folder / "conftest.py").write_text("")  # the folder is on the path
    ptx = ["--kernel", "add", "--signature", "*fp32,*fp32,*fp32,i32,BLOCK=256", "--target", "cuda:90", "--num-warps", "8", "--emit", "ptx"]
    profiled = re.search(r"^```python\n(.*?)^```", (DOCS / "11-profiler.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    for command in (["nacre", "compile", "script.py", *ptx, "-o", "kernel.ptx"], ["nacre", "run", "-c", profiled]):
        subprocess.run([binaries / command[0], *command[1:]], cwd=folder, env=ENVIRONMENT, check=True, timeout=600)
    for name in ("old", "new"):  # a millisecond each, however busy this machine is
        profile = re.sub(r'"time \(ns\)": ?\d+', '"time (ns)": 1000000', (folder / "vec_add_analysis.hatchet").read_text())
        (folder / f"{name}.hatchet").write_text(profile)
    (folder / "main.cpp").write_text('#include <nacre/nacre.h>\nint main() { nacre::KernelSource::fromFile("add.py").kernel("add_kernel"); }\n')
    include, _, body = re.search(r"^```c\n(.*?)^```", (DOCS / "5-cpp.md").read_text(), re.MULTILINE | re.DOTALL)[1].partition("\n")
    (folder / "main.c").write_text(f"{include}\n#include <stdio.h>\nint main(void) {{\n  static _Alignas(64) float x[4], y[4], out[4];\n  int n = 4;\n{body}\n}}\n")


@pytest.mark.skipif(not shutil.which("clang++-22"), reason="clang++-22 is not installed")
def test_cpp_snippets_compile(tmp_path):
    blocks = re.findall(r"^```cpp\n(.*?)^```", (DOCS / "5-cpp.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    file = tmp_path / "snippets.cpp"
    parameters = "float *x, float *y, float *out, int n, uint32_t grid"
    file.write_text("\n".join([*includes, "#include <cstdio>", f"void snippets({parameters}) {{", *body, "}"]))
    done = subprocess.run(["clang++-22", "-std=c++17", "-fsyntax-only", "-I", ROOT / "include", file], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


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
