"""Kernels to begin with: every function of the language in the tests and the examples, and tile IR of them.

A file is not run: only its functions of the language are taken from it, with the constants at its top. What their arguments are is
guessed, and a kernel whose guess compiles is kept.
"""

import ast
import dataclasses
import functools
import os
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("NACRE_BUILD_DIR", ROOT / "build"))
FOLDERS = ("tests/language", "tests/language/meaning", "tests/runtime", "tests/frontend/ir", "tests/frontend/errors", "examples")
HEAD = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\nimport math\n"


@dataclasses.dataclass
class Kernel:
    name: str
    text: str  # with its decorators
    others: str  # what else of its file it may name
    parameters: list  # (name, whether it is a constexpr)
    place: str  # of the file, in the repository


def _is_function_of_the_language(node):
    return isinstance(node, ast.FunctionDef) and any("jit" in ast.dump(decorator) for decorator in node.decorator_list)


def _is_constexpr(parameter):
    return parameter.annotation is not None and "constexpr" in ast.dump(parameter.annotation)


def _kernels_of(path):
    text = path.read_text()
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a test of such
        return
    lines = text.splitlines(keepends=True)

    def text_of(node):
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        return "".join(lines[first - 1 : node.end_lineno])

    functions = [node for node in tree.body if _is_function_of_the_language(node)]
    constants = [
        node for node in tree.body if isinstance(node, ast.Assign) and not any(isinstance(inner, ast.Lambda) for inner in ast.walk(node))
    ]
    for node in functions:
        parameters = [(p.arg, _is_constexpr(p)) for p in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if node.args.vararg or node.args.kwarg:
            continue
        named = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        helpers = [text_of(other) for other in functions if other is not node]
        values = [text_of(c) for c in constants if any(isinstance(t, ast.Name) and t.id in named for t in c.targets)]
        yield Kernel(node.name, text_of(node), "\n".join([*values, *helpers]), parameters, str(path.relative_to(ROOT)))


@functools.cache
def kernels():
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.py")):
            found += _kernels_of(path)
    return found


def guess(kernel, rng: random.Random):
    """Arguments of a launch: a type for an array, a number for a scalar."""
    arguments = {}
    for name, is_constexpr in kernel.parameters:
        lower = name.lower()
        looks_like_a_pointer = "ptr" in lower or lower in ("x", "y", "z", "a", "b", "c", "out", "src", "dst", "output", "input")
        if is_constexpr:
            arguments[name] = rng.choice([16, 32, 64, 16, 32, 128, 1, 2, True, None, "sum", "float32"])
        elif rng.random() < (0.95 if looks_like_a_pointer else 0.4):
            arguments[name] = rng.choice(["float32", "float32", "int32", "float16", "int8", "int64", "uint8", "float64", "bool"])
        else:
            arguments[name] = rng.choice([5, 16, 1, 2**40, 1.5, True])
    return arguments


def _tests_of_passes():
    """Cut where they say that another text begins."""
    for path in sorted((ROOT / "compiler").glob("**/test/*.mlir")):
        for part in path.read_text().split("// -----"):
            code = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//"))
            if code.strip():
                yield code


def _tests_of_the_front_end():
    for path in sorted((ROOT / "tests/frontend/ir").glob("*.py")):
        found = dict(re.findall(r"^# (signature|kernel): *(.*)$", path.read_text(), re.MULTILINE))
        command = [BUILD / "compiler/frontend/nacre-frontend-dump", path, found.get("kernel", "kernel"), found["signature"]]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode == 0:
            yield run.stdout


@functools.cache
def modules():
    """Texts of tile IR that nacre-opt can read."""
    texts = [*_tests_of_passes(), *_tests_of_the_front_end()]
    command = [BUILD / "cli/nacre-opt", "--split-input-file", "--allow-unregistered-dialect", "-o", os.devnull]
    return [text for text in texts if subprocess.run(command, input=text, capture_output=True, text=True).returncode == 0]
