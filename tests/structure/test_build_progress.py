"""The build says how far it is and how long it takes, passes on what compilers print, and fails where ninja does."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "cmake" / "build_progress.py"


def run(folder, lines, code=0):
    ninja = folder / "ninja"
    ninja.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines) + f"exit {code}\n")
    ninja.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run([sys.executable, PROGRAM, "-C", "build"], env=environment, capture_output=True, text=True)


def test_progress_and_the_time_that_is_left(tmp_path):
    ran = run(tmp_path, ["ninja: Entering directory", *(f"@{step} 40 {step * 6.0}@ Building {step}" for step in range(1, 41))])
    assert ran.returncode == 0 and ran.stdout.splitlines() == [
        "ninja: Entering directory",
        "4 of 40 steps",
        "8 of 40 steps",
        "12 of 40 steps, about 3 min left",
        "16 of 40 steps, about 2 min left",
        "20 of 40 steps, about 2 min left",
        "24 of 40 steps, about 2 min left",
        "28 of 40 steps, about 72 s left",
        "32 of 40 steps, about 48 s left",
        "36 of 40 steps, about 24 s left",
        "40 of 40 steps",
    ]


def test_what_a_compiler_prints_is_passed_on(tmp_path):
    ran = run(tmp_path, ["@1 2 1.0@ Building a", "FAILED: a", "a.cpp:1:1: error: no", "ninja: build stopped"], code=1)
    assert ran.returncode == 1 and ran.stdout.splitlines() == ["FAILED: a", "a.cpp:1:1: error: no", "ninja: build stopped"]
