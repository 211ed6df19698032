"""NACRE_DEVICE=simulate: kernels on arrays in host memory run as the CUDA target's code in the simulator."""

KERNEL = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

x, y = np.arange(1000, dtype=np.float32), np.ones(1000, dtype=np.float32)
out = np.zeros(1000, dtype=np.float32)
"""


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_kernel_runs_as_ptx(run_script):
    output = succeed(run_script(KERNEL + """
compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
assert (out == x + 1).all()
print(sorted(set(compiled.asm) & {"ttir", "ttgir", "llir", "ptx", "cubin"}))
print(".visible .entry add(" in compiled.asm["ptx"], ".target sm_90a" in compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert output.splitlines() == ["['cubin', 'llir', 'ptx', 'ttgir', 'ttir']", "True True"]


def test_the_gpu_may_be_another_one(run_script):
    output = succeed(run_script(KERNEL + """
compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
assert (out == x + 1).all()
print(".target sm_80" in compiled.asm["ptx"])
""", NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH="80"))  # fmt: skip
    assert output.strip() == "True"


def test_an_access_out_of_bounds_names_kernel_line_and_array(run_script):
    process = run_script(KERNEL + """
add[(8,)](x, y, out, 1024, BLOCK=128)
""", NACRE_DEVICE="simulate")  # fmt: skip
    assert process.returncode != 0
    for part in ("add", "out-of-bounds", "script.py", "tl.store(out + offsets"):
        assert part in process.stderr, process.stderr


def test_the_cpu_is_the_default(run_script):
    output = succeed(run_script(KERNEL + """
compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
print("ptx" in compiled.asm)
"""))  # fmt: skip
    assert output.strip() == "False"


def test_an_unknown_device_is_an_error(run_script):
    process = run_script(KERNEL + "add[(8,)](x, y, out, 1000, BLOCK=128)\n", NACRE_DEVICE="tpu")
    assert process.returncode != 0 and "NACRE_DEVICE=tpu" in process.stderr and "simulate" in process.stderr


def test_views_of_one_array_are_one_memory(run_script):
    succeed(run_script(KERNEL + """
whole = np.zeros(2000, dtype=np.float32)
whole[:1000] = x
add[(8,)](whole[:1000], whole[:1000], whole[1000:], 1000, BLOCK=128)
assert (whole[1000:] == 2 * x).all()
""", NACRE_DEVICE="simulate"))  # fmt: skip
