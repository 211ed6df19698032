"""Writes the reference pages of the language from its one definition.

    describe_language.py            docs/language/*.md: a page for each group of functions, and the list of them
    describe_language.py --check    says which of them are out of step, and fails; writes nothing

The definition is the compiler's table of builtins and the standard library's own text (standard.py, random.py). Examples come
from docs/language/examples.py.
"""

import argparse
import ast
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
LANGUAGE = HERE / "nacre" / "language"

GROUPS = {
    "programming model": "Which program of the grid this is, and what it runs on.",
    "creation": "New tensors, and conversions between types.",
    "shape": "The same elements in another shape. `x[:, None]` and `x[None, :]` insert axes, `x.T` swaps the last two.",
    "linear algebra": "Products of matrices.",
    "memory": "Loads and stores.",
    "indexing": "Choosing among elements. `x[a:b]`, `x[i]` and `x[i, :]` take parts of a tile.",
    "arithmetic": "Functions beside Python's operators, whose rules are in [meaning](meaning.md).",
    "math": "Elementary functions, elementwise. They take fp32 and fp64; convert other types with `.to(tl.float32)`.",
    "libdevice": "More elementary functions, as `tl.extra.libdevice.<name>` (also `tl.extra.cuda.libdevice.<name>` and "
    "`tl.math.<name>`), on every engine.",
    "reductions": "Many elements become one.",
    "scans and sorts": "Running combinations, orders, counts.",
    "atomics": "Updates of memory that other programs may touch at the same time.",
    "random": "Random numbers from a counter: Philox-4x32, the same bits everywhere.",
    "iteration": "What a `for` loop counts over.",
    "hints": "Promises to the compiler. A promise that does not hold makes the kernel's result undefined.",
    "debugging": "Printing and checking, while compiling and while running.",
    "profiling": "Scopes and events that the [profiler](../11-profiler.md) measures in each program, of `triton.profiler.language`, imported as `pl`.",
    "inline code": "Code from outside the language.",
    "types": "Types as values. The types themselves are on the page [types](types.md).",
    "Python in kernels": "Python's own functions that a kernel may call. What else of Python works is on the page "
    "[Python in kernels](python.md).",
}

METHODS = ("triton.language.dtype", "str", "int")  # of types, and of constexprs: not in the list of functions
SHORT_MODULES = {"triton.language": "tl", "triton.language.math": "tl", "builtins": "", "triton.language.dtype": "dtype", "triton.profiler.language": "pl"}


@dataclass
class Parameter:
    name: str
    annotation: str = ""
    default: str | None = None
    stars: int = 0  # *args, **fields
    is_keyword_only: bool = False

    def text(self, annotate=None):
        name = "*" * self.stars + self.name
        kind = annotate(self) if annotate else ""
        if kind:
            return f"{name}: {kind}" + (f" = {self.default}" if self.default is not None else "")
        return name + (f"={self.default}" if self.default is not None else "")


@dataclass
class Function:
    module: str
    name: str
    group: str
    parameters: list
    documentation: str
    is_method: bool

    @property
    def title(self):
        prefix = SHORT_MODULES.get(self.module, self.module.replace("triton.language", "tl"))
        return f"{prefix}.{self.name}" if prefix else self.name

    def signature(self, annotate=None):
        return ", ".join(parameter.text(annotate) for parameter in self.parameters)


def is_public(function):
    return not function.name.startswith("_")


def builtins():
    from nacre import _core

    found = []
    for module, name, group, _, documentation, is_method, rows in _core.builtins():
        parameters, after_variadic = [], False
        for parameter, annotation, default, stars in rows:
            parameters.append(Parameter(parameter, annotation, default, stars, after_variadic))
            after_variadic = after_variadic or stars == 1
        found.append(Function(module, name, group, parameters, documentation, is_method))
    return found


def standard_functions():
    """The standard library's functions: their signatures and docstrings are read from its text."""
    from nacre import _core

    texts = {}
    found = []
    for name, file, is_method, group in _core.standard_functions():
        if file not in texts:
            tree = ast.parse((LANGUAGE / file).read_text())
            texts[file] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        node = texts[file][name]
        defaults = [None] * (len(node.args.args) - len(node.args.defaults)) + node.args.defaults
        parameters = [
            Parameter(
                argument.arg,
                "constexpr" if argument.annotation is not None else "tensor",
                None if default is None else ast.unparse(default).replace("core.", "tl."),
            )
            for argument, default in zip(node.args.args, defaults)
        ]
        module = "triton.language." + file.removesuffix(".py")
        found.append(Function(module, name, group, parameters, ast.get_docstring(node) or "", is_method))
    return found


# ---- The reference pages ---------------------------------------------------------------------------------------------------


def examples():
    """Name -> its example as one can paste it: the kernel, after the helpers that it calls."""
    lines = (DOCS / "language" / "examples.py").read_text().splitlines()
    functions = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.FunctionDef)]

    def text(node):
        return "\n".join(lines[node.decorator_list[0].lineno - 1 : node.end_lineno])

    helpers = {node.name: text(node) for node in functions if node.name.startswith("_")}
    found = {}
    for node in functions:
        if node.name in helpers:
            continue
        named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        parts = [helper for name, helper in helpers.items() if name in named]
        found[node.name] = "\n\n\n".join([*parts, text(node).replace(f"def {node.name}(", "def kernel(", 1)])
    return found


def example_of(function, shown):
    """The example of a function, or None; methods of tensor descriptors have their own."""
    if function.module in ("builtins", *METHODS) or "libdevice" in function.module:
        return None
    owner = "tensor_descriptor_" if function.module.endswith(".tensor_descriptor") else ""
    return shown.get(owner + function.name)


def page_name(group):
    return {"Python in kernels": "python-functions", "types": "type-functions"}.get(group, group.replace(" ", "-")) + ".md"


def parameter_lines(function):
    """The documentation in two parts: the text, and (name, what it says) for its lines of the form `name: text`."""
    names = {parameter.name for parameter in function.parameters}
    text, described = [], []
    for line in function.documentation.splitlines():
        head, colon, rest = line.partition(": ")
        if colon and all(part.strip() in names for part in head.split(",")):
            described.append((head, rest))
        elif described and line.startswith(" "):
            described[-1] = (described[-1][0], described[-1][1] + " " + line.strip())
        else:
            text.append(line)
    return "\n".join(text).strip(), described


def entry(function, shown):
    title = function.title.replace("tl.standard.", "tl.").replace("tl.random.", "tl.")
    text, described = parameter_lines(function)
    parts = [f"## {title}", f"```\n{title}({function.signature()})\n```", text]
    annotations = {parameter.name: parameter.annotation for parameter in function.parameters}
    rows = []
    for head, rest in described:
        kinds = {annotations[name.strip()] for name in head.split(",")}
        names = ", ".join(f"`{name.strip()}`" for name in head.split(","))
        rows.append(f"- {names} ({' or '.join(sorted(kinds))}): {rest}")
    if rows:
        parts.append("\n".join(rows))
    if function.is_method:
        others = ", ".join(p.text() for p in function.parameters[1:])
        parts.append(f"Also a method: `{function.parameters[0].name}.{function.name}({others})`.")
    if example := example_of(function, shown):
        parts.append(f"```python\n{example}\n```")
    return "\n\n".join(part for part in parts if part)


def pages():
    """Path -> text of every generated page."""
    functions = [function for function in builtins() + standard_functions() if is_public(function)]
    shown = examples()
    result = {}
    for group, summary in GROUPS.items():
        members = [function for function in functions if function.group == group]
        body = "\n\n".join(entry(function, shown) for function in members)
        title = group[0].upper() + group[1:]
        result[DOCS / "language" / page_name(group)] = f"<!-- Written by python/describe_language.py. -->\n# {title}\n\n{summary}\n\n{body}\n"
    unknown = {function.group for function in functions} - set(GROUPS)
    assert not unknown, f"a group without a page: {unknown}"
    result[DOCS / "language" / "README.md"] = contents(functions)
    return result


def contents(functions):
    lines = [
        "<!-- Written by python/describe_language.py. -->",
        "# The language",
        "",
        "`import triton.language as tl` under `nacre run`, or `import nacre.language as tl`. Examples are whole kernels, which take an array",
        "to read, one to write, and a size: with `import triton` they can be pasted into a file.",
        "",
        "First: [types](types.md), [meaning](meaning.md) (promotion, casts, memory, control flow), "
        "[Python in kernels](python.md), [errors](errors.md).",
        "",
        "| page | functions |",
        "|---|---|",
    ]
    for group in GROUPS:
        names = [function.name for function in functions if function.group == group and function.module not in METHODS]
        names = names if len(names) < 40 else names[:24] + ["..."]
        lines.append(f"| [{group}]({page_name(group)}) | {' '.join(f'`{name}`' if name != '...' else name for name in names)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    stale = []
    for path, text in pages().items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(HERE.parent))
        if not arguments.check:
            path.write_text(text)
    if arguments.check and stale:
        sys.exit("out of step with the language's definition: " + ", ".join(map(str, stale)) + "; run python/describe_language.py")


if __name__ == "__main__":
    main()
