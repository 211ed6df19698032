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
        raise RuntimeError("pages need D3, and this package was built without it: install Debian's node-d3 and run `make install` again") from None


def script(data):
    """The data as the page's script has them: no `<`, which could end the script or begin a comment of the page's."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def fill(folder, text):
    """The page of a tool: page.html of its folder with its scripts, page.js last, the data (`script`) and what all pages share."""
    shared = os.path.dirname(os.path.abspath(__file__))
    scripts = sorted((name for name in os.listdir(folder) if name.endswith(".js")), key=lambda name: (name == "page.js", name))
    parts = {
        "/*DATA*/": f"const DATA = {text};", "/*LIBRARY*/": library(), "/*STYLE*/": _text(shared, "page.css"), "/*SHARED*/": _text(shared, "shared.js"),
        "/*SCRIPT*/": "\n".join(_text(folder, name) for name in scripts),
    }  # fmt: skip
    return re.sub("|".join(map(re.escape, parts)), lambda mark: parts[mark[0]], _text(folder, "page.html"))


def _text(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()
