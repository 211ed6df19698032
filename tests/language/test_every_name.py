"""Every name of the language is exercised by some language test: the tests' own texts are read for it."""

import ast
from pathlib import Path

from kernel_names import KERNEL_NAMES

HERE = Path(__file__).parent
# Named by texts that tests put together, or by parameters of a test: the test that does so.
NAMED_BY_TEXT = {
    "extra.libdevice.tanh": "test_libdevice.py", "extra.libdevice.log1p": "test_libdevice.py", "extra.libdevice.expm1": "test_libdevice.py",
    "extra.libdevice.isnan": "test_libdevice.py", "extra.libdevice.isinf": "test_libdevice.py",
}  # fmt: skip


def is_kernel(function):
    decorators = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    return any(isinstance(node, ast.Attribute) and node.attr in ("jit", "extern") for node in decorators)


def dotted(node):
    """tl.extra.cuda.smid -> "extra.cuda.smid"; x.sum -> "sum"."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts))


def names_used():
    """What the kernels of the tests name as attributes, and what tests pass to kernels as tl.<name>; name -> files."""
    used = {}
    for path in HERE.glob("test_*.py"):
        tree = ast.parse(path.read_text())
        inside = [node for kernel in ast.walk(tree) if isinstance(kernel, ast.FunctionDef) and is_kernel(kernel) for node in ast.walk(kernel)]
        outside = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tl"]
        for node in inside + outside:
            if isinstance(node, ast.Attribute):
                used.setdefault(dotted(node), set()).add(path.name)
                used.setdefault(node.attr, set()).add(path.name)
    return used


def test_every_name_is_exercised(record_property, capsys):
    used = names_used()
    missing = []
    for name in KERNEL_NAMES:
        if name in NAMED_BY_TEXT:
            if f'"{name.rsplit(".", 1)[-1]}"' not in (HERE / NAMED_BY_TEXT[name]).read_text():
                missing.append(name)
        elif name not in used and name.rsplit(".", 1)[-1] not in used:
            missing.append(name)
    with capsys.disabled():
        print(f"\n{len(KERNEL_NAMES) - len(missing)} of {len(KERNEL_NAMES)} names of the language are exercised")
    assert not missing, "no language test uses: " + ", ".join(missing)


def test_the_count_notices_what_is_missing():
    assert "a_function_that_nobody_calls" not in names_used()
    assert "load" in names_used() and "extra.cuda.smid" in names_used()
