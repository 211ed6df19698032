"""Bugs that can be planted: every row of the table has one site, and a normal build knows nothing of them."""

import re
from collections import Counter
from pathlib import Path

import nacre

from nacre import cpp

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
    """Neither the switch nor a name is in the library of the package that is tested, unless it is the build that plants them."""
    library = Path(cpp.prefix(), "lib", "libnacre.so").read_bytes()
    names = ("NACRE_PLANTED_BUG", "NACRE_PLANTED_SITES", *(name for name, _, _ in rows()))
    known = [name for name in names if name.encode() in library]
    if (Path(nacre.__file__).parents[2] / "compiler" / "support" / "PlantedBugsSwitch.h").exists():
        assert known == list(names)  # build-planted/package/nacre
    else:
        assert not known
