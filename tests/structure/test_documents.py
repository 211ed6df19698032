"""Files that ARCHITECTURE.md and CONTRIBUTING.md name are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = "compiler|runtime|python|tests|cli|simulator|docs|profiler|sanitizer|viz|include"


def named():
    """(document, path) of everything in backquotes that is a path from the root, or stands in the last column of a folder's row."""
    for document in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        for path in re.findall(rf"`((?:{TOPS})/[^`<>* ]+)`", text):
            yield document, ROOT / path
    for row in re.findall(r"^\| `.*", (ROOT / "ARCHITECTURE.md").read_text(), re.M):
        cells = row.strip("| ").split("|")
        start = ROOT / re.search(r"`([^`]+)`", cells[0]).group(1)
        folder = start if start.is_dir() else start.parent
        for name in re.findall(r"`([^`]+)`", cells[-1]):
            yield "ARCHITECTURE.md", folder / name


def test_they_are_there():
    paths = list(named())
    missing = sorted({f"{document}: {path}" for document, path in paths if not path.exists()})
    assert len(paths) > 100 and not missing
