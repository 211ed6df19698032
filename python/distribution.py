"""What the distribution nacre says of itself: in its wheel, and where it is used from the tree."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEYWORDS = ("triton", "gpu", "cuda", "kernels", "compiler", "mlir", "llvm", "torch")
CLASSIFIERS = (
    "Intended Audience :: Developers", "Intended Audience :: Science/Research", "License :: OSI Approved :: Apache Software License",
    "Operating System :: POSIX :: Linux", "Programming Language :: C++", "Programming Language :: Python :: 3 :: Only",
    "Programming Language :: Python :: Implementation :: CPython", "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Topic :: Software Development :: Compilers", "Typing :: Typed",
)  # fmt: skip
# What parts of the package work with and do not need: torch.compile, tuning by workers, pictures and tables of benchmarks.
EXTRAS = {"torch": ("torch",), "tuning": ("distributed", "redis"), "viz": ("matplotlib", "pandas")}
METADATA = "".join(f"{line}\n" for line in (
    "Summary: The Triton language with a compiler of its own, for CPUs and GPUs", "License: Apache-2.0", "Requires-Python: >=3.11",
    f"Keywords: {','.join(KEYWORDS)}", *(f"Classifier: {classifier}" for classifier in CLASSIFIERS),
    *(f"Provides-Extra: {extra}" for extra in EXTRAS),
    *(f"Requires-Dist: {package}; extra == '{extra}'" for extra, packages in EXTRAS.items() for package in packages),
))  # fmt: skip
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
