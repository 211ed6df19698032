"""`triton-san` and `nacre sanitize`: the words, the exit codes, the options, the two faults of TritonSan's examples."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import nacre
import pytest

pytest.importorskip("torch")

OVERFLOW = '''\
import torch

import triton
import triton.language as tl
from triton.backends.triton_shared.driver import CPUDriver

triton.runtime.driver.set_active(CPUDriver())


@triton.jit
def add_kernel(
    x_ptr,
    y_ptr,
    output_ptr,
    n_elements,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y

    # the mask of the store lets every lane through
    everything = offsets >= 0
    tl.store(output_ptr + offsets, output, mask=everything)


size = 2049
x, y, output = torch.rand(size), torch.rand(size), torch.empty(size)
add_kernel[(triton.cdiv(size, 2048),)](x, y, output, size, BLOCK_SIZE=2048)
print("not reached")
'''

RACE = '''\
import torch

import triton
import triton.language as tl
from triton.backends.triton_shared.driver import CPUDriver

triton.runtime.driver.set_active(CPUDriver())


# Every program of the grid stores to the
# first two elements of the output, and
# nothing says which of them comes last.
#
#
#
#
#
#
#
#
#
@triton.jit
def write_kernel(
    output_ptr,
    BLOCK_SIZE: tl.constexpr,
):
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, offsets)


output = torch.zeros(2, dtype=torch.int32)
write_kernel[(128,)](output, BLOCK_SIZE=2)
print("reached", output.tolist())
'''


def program(*arguments, **environment):
    root = str(Path(nacre.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, **environment}
    start = [sys.executable, "-c", "import sys; from nacre.sanitizer._program import main; sys.exit(main())"]
    return subprocess.run([*start, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=600)


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write


CLEAN = """
    import numpy as np
    import triton
    import triton.language as tl

    @triton.jit
    def fill(x):
        tl.store(x + tl.program_id(0), 1)

    for _ in range(LAUNCHES):
        fill[(4,)](np.zeros(4, np.int32))
"""


@pytest.mark.parametrize("launches, said", [(0, "no kernel was launched"), (1, "1 launch, nothing found"), (3, "3 launches, nothing found")])
def test_a_clean_run_says_so(script, launches, said):
    done = program("asan,tsan", "python", script(CLEAN.replace("LAUNCHES", str(launches))))
    assert done.returncode == 0 and done.stderr == f"nacre: asan,tsan: {said}\n"


def test_usage():
    alone = program()
    assert alone.returncode == 1 and "usage: triton-san asan|tsan" in alone.stderr
    unknown = program("esan", "python", "x.py")
    assert unknown.returncode == 1 and "there is no sanitizer 'esan'" in unknown.stderr and "usage:" in unknown.stderr


def test_store_past_the_end(script):
    path = script(OVERFLOW)
    result = program("asan", sys.executable, path)
    assert result.returncode not in (0, 66) and "reached" not in result.stdout
    for words in (
        "ERROR: AddressSanitizer: heap-buffer-overflow", "WRITE of size 4", f"in add_kernel {path}:28:", "program (1, 0, 0)",
        "is located 0 bytes after 8196-byte region", "element 2049 of 'output_ptr' (valid: 0 to 2048)", "2047 of 2048 lanes, first (1)",
        f"SUMMARY: AddressSanitizer: heap-buffer-overflow {path}:28:", "tl.store(output_ptr + offsets, output, mask=everything)\n", "^",
    ):  # fmt: skip
        assert words in result.stderr, words


def test_programs_that_store_to_the_same_places(script):
    path = script(RACE)
    result = program("tsan", sys.executable, path)
    assert result.returncode == 66 and "reached [0, 1]" in result.stdout, result.stderr
    for words in (
        "WARNING: ThreadSanitizer: data race", "write after write (WAW)", "Write of size 4", "Previous write", f"in write_kernel {path}:28:",
        "'output_ptr'", f"SUMMARY: ThreadSanitizer: data race {path}:28:",
    ):  # fmt: skip
        assert words in result.stderr, words


def test_the_variable_of_triton_shared(script):
    path = script(RACE)
    command = [sys.executable, "-m", "nacre", "run", str(path)]
    root = str(Path(nacre.__file__).parent.parent)

    def run(kind):
        environment = {**os.environ, "PYTHONPATH": root, "TRITON_SHARED_SANITIZER_TYPE": kind}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    assert run("tsan").returncode == 66
    assert run("asan").returncode == 0
    refused = run("msan")
    assert refused.returncode != 0 and "expected asan or tsan" in refused.stderr


def test_instrumentation_modes(script):
    path = script(RACE)
    command = [sys.executable, "-m", "nacre", "run", str(path)]
    root = str(Path(nacre.__file__).parent.parent)

    def run(mode):
        environment = {**os.environ, "PYTHONPATH": root, "TRITON_INSTRUMENTATION_MODE": mode}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    assert run("gsan").returncode == 66
    for mode in ("consan", "fpsan", "iisan", "gsan,fpsan"):
        refused = run(mode)
        assert refused.returncode == 1 and f"{mode.split(',')[-1]} is not there: " in refused.stderr and "reached" not in refused.stdout


def test_json_continue_most_and_kernel(script, tmp_path):
    path = script("""\
        import torch, triton
        import triton.language as tl

        # Out of bounds they only read: a kernel that --kernel leaves unchecked really does it.
        @triton.jit
        def first(x, out):
            i = tl.program_id(0) * 4 + tl.arange(0, 4)
            tl.store(out + i, tl.load(x + i))

        @triton.jit
        def second(x, out):
            tl.store(out, tl.load(x + 5))

        x, out = torch.ones(5), torch.zeros(12)
        first[(3,)](x, out)
        second[(1,)](x, out)
        print(out[:5].tolist())
    """)
    file = tmp_path / "findings.json"
    result = program("asan", "--continue", "--json", file, sys.executable, path)
    assert result.returncode == 1 and result.stdout == "[1.0, 1.0, 1.0, 1.0, 0.0]\n", result.stderr
    report = json.loads(file.read_text())
    assert report["version"] == 1 and [finding["kernel"] for finding in report["findings"]] == ["first", "second"]
    finding = report["findings"][0]
    assert finding["argument"] == "x" and finding["element"] == 5 and finding["valid"] == [0, 4] and finding["lane_count"] == 3
    assert finding["repeats"] == 1  # the third program
    only = program("asan", "--continue", "--kernel", "^second$", sys.executable, path)
    assert "in second" in only.stderr and "in first" not in only.stderr
    few = program("asan", "--continue", "--max=1", sys.executable, path)
    assert "in first" in few.stderr and "in second" not in few.stderr and "1 more findings were left out" in few.stderr


@pytest.mark.parametrize("arguments, text", [
    (["tsan", "--llvm", "x.py"], "--llvm is asan alone"), (["asan", "--kernel", "(", "x.py"], "is no expression"), (["fpsan", "x.py"], "fpsan is not there"),
    (["asan", "--json", "/nowhere/at/all.json", "x.py"], "--json /nowhere/at/all.json: No such file"), (["asan", "--max", "-1", "x.py"], "--max needs a number"),
])  # fmt: skip
def test_what_is_refused_before_anything_runs(arguments, text):
    refused = program(*arguments)
    assert refused.returncode == 1 and text in refused.stderr and "Traceback" not in refused.stderr


def test_amd_asan_is_refused():
    command = [sys.executable, "-c", "import nacre"]
    environment = {**os.environ, "PYTHONPATH": str(Path(nacre.__file__).parent.parent)}
    refused = subprocess.run(command, capture_output=True, text=True, env={**environment, "TRITON_ENABLE_ASAN": "1"})
    assert refused.returncode == 1 and "TRITON_ENABLE_ASAN=1: AddressSanitizer in the code of AMD's GPUs is not there" in refused.stderr
    assert subprocess.run(command, env={**environment, "TRITON_ENABLE_ASAN": "0"}).returncode == 0


def test_the_code_of_gpus_is_refused(script):
    refused = program("asan", sys.executable, script(RACE), NACRE_DEVICE="simulate")
    assert refused.returncode == 1 and "NACRE_DEVICE=simulate: these sanitizers look at kernels on the CPU; `nacre sanitize --gpu" in refused.stderr
    assert "reached" not in refused.stdout


def test_interpreter_mode(script):
    """Python tells accesses, but neither what atomics order nor what arithmetic does: that is refused and not passed over."""
    path = script(OVERFLOW)
    for kind in ("tsan", "ub", "tsan,ub"):
        refused = program(kind, sys.executable, path, TRITON_INTERPRET="1")
        assert refused.returncode == 1 and "at compiled kernels, and add_kernel runs in interpreter mode" in refused.stderr
    found = program("all", sys.executable, path, TRITON_INTERPRET="1")
    assert found.returncode == 1 and "tsan and ub look at compiled kernels" in found.stderr and "asan and msan alone" in found.stderr
    assert f"SUMMARY: AddressSanitizer: heap-buffer-overflow {path}:28:" in found.stderr


def test_the_lowest_programs_are_named(script):
    """In every run, whichever of the launch's threads came first."""
    path = script("""\
        import torch, triton
        import triton.language as tl

        @triton.jit
        def out_of_bounds(x):
            if tl.program_id(0) >= 3:
                tl.store(x + tl.program_id(0) * 64, 1.0)

        @triton.jit
        def race(x, y):
            pid = tl.program_id(0)
            tl.store(y + pid, tl.load(x + pid % 7))
            tl.store(x + pid % 5, pid)

        race[(4096,)](torch.zeros(7), torch.zeros(4096))
        out_of_bounds[(4096,)](torch.zeros(3 * 64))
    """)
    for _ in range(3):
        result = program("asan,tsan", sys.executable, path, NACRE_NUM_THREADS="4")
        assert [line.strip() for line in result.stderr.splitlines() if " of 'x'" in line and not line.startswith("nacre.")] == [
            "write after read (WAR) of element 0 of 'x' by program (5, 0, 0) and program (0, 0, 0)",
            "write after write (WAW) of element 0 of 'x' by program (5, 0, 0) and program (0, 0, 0)",
            "program (3, 0, 0): store of fp32 out of bounds: element 192 of 'x' (valid: 0 to 191)",
        ], result.stderr


def test_ub_leaves_assertions_alone(script):
    path = script("""\
        import torch, triton
        import triton.language as tl

        @triton.jit
        def asserts(x, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.device_assert(i < 2, "not live without debug")
            tl.store(x + i, tl.load(x + i) + 1)

        asserts[(1,)](torch.zeros(8, dtype=torch.int64), BLOCK=8)
        asserts[(1,)](torch.full((8,), 2**63 - 1, dtype=torch.int64), BLOCK=8)
    """)
    result = program("ub", sys.executable, path)
    assert result.returncode == 1 and result.stderr.count("SUMMARY: ") == 1, result.stderr
    assert "signed integer overflow: 9223372036854775807 + 1 cannot be represented in type 'int64'" in result.stderr


def test_a_clean_script_ends_as_it_does_alone(script):
    path = script("import sys\nprint('fine')\nsys.exit(3)\n")
    result = program("all", sys.executable, path)
    assert result.returncode == 3 and result.stdout == "fine\n" and result.stderr == "nacre: asan,tsan,msan,ub: no kernel was launched\n"
