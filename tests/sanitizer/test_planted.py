"""Every planted bug is found at its line, by the sanitizer that looks for it, and nothing in kernels that have none."""

import io
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))

import clean
import planted

from nacre import sanitizer

LINES = Path(planted.__file__).read_text().splitlines()


def found_by(kinds, function, **options):
    stream = io.StringIO()
    sanitizer.start(kinds, stream=stream, **options)
    try:
        try:
            function()
        except (sanitizer.SanitizerError, Exception) as error:
            if not sanitizer.findings():
                raise error
    finally:
        found = sanitizer.stop()
    return found, stream.getvalue()


def test_there_are_fifty():
    assert len(planted.CASES) >= 50


@pytest.mark.parametrize("name", planted.CASES)
def test_found_at_its_line(name):
    kind, function = planted.CASES[name]
    found, text = found_by(kind, function)
    assert found, f"nothing was found in {name}"
    for finding in found:
        assert finding["kind"] == kind and finding["file"] == planted.__file__
        assert LINES[finding["line"] - 1].endswith("# BUG"), f"{finding['line']}: {finding['message']}"
        assert finding["kernel"] in text and f"{finding['file']}:{finding['line']}:" in text and "SUMMARY: " in text


@pytest.mark.parametrize("name", planted.CASES)
def test_found_by_all(name):
    kind, function = planted.CASES[name]
    found, _ = found_by("all", function)
    assert kind in {finding["kind"] for finding in found}


@pytest.mark.parametrize("function", clean.KERNELS, ids=lambda function: function.__name__)
def test_nothing_is_found_in_clean_kernels(function):
    found, text = found_by("all", function)
    assert not found, text
