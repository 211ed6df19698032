"""Kernels that rely on what a launch proves: index arithmetic that is not negative. Others are compiled for launches that
cannot prove it, and give the same results."""

SCRIPT = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def wrapped(x, out, back, N, BLOCK: tl.constexpr):
    own = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = (tl.program_id(0) - back) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + own, tl.load(x + N + offsets % N))

N, BLOCK = 64, 512
def launch(back, warps=4):
    x, out = np.arange(2 * N, dtype=np.float32), np.zeros(4 * BLOCK, np.float32)
    compiled = wrapped[(4,)](x, out, back, N, BLOCK=BLOCK, num_warps=warps)
    expected = N + np.fmod(np.arange(4 * BLOCK) - back * BLOCK, N)
    assert (out == expected).all(), (back, out[:16], expected[:16])
    return compiled

wide = "ld.global.v4"
"""


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_neighbours_are_loaded_at_once_where_the_launch_proves_them(run_script):
    succeed(run_script(SCRIPT + """
assert wide in launch(0).asm["ptx"]
assert launch(2).asm["ptx"] == launch(0).asm["ptx"] # it is not this code that ran
""", NACRE_DEVICE="simulate"))  # fmt: skip


def test_the_first_launch_may_be_one_that_proves_nothing(run_script):
    for _ in range(2):  # the second process finds both in the cache
        succeed(run_script(SCRIPT + "launch(2); launch(0); launch(3); launch(-1)", NACRE_DEVICE="simulate"))


def test_a_kernel_that_came_from_another_process_says_what_it_cannot_do(run_script):
    succeed(run_script(SCRIPT + """
import pickle
travelled = launch(0)
travelled._native = pickle.loads(pickle.dumps(travelled._native))  # the code travels, what it was made from does not
x, out = np.arange(2 * N, dtype=np.float32), np.zeros(4 * BLOCK, np.float32)
try:
    travelled[(4,)](x, out, 2, N, BLOCK)
except RuntimeError as error:
    assert "wrapped" in str(error) and "launch it where it was compiled" in str(error), error
else:
    assert False, "it ran"
""", NACRE_DEVICE="simulate"))  # fmt: skip


def test_code_made_ahead_of_time_relies_on_nothing(run_script):
    output = succeed(run_script(SCRIPT + """
import subprocess, sys
command = [sys.executable, "-m", "nacre", "compile", __file__, "--kernel", "wrapped", "--signature",
           "*fp32:16, *fp32:16, i32, i32:16, BLOCK=512", "--target", "cuda:90", "--emit", "ptx"]
print(wide in subprocess.run(command, capture_output=True, text=True, check=True).stdout)
"""))  # fmt: skip
    assert output.strip() == "False"
