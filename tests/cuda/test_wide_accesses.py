"""Accesses of several elements at once, in kernels whose other accesses would have the tiles dealt out otherwise."""

import pytest

pytest.importorskip("numpy")

DEQUANTIZE = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def dequantize(out, packed, scales, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    words = tl.load(packed + r[:, None] * (columns // 8) + c[None, :] // 8)
    numbers = (words >> (c[None, :] % 8 * 4)) & 15
    scale = tl.load(scales + c[None, :])
    tl.store(out + r[:, None] * columns + c[None, :], (numbers - 8).to(tl.float16) * scale)

rng = np.random.default_rng(0)
packed = rng.integers(-(2**31), 2**31, (64, 64)).astype(np.int32)
scales, out = rng.standard_normal(512).astype(np.float16), np.zeros((64, 512), np.float16)
compiled = dequantize[(2, 2)](out, packed, scales, 512, BLOCK_R=32, BLOCK_C=256)
numbers = (packed[:, :, None] >> np.arange(0, 32, 4)) & 15
assert (out == (numbers.reshape(64, 512) - 8).astype(np.float16) * scales).all()
print(compiled.asm["ptx"])
"""


def test_words_that_several_elements_share_do_not_narrow_the_others(run_script):
    """Eight elements have one word: each thread has all eight, and stores them at once."""
    process = run_script(DEQUANTIZE, NACRE_DEVICE="simulate")
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("st.global.v4.b32") == 8 and "st.global.b16" not in process.stdout


ROWS = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def double(out, x, columns, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * columns + c, 2 * tl.load(x + row * columns + c, mask=c < columns), mask=c < columns)

x = np.arange(3 * 781, dtype=np.float32).reshape(3, 781)
out = np.zeros_like(x)
compiled = double[(3,)](out, x, 781, BLOCK=1024, num_warps=4)
assert (out == 2 * x).all()
print(compiled.asm["ttgir"])
"""


def test_warps_share_rows_that_end_anywhere(run_script):
    """781 elements: the last of four warps has about as many as the others, not thirteen."""
    process = run_script(ROWS, NACRE_DEVICE="simulate")
    assert process.returncode == 0, process.stderr
    assert '"[1024] register a128 a256 a512 lane a1 a2 a4 a8 a16 warp a32 a64"' in process.stdout, process.stdout
