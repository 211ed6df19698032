"""`nacre sanitize --gpu`: the simulator's findings and compute-sanitizer's, in one form."""

import json
import os
import subprocess
import sys

import pytest
from nacre.sanitizer import _launch_log
from nacre.sanitizer._gpu_program import ComputeSanitizerFindings, report

KERNELS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def past_the_end(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n))

@triton.jit
def columns(x, out, stride, N: tl.constexpr, EXTRA: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i * stride + EXTRA, tl.load(x + i))

@triton.jit
def in_a_loop(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        total += tl.load(x + at) * i  # moved out of the loop
    tl.store(out + at, total)

@triton.jit
def same_place(out):
    tl.store(out, tl.program_id(0).to(tl.float32))

x = np.ones(1000, np.float32)
"""


def run(tmp_path, text, *options):
    script = tmp_path / "script.py"
    script.write_text(KERNELS + text)
    command = [sys.executable, "-m", "nacre", "sanitize", "--gpu", "--simulate", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_a_store_past_the_end(tmp_path):
    found = tmp_path / "findings.json"
    process = run(tmp_path, "past_the_end[(8,)](x, np.zeros_like(x), 1000, BLOCK=128)", "--json", str(found))
    assert process.returncode == 1 and "the simulator (as asked)" in process.stderr
    assert "ERROR: AddressSanitizer: heap-buffer-overflow by program (7, 0, 0)" in process.stderr
    assert "hint: \n" not in process.stderr
    assert "SUMMARY: AddressSanitizer: heap-buffer-overflow" in process.stderr and "past the end of `out`" in process.stderr
    document = json.loads(found.read_text())
    (finding,) = document["findings"]
    assert document["version"] == 1 and finding["kernel"] == "past_the_end" and finding["line"] == 9 and finding["program"] == [7, 0, 0]


def found_in(tmp_path, text):
    """(file's findings, status) of a script in the simulator."""
    path = tmp_path / "found.json"
    process = run(tmp_path, text, "--json", str(path))
    return json.loads(path.read_text())["findings"], process.returncode


@pytest.mark.parametrize("launch, kernel, argument, where", [
    ("columns[(1,)](x, np.zeros((64, 8), np.float32)[:, 3], 8, N=64, EXTRA=1)", "columns", "out", "between the elements of"),
    ("columns[(1,)](x, np.zeros((64, 8), np.float32)[:, 3], 8, N=64, EXTRA=8)", "columns", "out", "past the end of"),
    ("columns[(1,)](x[100:132], np.zeros(64, np.float32), 1, N=64, EXTRA=0)", "columns", "x", "past the end of"),
    ("columns[(1,)](x[100:], np.zeros(128, np.float32)[64:], 1, N=64, EXTRA=-1)", "columns", "out", "before the beginning of"),
    ("columns[(1,)](x[5:5], np.zeros(64, np.float32), 1, N=64, EXTRA=0)", "columns", "x", "past the end of"),
    ("columns[(1,)](x, np.zeros(0, np.float32), 1, N=64, EXTRA=0)", "columns", "out", "past the end of"),
])  # fmt: skip
def test_a_view_is_no_more_than_its_elements(tmp_path, launch, kernel, argument, where):
    """As under triton-san asan; and the script need not end of it."""
    findings, status = found_in(tmp_path, f"try:\n    {launch}\nexcept Exception:\n    print('caught')")
    assert status == 1 and findings, findings
    assert {finding["kind"] for finding in findings} == {"asan"} and all(f"{where} `{argument}`" in finding["message"] for finding in findings)
    assert all((finding["kernel"], finding["program"]) == (kernel, [0, 0, 0]) and finding["line"] == 14 for finding in findings)


def test_views_that_are_kept_to(tmp_path):
    text = """
whole = np.zeros((64, 8), np.float32)
columns[(1,)](x[7:71], whole[:, 3], 8, N=64, EXTRA=0)
columns[(1,)](whole[0], whole[:, 5], 8, N=8, EXTRA=0)  # memory of both overlaps
print("end")
"""
    process = run(tmp_path, text)
    assert process.returncode == 0 and process.stdout == "end\n", process.stderr


def test_a_load_that_left_its_loop_has_its_line(tmp_path):
    findings, status = found_in(tmp_path, "in_a_loop[(1,)](x[:40], np.zeros(128, np.float32), 5, BLOCK=128)")
    assert status == 1 and [finding["line"] for finding in findings] == [21], findings


def test_a_race_is_66(tmp_path):
    process = run(tmp_path, "same_place[(8,)](x)")
    assert process.returncode == 66, process.stderr
    assert "WARNING: ThreadSanitizer: data race" in process.stderr and "in same_place" in process.stderr


def test_a_clean_script_ends_as_it_does_alone(tmp_path):
    process = run(tmp_path, "past_the_end[(7,)](x, np.zeros_like(x), 1000, BLOCK=128)\nprint('end')\nraise SystemExit(3)")
    assert process.returncode == 3 and process.stdout == "end\n" and "SUMMARY" not in process.stderr


@pytest.mark.parametrize("arguments, text", [
    (["--tool", "nothing", "x.py"], "no tool 'nothing'"), (["--what", "x.py"], "there is no option --what"), (["--simulate"], "no command is given"),
])  # fmt: skip
def test_what_makes_no_sense(arguments, text):
    process = subprocess.run([sys.executable, "-m", "nacre", "sanitize", "--gpu", *arguments], capture_output=True, text=True, timeout=600)
    assert process.returncode == 2 and text in process.stderr


SAID = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at past_the_end+0x1f0 in /home/user/script.py:9
=========     by thread (104,0,0) in block (7,0,0)
=========     Access at 0x7f1234600fa0 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f1234600000 of size 4,000 bytes
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at sums+0x40 in /home/user/script.py:20
=========     by thread (1,0,0) in block (0,2,0)
=========     Access at 0x7f1234600f00
=========
========= ERROR SUMMARY: 3 errors
"""


def test_arguments_by_addresses(tmp_path):
    """The command writes down which arrays its launches were given; the address of a report leads to one."""
    log, script = tmp_path / "launches", tmp_path / "script.py"
    script.write_text(KERNELS + "out = np.zeros(1000, np.float32)\nfor _ in range(3):\n    past_the_end[(7,)](x, out, 1000, BLOCK=128)\nprint(out.ctypes.data)")
    command = [sys.executable, "-m", "nacre", "run", str(script)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "NACRE_LAUNCH_LOG": str(log)})
    assert process.returncode == 0, process.stderr
    address = int(process.stdout)
    launches = _launch_log.read(log)
    assert [row[4] for row in launches["past_the_end"]] == ["x", "out"]
    findings = ComputeSanitizerFindings()
    for line in SAID.replace("0x7f1234600fa0", hex(address + 4000)).splitlines():
        findings.read(line)
    findings.finish()
    findings.name_arguments(launches)
    first, second = findings.found
    assert (first["argument"], first["element"], first["valid"]) == ("out", 1000, [0, 999])
    assert "element 1000 of 'out' (valid: 0 to 999)" in report(first) and "argument" not in second
    assert _launch_log.read(tmp_path / "nothing") == {}


def said(thread, block, line=9):
    text = SAID.split("\n=========\n")[0].replace("(7,0,0)", f"({block},0,0)").replace("(104,0,0)", f"({thread},0,0)")
    return text.replace(":9", f":{line}").splitlines()


def test_one_finding_a_place():
    """Whatever the order in which lanes report: the first program's first thread is shown, and the others are counted."""
    lanes = [said(thread, block) for block in (3, 2, 5) for thread in (40, 7, 99)]
    for order in (lanes, lanes[::-1]):
        findings = ComputeSanitizerFindings()
        for text in (*order, said(1, 1, line=10)):
            for line in text:
                findings.read(line)
        findings.finish()
        first, second = findings.found
        assert (first["program"], first["thread"], first["repeats"]) == ([2, 0, 0], [7, 0, 0], 8)
        assert second["line"] == 10 and second["repeats"] == 0
        assert "the same was found 8 more times" in report(first) and "the same" not in report(second)


def test_reports_of_compute_sanitizer():
    findings = ComputeSanitizerFindings()
    for line in SAID.splitlines():
        findings.read(line)
    findings.finish()
    first, second = findings.found
    assert (first["kind"], first["what"], first["kernel"], first["file"], first["line"]) == (
        "asan", "heap-buffer-overflow", "past_the_end", "/home/user/script.py", 9,
    )  # fmt: skip
    assert first["program"] == [7, 0, 0] and first["thread"] == [104, 0, 0] and "1 bytes after the nearest allocation" in first["message"]
    assert second["kind"] == "msan" and second["program"] == [0, 2, 0]
    assert report(first).endswith("SUMMARY: AddressSanitizer: heap-buffer-overflow /home/user/script.py:9 in past_the_end\n")
