"""The Python package has layers: a module imports its own row of the block in ARCHITECTURE.md and the rows above it, and nothing else."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "nacre"


def rows():
    """[[module, ...], ...], the lowest layer first."""
    block = re.search(r"```layers\n(.*?)```", (ROOT / "ARCHITECTURE.md").read_text(), re.S).group(1)
    return [line.split() for line in block.splitlines() if line.strip()]


def modules():
    """{"runtime/jit": its file}; a package has the name of its folder, the whole one that of its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found["/".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


def layer(module, table):
    """The row of the longest name that the module's begins with; None when there is none."""
    names = {name: number for number, row in enumerate(table) for name in row if module == name or module.startswith(name + "/")}
    return names[max(names, key=len)] if names else None


def imported(module, path, known):
    """(line, module of ours) of every import, wherever it stands."""
    package = module.split("/") if path.name == "__init__.py" else module.split("/")[:-1]
    package = [] if module == "__init__" else package
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ["nacre", *package[: len(package) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for first, *rest in names:
            if first != "nacre" or rest[:1] == ["_core"]:
                continue
            while rest and "/".join(rest) not in known:
                rest.pop()
            yield node.lineno, "/".join(rest) or "__init__"


def wrong_imports(known, table):
    found = []
    for module, path in known.items():
        for line, other in imported(module, path, known):
            if layer(other, table) > layer(module, table):
                found.append(f"{path.relative_to(ROOT)}:{line} imports {other.replace('/', '.')}, which is built on top of it")
    return found


def test_every_module_has_a_layer():
    table = rows()
    assert not [module for module in modules() if layer(module, table) is None], "ARCHITECTURE.md gives these no layer"


def test_imports_point_one_way():
    wrong = wrong_imports(modules(), rows())
    assert not wrong, "\n".join(wrong)


def test_every_name_of_a_row_is_a_module():
    known = modules()
    gone = [name for row in rows() for name in row if name not in known and not (PACKAGE / name).is_dir()]
    assert not gone, f"ARCHITECTURE.md names modules that are gone: {gone}"


def test_a_wrong_import_is_seen():
    """Of the table turned over, nearly everything is wrong."""
    wrong = wrong_imports(modules(), rows()[::-1])
    assert any("runtime/jit.py" in line and "knobs" in line for line in wrong)
    assert any("language/standard.py" in line and "runtime.jit" in line for line in wrong)
