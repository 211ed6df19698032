"""Includes point one way: a file includes what ARCHITECTURE.md allows its folder to, and nothing else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("compiler", "runtime", "python/core", "cli", "simulator", "profiler", "sanitizer", "viz", "include/nacre")

# Where targets and devices are registered: the only files outside of their folders that include them.
REGISTERS = ("compiler/targets/Target.cpp", "runtime/Device.cpp")


def allowed():
    """Folder -> folders whose headers it may include, from the block in ARCHITECTURE.md."""
    block = re.search(r"```includes\n(.*?)```", (ROOT / "ARCHITECTURE.md").read_text(), re.S).group(1)
    rows = (line.partition(":")[::2] for line in block.splitlines() if line.strip())
    return {folder.strip(): others.split() for folder, others in rows}


def folder_of(path, folders):
    """The row that a file belongs to: the longest that its path begins with. A row is a folder, or a header with its source."""
    return max((folder for folder in folders if path.startswith((folder + "/", folder + "."))), key=len, default=None)


def sources():
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")) if (ROOT / top).is_dir() else ():
            if path.suffix in (".h", ".cpp", ".c") and "test" not in path.parts:
                yield path


def edges():
    """(file, folder, header, its folder) of every include of a header of ours."""
    folders = allowed()
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            if (ROOT / header).exists():
                yield name, folder_of(name, folders), header, folder_of(header, folders)


def test_every_folder_has_a_row():
    folders = allowed()
    homeless = [path for path in sources() if folder_of(path.relative_to(ROOT).as_posix(), folders) is None]
    assert not homeless, f"ARCHITECTURE.md does not say what these may include: {homeless}"


def test_includes_point_one_way():
    folders = allowed()
    wrong = [f"{file} includes {header}: {folder} may include {', '.join(folders[folder]) or 'nothing'}"
             for file, folder, header, other in edges() if other != folder and other not in folders[folder]]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_the_rows_are_used():
    """A row that allows more than is asked for hides the next wrong include."""
    used = {(folder, other) for _, folder, _, other in edges()}
    idle = [f"{folder} -> {other}" for folder, others in allowed().items() for other in others if (folder, other) not in used]
    assert not idle, f"nobody includes these any more: {idle}"


def test_rows_form_no_cycle():
    """Rows stand above one another, but for the two files that know every target and every device."""
    above = {}
    for file, folder, _, other in edges():
        if file not in REGISTERS and folder != other:
            above.setdefault(folder, set()).add(other)
    left = set(above)
    while free := {row for row in left if not above[row] & left}:
        left -= free
    assert not left, f"these include each other, or what does: {sorted(left)}"


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_targets_and_devices_are_known_by_their_interfaces(name):
    """The folders of a target and of a device are included by themselves, by each other and where they are registered."""
    own = (f"compiler/targets/{name}/", f"compiler/passes/{name}/", f"runtime/devices/{name}/")
    programs = ("cli/",)  # nacre-opt runs passes one by one
    wrong = [f"{file} includes {header}" for file, _, header, _ in edges() if header.startswith(own) and not file.startswith((*own, *REGISTERS, *programs))]
    assert not wrong, "\n".join(wrong)
