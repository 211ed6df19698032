"""Golden texts of compile errors. Each file of errors/ is a kernel that must not compile; its `#>` lines at the end are the
text that is shown. `pytest tests/frontend/test_errors.py --update` rewrites them: read the difference before you keep it."""

from pathlib import Path

import dump_tool
import pytest

FILES = sorted((Path(__file__).parent / "errors").glob("*.py"))


def split(text):
    """The kernel's text and the expected error."""
    lines = text.splitlines()
    code = [line for line in lines if not line.startswith("#>")]
    expected = [line.removeprefix("#>").removeprefix(" ") for line in lines if line.startswith("#>")]
    return "\n".join(code).rstrip() + "\n", expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_error(path, request):
    code, expected = split(path.read_text())
    returncode, shown = dump_tool.dump(path)
    assert returncode == 1, f"the kernel compiles:\n{shown}"
    found = shown.splitlines()
    if request.config.getoption("--update", default=False):
        path.write_text(code + "\n" + "".join(f"#> {line}".rstrip() + "\n" for line in found))
        return
    assert "\n".join(found) == "\n".join(expected)


def test_there_are_many_distinct_errors():
    messages = {split(path.read_text())[1][0].split("error: ", 1)[1] for path in FILES}
    assert len(messages) == len(FILES), "two files show the same message"
    assert len(messages) >= 140
