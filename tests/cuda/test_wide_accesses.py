"""Accesses of several elements at once, in kernels whose other accesses would have the tiles dealt out otherwise."""

import pytest

pytest.importorskip("numpy")

DEQUANTISE = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def dequantise(out, packed, scales, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    words = tl.load(packed + r[:, None] * (columns // 8) + c[None, :] // 8)
    numbers = (words >> (c[None, :] % 8 * 4)) & 15
    scale = tl.load(scales + c[None, :])
    tl.store(out + r[:, None] * columns + c[None, :], (numbers - 8).to(tl.float16) * scale)

rng = np.random.default_rng(0)
packed = rng.integers(-(2**31), 2**31, (64, 64)).astype(np.int32)
scales, out = rng.standard_normal(512).astype(np.float16), np.zeros((64, 512), np.float16)
compiled = dequantise[(2, 2)](out, packed, scales, 512, BLOCK_R=32, BLOCK_C=256)
numbers = (packed[:, :, None] >> np.arange(0, 32, 4)) & 15
assert (out == (numbers.reshape(64, 512) - 8).astype(np.float16) * scales).all()
print(compiled.asm["ptx"])
"""


def test_words_that_several_elements_share_do_not_narrow_the_others(run_script):
    """Eight elements have one word: each thread has all eight, and stores them at once."""
    process = run_script(DEQUANTISE, NACRE_DEVICE="simulate")
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("st.global.v4.b32") == 8 and "st.global.b16" not in process.stdout
