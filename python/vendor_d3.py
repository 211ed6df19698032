"""Puts D3, which draws the tools' pages, into the package: Debian's node-d3, with its licence at the top."""

import sys
from pathlib import Path

SOURCE = Path("/usr/share/nodejs/d3/dist/d3.min.js")
LICENCE = Path("/usr/share/doc/node-d3/copyright")
TARGET = Path(__file__).resolve().parent / "nacre" / "pages" / "d3.js"


def main():
    if not SOURCE.exists() or not LICENCE.exists():
        print("skipped: node-d3 is not installed; nacre-proton-viewer --html and nacre viz will say so")
        return
    text = f"/*!\n{LICENCE.read_text()}*/\n{SOURCE.read_text()}"
    if "</script" in text.lower():
        sys.exit(f"{SOURCE} cannot stand in a page: it has a closing tag of a script")
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
