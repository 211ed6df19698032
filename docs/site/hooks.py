"""What MkDocs does besides its own work: pages from outside of docs/ become part of the site, and links are followed from where a
page stands in the repository. A link to a source file, which the site does not hold, becomes its text."""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ("ARCHITECTURE.md", "CONTRIBUTING.md", "bench/RESULTS.md")  # pages of the site that are not below docs/
LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)#\s]+)(#[^)]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)


def on_files(files, config):
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def place(source):
    """The file of the repository that a page of the site is written in."""
    return ROOT / source if source in OUTSIDE else ROOT / "docs" / source


def on_page_markdown(markdown, page, config, files):
    pages = {place(file.src_uri): file.src_uri for file in files}
    here = place(page.file.src_uri)

    def link(match):
        text, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        path = Path(os.path.normpath(here.parent / target))
        if path in pages:
            return f"[{text}]({os.path.relpath(pages[path], os.path.dirname(page.file.src_uri) or '.')}{anchor})"
        return text if path.exists() and ROOT in path.parents else match[0]  # what is nowhere is MkDocs's to refuse

    parts = CODE.split(markdown)
    return "".join(part if number % 2 else LINK.sub(link, part) for number, part in enumerate(parts))
