"""Programs of atomics, of narrow loads and stores, of asynchronous and bulk copies."""

import numpy as np

from programs import HEADER, REGISTER, Program, elementwise, generator


def own_cell(space, kind):
    """PTX that gives each thread a cell that holds %a; its address is in %rd4 or %r5."""
    width = REGISTER[kind]
    if space == "shared":
        return f".shared .align 16 .b8 cell[2048]; mov.u32 %r5, cell; mov.u32 %r6, %tid.x; mad.lo.u32 %r5, %r6, 16, %r5; st.shared.{width} [%r5], %a;", "%r5"
    # A thread's part of the result is its cell until the result is stored.
    return f"ld.param.u64 %rd4, [PLACE]; mul.wide.u32 %rd5, %r0, 8; add.u64 %rd4, %rd4, %rd5; st.global.{width} [%rd4], %a;", "%rd4"


def atomic_programs():
    """The old value and the new one, of both spaces."""
    rows = [("add.u32", "u32"), ("add.s32", "u32"), ("add.u64", "u64"), ("inc.u32", "u32"), ("dec.u32", "u32"), ("exch.b32", "u32"), ("exch.b64", "u64"),
            ("add.f32", "f32"), ("add.f64", "f64"), ("add.noftz.f16x2", "x2"), ("add.noftz.bf16x2", "x2")]  # fmt: skip
    rows += [(f"{operation}.{t}", "u" + t[1:]) for operation in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    rows += [(f"{operation}.b{bits}", f"u{bits}") for operation in ("and", "or", "xor") for bits in (32, 64)]
    for space in ("global", "shared"):
        for operation, kind in rows:
            width = REGISTER[kind]
            cell, address = own_cell(space, kind)
            old, new = ("%r7", "%r8") if width == "b32" else ("%rd6", "%rd7")
            result = "mov.b64 %o, {%r7, %r8};" if width == "b32" else "mad.lo.u64 %o, %rd6, 3, %rd7;"
            body = f"{cell} atom.{space}.{operation} {old}, [{address}], %b; ld.{space}.{width} {new}, [{address}]; {result}"
            yield elementwise(f"atom.{space}.{operation}", body.replace("PLACE", "p2"), [kind, kind], "u64")
        for bits, kind in ((32, "u32"), (64, "u64")):
            cell, address = own_cell(space, kind)
            old, new = ("%r7", "%r8") if bits == 32 else ("%rd6", "%rd7")
            # Half of the threads compare with what is there.
            compare = f"setp.lt.u32 %p1, %r0, 1000; selp.b{bits} %b, %a, %b, %p1;"
            result = "mov.b64 %o, {%r7, %r8};" if bits == 32 else "mad.lo.u64 %o, %rd6, 3, %rd7;"
            body = f"{cell} {compare} atom.{space}.cas.b{bits} {old}, [{address}], %b, %c; ld.{space}.b{bits} {new}, [{address}]; {result}"
            yield elementwise(f"atom.{space}.cas.b{bits}", body.replace("PLACE", "p3"), [kind] * 3, "u64")
        for t in ("f16", "bf16"):
            cell, address = own_cell(space, t)
            body = f"{cell} atom.{space}.add.noftz.{t} %h1, [{address}], %b; ld.{space}.b16 %h2, [{address}]; mov.b32 %r7, {{%h1, %h2}}; cvt.u64.u32 %o, %r7;"
            yield elementwise(f"atom.{space}.add.{t}", body.replace("PLACE", "p2"), [t, t], "u64")
        cell, address = own_cell(space, "u16")
        body = f"{cell} setp.lt.u32 %p1, %r0, 1000; selp.b16 %b, %a, %b, %p1; atom.{space}.cas.b16 %h1, [{address}], %b, %c; ld.{space}.b16 %h2, [{address}]; mov.b32 %r7, {{%h1, %h2}}; cvt.u64.u32 %o, %r7;"
        yield elementwise(f"atom.{space}.cas.b16", body.replace("PLACE", "p3"), ["u16"] * 3, "u64")


def vector_atomic_programs():
    """Several elements at once, of 90 and up: the old values and the new ones."""
    rows = [("v2.f32", 2, ""), ("v4.f32", 4, ""), ("v2.f16x2", 2, ".noftz"), ("v4.f16x2", 4, ".noftz"), ("v2.bf16x2", 2, ".noftz"), ("v4.bf16x2", 4, ".noftz")]
    for kind, count, ftz in rows:
        for operation in ("add",) if "f32" in kind else ("add", "min", "max"):
            old, new = [f"%r{4 + i}" for i in range(count)], [f"%r{8 + i}" for i in range(count)]
            vector = lambda registers: "{" + ", ".join(registers) + "}"
            mixed = " ".join(f"mad.lo.u32 %o, %o, 31, {register};" for register in old + new)
            # A cell of 16 bytes a thread, in the result's own memory: the result takes 4 bytes of it.
            body = (f"ld.param.u64 %rd4, [p2]; mul.wide.u32 %rd5, %r0, 16; add.u64 %rd4, %rd4, %rd5; add.u64 %rd4, %rd4, 8192; "
                    f"xor.b32 %r12, %a, 0x00010100; xor.b32 %r13, %b, 0x01000001; st.global.v4.b32 [%rd4], {{%a, %r12, %b, %r13}}; "
                    f"atom.global.{kind}.{operation}{ftz} {vector(old)}, [%rd4], {vector(['%b', '%a', '%r13', '%r12'][:count])}; "
                    f"ld.global.v{count}.b32 {vector(new)}, [%rd4]; mov.b32 %o, 1; {mixed}")  # fmt: skip
            program = elementwise(f"atom.global.{operation}.{kind}", body, ["u32", "u32"], "u32")
            program.output_bytes += 2048 * 16
            yield program
    wide = ("ld.param.u64 %rd4, [p2]; mul.wide.u32 %rd5, %r0, 16; add.u64 %rd4, %rd4, %rd5; add.u64 %rd4, %rd4, 16384; .reg .b128 %q<4>; not.b64 %rd6, %a; "
            "mov.b128 %q0, {%a, %b}; mov.b128 %q1, {%b, %rd6}; st.global.v2.b64 [%rd4], {%a, %b}; ")  # fmt: skip
    for operation, body in (("exch", "atom.global.exch.b128 %q2, [%rd4], %q1;"),
                            ("cas", "setp.lt.u32 %p1, %r0, 1000; selp.b64 %rd7, %a, %b, %p1; mov.b128 %q3, {%rd7, %b}; atom.global.cas.b128 %q2, [%rd4], %q3, %q1;")):  # fmt: skip
        tail = " mov.b128 {%rd8, %rd9}, %q2; ld.global.v2.b64 {%rd10, %rd11}, [%rd4]; mad.lo.u64 %o, %rd8, 3, %rd9; mad.lo.u64 %o, %o, 31, %rd10; xor.b64 %o, %o, %rd11;"
        program = elementwise(f"atom.global.{operation}.b128", wide + body + tail, ["u64", "u64"], "u64")
        program.output_bytes += 2048 * 16
        yield program


def narrow_programs():
    for t in ("u8", "s8", "u16", "s16"):
        body = f".shared .align 16 .b8 cell[2048]; mov.u32 %r5, cell; mov.u32 %r6, %tid.x; mad.lo.u32 %r5, %r6, 8, %r5; st.shared.b32 [%r5], %b; st.shared.{t} [%r5+2], %a; ld.shared.{t} %r7, [%r5+2]; ld.shared.b32 %r8, [%r5]; mov.b64 %o, {{%r7, %r8}};"
        yield elementwise(f"ld.st.{t}", body, ["u32", "u32"], "u64")


def copy_program(name, body, words=512):
    """One warp; 4 KB of shared memory hold -1; after the body all of it is the result. The input's address is in %rd0, the output's in %rd1."""
    ptx = f"""{HEADER}
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
.shared .align 128 .b8 tile[{words * 4}]; .shared .align 8 .b8 bar[8];
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r10, bar; setp.eq.u32 %p0, %r0, 0;
mov.u32 %r2, %r0;
L0: mad.lo.u32 %r5, %r2, 4, %r1; st.shared.b32 [%r5], -1; add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {words}; @%p1 bra L0;
fence.proxy.async.shared::cta; bar.sync 0;
{body}
bar.sync 0;
mov.u32 %r2, %r0;
L1: mad.lo.u32 %r5, %r2, 4, %r1; ld.shared.b32 %r4, [%r5]; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; st.global.b32 [%rd3], %r4;
add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {words}; @%p1 bra L1;
ret;
}}"""
    data = generator(name).integers(0, 1 << 32, words, dtype=np.uint64).astype(np.uint32)
    return Program(name, ptx, [data], words * 4, "exact", block=32)


def copy_programs():
    for size in (4, 8, 16):
        for given in sorted({0, 1, 3, size // 2, size - 1, size}):
            where = f"mad.lo.u32 %r6, %r0, {2 * size}, %r1; mul.wide.u32 %rd4, %r0, {size}; add.u64 %rd5, %rd0, %rd4;"
            level = "cg" if size == 16 else "ca"
            wait = "cp.async.commit_group; cp.async.wait_group 0;"
            yield copy_program(f"cp.async.{size}.{given}", f"{where} cp.async.{level}.shared.global [%r6], [%rd5], {size}, {given}; {wait}")
    barrier = "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], BYTES;"
    ready = "READY: bar.sync 0; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra WAIT;"
    for size in (16, 48, 1024):
        copy = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+32], [%rd0+16], {size}, [%r10];"
        yield copy_program(f"cp.async.bulk.load.{size}", f"{barrier.replace('BYTES', str(size))} {copy} {ready}")


def reduction_program(name, copy):
    """The output gets the first half of the input by a bulk copy, then the second half is reduced into it."""
    words = 256
    ptx = f"""{HEADER}
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
.shared .align 128 .b8 tile[{words * 8}];
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; setp.eq.u32 %p0, %r0, 0;
mov.u32 %r2, %r0;
L0: mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd0, %rd2; ld.global.b32 %r4, [%rd3]; mad.lo.u32 %r5, %r2, 4, %r1; st.shared.b32 [%r5], %r4;
add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, {2 * words}; @%p1 bra L0;
fence.proxy.async.shared::cta; bar.sync 0;
@!%p0 bra DONE;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], {words * 4}; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
{copy} [%rd1], [%r1+{words * 4}], {words * 4}; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
DONE: ret;
}}"""
    data = generator(name).integers(0, 1 << 32, 2 * words, dtype=np.uint64).astype(np.uint32)
    return Program(name, ptx, [data], words * 4, "exact", block=32)


def reduction_programs():
    types = {"and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"), "inc": ("u32",), "dec": ("u32",),
             "min": ("u32", "s32", "u64", "s64", "f16", "bf16"), "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
             "add": ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.bf16")}  # fmt: skip
    for operation, group in types.items():
        for t in group:
            text = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{t}"
            yield reduction_program(f"cp.reduce.{operation}.{t}", text)


def memory_programs():
    for source in (atomic_programs, vector_atomic_programs, narrow_programs, copy_programs, reduction_programs):
        yield from source()
