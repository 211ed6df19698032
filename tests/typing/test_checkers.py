"""pyright and mypy have nothing to say of kernels that are right, and report mistakes. Each runs once, over everything."""

import re

import checkers
import pytest

MISTAKES = checkers.HERE / "mistakes.py"


@pytest.fixture(scope="module", params=["pyright", "mypy"])
def checker(request, tmp_path_factory):
    """(the checker's name, the errors that it reports)"""
    package = {"pyright": "basedpyright", "mypy": "mypy"}[request.param]
    if checkers.missing(package):
        pytest.skip(f"{package} is not installed (python/requirements/typing.txt)")
    return request.param, getattr(checkers, request.param)(tmp_path_factory.mktemp(request.param))


def test_no_errors(checker):
    _, errors = checker
    assert [f"{path.name}:{line}: {message}" for (path, line), message in errors.items() if path != MISTAKES] == []


def marked(name):
    """The lines of the mistakes that a checker reports."""
    lines = enumerate(MISTAKES.read_text().splitlines(), 1)
    return {number for number, line in lines for kind in re.findall(r"# error(?:: (\w+))?$", line) if kind in ("", name)}


def test_mistakes_are_reported(checker):
    name, errors = checker
    reported = {line: message for (path, line), message in errors.items() if path == MISTAKES}
    assert marked(name) - set(reported) == set(), "mistakes that are not reported"
    assert {line: message for line, message in reported.items() if line not in marked(name)} == {}
    assert len(marked(name)) > 40
