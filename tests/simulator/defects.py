"""Kernels with one defect each, and their repaired twins.

A case is PTX written line by line; every line gets a `.loc` with its own number. A line that starts with `bad:` stands in the
broken kernel only, one with `good:` in the repaired one. `@` at the end of a line marks where the finding must be.
"""

HEADER = """.version 8.6
.target sm_90a
.address_size 64
.file 1 "kernel.cu"
"""

DECLARATIONS = """
.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>;
.shared .align 1024 .b8 tile[16384];
.shared .align 8 .b8 bar[64];
.local .align 16 .b8 stack[64];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mov.u32 %r3, bar;
shl.b32 %r4, %r1, 2;
add.u32 %r5, %r2, %r4;
mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd4, %rd1, %rd3;
add.u64 %rd5, %rd2, %rd3;
setp.eq.u32 %p1, %r1, 0;
mov.u64 %rd9, map;
cvta.param.u64 %rd9, %rd9;
"""


class Defect:
    def __init__(self, name, kind, body, block=64, grid=1, cluster=None, box=(8, 64), words=1024):
        self.name, self.kind, self.block, self.grid, self.cluster, self.box, self.words = name, kind, block, grid, cluster, box, words
        self.lines = [line.strip() for line in body.strip().splitlines()]

    def expected_line(self):
        marks = [i + 1 for i, line in enumerate(self.lines) if line.endswith("@")]
        assert len(marks) == 1, self.name
        return marks[0]

    def ptx(self, broken):
        body = []
        for number, line in enumerate(self.lines, 1):
            if line.startswith("bad:" if not broken else "good:"):
                continue
            text = line.removeprefix("bad:").removeprefix("good:").removesuffix("@").strip()
            body.append(f".loc 1 {number} 1\n{text}")
        return HEADER + ".visible .entry k(.param .u64 x, .param .u64 y, .param .align 64 .b8 map[128])\n{" + DECLARATIONS + "\n".join(body) + "\nret;\n}\n"


INIT = """
@!%p1 bra INITIALIZED;
mbarrier.init.shared::cta.b64 [%r3], 1;
fence.mbarrier_init.release.cluster;
INITIALIZED:
bar.sync 0;
"""
# A tensor copy of 8 rows of 64 f16 with the 128-byte swizzle, 1024 bytes, to `tile`.
COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21}], [%r3];"
COORDINATES = "mov.u32 %r20, 0; mov.u32 %r21, 0;"
WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra WAIT;"
# One m64n8k16 product of f16 in `tile`: A at 0, B at 8192, 128-byte swizzle.
FILL = """
mov.u32 %r30, %r1;
FILLING: shl.b32 %r31, %r30, 2; add.u32 %r31, %r2, %r31; st.shared.b32 [%r31], 0; add.u32 %r30, %r30, 128; setp.lt.u32 %p3, %r30, 4096; @%p3 bra FILLING;
"""
DESCRIPTORS = """
shr.u32 %r32, %r2, 4; cvt.u64.u32 %rd10, %r32; or.b64 %rd11, %rd10, 0x4000004000010000; add.u64 %rd12, %rd11, 512;
mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000;
"""
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd11, %rd12, 1, 1, 1, 0, 0;"
# The same with A in registers.
A_WORDS = "mov.b32 %r40, 0; mov.b32 %r41, 0; mov.b32 %r42, 0; mov.b32 %r43, 0; mov.f32 %f5, 0f00000000; mov.f32 %f6, %f5; mov.f32 %f7, %f5; mov.f32 %f8, %f5;"


def product_of_words(a, sums="{%f1, %f2, %f3, %f4}"):
    return f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {sums}, {a}, %rd12, 1, 1, 1, 0;"


STORE = "st.global.f32 [%rd5], %f1;"

DEFECTS = [
    Defect("load past the end", "out-of-bounds", """
        bad: ld.global.b32 %r6, [%rd4+4096]; @
        good: ld.global.b32 %r6, [%rd4];
        st.global.b32 [%rd5], %r6;
    """),
    Defect("store before the beginning", "out-of-bounds", """
        bad: st.global.b32 [%rd5+-64], %r1; @
        good: st.global.b32 [%rd5], %r1;
    """),
    Defect("null pointer", "out-of-bounds", """
        bad: mov.u64 %rd4, 0;
        ld.global.b32 %r6, [%rd4]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("shared store past the end", "out-of-bounds", """
        bad: st.shared.b32 [%r5+16640], %r1; @
        good: st.shared.b32 [%r5], %r1;
    """),
    Defect("local load past the end", "out-of-bounds", """
        mov.u32 %r6, stack;
        st.local.b32 [%r6], %r1;
        bad: ld.local.b32 %r7, [%r6+64]; @
        good: ld.local.b32 %r7, [%r6];
        st.global.b32 [%rd5], %r7;
    """),
    Defect("generic pointer into nowhere", "out-of-bounds", """
        cvta.to.global.u64 %rd6, %rd4;
        bad: add.u64 %rd6, %rd6, 1048576;
        ld.b32 %r6, [%rd6]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("atomic past the end", "out-of-bounds", """
        bad: red.global.add.u32 [%rd5+4096], 1; @
        good: red.global.add.u32 [%rd5], 1;
    """),
    Defect("misaligned vector load", "misaligned", """
        shl.b32 %r6, %r1, 3;
        cvt.u64.u32 %rd6, %r6;
        bad: add.u64 %rd6, %rd6, 4;
        add.u64 %rd7, %rd1, %rd6;
        ld.global.v2.b32 {%r7, %r8}, [%rd7]; @
        st.global.b32 [%rd5], %r7;
    """),
    Defect("misaligned shared store", "misaligned", """
        bad: st.shared.b64 [%r5+4], %rd1; @
        good: st.shared.b32 [%r5], %r1;
    """, block=1),
    Defect("missing barrier", "shared-race", """
        st.shared.b32 [%r5], %r1;
        good: bar.sync 0;
        xor.b32 %r6, %r4, 128;
        add.u32 %r6, %r6, %r2;
        ld.shared.b32 %r7, [%r6]; @
        st.global.b32 [%rd5], %r7;
    """),
    Defect("missing barrier before the next round", "shared-race", """
        mov.u32 %r10, 0;
        LOOP: st.shared.b32 [%r5], %r1; @
        bar.sync 0;
        xor.b32 %r6, %r4, 128;
        add.u32 %r6, %r6, %r2;
        ld.shared.b32 %r7, [%r6];
        good: bar.sync 0;
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 3;
        @%p2 bra LOOP;
        st.global.b32 [%rd5], %r7;
    """),
    Defect("two warps write one word", "shared-race", """
        bad: st.shared.b32 [%r2], %r1; @
        good: @%p1 st.shared.b32 [%r2], %r1;
    """),
    Defect("lanes without bar.warp.sync", "shared-race", """
        st.shared.b32 [%r5], %r1;
        good: bar.warp.sync -1;
        xor.b32 %r6, %r4, 4;
        add.u32 %r6, %r6, %r2;
        ld.shared.b32 %r7, [%r6]; @
        st.global.b32 [%rd5], %r7;
    """, block=32),
    Defect("barrier of half the threads", "shared-race", """
        setp.lt.u32 %p2, %r1, 64;
        st.shared.b32 [%r5], %r1;
        bad: @!%p2 bra SECOND;
        bad: bar.sync 1, 64;
        bad: bra JOIN;
        bad: SECOND: bar.sync 2, 64;
        bad: JOIN:
        good: bar.sync 0;
        xor.b32 %r6, %r4, 256;
        add.u32 %r6, %r6, %r2;
        ld.shared.b32 %r7, [%r6]; @
        st.global.b32 [%rd5], %r7;
    """, block=128),
    Defect("cp.async without a wait", "shared-race", """
        cp.async.ca.shared.global [%r5], [%rd4], 4;
        cp.async.commit_group;
        good: cp.async.wait_group 0;
        ld.shared.b32 %r6, [%r5]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("cp.async wait for too few groups", "shared-race", """
        cp.async.ca.shared.global [%r5], [%rd4], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r5+1024], [%rd4], 4;
        cp.async.commit_group;
        bad: cp.async.wait_group 1;
        good: cp.async.wait_group 0;
        ld.shared.b32 %r6, [%r5+1024]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("tensor copy without a wait", "shared-race", INIT + COORDINATES + """
        @!%p1 bra ISSUED;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """
        ISSUED:
        good: """ + WAIT + """
        ld.shared.b32 %r6, [%r5]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("slot refilled while it is read", "shared-race", INIT + COORDINATES + """
        @!%p1 bra ISSUED;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """
        ISSUED:
        """ + WAIT + """
        bar.sync 0;
        ld.shared.b32 %r6, [%r5];
        st.global.b32 [%rd5], %r6;
        fence.proxy.async.shared::cta;
        good: bar.sync 0;
        @!%p1 bra DONE;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
        AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 1; @!%p2 bra AGAIN;
        DONE:
    """),
    Defect("missing proxy fence before a slot is refilled", "proxy-race", INIT + COORDINATES + """
        @!%p1 bra ISSUED;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """
        ISSUED:
        """ + WAIT + """
        bar.sync 0;
        ld.shared.b32 %r6, [%r5];
        st.global.b32 [%rd5], %r6;
        good: fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p1 bra DONE;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
        AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 1; @!%p2 bra AGAIN;
        DONE:
    """),
    Defect("missing proxy fence before a tensor store", "proxy-race", COORDINATES + """
        st.shared.b32 [%r5], %r1;
        st.shared.b32 [%r5+128], %r1; st.shared.b32 [%r5+256], %r1; st.shared.b32 [%r5+384], %r1; st.shared.b32 [%r5+512], %r1;
        st.shared.b32 [%r5+640], %r1; st.shared.b32 [%r5+768], %r1; st.shared.b32 [%r5+896], %r1;
        good: fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p1 bra DONE;
        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd9, {%r20, %r21}], [%r2]; @
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        DONE:
    """, block=32),
    Defect("bulk store without a wait", "shared-race", COORDINATES + """
        st.shared.b32 [%r5], %r1;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p1 bra DONE;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 128; @
        cp.async.bulk.commit_group;
        good: cp.async.bulk.wait_group.read 0;
        DONE:
    """, block=32),
    Defect("missing proxy fence before wgmma", "proxy-race", FILL + """
        good: fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """ @
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("accumulator read in flight", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """
        wgmma.commit_group.sync.aligned;
        good: wgmma.wait_group.sync.aligned 0;
        """ + STORE + """ @
        wgmma.wait_group.sync.aligned 0;
    """, block=128),
    Defect("accumulator written in flight", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """
        wgmma.commit_group.sync.aligned;
        good: wgmma.wait_group.sync.aligned 0;
        mov.f32 %f2, 0f3F800000; @
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("a register of A is the accumulator", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + A_WORDS + """
        wgmma.fence.sync.aligned;
        bad: """ + product_of_words("{%r40, %r41, %r42, %f3}") + """ @
        good: """ + product_of_words("{%r40, %r41, %r42, %r43}") + """
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("a register of A is the accumulator of a wgmma in flight", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + A_WORDS + """
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """
        bad: """ + product_of_words("{%r40, %f1, %r42, %r43}", "{%f5, %f6, %f7, %f8}") + """ @
        good: """ + product_of_words("{%r40, %r41, %r42, %r43}", "{%f5, %f6, %f7, %f8}") + """
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("an accumulator is a register of A of a wgmma in flight", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + A_WORDS + """
        wgmma.fence.sync.aligned;
        """ + product_of_words("{%r40, %r41, %f5, %r43}") + """
        wgmma.commit_group.sync.aligned;
        good: wgmma.wait_group.sync.aligned 0;
        good: wgmma.fence.sync.aligned;
        """ + product_of_words("{%r40, %r41, %r42, %r43}", "{%f5, %f6, %f7, %f8}") + """ @
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("a register of A written in flight", "wgmma-in-flight", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + A_WORDS + """
        wgmma.fence.sync.aligned;
        """ + product_of_words("{%r40, %r41, %r42, %r43}") + """
        wgmma.commit_group.sync.aligned;
        good: wgmma.wait_group.sync.aligned 0;
        mov.b32 %r42, 1; @
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("missing wgmma.fence", "wgmma-fence", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        good: wgmma.fence.sync.aligned;
        """ + PRODUCT + """ @
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("operand overwritten while wgmma reads it", "shared-race", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """
        wgmma.commit_group.sync.aligned;
        good: wgmma.wait_group.sync.aligned 0;
        good: bar.sync 0;
        st.shared.b32 [%r5], %r1; @
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("descriptor outside shared memory", "out-of-bounds", FILL + """
        fence.proxy.async.shared::cta;
        bar.sync 0;
        """ + DESCRIPTORS + """
        bad: add.u64 %rd12, %rd12, 1024;
        wgmma.fence.sync.aligned;
        """ + PRODUCT + """ @
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        """ + STORE, block=128),
    Defect("uninitialized shared memory", "uninitialized", """
        good: st.shared.b32 [%r5], %r1;
        ld.shared.b32 %r6, [%r5]; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("uninitialized local memory", "uninitialized", """
        mov.u32 %r6, stack;
        good: st.local.b32 [%r6+8], %r1;
        ld.local.b32 %r7, [%r6+8]; @
        st.global.b32 [%rd5], %r7;
    """),
    Defect("divergent barrier", "divergent-barrier", """
        bad: setp.lt.u32 %p2, %r1, 16;
        bad: @!%p2 bra AROUND;
        bar.sync 0; @
        bad: AROUND:
        st.global.b32 [%rd5], %r1;
    """, block=32),
    Defect("barrier with two counts", "barrier-mismatch", """
        setp.lt.u32 %p2, %r1, 32;
        @%p2 bra FIRST;
        bad: bar.sync 1, 96; @
        good: bar.sync 1, 64;
        bra JOIN;
        FIRST: bar.sync 1, 64;
        JOIN: st.global.b32 [%rd5], %r1;
    """),
    Defect("threads exit before a barrier for all", "barrier-mismatch", """
        setp.ge.u32 %p2, %r1, 32;
        bad: @%p2 exit;
        bar.sync 0; @
        st.global.b32 [%rd5], %r1;
    """),
    Defect("barrier that nobody completes", "deadlock", """
        setp.lt.u32 %p2, %r1, 32;
        @!%p2 bra OTHERS;
        bar.sync 1, 64; @
        bra DONE;
        OTHERS:
        good: bar.sync 1, 64;
        DONE: st.global.b32 [%rd5], %r1;
    """),
    Defect("mbarrier that nobody completes", "deadlock", INIT + """
        @!%p1 bra WAITING;
        good: mbarrier.arrive.shared::cta.b64 _, [%r3];
        WAITING: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @
        @!%p2 bra WAITING;
        st.global.b32 [%rd5], %r1;
    """, block=32),
    Defect("fewer bytes than expected", "deadlock", INIT + COORDINATES + """
        @!%p1 bra WAITING;
        bad: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 2048;
        good: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """
        WAITING: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @
        @!%p2 bra WAITING;
        st.global.b32 [%rd5], %r1;
    """, block=32),
    Defect("mbarrier not initialized", "mbarrier-misuse", """
        good: @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
        good: bar.sync 0;
        @%p1 mbarrier.arrive.shared::cta.b64 _, [%r3]; @
    """),
    Defect("mbarrier used before its initialization is seen", "mbarrier-misuse", """
        @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
        good: bar.sync 0;
        setp.eq.u32 %p2, %r1, 32;
        @%p2 mbarrier.arrive.shared::cta.b64 _, [%r3]; @
    """),
    Defect("too many arrivals", "mbarrier-misuse", INIT + """
        setp.lt.u32 %p2, %r1, 2;
        mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd20, [%r3+8], 1;
    """.replace("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd20, [%r3+8], 1;", """
        bad: @%p1 mbarrier.arrive.shared::cta.b64 _, [%r3], 2; @
        good: @%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];
    """)),
    Defect("mbarrier initialized twice", "mbarrier-misuse", INIT + """
        good: @%p1 mbarrier.inval.shared::cta.b64 [%r3];
        @%p1 mbarrier.init.shared::cta.b64 [%r3], 4; @
    """),
    Defect("mbarrier overwritten by data", "mbarrier-misuse", INIT + """
        bad: @%p1 st.shared.b32 [%r3], 7; @
        good: @%p1 st.shared.b32 [%r3+8], 7;
    """),
    Defect("off by one in a tensor box", "out-of-bounds", INIT + COORDINATES + """
        @!%p1 bra DONE;
        bad: add.u32 %r2, %r2, 15488;
        good: add.u32 %r2, %r2, 15360;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
        """ + WAIT + """
        DONE:
    """),
    Defect("tensor copy to a misaligned address", "misaligned", INIT + COORDINATES + """
        @!%p1 bra DONE;
        bad: add.u32 %r2, %r2, 64;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
        bad: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 1024;
        """ + WAIT + """
        DONE:
    """),
    Defect("box that begins at an odd element", "tensor-map", INIT + """
        mov.u32 %r21, 0;
        bad: mov.u32 %r20, 5;
        good: mov.u32 %r20, 8;
        @!%p1 bra DONE;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
        bad: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 1024;
        """ + WAIT + """
        DONE:
    """),
    Defect("blocks write one word", "global-race", """
        mov.u32 %r6, %ctaid.x;
        bad: @%p1 st.global.b32 [%rd2], %r6; @
        good: @%p1 red.global.add.u32 [%rd2], %r6;
    """, grid=4),
    Defect("block reads what another writes", "global-race", """
        mov.u32 %r6, %ctaid.x;
        mad.lo.u32 %r7, %r6, 64, %r1;
        mul.wide.u32 %rd6, %r7, 4;
        add.u64 %rd6, %rd2, %rd6;
        st.global.b32 [%rd6], %r7;
        bad: xor.b32 %r7, %r7, 64;
        mul.wide.u32 %rd6, %r7, 4;
        add.u64 %rd6, %rd2, %rd6;
        ld.global.b32 %r8, [%rd6]; @
        add.u64 %rd7, %rd6, 1024;
        good: st.global.b32 [%rd7], %r8;
    """, grid=2),
    Defect("flag without a fence", "global-race", """
        mov.u32 %r6, %ctaid.x;
        setp.eq.u32 %p2, %r6, 0;
        @!%p2 bra READER;
        st.global.b32 [%rd2+64], 42;
        bad: st.relaxed.gpu.global.b32 [%rd2], 1;
        good: st.release.gpu.global.b32 [%rd2], 1;
        bra DONE;
        READER:
        SPIN: ld.acquire.gpu.global.b32 %r7, [%rd2]; setp.eq.u32 %p3, %r7, 0; @%p3 bra SPIN;
        ld.global.b32 %r8, [%rd2+64]; @
        st.global.b32 [%rd2+128], %r8;
        DONE:
    """, grid=2, block=1),
    Defect("shuffle from a lane that is not there", "synchronization-misuse", """
        setp.lt.u32 %p2, %r1, 8;
        @!%p2 bra DONE;
        bad: mov.u32 %r9, 9;
        good: mov.u32 %r9, 3;
        shfl.sync.idx.b32 %r6, %r1, %r9, 31, 0xFF; @
        st.global.b32 [%rd5], %r6;
        DONE:
    """, block=32),
    Defect("trap", "trap", """
        bad: setp.eq.u32 %p2, %r1, 5;
        bad: @%p2 trap; @
        st.global.b32 [%rd5], %r1;
    """),
    Defect("remote shared memory after the block has ended", "mbarrier-misuse", """
        bad: mapa.shared::cluster.u32 %r6, %r3, 1;
        good: mapa.shared::cluster.u32 %r6, %r3, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%r3], 8;
        bar.sync 0;
        bad: @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; @
        good: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        good: @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    """, grid=2, cluster=2, block=32),
]  # fmt: skip
