"""Random control flow: the IR of a kernel, run by the reference evaluator, gives what CPython gives for the same text."""

import re
import subprocess

import dump_tool
import pytest
import random_control_flow

OPT = dump_tool.BUILD / "cli/nacre-opt"
INPUTS = [(0, 0), (1, 5), (7, 3), (12, -2), (100, 77)]


def as_int32(number):
    return (number + 2**31) % 2**32 - 2**31


def run_ir(path, a, b, passes):
    run = subprocess.run([OPT, path, *passes, "--run=kernel", f"--args=i32[2]=0,i32={a},i32={b}"], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    return tuple(int(number) for number in re.search(r"\[(.*)\]", run.stdout.splitlines()[1]).group(1).split())


@pytest.mark.parametrize("seed", range(60))
def test_ir_means_what_python_means(seed, tmp_path):
    assert OPT.exists(), f"{OPT} is missing: build the target nacre-opt"
    text = random_control_flow.kernel(seed)
    source, ir = tmp_path / "kernel.py", tmp_path / "kernel.mlir"
    source.write_text("# signature: *i32,i32,i32\n" + text)
    returncode, shown = dump_tool.dump(source)
    assert returncode == 0, shown
    ir.write_text(shown)
    for a, b in INPUTS:
        expected = tuple(map(as_int32, random_control_flow.run_as_python(text, a, b)))
        for passes in ([], ["-canonicalize", "-cse"]):
            assert run_ir(ir, a, b, passes) == expected, f"helper({a}, {b}) with {passes}:\n{text}\n{shown}"
