"""dot_scaled: every pair of formats, packed along either axis, with and without scales."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import decode

M, N, K = 16, 32, 64
HALF_BYTES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
TYPES = {"e4m3": "float8e4nv", "e5m2": "float8e5", "bf16": "bfloat16", "fp16": "float16"}


@triton.jit
def dot_scaled_kernel(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, A_ROWS: tl.constexpr, A_COLUMNS: tl.constexpr, B_ROWS: tl.constexpr,
                      B_COLUMNS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, GROUPS: tl.constexpr, A_FORMAT: tl.constexpr,
                      B_FORMAT: tl.constexpr, A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr, HAS_B_SCALE: tl.constexpr):  # fmt: skip
    a = tl.load(a_ptr + tl.arange(0, A_ROWS)[:, None] * A_COLUMNS + tl.arange(0, A_COLUMNS)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B_ROWS)[:, None] * B_COLUMNS + tl.arange(0, B_COLUMNS)[None, :])
    m, n, group = tl.arange(0, M), tl.arange(0, N), tl.arange(0, GROUPS)
    a_scale = tl.load(a_scale_ptr + m[:, None] * GROUPS + group[None, :])
    c = tl.load(c_ptr + m[:, None] * N + n[None, :])
    if HAS_B_SCALE:
        b_scale = tl.load(b_scale_ptr + n[:, None] * GROUPS + group[None, :])
        c = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, c, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K)
    else:
        c = tl.dot_scaled(a, a_scale, A_FORMAT, b, None, B_FORMAT, c, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


def operand(rng, shape, format, packed_axis):
    """Bits of an operand of this shape, its type, and its values."""
    if format == "e2m1":
        stored = list(shape)
        stored[packed_axis] //= 2
        bits = rng.integers(0, 256, stored).astype(np.uint8)
        values = np.stack([HALF_BYTES[bits & 15], HALF_BYTES[bits >> 4]], axis=packed_axis + 1).reshape(shape)
        return bits, "uint8", values
    if format in ("bf16", "fp16"):
        values = rng.integers(-8, 9, shape) / 4
        return values, TYPES[format], values
    # Exponents near one, so that sums in any order agree.
    mantissa = 3 if format == "e4m3" else 2
    bias = 7 if format == "e4m3" else 15
    bits = (rng.integers(0, 2, shape) << 7 | rng.integers(bias - 2, bias + 3, shape) << mantissa | rng.integers(0, 1 << mantissa, shape)).astype(np.uint8)
    return bits, TYPES[format], decode(bits, TYPES[format]).astype(np.float64)


def check(engine, rng, a_format, b_format, a_along_k=True, b_along_k=True, has_b_scale=True):
    a_bits, a_type, a = operand(rng, (M, K), a_format, 1 if a_along_k else 0)
    b_bits, b_type, b = operand(rng, (K, N), b_format, 0 if b_along_k else 1)
    a_scale, b_scale = (rng.integers(124, 131, (extent, K // 32)).astype(np.uint8) for extent in (M, N))
    c = rng.integers(-8, 9, (M, N)).astype(np.float32)
    out = engine.array(c)
    place = engine.from_bits if a_type.startswith("float8") or a_type == "uint8" else engine.array
    b_place = engine.from_bits if b_type.startswith("float8") or b_type == "uint8" else engine.array
    dot_scaled_kernel[(1,)](place(a_bits, a_type), engine.array(a_scale), b_place(b_bits, b_type), engine.array(b_scale), out,
                            *a_bits.shape, *b_bits.shape, M, N, K // 32, a_format, b_format, a_along_k, b_along_k, has_b_scale)  # fmt: skip
    expected = (a * np.repeat(2.0 ** (a_scale - 127.0), 32, 1)) @ (b * (np.repeat(2.0 ** (b_scale - 127.0), 32, 1).T if has_b_scale else 1)) + c
    np.testing.assert_allclose(engine.numpy(out), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.ours("formats whose product the Triton package leaves to hardware")
@pytest.mark.parametrize("a_format", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
@pytest.mark.parametrize("b_format", ["e2m1", "e4m3", "e5m2", "bf16", "fp16"])
def test_formats(engine, rng, a_format, b_format):
    check(engine, rng, a_format, b_format)


@pytest.mark.ours("formats whose product the Triton package leaves to hardware")
@pytest.mark.parametrize("a_along_k, b_along_k", [(False, True), (True, False), (False, False)])
def test_packed_along_the_other_axis(engine, rng, a_along_k, b_along_k):
    check(engine, rng, "e2m1", "e2m1", a_along_k, b_along_k)


@pytest.mark.ours("formats whose product the Triton package leaves to hardware")
def test_without_the_second_scale(engine, rng):
    check(engine, rng, "e4m3", "e2m1", has_b_scale=False)


@triton.jit
def float_scales_kernel(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A_FORMAT: tl.constexpr):
    m, n, k, group = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 16)
    if A_FORMAT == "e2m1":
        a = tl.load(a_ptr + m[:, None] * (K // 2) + tl.arange(0, K // 2)[None, :])
    else:
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + tl.arange(0, K // 2)[:, None] + n[None, :] * (K // 2))
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 16) + group[None, :])
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 16) + group[None, :])
    c = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, "e2m1")
    tl.store(out_ptr + m[:, None] * N + n[None, :], c)


@pytest.mark.ours("formats whose product the Triton package leaves to hardware")
@pytest.mark.parametrize("a_format, scale_type", [("e2m1", "float8e4nv"), ("e4m3", "float8e4nv"), ("e5m2", "float8e5")])
def test_scales_that_are_small_floats(engine, rng, a_format, scale_type):
    """One for 16 values. The operands are as large as fit a GPU's shared memory in 16 bits each, which hold all their values."""
    m, n, k = 64, 128, 512
    a_bits, a_type, a = operand(rng, (m, k), a_format, 1)
    b_bits, _, b = operand(rng, (n, k), "e2m1", 1)
    mantissa, bias = (3, 7) if scale_type == "float8e4nv" else (2, 15)
    scales = [(rng.integers(bias - 2, bias + 3, (extent, k // 16)) << mantissa | rng.integers(0, 1 << mantissa, (extent, k // 16))).astype(np.uint8)
              for extent in (m, n)]  # fmt: skip
    out = engine.empty((m, n), "float32")
    float_scales_kernel[(1,)](engine.from_bits(a_bits, a_type), engine.from_bits(scales[0], scale_type), engine.from_bits(b_bits, "uint8"),
                              engine.from_bits(scales[1], scale_type), out, m, n, k, a_format)  # fmt: skip
    factors = [np.repeat(decode(bits, scale_type).astype(np.float64), 16, 1) for bits in scales]
    np.testing.assert_allclose(engine.numpy(out), (a * factors[0]) @ (b * factors[1]).T, rtol=1e-5, atol=1e-2)


@pytest.mark.ours("formats whose product the Triton package leaves to hardware")
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("a_format, b_format", [("e4m3", "fp16"), ("fp16", "e5m2"), ("e2m1", "fp16"), ("e5m2", "bf16"), ("fp16", "fp16")])
def test_matrix_instructions(a_format, b_format, architecture):
    """Products of values that bf16 or TF32 hold are left to matrix instructions, which lose nothing of them."""
    types = {"e2m1": "*u8", "e4m3": "*u8", "e5m2": "*u8", "fp16": "*fp16", "bf16": "*bf16"}
    constants = {"A_ROWS": 64, "A_COLUMNS": 32 if a_format == "e2m1" else 64, "B_ROWS": 64, "B_COLUMNS": 64, "M": 64, "N": 64, "GROUPS": 2,
                 "A_FORMAT": a_format, "B_FORMAT": b_format, "A_ALONG_K": True, "B_ALONG_K": True, "HAS_B_SCALE": True}  # fmt: skip
    names = dot_scaled_kernel.arg_names
    values = dict(zip(names[5:], constants.values()))
    signature = dict(zip(names, (types[a_format], "*u8", types[b_format], "*u8", "*fp32"))) | dict.fromkeys(values, "constexpr")
    compiled = triton.compile(triton.compiler.ASTSource(dot_scaled_kernel, signature, values), target=triton.backends.compiler.GPUTarget("cuda", architecture, 32))
    assert "mma" in compiled.asm["ptx"]
