"""PTX in inline assembly, which published kernels hold: translated where the target is not NVIDIA's."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("PTX elsewhere than on NVIDIA's GPUs")


def bits(values):
    return np.asarray(values, np.float32).view(np.int32)


def shift_left(x, n):
    return np.where(n < 32, x.astype(np.uint64) << n.astype(np.uint64), 0).astype(np.uint32).view(np.int32)


@triton.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    out = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [x, y], dtype=out_ptr.dtype.element_ty, is_pure=True, pack=1)
    tl.store(out_ptr + offsets, out)


def run(engine, asm, x, y, result, constraints="=r,r,r"):
    out = engine.empty(len(x), result)
    binary_kernel[(1,)](engine.array(x), engine.array(y), out, asm, constraints, len(x))
    return engine.numpy(out)


FLOATS = {
    "add.rn.f32 $0, $1, $2;": lambda x, y: x + y,
    "sub.ftz.f32 $0, $1, $2;": lambda x, y: x - y,
    "mul.rn.f32 $0, $1, $2;": lambda x, y: x * y,
    "div.rn.f32 $0, $1, $2;": lambda x, y: x / y,
    "fma.rn.f32 $0, $1, $2, 0f3F800000;": lambda x, y: (x.astype(np.float64) * y + 1).astype(np.float32),
    "min.f32 $0, $1, $2;": np.minimum,
    "max.f32 $0, $1, $2;": np.maximum,
    "rcp.approx.ftz.f32 $0, $2;": lambda x, y: 1 / y,
    "sqrt.approx.f32 $0, $2;": lambda x, y: np.sqrt(y),
    "rsqrt.approx.ftz.f32 $0, $2;": lambda x, y: 1 / np.sqrt(y),
    "ex2.approx.ftz.f32 $0, $1;": lambda x, y: np.exp2(x),
    "lg2.approx.f32 $0, $2;": lambda x, y: np.log2(y),
    "tanh.approx.f32 $0, $1;": lambda x, y: np.tanh(x),
    "sin.approx.f32 $0, $1;": lambda x, y: np.sin(x),
    "neg.f32 $0, $1;": lambda x, y: -x,
    "cvt.rpi.f32.f32 $0, $1;": lambda x, y: np.ceil(x),
    "{ .reg .pred p; setp.lt.f32 p, $1, 0.5; selp.f32 $0, $2, $1, p; }": lambda x, y: np.where(x < 0.5, y, x),
}

# What the PTX manual allows beyond a rounding: relative and absolute errors.
BOUNDS = {"lg2.approx": (0, 2**-22), "tanh.approx": (2**-11, 0), "sin.approx": (0, 2**-20.5)}


@pytest.mark.parametrize("asm", FLOATS)
def test_floats(engine, rng, asm):
    x, y = rng.standard_normal(64).astype(np.float32), rng.uniform(0.1, 4, 64).astype(np.float32)
    relative, absolute = next((bound for name, bound in BOUNDS.items() if asm.startswith(name)), (0, 0))
    np.testing.assert_allclose(run(engine, asm, x, y, "float32", "=f,f,f"), FLOATS[asm](x, y), rtol=3e-7 + relative, atol=1e-7 + absolute)


INTEGERS = {
    "add.s32 $0, $1, $2;": lambda x, y: x + y,
    "mad.lo.s32 $0, $1, $2, 7;": lambda x, y: x * y + 7,
    "mul.hi.u32 $0, $1, $2;": lambda x, y: (x.astype(np.uint32).astype(np.uint64) * y.astype(np.uint64) >> 32).astype(np.int32),
    "and.b32 $0, $1, 0xFFFF0000;": lambda x, y: x & np.int32(-65536),
    "xor.b32 $0, $1, $2;": lambda x, y: x ^ y,
    "not.b32 $0, $1;": lambda x, y: ~x,
    "shl.b32 $0, $1, $2;": lambda x, y: shift_left(x.view(np.uint32), y),
    "shr.s32 $0, $1, $2;": lambda x, y: x >> np.minimum(y, 31),
    "lop3.b32 $0, $1, $2, 15, 0xEA;": lambda x, y: (x & y) | 15,
    "prmt.b32 $0, $1, $2, 0x5410;": lambda x, y: (x & 0xFFFF) | (y << 16),
    "prmt.b32 $0, $1, $2, 0x0008;": lambda x, y: np.where(x & 0x80, 255, 0) | (x & 255) * 0x01010100,
    "mov.b32 $0, 0f40490FDB;": lambda x, y: np.full_like(x, bits(np.pi)),
    "cvt.rzi.s32.f32 $0, 2.75;": lambda x, y: np.full_like(x, 2),
    """{
        .reg .b16 low, high;   // the halves change places
        mov.b32 {low, high}, $1;
        mov.b32 $0, {high, low};
    }""": lambda x, y: (x << 16) | ((x >> 16) & 0xFFFF),
}


@pytest.mark.parametrize("asm", INTEGERS)
def test_integers(engine, rng, asm):
    x = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
    y = rng.integers(0, 40, 64).astype(np.int32)
    with np.errstate(over="ignore"):
        expected = INTEGERS[asm](x, y)
    np.testing.assert_array_equal(run(engine, asm, x, y, "int32"), np.asarray(expected).astype(np.int32))


def test_bits_go_through_registers(engine, rng):
    x = rng.standard_normal(32).astype(np.float32)
    np.testing.assert_array_equal(run(engine, "mov.b32 $0, $1;", x, x, "int32", "=r,f,f"), bits(x))
    halves = run(engine, "cvt.rn.f16.f32 $0, $1;", x, x, "float16", "=h,f,f")
    np.testing.assert_array_equal(halves, x.astype(np.float16))


@pytest.mark.parametrize(
    "asm, named", [("@p bra done;", "@p bra done"), ("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "cvt.rn.satfinite.e4m3x2.f32")]
)
def test_what_is_not_translated_is_named(engine, asm, named):
    x = np.ones(16, np.float32)
    with pytest.raises(Exception, match=named):
        run(engine, "mov.f32 $0, $1; " + asm, x, x, "float32", "=f,f,f")
