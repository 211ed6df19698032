"""Small PTX programs, one for each instruction or form of it, with their inputs: the same on a GPU and in the simulator.

`programs()` yields Program objects. Inputs depend on the program's name alone, so that only outputs need to be recorded.
Needs NumPy and nothing else.
"""

import zlib

import numpy as np

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"


class Program:
    """`ptx` has one kernel `k`; `inputs` are arrays, given first, then the output array is; `group` says how results are
    compared: exact, approx (with a bound in units in the last place or absolute), matrix."""

    def __init__(self, name, ptx, inputs, output_bytes, group, grid=1, block=128, shared=0, element=4, maps=(), bound=None, kind="u4"):
        self.name, self.ptx, self.inputs, self.output_bytes, self.group = name, ptx, inputs, output_bytes, group
        self.grid, self.block, self.shared, self.element, self.maps = grid, block, shared, element, maps
        self.bound, self.kind = bound, kind


def generator(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


SPECIAL32 = np.array(
    [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x800001, 0x3F800000, 0xBF800000, 0x3F800001,
     0x3F7FFFFF, 0x3F000000, 0xBF000000, 0x40000000, 0x3FC00000, 0x40200000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
     0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0x4B000000, 0x4B800000, 0xCB000001, 0x4F000000, 0xCF000000, 0x4EFFFFFF,
     0x4F800000, 0x5F000000, 0xDF000000, 0x7E800000, 0x7E800001, 0xFE900000, 0x00400000, 0x33800000],
    dtype=np.uint32)  # fmt: skip
SPECIAL16 = np.array(
    [0, 0x8000, 1, 0x8001, 0x3FF, 0x83FF, 0x400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x4000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
     0x7E00, 0xFE00, 0x7C01, 0x7FFF, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7F81, 0x0080, 0x007F, 0x7F7F, 0xFF7F, 0x6400, 0x5800],
    dtype=np.uint16)  # fmt: skip
SPECIAL64 = np.concatenate([
    np.where(np.isnan(SPECIAL32.view(np.float32)), 0.0, SPECIAL32.view(np.float32)).astype(np.float64).view(np.uint64),
    np.array([1, 0x8000000000000001, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3FF0000000000001,
              0x3FEFFFFFFFFFFFFF, 0x43E0000000000000, 0xC3E0000000000000, 0x43F0000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000,
              0x7FF0000000000001, 0xFFF8000000000123, 0x4330000000000001], dtype=np.uint64)])  # fmt: skip
SPECIAL_INTEGERS = np.array([0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001,
                             0xFFFFFFFE, 0xFFFFFFFF], dtype=np.uint32)  # fmt: skip

COUNT = 2048


def values(name, index, kind, count, arity):
    """`count` inputs of a kind: all pairs of special values first, then random bits, then ordinary numbers."""
    random = generator(f"{name}/{index}")
    if kind in ("f32", "f32n"):
        special, dtype = SPECIAL32, np.uint32
        ordinary = random.normal(0, 4, count).astype(np.float32).view(np.uint32)
    elif kind == "f64":
        special, dtype = SPECIAL64, np.uint64
        ordinary = random.normal(0, 1e3, count).view(np.uint64)
    elif kind == "f16":
        special, dtype = SPECIAL16, np.uint16
        ordinary = random.normal(0, 4, count).astype(np.float16).view(np.uint16)
    elif kind == "bf16":
        special, dtype = SPECIAL16, np.uint16
        ordinary = (random.normal(0, 4, count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    elif kind == "u64":
        special, dtype = np.concatenate([SPECIAL_INTEGERS.astype(np.uint64), SPECIAL_INTEGERS.astype(np.uint64) << np.uint64(32)]), np.uint64
        ordinary = random.integers(0, 1 << 20, count).astype(np.uint64)
    elif kind == "u16":
        special, dtype = SPECIAL_INTEGERS.astype(np.uint16), np.uint16
        ordinary = random.integers(0, 200, count).astype(np.uint16)
    else:
        special, dtype = SPECIAL_INTEGERS, np.uint32
        ordinary = random.integers(0, 100, count).astype(np.uint32)
    bits = random.integers(0, 1 << (8 * np.dtype(dtype).itemsize), count, dtype=np.uint64).astype(dtype)
    n = len(special)
    if arity == 1:
        head = special
    elif arity == 2:
        head = np.repeat(special, n) if index == 0 else np.tile(special, n)
    else:
        head = special[random.integers(0, n, count // 4)]
    head = head[: count // 2]
    rest = count - len(head)
    tail = np.where(random.integers(0, 2, rest) == 0, bits[:rest], ordinary[:rest]).astype(dtype)
    return np.concatenate([head, tail])


REGISTER = {"f32": "b32", "u32": "b32", "f64": "b64", "u64": "b64", "f16": "b16", "bf16": "b16", "u16": "b16", "x2": "b32"}
BYTES = {"b16": 2, "b32": 4, "b64": 8}


def elementwise(name, body, inputs, output, group="exact", count=COUNT, given=None, bound=None, kind=None):
    """body: PTX that makes %o of %a, %b, %c."""
    kinds = [REGISTER[k] for k in inputs]
    out = REGISTER[output]
    lines = [HEADER, ".visible .entry k("]
    lines.append(", ".join([f".param .u64 p{i}" for i in range(len(inputs) + 1)]) + ")\n{")
    lines.append(".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;")
    for register, width in zip("abc", kinds):
        lines.append(f".reg .{width} %{register};")
    lines.append(f".reg .{out} %o;")
    lines.append("mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0;")
    for i, (register, width) in enumerate(zip("abc", kinds)):
        lines.append(f"ld.param.u64 %rd0, [p{i}]; mul.wide.u32 %rd1, %r0, {BYTES[width]}; add.u64 %rd0, %rd0, %rd1; ld.global.{width} %{register}, [%rd0];")
    lines.append(body)
    lines.append(f"ld.param.u64 %rd0, [p{len(inputs)}]; mul.wide.u32 %rd1, %r0, {BYTES[out]}; add.u64 %rd0, %rd0, %rd1; st.global.{out} [%rd0], %o;")
    lines.append("ret;\n}")
    arrays = given or [values(name, i, k if k != "x2" else "u32", count, len(inputs)) for i, k in enumerate(inputs)]
    count = len(arrays[0])
    return Program(name, "\n".join(lines), arrays, count * BYTES[out], group, grid=count // 128, element=BYTES[out], bound=bound,
                   kind=kind or {2: "u2", 4: "u4", 8: "u8"}[BYTES[out]])  # fmt: skip


def integer_programs():
    for t, k in (("u32", "u32"), ("s32", "u32"), ("u64", "u64"), ("s64", "u64"), ("u16", "u16"), ("s16", "u16")):
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a, %b;", [k, k], k)
        for op in ("mad.lo", "mad.hi", "sad"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a, %b, %c;", [k, k, k], k)
        wide = {"u32": "u64", "s32": "u64", "u16": "u32", "s16": "u32"}.get(t)
        if wide:
            yield elementwise(f"mul.wide.{t}", f"mul.wide.{t} %o, %a, %b;", [k, k], wide)
        yield elementwise(f"shr.{t}", f"cvt.u32.{'u64' if k == 'u64' else 'u32' if k == 'u32' else 'u16'} %r3, %b; shr.{t} %o, %a, %r3;", [k, k], k)
    for t in ("s32", "s64", "s16"):
        k = t.replace("s", "u")
        yield elementwise(f"abs.{t}", f"abs.{t} %o, %a;", [k], k)
        yield elementwise(f"neg.{t}", f"neg.{t} %o, %a;", [k], k)
    for op in ("add.sat.s32", "sub.sat.s32"):
        yield elementwise(op, f"{op} %o, %a, %b;", ["u32", "u32"], "u32")
    for op in ("mul24.lo.u32", "mul24.lo.s32", "mul24.hi.u32", "mul24.hi.s32"):
        yield elementwise(op, f"{op} %o, %a, %b;", ["u32", "u32"], "u32")
    for op in ("dp4a.u32.u32", "dp4a.s32.s32", "dp4a.u32.s32", "dp2a.lo.s32.s32", "dp2a.hi.u32.s32", "mad24.lo.s32", "mad.hi.sat.s32"):
        yield elementwise(op, f"{op} %o, %a, %b, %c;", ["u32"] * 3, "u32")
    for t, k in (("b32", "u32"), ("b64", "u64")):
        yield elementwise(f"shl.{t}", f"cvt.u32.{k} %r3, %b; shl.{t} %o, %a, %r3;", [k, k], k)
        yield elementwise(f"popc.{t}", f"popc.{t} %o, %a;", [k], "u32")
        yield elementwise(f"clz.{t}", f"clz.{t} %o, %a;", [k], "u32")
        yield elementwise(f"brev.{t}", f"brev.{t} %o, %a;", [k], k)
        yield elementwise(f"cnot.{t}", f"cnot.{t} %o, %a;", [k], k)
        yield elementwise(f"bfi.{t}", f"cvt.u32.{k} %r3, %c; shr.u32 %r4, %r3, 4; and.b32 %r3, %r3, 127; and.b32 %r4, %r4, 127; bfi.{t} %o, %a, %b, %r3, %r4;",
                          [k, k, k], k)  # fmt: skip
    for t, k in (("u32", "u32"), ("s32", "u32"), ("u64", "u64"), ("s64", "u64")):
        yield elementwise(f"bfe.{t}", f"cvt.u32.{k} %r3, %b; shr.u32 %r4, %r3, 7; and.b32 %r3, %r3, 127; and.b32 %r4, %r4, 127; bfe.{t} %o, %a, %r3, %r4;", [k, k], k)
        yield elementwise(f"bfind.{t}", f"bfind.{t} %o, %a;", [k], "u32")
        yield elementwise(f"bfind.shiftamt.{t}", f"bfind.shiftamt.{t} %o, %a;", [k], "u32")
    for mode in ("l.wrap", "l.clamp", "r.wrap", "r.clamp"):
        yield elementwise(f"shf.{mode}", f"shf.{mode}.b32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield elementwise(f"prmt{mode}", f"prmt.b32{mode} %o, %a, %b, %c;", ["u32"] * 3, "u32")
    for table in (0x00, 0x96, 0xE8, 0x1B, 0xFE, 0x35):
        yield elementwise(f"lop3.{table}", f"lop3.b32 %o, %a, %b, %c, {table};", ["u32"] * 3, "u32")
    for op in ("szext.wrap.s32", "szext.clamp.s32", "szext.wrap.u32", "szext.clamp.u32", "bmsk.wrap.b32", "bmsk.clamp.b32"):
        yield elementwise(op, f"and.b32 %r3, %b, 63; {op} %o, %a, %r3;" if op.startswith("szext") else f"and.b32 %r3, %a, 63; and.b32 %r4, %b, 63; {op} %o, %r3, %r4;",
                          ["u32", "u32"], "u32")  # fmt: skip
    yield elementwise("fns.b32", "and.b32 %r3, %b, 31; and.b32 %r4, %c, 15; sub.s32 %r4, %r4, 8; fns.b32 %o, %a, %r3, %r4;", ["u32"] * 3, "u32")
    for op in ("add.u16x2", "add.s16x2", "min.u16x2", "max.s16x2", "min.s16x2.relu", "max.s32.relu"):
        text = {"min.s16x2.relu": "min.relu.s16x2", "max.s32.relu": "max.relu.s32"}.get(op, op)
        yield elementwise(op, f"{text} %o, %a, %b;", ["u32", "u32"], "u32")
    yield elementwise("add.cc", "add.cc.u32 %r3, %a, %b; addc.cc.u32 %r4, %b, %c; addc.u32 %r5, 0, 0; xor.b32 %o, %r4, %r5;", ["u32"] * 3, "u32")
    yield elementwise("sub.cc", "sub.cc.u32 %r3, %a, %b; subc.cc.u32 %r4, %b, %c; subc.u32 %r5, 0, 0; xor.b32 %o, %r4, %r5;", ["u32"] * 3, "u32")
    yield elementwise("mad.cc", "mad.lo.cc.u32 %r3, %a, %b, %c; madc.hi.cc.u32 %r4, %a, %b, %c; addc.u32 %r5, 0, 0; xor.b32 %o, %r4, %r5;", ["u32"] * 3, "u32")
    for op in ("cvt.pack.sat.u16.s32", "cvt.pack.sat.s16.s32"):
        yield elementwise(op, f"{op} %o, %a, %b;", ["u32", "u32"], "u32")
    for op in ("cvt.pack.sat.u8.s32.b32", "cvt.pack.sat.s8.s32.b32"):
        yield elementwise(op, f"{op} %o, %a, %b, %c;", ["u32"] * 3, "u32")


def float_programs():
    for mode in ("rn", "rz", "rm", "rp"):
        for ftz in ("", ".ftz"):
            for op in ("add", "sub", "mul", "div"):
                yield elementwise(f"{op}.{mode}{ftz}.f32", f"{op}.{mode}{ftz}.f32 %o, %a, %b;", ["f32", "f32"], "f32")
            yield elementwise(f"fma.{mode}{ftz}.f32", f"fma.{mode}{ftz}.f32 %o, %a, %b, %c;", ["f32"] * 3, "f32")
            for op in ("rcp", "sqrt"):
                yield elementwise(f"{op}.{mode}{ftz}.f32", f"{op}.{mode}{ftz}.f32 %o, %a;", ["f32"], "f32")
        for op in ("add", "sub", "mul", "div"):
            yield elementwise(f"{op}.{mode}.f64", f"{op}.{mode}.f64 %o, %a, %b;", ["f64", "f64"], "f64")
        yield elementwise(f"fma.{mode}.f64", f"fma.{mode}.f64 %o, %a, %b, %c;", ["f64"] * 3, "f64")
        for op in ("rcp", "sqrt"):
            yield elementwise(f"{op}.{mode}.f64", f"{op}.{mode}.f64 %o, %a;", ["f64"], "f64")
    for op in ("add.rn.sat", "mul.rz.sat", "add.ftz.sat"):
        yield elementwise(f"{op}.f32", f"{op}.f32 %o, %a, %b;", ["f32", "f32"], "f32")
    yield elementwise("fma.rn.sat.f32", "fma.rn.sat.f32 %o, %a, %b, %c;", ["f32"] * 3, "f32")
    for op in ("min", "max"):
        for modifiers in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
            yield elementwise(f"{op}{modifiers}.f32", f"{op}{modifiers}.f32 %o, %a, %b;", ["f32", "f32"], "f32")
        yield elementwise(f"{op}.f64", f"{op}.f64 %o, %a, %b;", ["f64", "f64"], "f64")
    for op in ("abs", "neg", "abs.ftz", "neg.ftz"):
        yield elementwise(f"{op}.f32", f"{op}.f32 %o, %a;", ["f32"], "f32")
    for op in ("abs", "neg"):
        yield elementwise(f"{op}.f64", f"{op}.f64 %o, %a;", ["f64"], "f64")
    yield elementwise("copysign.f32", "copysign.f32 %o, %a, %b;", ["f32", "f32"], "f32")
    for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield elementwise(f"testp.{test}.f32", f"testp.{test}.f32 %p0, %a; selp.b32 %o, 1, 0, %p0;", ["f32"], "u32")
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        yield elementwise(f"setp.{comparison}.f32", f"setp.{comparison}.f32 %p0|%p1, %a, %b; selp.b32 %r3, 1, 0, %p0; selp.b32 %r4, 2, 0, %p1; or.b32 %o, %r3, %r4;",
                          ["f32", "f32"], "u32")  # fmt: skip
        yield elementwise(f"setp.{comparison}.f16", f"setp.{comparison}.f16 %p0, %a, %b; selp.b32 %o, 1, 0, %p0;", ["f16", "f16"], "u32")
    yield elementwise("setp.lt.ftz.f32", "setp.lt.ftz.f32 %p0, %a, %b; selp.b32 %o, 1, 0, %p0;", ["f32", "f32"], "u32")
    yield elementwise("set.gt.f32.f32", "set.gt.f32.f32 %o, %a, %b;", ["f32", "f32"], "u32")
    yield elementwise("slct.f32", "slct.b32.f32 %o, %a, %b, %c;", ["f32"] * 3, "u32")


def half_programs():
    for t in ("f16", "bf16"):
        for op in ("add.rn", "sub.rn", "mul.rn", "min", "max", "min.NaN", "max.NaN", "max.xorsign.abs"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a, %b;", [t, t], t)
        for op in ("fma.rn", "fma.rn.relu"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a, %b, %c;", [t] * 3, t)
        for op in ("neg", "abs"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a;", [t], t)
    for op in ("add.rn.ftz", "mul.rn.ftz", "add.rn.sat", "mul.rn.sat", "sub.rn.ftz.sat", "min.ftz", "max.ftz.NaN"):
        yield elementwise(f"{op}.f16", f"{op}.f16 %o, %a, %b;", ["f16", "f16"], "f16")
    for op in ("fma.rn.ftz", "fma.rn.sat", "fma.rn.ftz.relu"):
        yield elementwise(f"{op}.f16", f"{op}.f16 %o, %a, %b, %c;", ["f16"] * 3, "f16")
    for t in ("f16x2", "bf16x2"):
        for op in ("add.rn", "mul.rn", "min", "max.NaN"):
            yield elementwise(f"{op}.{t}", f"{op}.{t} %o, %a, %b;", ["x2", "x2"], "x2")
        yield elementwise(f"fma.rn.{t}", f"fma.rn.{t} %o, %a, %b, %c;", ["x2"] * 3, "x2")


def approximate_programs():
    for op in ("ex2.approx", "lg2.approx", "sin.approx", "cos.approx", "rcp.approx", "rsqrt.approx", "sqrt.approx"):
        for ftz in ("", ".ftz"):
            yield elementwise(f"{op}{ftz}.f32", f"{op}{ftz}.f32 %o, %a;", ["f32"], "f32", "approx", bound=op.split(".")[0], kind="f4")
    yield elementwise("tanh.approx.f32", "tanh.approx.f32 %o, %a;", ["f32"], "f32", "approx", bound="tanh", kind="f4")
    for op in ("div.approx", "div.full", "div.approx.ftz", "div.full.ftz"):
        yield elementwise(f"{op}.f32", f"{op}.f32 %o, %a, %b;", ["f32", "f32"], "f32", "approx", bound="div", kind="f4")
    for op in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64", "rsqrt.approx.f64"):
        yield elementwise(op, f"{op} %o, %a;", ["f64"], "f64", "approx", bound=op, kind="f8")
    everything = [np.arange(65536, dtype=np.uint32).astype(np.uint16)]
    for op, t in (("ex2.approx.f16", "f16"), ("ex2.approx.ftz.bf16", "bf16"), ("tanh.approx.f16", "f16"), ("tanh.approx.bf16", "bf16")):
        yield elementwise(op, f"{op} %o, %a;", [t], t, "approx", given=everything, bound="half", kind="f2" if t == "f16" else "b2")


def warp_programs():
    """What lanes exchange: each thread has a, b, c; whole warps."""
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in (0x1F, 0x0, 0x181F, 0x1C1F, 0x1807, 0x1000):
            body = f"and.b32 %r3, %b, 31; mov.b32 %r5, {clamp}; activemask.b32 %r6; shfl.sync.{mode}.b32 %r4|%p0, %a, %r3, %r5, -1; selp.b32 %r7, 1, 0, %p0; shl.b32 %r8, %r4, 1; or.b32 %o, %r8, %r7;"
            yield elementwise(f"shfl.{mode}.{clamp:x}", body, ["u32", "u32"], "u32", count=512)
    for op in ("add.u32", "add.s32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"):
        yield elementwise(f"redux.sync.{op}", f"redux.sync.{op} %o, %a, -1;", ["u32"], "u32", count=512)
    for op in ("all", "any", "uni"):
        yield elementwise(f"vote.{op}", f"setp.gt.u32 %p1, %a, 60; vote.sync.{op}.pred %p0, %p1, -1; selp.b32 %o, 1, 0, %p0;", ["u32"], "u32", count=512)
    yield elementwise("vote.ballot", "setp.gt.u32 %p1, %a, 60; vote.sync.ballot.b32 %o, %p1, -1;", ["u32"], "u32", count=512)
    yield elementwise("match.any", "and.b32 %r3, %a, 3; match.any.sync.b32 %o, %r3, -1;", ["u32"], "u32", count=512)
    yield elementwise("match.all", "and.b32 %r3, %a, 0; match.all.sync.b32 %r4|%p0, %r3, -1; selp.b32 %r5, 1, 0, %p0; xor.b32 %o, %r4, %r5;", ["u32"], "u32", count=512)
    yield elementwise("elect", "elect.sync %r3|%p0, -1; selp.b32 %r4, 100, 0, %p0; add.u32 %o, %r3, %r4;", ["u32"], "u32", count=512)
    yield elementwise("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %o, %a;", ["u32"], "u32", count=512)


def tile_program(name, body, words, group="exact", output_words=None):
    """One warp; 4 KB of shared memory filled from the input; registers %x0.. of the result stored, lane-major."""
    ptx = f"""{HEADER}
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b32 %x<8>;
.shared .align 1024 .b8 tile[4096];
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
mov.u32 %r2, 0;
L0: mad.lo.u32 %r3, %r2, 32, %r0; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd0, %rd2; ld.global.b32 %r4, [%rd3];
mad.lo.u32 %r5, %r3, 4, %r1; st.shared.b32 [%r5], %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 32; @%p0 bra L0;
bar.sync 0;
{body}
ret;
}}"""
    random = generator(name)
    return Program(name, ptx, [random.integers(0, 1 << 32, 1024, dtype=np.uint64).astype(np.uint32)], (output_words or words * 32) * 4, group, block=32)


def matrix_load_programs():
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            registers = ", ".join(f"%x{i}" for i in range(count))
            stores = " ".join(f"mad.lo.u32 %r9, %r0, {count}, {i}; mul.wide.u32 %rd4, %r9, 4; add.u64 %rd5, %rd1, %rd4; st.global.b32 [%rd5], %x{i};" for i in range(count))
            # rows lie apart, in an order of their own
            where = "mul.lo.u32 %r6, %r0, 7; and.b32 %r6, %r6, 31; mad.lo.u32 %r7, %r6, 112, %r1;"
            yield tile_program(f"ldmatrix.x{count}{trans}", f"{where} ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%r7]; {stores}", count)
            loads = " ".join(f"mad.lo.u32 %r9, %r0, {count}, {i}; mul.wide.u32 %rd4, %r9, 4; add.u64 %rd5, %rd0, %rd4; ld.global.b32 %x{i}, [%rd5];" for i in range(count))
            dump = ("mov.u32 %r2, 0; L1: mad.lo.u32 %r3, %r2, 32, %r0; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; mad.lo.u32 %r5, %r3, 4, %r1; "
                    "ld.shared.b32 %r4, [%r5]; st.global.b32 [%rd3], %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 32; @%p0 bra L1;")  # fmt: skip
            yield tile_program(f"stmatrix.x{count}{trans}", f"{loads} {where} stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r7], {{{registers}}}; bar.sync 0; {dump}", 0,
                               output_words=1024)  # fmt: skip


def small_numbers(name, kind, count, scale):
    """Numbers of a matrix type: `scale` "integers" are -3 to 3, so that every order of sums is exact; "normal" are not."""
    random = generator(name)
    whole = scale == "integers"
    x = random.integers(-3, 4, count).astype(np.float32) if whole else random.normal(0, 1, count).astype(np.float32)
    if scale == "wide":
        x = (x * np.exp2(random.integers(-7, 8, count))).astype(np.float32)
    if kind == "f16":
        return x.astype(np.float16).view(np.uint16)
    if kind == "bf16":
        return (x.view(np.uint32) >> 16).astype(np.uint16)
    if kind == "tf32":
        return x.view(np.uint32) if whole else x.view(np.uint32)
    if kind == "f64":
        return x.astype(np.float64).view(np.uint64)
    if kind == "e4m3":
        table = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44}
        if whole:
            return np.array([table[abs(int(v))] | (0x80 if v < 0 else 0) for v in x], np.uint8)
        bits = random.integers(0, 256, count).astype(np.uint8)
        return np.where((bits & 0x7F) == 0x7F, 0x30, bits).astype(np.uint8)
    if kind == "e5m2":
        table = {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42}
        if whole:
            return np.array([table[abs(int(v))] | (0x80 if v < 0 else 0) for v in x], np.uint8)
        bits = random.integers(0, 256, count).astype(np.uint8)
        return np.where((bits & 0x7C) == 0x7C, bits & 0x83 | 0x3C, np.where((bits & 0x7C) > 0x50, bits & 0x83 | 0x40, bits)).astype(np.uint8)
    return random.integers(0, 256, count).astype(np.uint8)  # integers of 8 bits and less: any bits


def mma_program(shape, d, a, b, c, scale, extra="", tail="", header=HEADER):
    m, n, k = shape
    bits = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
    wide = a == "f64"
    per = 1 if wide else 32 // bits[a]
    na, nb = m * k // 32 // per, n * k // 32 // per
    elements = m * n // 32
    nc, nd = (elements // 2 if c == "f16" else elements), (elements // 2 if d == "f16" else elements)
    name = f"mma.m{m}n{n}k{k}{extra}.{d}.{a}.{b}.{c}{tail}.{scale}"
    width, step = ("b64", 8) if wide else ("b32", 4)
    lines = [header, ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{",
             f".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .{width} %a<16>, %b<16>, %c<16>, %d<16>;", "mov.u32 %r0, %tid.x;"]  # fmt: skip
    for i, (letter, count) in enumerate((("a", na), ("b", nb), ("c", nc))):
        lines.append(f"ld.param.u64 %rd0, [p{i}]; mul.wide.u32 %rd1, %r0, {count * step}; add.u64 %rd0, %rd0, %rd1;")
        lines += [f"ld.global.{width} %{letter}{j}, [%rd0+{j * step}];" for j in range(count)]
    group = lambda letter, count: "{" + ", ".join(f"%{letter}{j}" for j in range(count)) + "}"
    lines.append(f"mma.sync.aligned.m{m}n{n}k{k}.row.col{extra}.{d}.{a}.{b}.{c}{tail} {group('d', nd)}, {group('a', na)}, {group('b', nb)}, {group('c', nc)};")
    lines.append(f"ld.param.u64 %rd0, [p3]; mul.wide.u32 %rd1, %r0, {nd * step}; add.u64 %rd0, %rd0, %rd1;")
    lines += [f"st.global.{width} [%rd0+{j * step}], %d{j};" for j in range(nd)]
    lines.append("ret;\n}")
    count = lambda registers: 32 * registers * per
    A, B = small_numbers(name + "/a", a, count(na) if bits[a] >= 8 else 32 * na * 4, scale), small_numbers(name + "/b", b, count(nb) if bits[b] >= 8 else 32 * nb * 4, scale)
    random = generator(name + "/c")
    numbers = random.integers(-9, 10, 32 * elements) if scale == "integers" else random.normal(0, 2, 32 * elements)
    kinds = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "s32": np.int32}
    C = numbers.astype(kinds[c])
    exact = scale == "integers" or d in ("s32",)
    return Program(name, "\n".join(lines), [A, B, C], 32 * nd * step, "exact" if exact else "matrix", block=32,
                   kind={"f32": "f4", "f16": "f2", "f64": "f8", "s32": "u4"}[d])  # fmt: skip


def mma_programs():
    for scale in ("integers", "normal"):
        for k in (8, 16):
            for d, c in (("f32", "f32"), ("f16", "f16")):
                yield mma_program((16, 8, k), d, "f16", "f16", c, scale)
            yield mma_program((16, 8, k), "f32", "bf16", "bf16", "f32", scale)
        for k in (4, 8):
            yield mma_program((16, 8, k), "f32", "tf32", "tf32", "f32", scale)
        yield mma_program((8, 8, 4), "f64", "f64", "f64", "f64", scale)
        for k in (4, 8, 16):
            yield mma_program((16, 8, k), "f64", "f64", "f64", "f64", scale)
        for a, b in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2")):
            yield mma_program((16, 8, 32), "f32", a, b, "f32", scale)
    for a, k in (("f16", 8), ("f16", 16), ("bf16", 8), ("bf16", 16), ("tf32", 4), ("tf32", 8)):
        yield mma_program((16, 8, k), "f32", a, a, "f32", "wide")
    yield mma_program((16, 8, 16), "f16", "f16", "f16", "f16", "wide")
    for extra in ("", ".satfinite"):
        for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")):
            for shape in ((8, 8, 16), (16, 8, 16), (16, 8, 32)):
                yield mma_program(shape, "s32", a, b, "s32", "integers", extra)
        for a, b in (("s4", "s4"), ("u4", "u4"), ("s4", "u4")):
            for shape in ((8, 8, 32), (16, 8, 32), (16, 8, 64)):
                yield mma_program(shape, "s32", a, b, "s32", "integers", extra)
    for scale in ("integers", "normal"):  # of PTX 8.7
        for a, b in (("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")):
            for k, types in ((16, ("f32", "f16")), (32, ("f16",))):
                for d in types:
                    yield mma_program((16, 8, k), d, a, b, d, scale, header=HEADER.replace("8.4", "8.7"))
    for tail in (".xor.popc", ".and.popc"):
        for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
            yield mma_program(shape, "s32", "b1", "b1", "s32", "integers", tail=tail)


def wgmma_program(n, d, a, b, *, swizzle, trans_a=0, trans_b=0, registers=False, scale="integers", negate=False, accumulate=True):
    """One warpgroup: A (64 x k) at 0 and B at 32 KB of shared memory hold the input's bytes as they are; the descriptors say
    how they are looked at, so every layout is seen with the same bytes."""
    bits = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}[a]
    k = 256 // bits
    name = f"wgmma.n{n}.{d}.{a}.{b}.sw{swizzle}.t{trans_a}{trans_b}{'.rs' if registers else ''}.{scale}{'.neg' if negate else ''}{'' if accumulate else '.first'}"
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    width = swizzle or 16
    # Strides that keep the parts apart: of K-major, LBO is the step of 16 bytes along k (no swizzle), SBO of 8 rows; of MN-major
    # the other way round.
    def descriptor(transposed, rows):
        if transposed:
            lbo, sbo = (8 * width * 2, 8 * width) if swizzle else (128, 256)
        else:
            lbo, sbo = (16, 8 * width) if swizzle else (128, 256)
        return (lbo >> 4) << 16 | (sbo >> 4) << 32 | mode << 62

    da, db = descriptor(trans_a, 64), descriptor(trans_b, n)
    nd = n // 4 if d == "f16" else n // 2
    integers = a in ("s8", "u8")
    lines = [HEADER, ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{",
             f".reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b32 %d<{nd}>;", ".shared .align 1024 .b8 tile[65536];",
             "ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, 0;",
             "L0: mad.lo.u32 %r3, %r2, 128, %r0; mul.wide.u32 %rd4, %r3, 4; add.u64 %rd5, %rd0, %rd4; ld.global.b32 %r4, [%rd5];",
             "mad.lo.u32 %r5, %r3, 4, %r1; st.shared.b32 [%r5], %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 128; @%p0 bra L0;",
             "fence.proxy.async.shared::cta; bar.sync 0;",
             f"mul.wide.u32 %rd4, %r0, {nd * 4}; add.u64 %rd6, %rd1, %rd4; add.u64 %rd7, %rd2, %rd4;"]  # fmt: skip
    lines += [f"ld.global.b32 %d{i}, [%rd6+{4 * i}];" for i in range(nd)]
    lines += ["and.b32 %r6, %r1, 0x3FFFF; shr.u32 %r6, %r6, 4; cvt.u64.u32 %rd8, %r6;", f"or.b64 %rd9, %rd8, {da};", f"add.u64 %rd10, %rd8, {32768 >> 4}; or.b64 %rd10, %rd10, {db};",
              f"setp.ne.b32 %p1, {1 if accumulate else 0}, 0;"]  # fmt: skip
    if registers:
        lines += [f"ld.shared.b32 %r{10 + i}, [%r15];" if False else f"mad.lo.u32 %r{10 + i}, %r0, 16, %r1; ld.shared.b32 %r{10 + i}, [%r{10 + i}+{4 * i}];" for i in range(4)]
    left = "{%r10, %r11, %r12, %r13}" if registers else "%rd9"
    immediates = "" if integers else f", {-1 if negate else 1}, 1"
    if bits == 16:
        immediates += ("" if registers else f", {trans_a}") + f", {trans_b}"
    lines.append("wgmma.fence.sync.aligned;")
    lines.append(f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b} {{{', '.join(f'%d{i}' for i in range(nd))}}}, {left}, %rd10, %p1{immediates};")
    lines.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
    lines += [f"st.global.b32 [%rd7+{4 * i}], %d{i};" for i in range(nd)]
    lines.append("ret;\n}")
    half = lambda part, kind: small_numbers(f"{name}/{part}", kind, 32768 * 8 // bits, scale).view(np.uint8)
    data = np.concatenate([half("a", a), half("b", b)])
    random = generator(name + "/c")
    numbers = random.integers(-9, 10, 128 * n // 2) if scale == "integers" else random.normal(0, 2, 128 * n // 2)
    C = numbers.astype({"f32": np.float32, "f16": np.float16, "s32": np.int32}[d])
    return Program(name, "\n".join(lines), [data, C], 128 * nd * 4, "exact" if scale == "integers" or d == "s32" else "matrix", block=128,
                   kind={"f32": "f4", "f16": "f2", "s32": "u4"}[d])  # fmt: skip


def wgmma_programs():
    for swizzle in (0, 32, 64, 128):
        for a in ("f16", "bf16"):
            for trans_a, trans_b in ((0, 0), (0, 1), (1, 0), (1, 1)):
                yield wgmma_program(32, "f32", a, a, swizzle=swizzle, trans_a=trans_a, trans_b=trans_b)
        for d, a, b in (("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("f32", "e5m2", "e4m3"), ("s32", "s8", "s8"), ("s32", "u8", "s8")):
            yield wgmma_program(24, d, a, b, swizzle=swizzle)
    yield wgmma_program(8, "f16", "f16", "f16", swizzle=128)
    yield wgmma_program(256, "f32", "bf16", "bf16", swizzle=128)
    yield wgmma_program(128, "f16", "e4m3", "e4m3", swizzle=64)
    for a in ("f16", "tf32", "e4m3", "s8"):
        yield wgmma_program(64, "s32" if a == "s8" else "f32", a, a, swizzle=128, registers=True)
    yield wgmma_program(16, "f32", "f16", "f16", swizzle=128, negate=True)
    yield wgmma_program(16, "f32", "f16", "f16", swizzle=128, accumulate=False)
    for a in ("f16", "bf16", "tf32", "e4m3", "e5m2"):
        yield wgmma_program(16, "f32", a, a, swizzle=128, scale="normal")
    for a in ("f16", "bf16", "tf32"):
        yield wgmma_program(16, "f32", a, a, swizzle=128, scale="wide")
    yield wgmma_program(16, "f16", "f16", "f16", swizzle=128, scale="normal")


def tensor_program(name, dtype, rank, box, sizes, start, swizzle, store=False, fill_nan=False, reduce=None):
    """A box of a tensor to shared memory, whose bytes are the result; or shared memory to a box of the output, and then other
    bytes of it reduced into the box. Dimensions are given innermost first, as the driver takes them."""
    size = {"uint8": 1, "float16": 2, "float32": 4, "float64": 8}[dtype]
    total = int(np.prod(box)) * size
    coordinates = "{" + ", ".join(f"%r{20 + i}" for i in range(rank)) + "}"
    moves = " ".join(f"mov.b32 %r{20 + i}, {start[i]};" for i in range(rank))
    copy = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd9, {coordinates}], [%r10];"
    words = (total + 3) // 4
    common = f"""{HEADER}
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p1, .param .u64 p2)
{{
.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
.shared .align 1024 .b8 tile[{(words * 4 + 1023) // 1024 * 1024}]; .shared .align 8 .b8 bar[8];
mov.b64 %rd9, map; cvta.param.u64 %rd9, %rd9; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd0, [p2];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r10, bar; {moves}
setp.eq.u32 %p0, %r0, 0;
"""
    again = ""
    if reduce:
        again = f"""STORED: fence.proxy.async.shared::cta; bar.sync 0;
mov.u32 %r2, %r0;
L2: mad.lo.u32 %r5, %r2, 4, %r1; ld.shared.b32 %r4, [%r5]; add.u32 %r4, %r4, 0x01830183; st.shared.b32 [%r5], %r4;
add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {words}; @%p1 bra L2;
fence.proxy.async.shared::cta; bar.sync 0;
@!%p0 bra DONE;
cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{reduce}.tile.bulk_group [%rd9, {coordinates}], [%r1];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
    if store:
        body = f"""mov.u32 %r2, %r0;
L0: mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd0, %rd2; ld.global.b32 %r4, [%rd3]; mad.lo.u32 %r5, %r2, 4, %r1; st.shared.b32 [%r5], %r4;
add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {words}; @%p1 bra L0;
fence.proxy.async.shared::cta; bar.sync 0;
@!%p0 bra {"STORED" if reduce else "DONE"};
cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%rd9, {coordinates}], [%r1]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
{again}DONE: ret;
}}"""
    else:
        body = f"""@!%p0 bra READY;
mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], {total}; {copy}
READY: bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra WAIT;
mov.u32 %r2, %r0;
L1: mad.lo.u32 %r5, %r2, 4, %r1; ld.shared.b32 %r4, [%r5]; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r4;
add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {words}; @%p1 bra L1;
ret;
}}"""
    row = (sizes[0] * size + 15) // 16 * 16
    pitches = [row]
    for extent in sizes[1:-1]:
        pitches.append(pitches[-1] * extent)
    tensor_bytes = pitches[-1] * sizes[-1] if rank > 1 else row
    random = generator(name)
    data = random.integers(0, 256, tensor_bytes).astype(np.uint8)
    tile = random.integers(0, 256, words * 4).astype(np.uint8)
    map_fields = dict(dtype=dtype, sizes=list(sizes), strides=pitches[: rank - 1], box=list(box), swizzle=swizzle, fill_nan=fill_nan, store=store)
    output = tensor_bytes if store else words * 4
    return Program(name, common + body, [data, tile], output, "exact", block=32, maps=[map_fields], kind="u1", element=1)


def tensor_programs():
    for swizzle, inner in ((0, 64), (32, 16), (64, 32), (128, 64)):
        yield tensor_program(f"tma.2d.sw{swizzle}", "float16", 2, (inner, 16), (200, 40), (24, 8), swizzle)
        yield tensor_program(f"tma.2d.edge.sw{swizzle}", "float16", 2, (inner, 16), (200, 40), (192, 30), swizzle)
        yield tensor_program(f"tma.2d.negative.sw{swizzle}", "float16", 2, (inner, 16), (200, 40), (-8, -3), swizzle)
        yield tensor_program(f"tma.store.2d.sw{swizzle}", "float16", 2, (inner, 16), (200, 40), (24, 8), swizzle, store=True)
        yield tensor_program(f"tma.store.edge.sw{swizzle}", "float16", 2, (inner, 16), (200, 40), (192, 30), swizzle, store=True)
        yield tensor_program(f"tma.3d.sw{swizzle}", "float32", 3, (inner // 2, 4, 3), (72, 9, 5), (8, 3, 1), swizzle)
    yield tensor_program("tma.1d", "uint8", 1, (256,), (1008,), (896,), 0)
    yield tensor_program("tma.4d", "float32", 4, (8, 3, 2, 2), (12, 5, 4, 3), (4, 1, 2, 1), 32)
    yield tensor_program("tma.5d", "float16", 5, (16, 2, 2, 2, 2), (24, 3, 3, 3, 3), (8, 1, 1, 2, 1), 32)
    yield tensor_program("tma.2d.nan", "float16", 2, (64, 8), (72, 12), (40, 8), 128, fill_nan=True)
    for dtype, operations in (("float16", ("add", "min", "max")), ("float32", ("add",)), ("float64", ("add",))):
        for operation in operations:
            yield tensor_program(f"tma.reduce.{operation}.{dtype}", dtype, 2, (16, 16), (200, 40), (24, 30), 0, store=True, reduce=operation)
    yield tensor_program("tma.2d.f32.nan", "float32", 2, (32, 8), (36, 12), (20, 8), 128, fill_nan=True)


def atomic_programs():
    for space in ("global", "shared"):
        for t, k in (("f32", "f32"), ("f16x2", "x2"), ("bf16x2", "x2"), ("f64", "f64")):
            noftz = ".noftz" if "x2" in t else ""
            width = REGISTER[k]
            if space == "global":
                body = (f"ld.param.u64 %rd4, [p2]; mul.wide.u32 %rd5, %r0, {BYTES[width]}; add.u64 %rd4, %rd4, %rd5; st.global.{width} [%rd4], %a; "
                        f"red.global.add{noftz}.{t} [%rd4], %b; ld.global.{width} %o, [%rd4];")  # fmt: skip
            else:
                body = (f".shared .align 16 .b8 cell[1024]; mov.u32 %r5, cell; mov.u32 %r6, %tid.x; mad.lo.u32 %r5, %r6, {BYTES[width]}, %r5; st.shared.{width} [%r5], %a; "
                        f"red.shared.add{noftz}.{t} [%r5], %b; ld.shared.{width} %o, [%r5];")  # fmt: skip
            yield elementwise(f"red.{space}.add.{t}", body, [k, k], k)


def programs():
    seen = set()
    for program in all_programs():
        if program.name not in seen:
            seen.add(program.name)
            yield program


def all_programs():
    from conversions import conversion_programs
    from memory import memory_programs
    from packed import comparison_programs, packed_programs, video_programs

    for source in (integer_programs, float_programs, half_programs, approximate_programs, conversion_programs, warp_programs, matrix_load_programs,
                   mma_programs, wgmma_programs, tensor_programs, atomic_programs, comparison_programs, packed_programs, video_programs,
                   memory_programs):  # fmt: skip
        yield from source()
