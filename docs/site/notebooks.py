"""Writes the tutorials as Jupyter notebooks: python docs/site/notebooks.py [FOLDER]. Each page becomes cells of text and of code.

A block of Python is one cell: kernels need the lines above them. The first cell makes `import triton` mean Nacre.
"""

import base64
import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
TUTORIALS = sorted((DOCS / "tutorials").glob("[0-9]*.md"))
START = "import nacre\n\nnacre.activate()  # `import triton` is Nacre from here on"
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]*\.png)\)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")


def text_cell(text, folder):
    """Links to other pages become their text; pictures go into the notebook."""
    attachments = {}

    def picture(match):
        path = folder / match[2]
        attachments[path.name] = {"image/png": base64.b64encode(path.read_bytes()).decode()}
        return f"![{match[1]}](attachment:{path.name})"

    source = PICTURE.sub(picture, LINK.sub(r"\1", text))
    return {"cell_type": "markdown", "metadata": {}, "source": source, **({"attachments": attachments} if attachments else {})}


def code_cell(text):
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}


def notebook(page):
    cells = []
    for number, part in enumerate(re.split(r"^```python\n(.*?)^```\n", page.read_text(), flags=re.MULTILINE | re.DOTALL)):
        if number % 2:
            cells.append(code_cell(part.rstrip()))
        elif part.strip():
            cells.append(text_cell(part.strip(), page.parent))
    cells.insert(1, code_cell(START))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/notebooks")
    folder.mkdir(parents=True, exist_ok=True)
    for page in TUTORIALS:
        (folder / f"{page.stem}.ipynb").write_text(json.dumps(notebook(page), indent=1) + "\n")
    print(f"{len(TUTORIALS)} notebooks are in {folder}")


if __name__ == "__main__":
    main()
