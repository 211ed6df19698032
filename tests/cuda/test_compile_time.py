"""Threads that hold much of a tile have long straight code: no pass over it takes the square of its length. The limits are of the
processor's time, far above what is needed and far below what such a pass takes."""

import pytest

SCRIPT = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def gather(x, out, ROWS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(out + offsets, tl.load(x + tl.load(x + offsets)))

@nacre.jit
def checked(x, out, ROWS: tl.constexpr):
    offsets = tl.arange(0, ROWS)[:, None] * 64 + tl.arange(0, 64)[None, :]
    values = tl.load(x + offsets)
    tl.store(out + offsets, values * values + values)

x = np.zeros(16, np.int32)
"""


@pytest.mark.parametrize("launch", ["gather.warmup(x, x, 2048, num_warps=1, grid=(1,))", "checked.warmup(x, x, 512, num_warps=1, debug=True, sanitize_overflow=True, grid=(1,))"],
                         ids=["addresses", "checks"])  # fmt: skip
@pytest.mark.parametrize("capability", [90, 80])
def test_long_straight_code_compiles_in_bounded_time(run_script, launch, capability):
    process = run_script(SCRIPT + launch, NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH=str(capability))
    assert process.returncode == 0, process.stderr[-2000:]
