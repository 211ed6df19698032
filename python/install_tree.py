"""Makes the package as it stands in the tree the one that this Python imports, with its programs and entry points: what pip calls an
editable install, without pip.
"""

import sys
import sysconfig
from pathlib import Path

from distribution import ENTRY_POINTS, HERE, METADATA, PROGRAMS, version

# A shell script that has Python run it, whatever the length of Python's path; to Python its second statement is a text.
PROGRAM = """#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sys
from {module} import {called}
sys.exit({called}())
"""


def main():
    site, programs = Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("scripts"))
    path_file = site / "nacre-development.pth"
    path_file.write_text(f"{HERE}\n")
    for other in site.glob("nacre-*.dist-info"):
        for line in (other / "RECORD").read_text().splitlines():
            program = Path(line.partition(",")[0])  # of an earlier version; not one that another package has there by now
            if program.parent == programs and program.exists() and "\nfrom nacre." in program.read_text(errors="replace"):
                program.unlink()
        for file in other.iterdir():
            file.unlink()
        other.rmdir()
    folder = site / f"nacre-{version()}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: nacre\nVersion: {version()}\n{METADATA}")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "INSTALLER").write_text("make install\n")
    for name, function in PROGRAMS.items():
        module, _, called = function.partition(":")
        path = programs / name
        path.unlink(missing_ok=True)
        path.write_text(PROGRAM.format(python=sys.executable, module=module, called=called))
        path.chmod(0o755)
    written = [path_file, *sorted(folder.iterdir()), *(programs / name for name in PROGRAMS)]
    (folder / "RECORD").write_text("".join(f"{path},,\n" for path in written) + f"{folder / 'RECORD'},,\n")


if __name__ == "__main__":
    main()
