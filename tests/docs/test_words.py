"""The documents are plain: short sentences, and none of the riddles that readers stumbled over."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = [page for page in (DOCS / "language").glob("*.md") if page.read_text().startswith("<!-- Written by")]
GENERATED = [DOCS / "knobs.md", *REFERENCE]
PAGES = sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *DOCS.rglob("*.md")} - set(GENERATED))
FOLDERS = ("bench", "cli", "compiler", "docs", "include", "profiler", "python/core", "python/nacre", "runtime", "sanitizer", "simulator", "viz")
SUFFIXES = (".h", ".cpp", ".td", ".def", ".py")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES)
MOST_WORDS = 30
RIDDLES = ["every so-manieth", "relies on nothing", "go without", "lists the other doors", "Kinder", "in vain", "nobody can foretell", "past the threads",
           "for who asks", "their kin", "the first so many", "stands one floor", "turns row by row", "better told to"]  # fmt: skip


def prose(text):
    """The paragraphs and items of a page, without code, tables, headings, comments and addresses of links."""
    text = re.sub(r"<!--.*?-->|^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = [""]
    for line in text.splitlines():
        line = line.strip()
        item = re.match(r"([-*]|\d+\.) ", line)
        if not line or item or line.startswith(("|", "#", "!")):
            paragraphs.append("")
        if not line.startswith(("|", "#", "!")):
            paragraphs[-1] += " " + (line[item.end() :] if item else line)
    return [re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph)) for paragraph in paragraphs]


def sentences(text):
    return [sentence.strip() for paragraph in prose(text) for sentence in re.split(r"[.!?:;]+(?=[\s)\"*]|$)", paragraph) if sentence.strip()]


def test_sentences_are_counted_as_they_are_read():
    text = (
        "# A heading of a page\n\nOne `x. y`, two\nthree. Four: five; six?\n\n```\nno. prose\n```\n\n"
        "- An item\n  of two lines.\n- Version 3.9 of [it](a.b.md).\n\n| a | table. |\n"
    )
    assert sentences(text) == ["One code, two three", "Four", "five", "six", "An item of two lines", "Version 3.9 of [it]"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page):
    assert [sentence for sentence in sentences(page.read_text()) if len(sentence.split()) > MOST_WORDS] == []


@pytest.mark.parametrize("riddle", RIDDLES)
def test_riddles_are_gone(riddle):
    """In documents, and in the comments and messages of sources, across line ends."""
    words = re.compile(r"\b" + r"[\s/#*]+".join(map(re.escape, riddle.split())) + r"\b")
    found = [str(path.relative_to(ROOT)) for path in [*PAGES, *GENERATED, *SOURCES] if words.search(path.read_text(errors="replace"))]
    assert found == []
