"""The tutorials as notebooks: every cell of a page, and cells that run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "tutorials").glob("[0-9]*.md"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    done = subprocess.run([sys.executable, DOCS / "site" / "notebooks.py", folder], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_a_notebook(page, folder):
    cells = json.loads((folder / f"{page.stem}.ipynb").read_text())["cells"]
    code = [cell["source"] + "\n" for cell in cells if cell["cell_type"] == "code"]
    assert code[1:] == re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL) and "nacre.activate()" in code[0]
    text = "".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    assert text.startswith("# ") and ".md)" not in text
    attached = {name for cell in cells for name in cell.get("attachments", {})}
    assert attached == set(re.findall(r"\(attachment:([^)]*)\)", text)) and len(attached) == page.read_text().count("![")


@pytest.mark.parametrize("name", ["01-vector-add", "02-strides"])
def test_a_notebook_runs(name, folder):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    printed = "".join(output.text for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if output.output_type == "stream")
    assert printed.startswith({"01-vector-add": "programs: 5", "02-strides": "strides: [1, 300]"}[name])
