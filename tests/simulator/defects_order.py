"""Kernels with one defect each, as in defects.py: atomics beside plain accesses, and lanes of one warp that nothing orders."""

from defects import Defect

# %r6: the address of word tid % 32 of `tile`; %rd6: the same of y.
WORD = """
and.b32 %r6, %r4, 127; cvt.u64.u32 %rd6, %r6; add.u64 %rd6, %rd2, %rd6; add.u32 %r6, %r2, %r6; setp.lt.u32 %p2, %r1, 32;
"""
# %r7: the address of the word of the lane beside; %rd7: the same of y.
BESIDE = """
xor.b32 %r7, %r4, 4; cvt.u64.u32 %rd7, %r7; add.u64 %rd7, %rd2, %rd7; add.u32 %r7, %r2, %r7;
"""

DEFECTS = [
    Defect("bins zeroed without a barrier before atomics", "shared-race", WORD + """
        @%p2 st.shared.b32 [%r6], 0;
        good: bar.sync 0;
        red.shared.add.u32 [%r6], 1; @
    """),
    Defect("bins of global memory zeroed without a barrier before atomics", "global-race", WORD + """
        @%p2 st.global.b32 [%rd6], 0;
        good: bar.sync 0;
        red.global.add.u32 [%rd6], 1; @
    """),
    Defect("bins of global memory zeroed by one block before atomics of all", "global-race", WORD + """
        mov.u32 %r8, %ctaid.x;
        setp.eq.u32 %p3, %r8, 0;
        bad: @%p3 st.global.b32 [%rd6], 0;
        red.global.add.u32 [%rd6], 1; @
    """, grid=2, block=32),
    Defect("sum read by one of the warps that add to it", "shared-race", """
        @%p1 st.shared.b32 [%r2], 0;
        bar.sync 0;
        red.shared.add.u32 [%r2], 1;
        good: bar.sync 0;
        setp.eq.u32 %p2, %r1, 63;
        @%p2 ld.shared.b32 %r6, [%r2]; @
        @%p2 st.global.b32 [%rd2], %r6;
    """),
    Defect("sum overwritten by one of the warps that add to it", "shared-race", """
        @%p1 st.shared.b32 [%r2], 0;
        bar.sync 0;
        red.shared.add.u32 [%r2], 1;
        good: bar.sync 0;
        setp.eq.u32 %p2, %r1, 63;
        @%p2 st.shared.b32 [%r2], 5; @
    """),
    Defect("sum in global memory read by a block that adds to it", "global-race", """
        red.global.add.u32 [%rd2], 1;
        mov.u32 %r8, %ctaid.x;
        setp.eq.u32 %p3, %r8, 1;
        bad: @%p3 ld.global.b32 %r6, [%rd2]; @
        bad: @%p3 st.global.b32 [%rd2+512], %r6;
    """, grid=2, block=1),
    Defect("atomic on shared memory that nothing wrote", "uninitialized", """
        good: st.shared.b32 [%r5], 0;
        red.shared.add.u32 [%r5], 1; @
    """),
    Defect("result of an atomic on shared memory that nothing wrote", "uninitialized", """
        good: @%p1 st.shared.b32 [%r2], 0;
        good: bar.sync 0;
        atom.shared.max.u32 %r6, [%r2], %r1; @
        st.global.b32 [%rd5], %r6;
    """),
    Defect("compare and swap on shared memory that nothing wrote", "uninitialized", """
        good: @%p1 atom.shared.exch.b32 %r6, [%r2], 0;
        good: bar.sync 0;
        atom.shared.cas.b32 %r6, [%r2], 0, 1; @
    """),
    Defect("bulk store of sums without a proxy fence", "proxy-race", """
        setp.lt.u32 %p2, %r1, 4;
        @%p2 st.shared.b32 [%r5], 0;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        @%p2 red.shared.add.u32 [%r5], 1;
        good: fence.proxy.async.shared::cta;
        bar.sync 0;
        @!%p1 bra DONE;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 16; @
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
        DONE:
    """),
    Defect("lanes overwrite what others read", "shared-race", BESIDE + """
        st.shared.b32 [%r5], %r1;
        bar.warp.sync -1;
        ld.shared.b32 %r8, [%r7];
        good: bar.warp.sync -1;
        st.shared.b32 [%r5], %r8; @
    """, block=32),
    Defect("one lane overwrites what all read", "shared-race", """
        @%p1 st.shared.b32 [%r2], 5;
        bar.warp.sync -1;
        ld.shared.b32 %r8, [%r2];
        good: bar.warp.sync -1;
        @%p1 st.shared.b32 [%r2], %r8; @
    """, block=32),
    Defect("lanes write one place one after the other", "shared-race", """
        and.b32 %r6, %r1, 15;
        shl.b32 %r6, %r6, 2;
        add.u32 %r6, %r2, %r6;
        setp.lt.u32 %p2, %r1, 16;
        @%p2 st.shared.b32 [%r6], %r1;
        good: bar.warp.sync -1;
        @!%p2 st.shared.b32 [%r6], %r1; @
    """, block=32),
    Defect("lanes write one place at once", "shared-race", """
        bad: st.shared.b32 [%r2], %r1; @
        good: st.shared.b32 [%r2], 7;
    """, block=32),
    Defect("atomic on what another lane has just written", "shared-race", BESIDE + """
        st.shared.b32 [%r5], 0;
        good: bar.warp.sync -1;
        red.shared.add.u32 [%r7], 1; @
    """, block=32),
    Defect("lane reads what another lane has just added to", "shared-race", BESIDE + """
        st.shared.b32 [%r5], 0;
        bar.warp.sync -1;
        red.shared.add.u32 [%r7], 1;
        good: bar.warp.sync -1;
        ld.shared.b32 %r8, [%r5]; @
        st.global.b32 [%rd5], %r8;
    """, block=32),
    Defect("lanes overwrite global memory that others read", "global-race", BESIDE + """
        ld.global.b32 %r8, [%rd7];
        good: bar.warp.sync -1;
        st.global.b32 [%rd5], %r8; @
    """, block=32),
    Defect("one lane overwrites global memory that all read", "global-race", """
        ld.global.b32 %r8, [%rd2];
        add.u32 %r8, %r8, 1;
        good: bar.warp.sync -1;
        @%p1 st.global.b32 [%rd2], %r8; @
    """, block=32),
    Defect("lanes write one place of global memory at once", "global-race", """
        bad: st.global.b32 [%rd2], %r1; @
        good: st.global.b32 [%rd2], 7;
    """, block=32),
    Defect("lane reads global memory that another lane has just added to", "global-race", BESIDE + """
        red.global.add.u32 [%rd7], 1;
        good: bar.warp.sync -1;
        ld.global.b32 %r8, [%rd5]; @
        add.u64 %rd8, %rd5, 512;
        st.global.b32 [%rd8], %r8;
    """, block=32),
    Defect("block reads again after it has released", "global-race", """
        mov.u32 %r8, %ctaid.x;
        setp.ne.u32 %p2, %r8, 0;
        @%p2 bra WRITER;
        ld.global.b32 %r6, [%rd2+64];
        st.release.gpu.global.b32 [%rd2], 1;
        bad: ld.global.b32 %r6, [%rd2+64];
        st.global.b32 [%rd2+128], %r6;
        bra DONE;
        WRITER: ld.acquire.gpu.global.b32 %r7, [%rd2]; setp.eq.u32 %p3, %r7, 0; @%p3 bra WRITER;
        st.global.b32 [%rd2+64], 42; @
        DONE:
    """, grid=2, block=1),
]  # fmt: skip
