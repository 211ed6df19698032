"""Bugs that can be planted: every row of the table has one site, and a normal build knows nothing of them."""

import re
from collections import Counter
from pathlib import Path

import nacre

from nacre import _core

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "compiler" / "support" / "PlantedBugs.def"


def rows():
    return re.findall(r'^BUG\((\w+), "([^"]+)", "([^"]+)"\)$', TABLE.read_text(), re.M)


def test_every_bug_has_one_site():
    sites = Counter()
    for path in ROOT.joinpath("compiler").rglob("*.cpp"):
        sites.update(re.findall(r"\bplanted\((?:nacre::)?PlantedBug::(\w+)\)", path.read_text()))
    assert sites == Counter(name for name, _, _ in rows())


def test_the_table_is_read_whole():
    assert len(rows()) == len(re.findall(r"^BUG\(", TABLE.read_text(), re.M))
    engines = {"cpu", "cpu-v3", "cuda:80", "cuda:90"}
    assert all(set(names.split()) <= engines for _, names, _ in rows())


def test_a_normal_build_knows_none():
    """Neither the switch nor a name is in the extension of the package that is tested, unless it is the build that plants them."""
    extension = Path(_core.__file__).read_bytes()
    if (Path(nacre.__file__).parents[2] / "compiler" / "support" / "PlantedBugsSwitch.h").exists():
        assert b"NACRE_PLANTED_BUG" in extension  # build-planted/package/nacre
        return
    found = [name for name in ("NACRE_PLANTED_BUG", "NACRE_PLANTED_SITES", *(name for name, _, _ in rows())) if name.encode() in extension]
    assert not found
