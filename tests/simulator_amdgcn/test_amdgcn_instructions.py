"""Single instructions against NumPy: their meaning is that of AMD's published instruction set manuals.

A row is the text of an instruction and a function of its operands. The operands are a = v[2:3], b = v[4:5], c = v[6:7]; the result
is d = v[10:11], which holds `BEFORE` in each word."""

import functools

import numpy as np
import pytest
from amdgcn_program import PROGRAM, assemble, lanes, run, tools

pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not tools(), reason="amdgcn-run, or llvm-mc and ld.lld of LLVM 22, are not there")
BEFORE = 0x5555AAAA
U32, I32, U64, I64, F32, F64, F16 = np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64, np.float16


class Operand:
    """64 bits a lane, seen as any format."""

    def __init__(self, bits):
        self.u64 = bits
        self.i64, self.f64 = bits.view(I64), bits.view(F64)
        self.u32 = bits.astype(U32)
        self.high = (bits >> U64(32)).astype(U32)
        self.i32, self.f32 = self.u32.view(I32), self.u32.view(F32)
        self.u16 = self.u32.astype(np.uint16)
        self.i16, self.f16 = self.u16.view(np.int16), self.u16.view(F16)
        self.upper16 = (self.u32 >> U32(16)).astype(np.uint16)
        self.upper_f16 = self.upper16.view(F16)


def operands(count):
    """Random bits in the first lanes, numbers of moderate size in the others, and the values that are special."""
    random = np.random.default_rng(0)
    special = np.array([0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x00800000, 0x3C003C00], np.uint64)
    made = []
    for shift in range(3):
        bits = random.integers(0, 2**63, count, dtype=np.uint64) << np.uint64(1)
        middle = slice(count // 4, count)
        floats = (random.normal(size=count) * 50).astype(F32).view(U32).astype(U64)
        high = (random.normal(size=count) * 50).view(U64) & U64(0xFFFFFFFF00000000)
        bits[middle] = (floats | high)[middle]
        halves = random.normal(size=(count, 2)).astype(F16).view(U32)[:, 0].astype(U64)
        bits[-count // 4 :] = (halves | high)[-count // 4 :]
        bits[: len(special)] = np.roll(special, 5 * shift)
        made.append(Operand(bits))
    return made


def packed(function):
    def apply(*sources):
        low, high = function(*(x.f16 for x in sources)), function(*(x.upper_f16 for x in sources))
        return low.astype(F16).view(np.uint16).astype(U32) | high.astype(F16).view(np.uint16).astype(U32) << U32(16)

    return apply


def mask(condition):
    """A mask of the lanes, as it stands in two scalar registers."""
    bits = sum(1 << i for i, holds in enumerate(condition) if holds)
    return np.full(len(condition), bits, U64)


def shuffled(order):
    return lambda a, b, c: a.u32[[order(i) for i in range(len(a.u32))]]


def half_result(value):
    return value.astype(F16).view(np.uint16).astype(U32)


def popcount(values):
    return np.array([int(v).bit_count() for v in values], U32)


def bytes_permuted(a, b, c):
    sources = [(int(x) << 32 | int(y)) for x, y in zip(a.u32, b.u32)]

    def byte(source, choice):
        if choice >= 13:
            return 0xFF
        if choice >= 8:
            return 0 if choice == 12 else 0xFF * (source >> (16 * (choice - 8) + 15) & 1)
        return source >> 8 * choice & 0xFF

    return np.array([sum(byte(s, int(k) >> 8 * i & 0xFF) << 8 * i for i in range(4)) for s, k in zip(sources, c.u32)], U32)


TO_MASK = "\n v_mov_b32 v10, s8\n v_mov_b32 v11, s9"
CDNA = {
    "v_mov_b32 v10, v2": lambda a, b, c: a.u32,
    "v_mov_b32 v10, 0.5": lambda a, b, c: np.full_like(a.f32, 0.5),
    "v_mov_b32 v10, -16": lambda a, b, c: np.full_like(a.i32, -16),
    "v_mov_b64 v[10:11], v[2:3]": lambda a, b, c: a.u64,
    "v_not_b32 v10, v2": lambda a, b, c: ~a.u32,
    "v_bfrev_b32 v10, v2": lambda a, b, c: np.array([int(f"{x:032b}"[::-1], 2) for x in a.u32], U32),
    "v_ffbl_b32 v10, v2": lambda a, b, c: np.array([(int(x) & -int(x)).bit_length() - 1 for x in a.u32], I32),
    "v_ffbh_u32 v10, v2": lambda a, b, c: np.array([32 - int(x).bit_length() if x else -1 for x in a.u32], I32),
    "v_bcnt_u32_b32 v10, v2, v4": lambda a, b, c: popcount(a.u32) + b.u32,
    "v_add_u32 v10, v2, v4": lambda a, b, c: a.u32 + b.u32,
    "v_add_u32 v10, v2, v4 clamp": lambda a, b, c: np.minimum(a.u32.astype(U64) + b.u32, 0xFFFFFFFF).astype(U32),
    "v_sub_u32 v10, 7, v4": lambda a, b, c: U32(7) - b.u32,
    "v_subrev_u32 v10, v2, v4": lambda a, b, c: b.u32 - a.u32,
    "v_add_co_u32 v10, s[8:9], v2, v4\n v_addc_co_u32 v11, s[8:9], v3, v5, s[8:9]": lambda a, b, c: a.u64 + b.u64,
    "v_sub_co_u32 v10, s[8:9], v2, v4\n v_subb_co_u32 v11, s[8:9], v3, v5, s[8:9]": lambda a, b, c: a.u64 - b.u64,
    "v_lshl_add_u64 v[10:11], v[2:3], 3, v[4:5]": lambda a, b, c: (a.u64 << U64(3)) + b.u64,
    "v_mad_u64_u32 v[10:11], s[8:9], v2, v4, v[6:7]": lambda a, b, c: a.u32.astype(U64) * b.u32 + c.u64,
    "v_mad_i64_i32 v[10:11], s[8:9], v2, v4, v[6:7]": lambda a, b, c: a.i32.astype(I64) * b.i32 + c.i64,
    "v_mul_lo_u32 v10, v2, v4": lambda a, b, c: a.u32 * b.u32,
    "v_mul_hi_u32 v10, v2, v4": lambda a, b, c: (a.u32.astype(U64) * b.u32 >> U64(32)).astype(U32),
    "v_mul_hi_i32 v10, v2, v4": lambda a, b, c: (a.i32.astype(I64) * b.i32 >> 32).astype(I32),
    "v_mul_u32_u24 v10, v2, v4": lambda a, b, c: (a.u32 & U32(0xFFFFFF)) * (b.u32 & U32(0xFFFFFF)),
    "v_mad_i32_i24 v10, v2, v4, v6": lambda a, b, c: (a.i32 << 8 >> 8) * (b.i32 << 8 >> 8) + c.i32,
    "v_mad_legacy_u16 v10, v2, v4, v6": lambda a, b, c: (a.u32 * b.u32 + c.u32) & U32(0xFFFF),
    "v_mad_legacy_i16 v10, v2, v4, v6": lambda a, b, c: (a.u32 * b.u32 + c.u32) & U32(0xFFFF),
    "v_and_b32 v10, 0xff00ff, v2": lambda a, b, c: a.u32 & U32(0xFF00FF),
    "v_or_b32 v10, v2, v4": lambda a, b, c: a.u32 | b.u32,
    "v_xor_b32 v10, v2, v4": lambda a, b, c: a.u32 ^ b.u32,
    "v_lshlrev_b32 v10, v2, v4": lambda a, b, c: b.u32 << (a.u32 & U32(31)),
    "v_lshrrev_b32 v10, v2, v4": lambda a, b, c: b.u32 >> (a.u32 & U32(31)),
    "v_ashrrev_i32 v10, v2, v4": lambda a, b, c: b.i32 >> (a.i32 & 31),
    "v_lshlrev_b64 v[10:11], v2, v[4:5]": lambda a, b, c: b.u64 << (a.u64 & U64(63)),
    "v_lshrrev_b64 v[10:11], v2, v[4:5]": lambda a, b, c: b.u64 >> (a.u64 & U64(63)),
    "v_ashrrev_i64 v[10:11], v2, v[4:5]": lambda a, b, c: b.i64 >> (a.i64 & 63),
    "v_min_i32 v10, v2, v4": lambda a, b, c: np.minimum(a.i32, b.i32),
    "v_max_u32 v10, v2, v4": lambda a, b, c: np.maximum(a.u32, b.u32),
    "v_med3_i32 v10, v2, v4, v6": lambda a, b, c: np.sort([a.i32, b.i32, c.i32], 0)[1],
    "v_add3_u32 v10, v2, v4, v6": lambda a, b, c: a.u32 + b.u32 + c.u32,
    "v_xad_u32 v10, v2, v4, v6": lambda a, b, c: (a.u32 ^ b.u32) + c.u32,
    "v_lshl_add_u32 v10, v2, v4, v6": lambda a, b, c: (a.u32 << (b.u32 & U32(31))) + c.u32,
    "v_add_lshl_u32 v10, v2, v4, v6": lambda a, b, c: (a.u32 + b.u32) << (c.u32 & U32(31)),
    "v_lshl_or_b32 v10, v2, v4, v6": lambda a, b, c: (a.u32 << (b.u32 & U32(31))) | c.u32,
    "v_and_or_b32 v10, v2, v4, v6": lambda a, b, c: (a.u32 & b.u32) | c.u32,
    "v_or3_b32 v10, v2, v4, v6": lambda a, b, c: a.u32 | b.u32 | c.u32,
    "v_bfi_b32 v10, v2, v4, v6": lambda a, b, c: (a.u32 & b.u32) | (~a.u32 & c.u32),
    "v_perm_b32 v10, v2, v4, v6": bytes_permuted,
    "v_bfe_u32 v10, v2, 5, 9": lambda a, b, c: a.u32 >> U32(5) & U32(511),
    "v_bfe_i32 v10, v2, 5, 9": lambda a, b, c: a.i32 << 18 >> 23,
    "v_alignbit_b32 v10, v2, v4, 7": lambda a, b, c: (a.u32 << U32(25)) | (b.u32 >> U32(7)),
    "v_pack_b32_f16 v10, v2, v4 op_sel:[1,0,0]": lambda a, b, c: a.upper16 | b.u16.astype(U32) << U32(16),
    "v_cndmask_b32 v10, v2, v4, vcc": lambda a, b, c: np.where(b.i32 > 0, b.u32, a.u32),
    "v_cndmask_b32_e64 v10, -v2, |v4|, vcc": lambda a, b, c: np.where(b.i32 > 0, b.u32 & U32(0x7FFFFFFF), a.u32 ^ U32(1 << 31)),
    "v_mbcnt_lo_u32_b32 v10, -1, 0\n v_mbcnt_hi_u32_b32 v10, -1, v10": lambda a, b, c: np.arange(len(a.u32), dtype=U32),
    "v_mov_b32 v10, v2\n v_mov_b32 v11, v4\n v_swap_b32 v10, v11": lambda a, b, c: b.u32.astype(U64) | a.u32.astype(U64) << U64(32),
    "v_readlane_b32 s8, v2, 9\n v_mov_b32 v10, s8": lambda a, b, c: np.full_like(a.u32, a.u32[9]),
    "v_readfirstlane_b32 s8, v2\n v_mov_b32 v10, s8": lambda a, b, c: np.full_like(a.u32, a.u32[0]),
    "v_mov_b32 v10, v2\n s_mov_b32 s8, 77\n v_writelane_b32 v10, s8, 5": lambda a, b, c: np.where(np.arange(len(a.u32)) == 5, 77, a.u32).astype(U32),
    "v_accvgpr_write_b32 a3, v2\n v_accvgpr_read_b32 v10, a3": lambda a, b, c: a.u32,
    # Lanes of other lanes.
    "v_mov_b32_dpp v10, v2 quad_perm:[3,1,0,2] row_mask:0xf bank_mask:0xf": shuffled(lambda i: (i & ~3) + (3, 1, 0, 2)[i & 3]),
    "v_mov_b32_dpp v10, v2 row_ror:5 row_mask:0xf bank_mask:0xf": shuffled(lambda i: (i & ~15) + (i - 5) % 16),
    "v_mov_b32_dpp v10, v2 row_mirror row_mask:0xf bank_mask:0xf": shuffled(lambda i: i ^ 15),
    "v_mov_b32_dpp v10, v2 row_half_mirror row_mask:0xf bank_mask:0xf": shuffled(lambda i: i ^ 7),
    "v_mov_b32_dpp v10, v2 row_newbcast:3 row_mask:0xf bank_mask:0xf": shuffled(lambda i: (i & ~15) + 3),
    "v_mov_b32_dpp v10, v2 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:0": lambda a, b, c: np.where(np.arange(64) % 16 >= 3, np.roll(a.u32, 3), U32(0)),
    "v_mov_b32_dpp v10, v2 row_shl:3 row_mask:0xf bank_mask:0xf": lambda a, b, c: np.where(np.arange(64) % 16 < 13, np.roll(a.u32, -3), U32(BEFORE)),
    "v_mov_b32_dpp v10, v2 row_bcast:15 row_mask:0xa bank_mask:0xf": lambda a, b, c: np.where(np.arange(64) // 16 % 2 == 1, a.u32[(np.arange(64) & ~15) - 1], U32(BEFORE)),
    "v_mov_b32_dpp v10, v2 wave_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0": lambda a, b, c: np.where(np.arange(64) > 0, np.roll(a.u32, 1), U32(0)),
    "v_add_u32_dpp v10, v2, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0x5": lambda a, b, c: np.where(np.arange(64) // 4 % 2 == 0, a.u32[np.arange(64) ^ 1] + b.u32, U32(BEFORE)),
    "v_lshlrev_b32 v12, 4, v0\n ds_bpermute_b32 v10, v12, v2\n s_waitcnt lgkmcnt(0)": shuffled(lambda i: 4 * i % 64),
    "v_xor_b32 v12, 0x54, v1\n ds_permute_b32 v10, v12, v2\n s_waitcnt lgkmcnt(0)": shuffled(lambda i: i ^ 0x15),
    "ds_swizzle_b32 v10, v2 offset:swizzle(SWAP,8)\n s_waitcnt lgkmcnt(0)": shuffled(lambda i: i ^ 8),
    "ds_swizzle_b32 v10, v2 offset:swizzle(BITMASK_PERM,\"01pip\")\n s_waitcnt lgkmcnt(0)": shuffled(lambda i: (i & 32) | 8 | (i & 5) | (~i & 2)),
    # Parts of registers.
    "v_add_u32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1": lambda a, b, c: (a.u32 >> U32(16) & U32(255)) + b.upper16,
    "v_add_u32_sdwa v10, sext(v2), v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD": lambda a, b, c: a.i16.astype(I32) + b.i32,
    "v_or_b32_sdwa v10, v2, v4 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD": lambda a, b, c: ((a.u32 | b.u32) & U32(255)) << U32(8) | U32(BEFORE & 0xFFFF00FF),
    "v_or_b32_sdwa v10, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD": lambda a, b, c: (a.u32 | b.u32) << U32(16),
    # Floats.
    "v_add_f32 v10, v2, v4": lambda a, b, c: a.f32 + b.f32,
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n v_mul_f32 v10, 1.0, v2": lambda a, b, c: np.where(abs(a.f32) < np.finfo(F32).tiny, np.copysign(F32(0), a.f32), a.f32),
    "v_sub_f32 v10, v2, v4": lambda a, b, c: a.f32 - b.f32,
    "v_mul_f32 v10, v2, v4": lambda a, b, c: a.f32 * b.f32,
    "v_mul_f32 v10, |v2|, -v4 mul:2": lambda a, b, c: abs(a.f32) * -b.f32 * F32(2),
    "v_add_f32 v10, v2, v4 clamp": lambda a, b, c: np.clip(np.nan_to_num(a.f32 + b.f32, nan=0, posinf=1, neginf=0), 0, 1),
    "v_min_f32 v10, v2, v4": lambda a, b, c: np.fmin(a.f32, b.f32),
    "v_max_f32 v10, v2, v4": lambda a, b, c: np.fmax(a.f32, b.f32),
    "v_max3_f32 v10, v2, v4, v6": lambda a, b, c: np.fmax(np.fmax(a.f32, b.f32), c.f32),
    "v_fma_f32 v10, v2, v4, v6": lambda a, b, c: (a.f32.astype(np.longdouble) * b.f32 + c.f32).astype(F32),
    "v_floor_f32 v10, v2": lambda a, b, c: np.floor(a.f32),
    "v_rndne_f32 v10, v2": lambda a, b, c: np.rint(a.f32),
    "v_ldexp_f32 v10, v2, 5": lambda a, b, c: np.ldexp(a.f32, 5),
    "v_cvt_i32_f32 v10, v2": lambda a, b, c: np.trunc(np.clip(np.nan_to_num(a.f32.astype(F64)), -(2**31), 2**31 - 1)).astype(I32),
    "v_cvt_u32_f32 v10, v2": lambda a, b, c: np.trunc(np.clip(np.nan_to_num(a.f32.astype(F64)), 0, 2**32 - 1)).astype(U32),
    "v_cvt_f32_i32 v10, v2": lambda a, b, c: a.i32.astype(F32),
    "v_cvt_f32_u32 v10, v2": lambda a, b, c: a.u32.astype(F32),
    "v_cvt_f32_ubyte2 v10, v2": lambda a, b, c: (a.u32 >> U32(16) & U32(255)).astype(F32),
    "v_cvt_f16_f32 v10, v2": lambda a, b, c: half_result(a.f32),
    "v_cvt_f32_f16 v10, v2": lambda a, b, c: a.f16.astype(F32),
    "v_cvt_f64_f32 v[10:11], v2": lambda a, b, c: a.f32.astype(F64),
    "v_cvt_f32_f64 v10, v[2:3]": lambda a, b, c: a.f64.astype(F32),
    "v_add_f64 v[10:11], v[2:3], v[4:5]": lambda a, b, c: a.f64 + b.f64,
    "v_mul_f64 v[10:11], v[2:3], 2.0": lambda a, b, c: a.f64 * 2,
    "v_add_f16 v10, v2, v4": lambda a, b, c: half_result(a.f16 + b.f16),
    "v_mul_f16 v10, v2, 0.5": lambda a, b, c: half_result(a.f16 * F16(0.5)),
    "v_fma_f16 v10, v2, v4, v6": lambda a, b, c: half_result(a.f16.astype(np.longdouble) * b.f16 + c.f16),
    "v_pk_add_f16 v10, v2, v4": packed(lambda x, y, z=None: x + y),
    "v_pk_mul_f16 v10, v2, v4 op_sel:[1,0] op_sel_hi:[0,1]": lambda a, b, c: half_result(a.upper_f16 * b.f16) | half_result(a.f16 * b.upper_f16) << U32(16),
    "v_pk_mul_f32 v[10:11], v[2:3], v[4:5]": lambda a, b, c: (a.f32 * b.f32).view(U32).astype(U64) | (a.high.view(F32) * b.high.view(F32)).view(U32).astype(U64) << U64(32),
    "v_pk_add_f32 v[10:11], v[2:3], v[4:5] op_sel_hi:[0,1]": lambda a, b, c: (a.f32 + b.f32).view(U32).astype(U64) | (a.f32 + b.high.view(F32)).view(U32).astype(U64) << U64(32),
    "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]": lambda a, b, c: a.high.astype(U64) | b.u32.astype(U64) << U64(32),
    "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[0,1]": lambda a, b, c: a.u32.astype(U64) | b.high.astype(U64) << U64(32),
    "v_pk_add_u16 v10, v2, v4": lambda a, b, c: (a.u16 + b.u16) | (a.upper16 + b.upper16).astype(U32) << U32(16),
    "v_pk_sub_u16 v10, v2, v4 clamp": lambda a, b, c: np.where(a.u16 > b.u16, a.u16 - b.u16, 0) | np.where(a.upper16 > b.upper16, a.upper16 - b.upper16, 0).astype(U32) << U32(16),
    # Comparisons.
    "v_cmp_lt_f32 s[8:9], v2, v4" + TO_MASK: lambda a, b, c: mask(a.f32 < b.f32),
    "v_cmp_nlt_f32 s[8:9], v2, v4" + TO_MASK: lambda a, b, c: mask(~(a.f32 < b.f32)),
    "v_cmp_u_f32 s[8:9], v2, v4" + TO_MASK: lambda a, b, c: mask(np.isnan(a.f32) | np.isnan(b.f32)),
    "v_cmp_gt_i32 s[8:9], v2, v4" + TO_MASK: lambda a, b, c: mask(a.i32 > b.i32),
    "v_cmp_le_u64 s[8:9], v[2:3], v[4:5]" + TO_MASK: lambda a, b, c: mask(a.u64 <= b.u64),
    "v_cmp_ne_u32_sdwa s[8:9], v2, v4 src0_sel:BYTE_0 src1_sel:BYTE_1" + TO_MASK: lambda a, b, c: mask((a.u32 & U32(255)) != (b.u32 >> U32(8) & U32(255))),
    "s_movk_i32 s10, 0x204\n v_cmp_class_f32 s[8:9], v2, s10" + TO_MASK: lambda a, b, c: mask(np.isinf(a.f32)),
    "s_mov_b64 s[10:11], exec\n v_cmpx_lt_i32 vcc, v2, v4\n v_mov_b32 v10, 1\n s_mov_b64 exec, s[10:11]": lambda a, b, c: np.where(a.i32 < b.i32, 1, BEFORE).astype(U32),
}  # fmt: skip
GFX950 = {
    "v_bitop3_b32 v10, v2, v4, v6 bitop3:0xca": lambda a, b, c: (a.u32 & b.u32) | (~a.u32 & c.u32),
    "v_mov_b32 v10, v2\n v_mov_b32 v11, v4\n s_nop 1\n v_permlane32_swap_b32 v10, v11": lambda a, b, c: np.r_[a.u32[:32], b.u32[:32]].astype(U64) | np.r_[a.u32[32:], b.u32[32:]].astype(U64) << U64(32),
    "v_bitop3_b16 v10, v2, v4, v6 bitop3:0xca": lambda a, b, c: ((a.u16 & b.u16) | (~a.u16 & c.u16)).astype(U32),
    "v_cvt_pk_f16_f32 v10, v2, v4": lambda a, b, c: half_result(a.f32) | half_result(b.f32) << U32(16),
}  # fmt: skip
RDNA = {
    "v_add_nc_u32 v10, v2, v4": lambda a, b, c: a.u32 + b.u32,
    "v_dual_add_f32 v10, v2, v4 :: v_dual_mov_b32 v11, v3": lambda a, b, c: (a.f32 + b.f32).view(U32).astype(U64) | a.high.astype(U64) << U64(32),
    # Both halves read before either writes.
    "v_mov_b32 v10, v2\n v_mov_b32 v11, v4\n v_dual_mov_b32 v10, v11 :: v_dual_mov_b32 v11, v10": lambda a, b, c: b.u32.astype(U64) | a.u32.astype(U64) << U64(32),
    "v_cndmask_b16 v10.l, v2.h, v4.l, vcc_lo": lambda a, b, c: np.where(b.i32 > 0, b.u16, a.upper16) | U32(BEFORE & 0xFFFF0000),
    "v_mov_b16 v10.h, v2.l": lambda a, b, c: a.u16.astype(U32) << U32(16) | U32(BEFORE & 0xFFFF),
    "v_add_f16 v10.l, v2.h, v4.l": lambda a, b, c: half_result(a.upper_f16 + b.f16) | U32(BEFORE & 0xFFFF0000),
    "v_cvt_f16_f32 v10.h, v2": lambda a, b, c: half_result(a.f32) << U32(16) | U32(BEFORE & 0xFFFF),
    "s_mov_b32 s8, 0x76543210\n s_mov_b32 s9, 0xfedcba98\n v_permlanex16_b32 v10, v2, s8, s9": shuffled(lambda i: i ^ 16),
    "v_mov_b32_dpp v10, v2 dpp8:[7,6,5,4,3,2,1,0]": shuffled(lambda i: i ^ 7),
    "v_mov_b32_dpp v10, v2 row_xmask:3 row_mask:0xf bank_mask:0xf": shuffled(lambda i: i ^ 3),
    "s_mov_b32 s10, exec_lo\n v_cmpx_lt_i32 v2, v4\n v_mov_b32 v10, 1\n s_mov_b32 exec_lo, s10": lambda a, b, c: np.where(a.i32 < b.i32, 1, BEFORE).astype(U32),
    "v_fma_f32 v10, v2, v4, v6": lambda a, b, c: (a.f32.astype(np.longdouble) * b.f32 + c.f32).astype(F32),
}  # fmt: skip
GFX12 = {
    "v_cvt_u32_u16 v10, v2.h": lambda a, b, c: a.upper16.astype(U32),
    "v_cvt_i32_i16 v10, v2.l": lambda a, b, c: a.i16.astype(I32),
    "v_max_num_f32 v10, v2, v4": lambda a, b, c: np.fmax(a.f32, b.f32),
    "v_maximum_f32 v10, v2, v4": lambda a, b, c: np.maximum(a.f32, b.f32),
}  # fmt: skip
# Scalar instructions of s[10:11] and s[12:13]; the result is s[8:9], and SCC goes to s14.
SCALAR = {
    "s_add_u32 s8, s10, s12\n s_addc_u32 s9, s11, s13": lambda a, b: (a + b) % 2**64,
    "s_sub_u32 s8, s10, s12\n s_subb_u32 s9, s11, s13": lambda a, b: (a - b) % 2**64,
    "s_and_b64 s[8:9], s[10:11], s[12:13]": lambda a, b: a & b,
    "s_andn2_b64 s[8:9], s[10:11], s[12:13]": lambda a, b: a & ~b,
    "s_xor_b64 s[8:9], s[10:11], s[12:13]": lambda a, b: a ^ b,
    "s_lshl_b64 s[8:9], s[10:11], 9": lambda a, b: a << 9 & 2**64 - 1,
    "s_lshr_b64 s[8:9], s[10:11], 9": lambda a, b: a >> 9,
    "s_mul_i32 s8, s10, s12\n s_mul_hi_u32 s9, s10, s12": lambda a, b: (a & 2**32 - 1) * (b & 2**32 - 1),
    "s_bfe_u32 s8, s10, 0x70005\n s_bcnt1_i32_b64 s9, s[10:11]": lambda a, b: (a >> 5 & 127) | a.bit_count() << 32,
    "s_movk_i32 s8, 0x8000\n s_brev_b32 s9, 1": lambda a, b: 0xFFFF8000 | 1 << 63,
    "s_cmp_lt_u32 s10, s12\n s_cselect_b64 s[8:9], s[10:11], s[12:13]": lambda a, b: a if a % 2**32 < b % 2**32 else b,
    "s_bitcmp1_b32 s10, 4\n s_cselect_b32 s8, 1, 0\n s_ff1_i32_b32 s9, s12": lambda a, b: (a >> 4 & 1) | ((b & -b).bit_length() - 1) << 32,
    "s_mov_b64 s[8:9], exec\n s_and_saveexec_b64 s[8:9], s[10:11]\n s_mov_b64 exec, s[8:9]": lambda a, b: 2**64 - 1,
}  # fmt: skip


def kernel_of(text, arch):
    is_wide = lanes(arch) == 64
    quad, pair, vcc = ("dwordx4", "dwordx2", "vcc") if is_wide else ("b128", "b64", "vcc_lo")
    scalars, loads = ("s_wait_kmcnt 0x0", "s_wait_loadcnt 0x0") if arch == "gfx1201" else ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)")
    return f"""
  s_load_{quad} s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v20, 5, v0
  {scalars}
  global_load_{quad} v[2:5], v20, s[4:5]
  global_load_{pair} v[6:7], v20, s[4:5] offset:16
  {loads}
  v_mov_b32 v10, 0x{BEFORE:x}
  v_mov_b32 v11, 0x{BEFORE:x}
  v_cmp_lt_i32 {vcc}, 0, v4
  {text}
  v_lshlrev_b32 v20, 3, v0
  global_store_{pair} v20, v[10:11], s[6:7]"""


TABLES = {"gfx942": CDNA, "gfx950": CDNA | GFX950, "gfx1100": RDNA, "gfx1201": RDNA | GFX12}


@pytest.fixture(scope="module")
def code():
    return functools.cache(lambda arch: assemble("instructions", arch, {f"row{i}": (kernel_of(text, arch), 2, 0) for i, text in enumerate(TABLES[arch])}))


@pytest.mark.parametrize("arch", TABLES)
def test_vector_instructions(code, arch):
    count = lanes(arch)
    a, b, c = operands(count)
    source = np.zeros((count, 4), U64)
    source[:, 0], source[:, 1], source[:, 2] = a.u64, b.u64, c.u64
    wrong = []
    for i, (text, function) in enumerate(TABLES[arch].items()):
        out = np.zeros(count, U64)
        run(code(arch), f"row{i}", [source, out], size=count)
        with np.errstate(all="ignore"):
            expected = np.ascontiguousarray(function(a, b, c))
        bits = expected.view({4: U32, 8: U64}[expected.itemsize])
        got = out if expected.itemsize == 8 else out.astype(U32)
        same = got == bits
        if expected.dtype.kind == "f":
            same |= np.isnan(got.view(expected.dtype)) & np.isnan(expected)
        elif "f16" in text or "f32" in text:  # NaNs in halves or in words: their bits are not compared
            same |= ~np.isfinite(a.f32) | ~np.isfinite(b.f32) | ~np.isfinite(a.f16) | ~np.isfinite(b.f16) | ~np.isfinite(c.f16) | ~np.isfinite(a.upper_f16) | ~np.isfinite(b.upper_f16)
        if expected.itemsize == 4 and "v11" not in text:
            assert (out >> U64(32) == BEFORE).all(), text  # nothing else is written
        if not same.all():
            lane = int(np.argmin(same))
            wrong.append(f"{text}: lane {lane}: a {a.u64[lane]:x} b {b.u64[lane]:x} c {c.u64[lane]:x}: {int(got[lane]):x} instead of {int(bits[lane]):x}")
    assert not wrong, "\n".join(wrong)


def test_scalar_instructions():
    load = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_load_dwordx4 s[12:15], s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_mov_b64 s[10:11], s[12:13]\n  s_mov_b64 s[12:13], s[14:15]\n"
    store = "\n  v_mov_b32 v2, s8\n  v_mov_b32 v3, s9\n  v_mov_b32 v1, 0\n  global_store_dwordx2 v1, v[2:3], s[6:7]"
    code = assemble("scalars", "gfx942", {f"row{i}": (load + text + store, 2, 0) for i, text in enumerate(SCALAR)})
    random = np.random.default_rng(1)
    for i, (text, function) in enumerate(SCALAR.items()):
        for _ in range(3):
            source, out = random.integers(1, 2**63, 2, dtype=U64) * U64(2) + U64(1), np.zeros(1, U64)
            run(code, f"row{i}", [source, out])
            a, b = map(int, source)
            assert int(out[0]) == function(a, b) % 2**64, text
