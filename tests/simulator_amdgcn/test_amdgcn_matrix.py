"""Matrix instructions: elements are put into lanes and registers by the tables that AMD publishes with its matrix instruction
calculator, and the product is NumPy's. The numbers are small integers, so every order of additions has the same result."""

import numpy as np
import pytest
from amdgcn_program import PROGRAM, assemble, lanes, run, tools

pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not tools(), reason="amdgcn-run, or llvm-mc and ld.lld of LLVM 22, are not there")


def bfloat(values):
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def small_float(bias, fraction_bits):
    """Small integers as floats of 8 bits."""

    def encode(values):
        def one(value):
            sign, size = (0x80, -value) if value < 0 else (0, value)
            exponent = int(size).bit_length() - 1
            return sign | (exponent + bias) << fraction_bits | (size << fraction_bits >> exponent) & (1 << fraction_bits) - 1 if size else 0

        return np.vectorize(one)(values.astype(int)).astype(np.uint8)

    return encode


FORMATS = {
    "f64": np.float64, "f32": np.float32, "xf32": np.float32, "f16": np.float16, "bf16": bfloat, "i8": np.int8, "i32": np.int32,
    "fp8": small_float(7, 3), "bf8": small_float(15, 2), "fp8fnuz": small_float(8, 3), "bf8fnuz": small_float(16, 2),
}  # fmt: skip


def encode(values, name):
    form = FORMATS[name]
    return form(values) if not isinstance(form, type) else values.astype(form)


# Mnemonic: rows, columns, K, blocks, formats of A, B and of the result.
MFMA = {
    "v_mfma_f32_32x32x1_2b_f32": (32, 32, 1, 2, "f32", "f32", "f32"),
    "v_mfma_f32_16x16x1_4b_f32": (16, 16, 1, 4, "f32", "f32", "f32"),
    "v_mfma_f32_4x4x1_16b_f32": (4, 4, 1, 16, "f32", "f32", "f32"),
    "v_mfma_f32_32x32x2_f32": (32, 32, 2, 1, "f32", "f32", "f32"),
    "v_mfma_f32_16x16x4_f32": (16, 16, 4, 1, "f32", "f32", "f32"),
    "v_mfma_f32_32x32x4_2b_f16": (32, 32, 4, 2, "f16", "f16", "f32"),
    "v_mfma_f32_16x16x4_4b_f16": (16, 16, 4, 4, "f16", "f16", "f32"),
    "v_mfma_f32_4x4x4_16b_f16": (4, 4, 4, 16, "f16", "f16", "f32"),
    "v_mfma_f32_32x32x8_f16": (32, 32, 8, 1, "f16", "f16", "f32"),
    "v_mfma_f32_16x16x16_f16": (16, 16, 16, 1, "f16", "f16", "f32"),
    "v_mfma_f32_32x32x4_2b_bf16": (32, 32, 4, 2, "bf16", "bf16", "f32"),
    "v_mfma_f32_32x32x8_bf16": (32, 32, 8, 1, "bf16", "bf16", "f32"),
    "v_mfma_f32_16x16x16_bf16": (16, 16, 16, 1, "bf16", "bf16", "f32"),
    "v_mfma_i32_32x32x4_2b_i8": (32, 32, 4, 2, "i8", "i8", "i32"),
    "v_mfma_i32_32x32x16_i8": (32, 32, 16, 1, "i8", "i8", "i32"),
    "v_mfma_i32_16x16x32_i8": (16, 16, 32, 1, "i8", "i8", "i32"),
    "v_mfma_f64_16x16x4_f64": (16, 16, 4, 1, "f64", "f64", "f64"),
    "v_mfma_f64_4x4x4_4b_f64": (4, 4, 4, 4, "f64", "f64", "f64"),
    "v_mfma_f32_32x32x4_xf32": (32, 32, 4, 1, "xf32", "xf32", "f32"),
    "v_mfma_f32_16x16x8_xf32": (16, 16, 8, 1, "xf32", "xf32", "f32"),
    "v_mfma_f32_32x32x16_fp8_bf8": (32, 32, 16, 1, "fp8fnuz", "bf8fnuz", "f32"),
    "v_mfma_f32_16x16x32_bf8_fp8": (16, 16, 32, 1, "bf8fnuz", "fp8fnuz", "f32"),
}
GFX950 = {
    "v_mfma_f32_32x32x16_f16": (32, 32, 16, 1, "f16", "f16", "f32"),
    "v_mfma_f32_16x16x32_bf16": (16, 16, 32, 1, "bf16", "bf16", "f32"),
    "v_mfma_i32_16x16x64_i8": (16, 16, 64, 1, "i8", "i8", "i32"),
    "v_mfma_f32_16x16x32_fp8_bf8": (16, 16, 32, 1, "fp8", "bf8", "f32"),
}
WMMA = {
    "v_wmma_f32_16x16x16_f16": ("f16", "f16", "f32"),
    "v_wmma_f32_16x16x16_bf16": ("bf16", "bf16", "f32"),
    "v_wmma_f16_16x16x16_f16": ("f16", "f16", "f16"),
    "v_wmma_i32_16x16x16_iu8": ("i8", "i8", "i32"),
}
WMMA_GFX12 = {"v_wmma_f32_16x16x16_fp8_bf8": ("fp8", "bf8", "f32")}


def place(values, count, position, name, per_lane):
    """[lane][element] of encoded values: position says where (block, line, k) lies."""
    encoded = encode(values, name)
    held = np.zeros((count, per_lane), encoded.dtype)
    for index in np.ndindex(values.shape):
        for lane, element in position(*index):
            held[lane, element] = encoded[index]
    return np.ascontiguousarray(held).view(np.uint32)  # [lane][register]


def body(text, registers, arch):
    """Registers of A, B and C are read from memory, [register][lane], and those of D are written."""
    a, b, c = registers
    quad, load, store = ("s_load_dwordx8", "global_load_dword", "global_store_dword") if lanes(arch) == 64 else ("s_load_b256", "global_load_b32", "global_store_b32")
    scalars, loads = ("s_wait_kmcnt 0x0", "s_wait_loadcnt 0x0") if arch == "gfx1201" else ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)")
    lines = [f"  {quad} s[8:15], s[0:1], 0x0", f"  {scalars}", "  v_lshlrev_b32 v1, 2, v0"]
    for first, count, base in ((8, a, 8), (24, b, 10), (40, c, 12)):
        lines += [line for i in range(count) for line in (f"  {load} v{first + i}, v1, s[{base}:{base + 1}]", f"  s_add_u32 s{base}, s{base}, {4 * lanes(arch)}", f"  s_addc_u32 s{base + 1}, s{base + 1}, 0")]
    lines += [f"  {loads}", f"  {text}", "  s_nop 15", "  s_nop 15"]
    lines += [line for i in range(c) for line in (f"  {store} v1, v{40 + i}, s[14:15]", f"  s_add_u32 s14, s14, {4 * lanes(arch)}", "  s_addc_u32 s15, s15, 0")]
    return "\n".join(lines)


def registers(first, count):
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


def check(arch, table, arrange):
    """All instructions of a table; arrange gives, of a row, shapes and positions."""
    kernels, cases = {}, {}
    random = np.random.default_rng(0)
    for name, row in table.items():
        shape_a, shape_b, shape_c, position_a, position_b, position_c, per_lane, formats = arrange(row)
        a, b, c = (random.integers(-3, 4, shape) for shape in (shape_a, shape_b, shape_c))
        held = [place(x, lanes(arch), p, f, n) for x, p, f, n in zip((a, b), (position_a, position_b), formats, per_lane)]
        held.append(place(c, lanes(arch), position_c, formats[2], per_lane[2]))
        counts = [x.shape[1] for x in held]
        sources = ", ".join(registers(first, n) for first, n in zip((8, 24, 40), counts))
        signs = " neg_lo:[1,1,0]" if name.endswith("_iu8") else ""
        kernels[name] = (body(f"{name} {registers(40, counts[2])}, {sources}{signs}", counts, arch), 4, 0)
        cases[name] = (held, c + a @ b.swapaxes(1, 2), position_c, FORMATS[formats[2]])
    code = assemble("matrix", arch, kernels)
    for name, (held, expected, position, result) in cases.items():
        arguments = [np.ascontiguousarray(x.T) for x in held]
        out = np.zeros_like(arguments[2])
        run(code, name, [*arguments, out], size=lanes(arch))
        got = np.ascontiguousarray(out.T).view(result)
        for index in np.ndindex(expected.shape):
            for lane, element in position(*index):
                assert got[lane, element] == expected[index], (name, index, lane, element)


def mfma(row):
    m, n, k, blocks, *formats = row

    def input_of(size):
        per_lane = k * size * blocks // 64
        return (lambda block, line, i: [(line + size * (block + blocks * (i // per_lane)), i % per_lane)]), per_lane

    def output(block, i, j):
        if formats[2] == "f64":
            return [(16 * i + 4 * block + j, 0)] if m == 4 else [(16 * (i % 4) + j, i // 4)]
        if m == 4:
            return [(4 * block + j, i)]
        if m == 16:
            return [(16 * (i // 4) + j, 4 * block + i % 4)]
        return [(32 * (i // 4 % 2) + j, 16 * block + 4 * (i // 8) + i % 4)]

    (position_a, per_a), (position_b, per_b) = input_of(m), input_of(n)
    return (blocks, m, k), (blocks, n, k), (blocks, m, n), position_a, position_b, output, (per_a, per_b, m * n * blocks // 64), formats


def wmma_gfx11(formats):
    def both(_, line, i):
        return [(line, i), (line + 16, i)]

    def output(_, i, j):
        return [(16 * (i % 2) + j, i // 2 * (2 if formats[2] == "f16" else 1))]  # the low half of a register

    return (1, 16, 16), (1, 16, 16), (1, 16, 16), both, both, output, (16, 16, 16 if formats[2] == "f16" else 8), formats


def wmma_gfx12(formats):
    def half(_, line, i):
        return [(line + 16 * (i // 8), i % 8)]

    return (1, 16, 16), (1, 16, 16), (1, 16, 16), half, half, lambda _, i, j: [(16 * (i // 8) + j, i % 8)], (8, 8, 8), formats


def test_mfma():
    check("gfx942", MFMA, mfma)


def test_mfma_of_gfx950():
    check("gfx950", GFX950, mfma)


def test_wmma_of_gfx11():
    check("gfx1100", WMMA, wmma_gfx11)


def test_wmma_of_gfx12():
    check("gfx1201", WMMA | WMMA_GFX12, wmma_gfx12)
