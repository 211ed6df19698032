"""Every clause of the contract has a test, and every test of this folder belongs to a clause."""

import ast
from pathlib import Path

from clauses import clauses

HERE = Path(__file__).parent


def defined_in(path):
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_clause_has_a_test(capsys):
    known = {}
    missing, shown = [], []
    for paragraph, clause, tests in clauses():
        for file, test in tests:
            if file not in known:
                known[file] = defined_in(HERE / file)
            if test not in known[file]:
                missing.append(f"{paragraph}: {clause}: {file} has no {test}")
        if not tests:
            missing.append(f"{paragraph}: {clause}: no test")
        shown.append(clause)
    with capsys.disabled():
        print(f"\n{len(shown)} clauses of the contract are shown by {len({test for _, _, tests in clauses() for test in tests})} tests")
    assert not missing, "\n".join(missing)


def test_every_test_belongs_to_a_clause():
    named = {test for _, _, tests in clauses() for test in tests}
    strays = [f"{path.name}: {test}" for path in sorted(HERE.glob("test_meaning_*.py")) for test in sorted(defined_in(path)) if (path.name, test) not in named]
    assert not strays, strays


def test_every_test_says_its_clause():
    """In a docstring, in the test's own words."""
    silent = []
    for path in sorted(HERE.glob("test_meaning_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node):
                silent.append(f"{path.name}: {node.name}")
    assert not silent, silent
