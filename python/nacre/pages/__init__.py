"""Pages of the tools: each is one file, which opens from a disk, with its data, its script and D3 inside.

D3 (https://d3js.org, BSD 3-clause) is put beside this file when the package is built, from Debian's node-d3 (python/vendor_d3.py); its
licence stands at its top, and so in every page.
"""

import json
import os
import re


def library():
    """D3's text."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "d3.js")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise RuntimeError(
            "pages need D3, and this package was built without it: install Debian's node-d3 and run `make install` again"
        ) from None


def script(data):
    """The data as the page's script has them."""
    return json.dumps(data, separators=(",", ":")).replace("</", "<\\/")


def fill(folder, text):
    """The page of a tool: page.html of its folder with its page.js, the data (`script`) and what all pages share."""
    parts = {"/*DATA*/": f"const DATA = {text};", "/*LIBRARY*/": library()}
    shared = os.path.dirname(os.path.abspath(__file__))
    for mark, path in (
        ("/*STYLE*/", os.path.join(shared, "page.css")), ("/*SHARED*/", os.path.join(shared, "shared.js")), ("/*SCRIPT*/", os.path.join(folder, "page.js")),
    ):  # fmt: skip
        with open(path, encoding="utf-8") as file:
            parts[mark] = file.read()
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
        page = file.read()
    return re.sub("|".join(map(re.escape, parts)), lambda mark: parts[mark[0]], page)
