"""What the distribution nacre says of itself: in its wheel, and where it is used from the tree."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
METADATA = (
    "Summary: The Triton language with a compiler of its own, for CPUs and GPUs\n"
    "License: Apache-2.0\nRequires-Python: >=3.11\nClassifier: Operating System :: POSIX :: Linux\n"
)
# The programs and the functions that they call. Those of other packages, Triton's and triton-viz's, have names of their own here: the packages
# may be installed beside this one, and a file of theirs that is written over, or removed with ours, is lost.
PROGRAMS = {
    "nacre": "nacre._command_line:main", "triton-san": "nacre.sanitizer._program:main", "nacre-proton": "nacre.profiler.proton:main",
    "nacre-proton-viewer": "nacre.profiler.viewer:run", "nacre-triton-sanitizer": "nacre.viz.triton_viz._programs:sanitizer",
    "nacre-triton-race-detector": "nacre.viz.triton_viz._programs:race_detector",
    "nacre-triton-profiler": "nacre.viz.triton_viz._programs:profiler", "nacre-triton-visualizer": "nacre.viz.triton_viz._programs:visualizer",
}  # fmt: skip
ENTRY_POINTS = (
    "[console_scripts]\n" + "".join(f"{name} = {function}\n" for name, function in PROGRAMS.items())
    + "\n[torch_dynamo_backends]\nnacre = nacre.torch:backend\n"
)  # fmt: skip


def version():
    text = (HERE / "nacre" / "_version.py").read_text()
    return re.search(r'^version = "([^"]+)"', text, re.M)[1]
