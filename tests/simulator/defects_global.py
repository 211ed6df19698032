"""Kernels with one defect each, as in defects.py: global memory within a block, ends of arrays, tensor maps and mbarriers
before the async proxy uses them."""

from defects import COORDINATES, COPY, INIT, WAIT, Defect

# Warp 0 puts the kernel's tensor map into shared memory at %r8, or into global memory at y.
MAP_COPY = """
setp.ge.u32 %p4, %r1, 32;
@%p4 bra CHANGED;
cvt.u64.u32 %rd10, %r4;
add.u64 %rd10, %rd9, %rd10;
ld.b32 %r6, [%rd10];
"""
CHANGE_SHARED = MAP_COPY + """
add.u32 %r7, %r5, 4096;
st.shared.b32 [%r7], %r6;
bar.warp.sync -1;
add.u32 %r8, %r2, 4096;
@%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r8], 0;
bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r8], 128;
"""
CHANGE_GLOBAL = MAP_COPY + """
st.global.b32 [%rd5], %r6;
bar.warp.sync -1;
@%p1 tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd2], 0;
"""
USE = COORDINATES + """
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
""" + COPY.replace("%rd9", "%rd2") + " @\n" + WAIT

DEFECTS = [
    Defect("shuffle from a lane that has exited", "synchronization-misuse", """
        setp.ge.u32 %p2, %r1, 20;
        @%p2 exit;
        bad: shfl.sync.idx.b32 %r6, %r1, 25, 31, -1; @
        good: shfl.sync.idx.b32 %r6, %r1, 5, 31, -1;
        st.global.b32 [%rd5], %r6;
    """, block=32),
    Defect("store past the end of a shared array", "out-of-bounds", """
        bad: st.shared.b32 [tile+16384], %r1; @
        good: st.shared.b32 [tile+16380], %r1;
    """, block=1),
    Defect("load past the end of a local array", "out-of-bounds", """
        st.local.b32 [stack+60], %r1;
        bad: ld.local.b32 %r6, [stack+64]; @
        good: ld.local.b32 %r6, [stack+60];
        st.global.b32 [%rd5], %r6;
    """),
    Defect("local memory copied, then used", "uninitialized", """
        good: st.local.b32 [stack], 7;
        ld.local.b32 %r6, [stack];
        mov.b32 %r7, %r6;
        st.local.b32 [stack+32], %r7;
        ld.local.b32 %r8, [stack+32]; @
        add.u32 %r8, %r8, 1;
        st.global.b32 [%rd5], %r8;
    """),
    Defect("read of global memory before the block's barrier", "global-race", """
        st.global.b32 [%rd5], %r1;
        good: bar.sync 0;
        xor.b32 %r6, %r4, 128;
        cvt.u64.u32 %rd6, %r6;
        add.u64 %rd6, %rd2, %rd6;
        ld.global.b32 %r7, [%rd6]; @
        good: bar.sync 0;
        st.global.b32 [%rd5], %r7;
    """),
    Defect("write of global memory that another warp reads", "global-race", """
        ld.global.b32 %r7, [%rd2];
        good: bar.sync 0;
        setp.eq.u32 %p2, %r1, 32;
        @%p2 st.global.b32 [%rd2], %r7; @
    """, block=96),
    Defect("global memory of another lane", "global-race", """
        st.global.b32 [%rd5], %r1;
        good: bar.warp.sync -1;
        xor.b32 %r6, %r4, 4;
        cvt.u64.u32 %rd6, %r6;
        add.u64 %rd6, %rd2, %rd6;
        ld.global.b32 %r7, [%rd6]; @
        st.shared.b32 [%r5], %r7;
    """, block=32),
    Defect("flag in global memory without a release", "global-race", """
        setp.ge.u32 %p2, %r1, 32;
        @%p2 bra READER;
        st.global.b32 [%rd5], 5;
        bar.warp.sync -1;
        bad: @%p1 st.relaxed.gpu.global.b32 [%rd2+4000], 1;
        good: @%p1 st.release.gpu.global.b32 [%rd2+4000], 1;
        ret;
        READER: ld.acquire.gpu.global.b32 %r6, [%rd2+4000];
        setp.eq.u32 %p3, %r6, 0;
        @%p3 bra READER;
        ld.global.b32 %r7, [%rd2]; @
        st.global.b32 [%rd5+256], %r7;
    """),
    Defect("block of a cluster reads what another writes", "global-race", """
        mov.u32 %r6, %cluster_ctarank;
        setp.eq.u32 %p2, %r6, 0;
        @%p2 st.global.b32 [%rd5], %r1;
        barrier.cluster.arrive.release;
        good: barrier.cluster.wait.acquire;
        @!%p2 ld.global.b32 %r7, [%rd5]; @
        bad: barrier.cluster.wait.acquire;
        @!%p2 st.global.b32 [%rd5+256], %r7;
    """, grid=2, cluster=2, block=32),
    Defect("block of a cluster ends before another has read its memory", "shared-race", """
        mov.u32 %r6, %cluster_ctarank;
        xor.b32 %r6, %r6, 1;
        st.shared.b32 [%r5], %r1;
        barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        mapa.shared::cluster.u32 %r7, %r5, %r6;
        ld.shared::cluster.b32 %r8, [%r7]; @
        good: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        shl.b32 %r6, %r6, 9;
        cvt.u64.u32 %rd6, %r6;
        add.u64 %rd6, %rd5, %rd6;
        st.global.b32 [%rd6], %r8;
    """, grid=2, cluster=2),
    Defect("bulk load of what the kernel wrote, without a fence", "proxy-race", INIT + """
        st.global.b32 [%rd5], %r1;
        good: fence.proxy.async;
        bar.sync 0;
        @!%p1 bra WAIT;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 64, [%r3]; @
    """ + WAIT),
    Defect("read of what a bulk store writes", "global-race", """
        st.shared.b32 [%r5], %r1;
        fence.proxy.async;
        bar.sync 0;
        @!%p1 ret;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 64;
        cp.async.bulk.commit_group;
        good: cp.async.bulk.wait_group 0;
        ld.global.b32 %r6, [%rd2]; @
        bad: cp.async.bulk.wait_group 0;
        st.global.b32 [%rd2+512], %r6;
    """),
    Defect("mbarrier not shown to the async proxy", "mbarrier-misuse", """
        @!%p1 bra INITIALIZED;
        mbarrier.init.shared::cta.b64 [%r3], 1;
        good: fence.mbarrier_init.release.cluster;
        INITIALIZED: bar.sync 0;
        @!%p1 bra WAIT;
        """ + COORDINATES + """
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 1024;
        """ + COPY + """ @
    """ + WAIT),
    Defect("tensor map copied to global memory without an acquire", "proxy-race", INIT + CHANGE_SHARED + """
        CHANGED: bar.sync 0;
        @!%p1 bra WAIT;
        good: fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
        """ + USE),
    Defect("tensor map changed without a release", "proxy-race", INIT + CHANGE_GLOBAL + """
        good: fence.proxy.tensormap::generic.release.gpu;
        CHANGED: bar.sync 0;
        @!%p1 bra WAIT;
        fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
        """ + USE),
    Defect("tensor map acquired before it is changed", "proxy-race", INIT + """
        bad: fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
        """ + CHANGE_SHARED + """
        CHANGED: bar.sync 0;
        good: fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
        @!%p1 bra WAIT;
        """ + USE),
]  # fmt: skip
