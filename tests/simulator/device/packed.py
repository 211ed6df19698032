"""Programs of comparisons, of instructions on pairs and parts of registers, and of the video instructions."""

from programs import elementwise

FLAG = "selp.b32 %o, 1, 0, %p0;"


def comparison_programs():
    for t, k in (("u32", "u32"), ("s32", "u32"), ("u64", "u64"), ("s64", "u64"), ("u16", "u16"), ("s16", "u16")):
        for comparison in ("eq", "ne", "lt", "le", "gt", "ge") + (("lo", "ls", "hi", "hs") if t[0] == "u" else ()):
            yield elementwise(f"setp.{comparison}.{t}", f"setp.{comparison}.{t} %p0, %a, %b; {FLAG}", [k, k], "u32")
    for t, k in (("f64", "f64"), ("bf16", "bf16")):
        for comparison in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            yield elementwise(f"setp.{comparison}.{t}", f"setp.{comparison}.{t} %p0, %a, %b; {FLAG}", [k, k], "u32")
    for operation in ("and", "or", "xor"):
        body = f"setp.gt.s32 %p2, %c, 50; setp.lt.{operation}.s32 %p0|%p1, %a, %b, %p2; selp.b32 %r3, 1, 0, %p0; selp.b32 %r4, 2, 0, %p1; or.b32 %o, %r3, %r4;"
        yield elementwise(f"setp.lt.{operation}", body, ["u32"] * 3, "u32")
    for text, kinds in (
        ("set.eq.u32.f16", ["f16", "f16"]), ("set.lt.u32.s32", ["u32", "u32"]), ("set.ge.f32.f64", ["f64", "f64"]), ("set.ltu.u32.bf16", ["bf16", "bf16"]),
        ("set.gt.f16x2.f16x2", ["x2", "x2"]), ("set.leu.bf16x2.bf16x2", ["x2", "x2"]), ("set.num.u32.f32", ["f32", "f32"]),
    ):  # fmt: skip
        yield elementwise(text, f"{text} %o, %a, %b;", kinds, "u32")
    for comparison in ("lt", "geu", "nan"):
        for t in ("f16x2", "bf16x2"):
            body = f"setp.{comparison}.{t} %p0|%p1, %a, %b; selp.b32 %r3, 1, 0, %p0; selp.b32 %r4, 2, 0, %p1; or.b32 %o, %r3, %r4;"
            yield elementwise(f"setp.{comparison}.{t}", body, ["x2", "x2"], "u32")
    for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield elementwise(f"testp.{test}.f64", f"testp.{test}.f64 %p0, %a; {FLAG}", ["f64"], "u32")
    yield elementwise("copysign.f64", "copysign.f64 %o, %a, %b;", ["f64", "f64"], "f64")
    yield elementwise("slct.s32", "slct.b32.s32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    yield elementwise("slct.ftz.f32", "slct.ftz.b32.f32 %o, %a, %b, %c;", ["u32", "u32", "f32"], "u32")
    for operation in ("popc", "and", "or"):
        target = "%o" if operation == "popc" else "%p0"
        body = f"setp.gt.u32 %p1, %a, 60; bar.red.{operation}.{'u32' if operation == 'popc' else 'pred'} {target}, 0, %p1; " + ("" if operation == "popc" else FLAG)
        yield elementwise(f"bar.red.{operation}", body, ["u32"], "u32", count=1024)
    yield elementwise("match.any.b64", "and.b64 %a, %a, 3; match.any.sync.b64 %o, %a, -1;", ["u64"], "u32", count=512)


def packed_programs():
    for t in ("f16x2", "bf16x2"):
        for operation in ("sub.rn", "max", "min.NaN", "max.xorsign.abs", "min.NaN.xorsign.abs"):
            yield elementwise(f"{operation}.{t}", f"{operation}.{t} %o, %a, %b;", ["x2", "x2"], "x2")
        for operation in ("neg", "abs"):
            yield elementwise(f"{operation}.{t}", f"{operation}.{t} %o, %a;", ["x2"], "x2")
        yield elementwise(f"fma.rn.relu.{t}", f"fma.rn.relu.{t} %o, %a, %b, %c;", ["x2"] * 3, "x2")
    for operation in ("add.rn.ftz", "mul.rn.sat", "sub.rn.ftz.sat", "min.ftz", "max.ftz.NaN"):
        yield elementwise(f"{operation}.f16x2", f"{operation}.f16x2 %o, %a, %b;", ["x2", "x2"], "x2")
    for operation in ("fma.rn.ftz", "fma.rn.sat", "fma.rn.ftz.relu"):
        yield elementwise(f"{operation}.f16x2", f"{operation}.f16x2 %o, %a, %b, %c;", ["x2"] * 3, "x2")
    for operation in ("min.s16x2", "max.u16x2", "max.relu.s16x2", "min.relu.s32"):
        yield elementwise(operation, f"{operation} %o, %a, %b;", ["u32", "u32"], "u32")
    for table in (0x96, 0xE8):
        for combine in ("or", "and"):
            body = f"setp.gt.s32 %p1, %c, 50; lop3.{combine}.b32 %r3|%p0, %a, %b, %c, {table}, %p1; selp.b32 %r4, 1, 0, %p0; xor.b32 %o, %r3, %r4;"
            yield elementwise(f"lop3.{combine}.{table}", body, ["u32"] * 3, "u32")
    for left in ("u32", "s32"):
        for right in ("u32", "s32"):
            yield elementwise(f"dp2a.lo.{left}.{right}", f"dp2a.lo.{left}.{right} %o, %a, %b, %c;", ["u32"] * 3, "u32")
            yield elementwise(f"dp2a.hi.{left}.{right}", f"dp2a.hi.{left}.{right} %o, %a, %b, %c;", ["u32"] * 3, "u32")
    yield elementwise("dp4a.s32.u32", "dp4a.s32.u32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    for sign in ("u", "s"):
        yield elementwise(f"mad.wide.{sign}32", f"mad.wide.{sign}32 %o, %a, %b, %c;", ["u32", "u32", "u64"], "u64")
        yield elementwise(f"mad24.hi.{sign}32", f"mad24.hi.{sign}32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    yield elementwise("mad24.lo.u32", "mad24.lo.u32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    yield elementwise("mad24.hi.sat.s32", "mad24.hi.sat.s32 %o, %a, %b, %c;", ["u32"] * 3, "u32")
    yield elementwise("add.cc.u64", "add.cc.u64 %rd3, %a, %b; addc.cc.u64 %rd4, %b, %c; addc.u64 %rd5, 0, 0; xor.b64 %o, %rd4, %rd5;", ["u64"] * 3, "u64")
    yield elementwise("sub.cc.u64", "sub.cc.u64 %rd3, %a, %b; subc.cc.u64 %rd4, %b, %c; subc.u64 %rd5, 0, 0; xor.b64 %o, %rd4, %rd5;", ["u64"] * 3, "u64")
    masks = "mov.u32 %r3, %lanemask_lt; mov.u32 %r4, %lanemask_ge; mov.u32 %r5, %lanemask_eq; mov.u32 %r6, %laneid;"
    yield elementwise("lanemask", f"{masks} xor.b32 %r3, %r3, %r5; mad.lo.u32 %r4, %r4, 3, %r6; add.u32 %o, %r3, %r4;", ["u32"], "u32", count=512)


def video_programs():
    three = ["u32"] * 3
    for operation in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for d, a, b in (("u32", "u32", "u32"), ("s32", "s32", "s32"), ("s32", "u32", "s32")):
            yield elementwise(f"{operation}.{d}.{a}.{b}", f"{operation}.{d}.{a}.{b} %o, %a, %b;", ["u32", "u32"], "u32")
            yield elementwise(f"{operation}.{d}.{a}.{b}.parts", f"{operation}.{d}.{a}.{b}.sat %o, %a.b1, %b.h1;", ["u32", "u32"], "u32")
        yield elementwise(f"{operation}.add", f"{operation}.s32.s32.s32.add %o, %a.h0, %b.b3, %c;", three, "u32")
        yield elementwise(f"{operation}.max", f"{operation}.s32.s32.u32.sat.max %o, %a, %b, %c;", three, "u32")
        yield elementwise(f"{operation}.merge", f"{operation}.u32.u32.s32.sat %o.b2, %a.h1, %b.b0, %c;", three, "u32")
    for operation in ("vshl", "vshr"):
        for mode in ("clamp", "wrap"):
            yield elementwise(f"{operation}.{mode}", f"{operation}.u32.u32.u32.{mode} %o, %a, %b;", ["u32", "u32"], "u32")
            yield elementwise(f"{operation}.{mode}.add", f"{operation}.s32.s32.u32.sat.{mode}.add %o, %a.h1, %b.b0, %c;", three, "u32")
        for d, a in (("u32", "u32"), ("s32", "u32"), ("u32", "s32"), ("s32", "s32")):
            for mode in ("clamp", "wrap"):
                yield elementwise(f"{operation}.{d}.{a}.sat.{mode}", f"{operation}.{d}.{a}.u32.sat.{mode} %o, %a, %b;", ["u32", "u32"], "u32")
                yield elementwise(f"{operation}.{d}.{a}.{mode}.part", f"{operation}.{d}.{a}.u32.sat.{mode} %o.h1, %a.b3, %b, %c;", three, "u32")
    for operation in ("vadd", "vsub", "vmin", "vmax", "vabsdiff"):
        for part in ("b0", "b3", "h0", "h1"):
            for d, a, b in (("u32", "u32", "s32"), ("s32", "s32", "s32"), ("s32", "u32", "u32"), ("u32", "s32", "s32")):
                yield elementwise(f"{operation}.{d}.{a}.{b}.{part}", f"{operation}.{d}.{a}.{b}.sat %o.{part}, %a.h0, %b, %c;", three, "u32")
            yield elementwise(f"{operation}.{part}", f"{operation}.u32.s32.s32 %o.{part}, %a.h0, %b, %c;", three, "u32")
    for text in ("vmad.u32.u32.u32", "vmad.s32.s32.s32.shr7", "vmad.s32.s32.s32.sat.shr15", "vmad.u32.u32.u32.po"):
        yield elementwise(text, f"{text} %o, %a, %b, %c;", three, "u32")
    yield elementwise("vmad.parts", "vmad.s32.s32.s32 %o, %a.h0, %b.h1, %c;", three, "u32")
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield elementwise(f"vset.{comparison}", f"vset.s32.u32.{comparison}.add %o, %a.h1, %b, %c;", three, "u32")
    for parts in (2, 4):
        for operation in (f"vadd{parts}", f"vsub{parts}", f"vavrg{parts}", f"vabsdiff{parts}", f"vmin{parts}", f"vmax{parts}"):
            for sign in ("u", "s"):
                types = f"{sign}32.{sign}32.{sign}32"
                yield elementwise(f"{operation}.{sign}32", f"{operation}.{types} %o, %a, %b, %c;", three, "u32")
                if "avrg" not in operation:
                    yield elementwise(f"{operation}.{sign}32.sat", f"{operation}.{types}.sat %o, %a, %b, %c;", three, "u32")
            yield elementwise(f"{operation}.add", f"{operation}.u32.u32.u32.add %o, %a, %b, %c;", three, "u32")
        for comparison in ("eq", "lt", "ge"):
            yield elementwise(f"vset{parts}.{comparison}", f"vset{parts}.s32.s32.{comparison} %o, %a, %b, %c;", three, "u32")
    yield elementwise("vadd4.parts", "vadd4.u32.u32.s32.sat %o.b20, %a.b7531, %b.b0246, %c;", three, "u32")
    yield elementwise("vsub2.parts", "vsub2.s32.u32.s32.sat %o.h1, %a.h31, %b.h02, %c;", three, "u32")
