"""Lanes and blocks that wait for each other through memory: nobody is said to hang who does not, and deadlocks say what is missing."""

import numpy as np
import pytest

import nacre.simulator as simulator

HEADER = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 flags, .param .u64 out)
{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
.shared .align 8 .b8 shared[64];
ld.param.u64 %rd1, [flags]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r15, %nctaid.x;
mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd2, %rd3;
setp.eq.u32 %p1, %r1, 0; mov.u32 %r14, shared;
"""
SCHEDULES = pytest.mark.parametrize(
    "options", [{}, {"schedule": "random", "seed": 1}, {"schedule": "random", "seed": 2}, {"schedule": "random", "seed": 9}],
    ids=["fixed", "random 1", "random 2", "random 9"],
)  # fmt: skip


def run(body, grid, block, size=4096, **options):
    flags, out = np.zeros(64, np.int32), np.zeros(size, np.int32)
    report = simulator.run(HEADER + body + "\nret;\n}", "k", grid, block, [flags, out], **options)
    return report, flags, out


# One lane of each block waits; the others of its warp stand at what follows.
POLLS = {
    "volatile": "ld.volatile.global.b32 %r5, [%rd1];",
    "acquire": "ld.acquire.gpu.global.b32 %r5, [%rd1];",
    "atomic": "atom.global.add.u32 %r5, [%rd1], 0;",
    "compare and sleep": "atom.global.cas.b32 %r5, [%rd1], 77, 77; nanosleep.u32 20;",
    "generic": "atom.add.u32 %r5, [%rd1], 0;",
}
MEETINGS = {
    "block": "bar.sync 0;",
    "warp": "bar.warp.sync -1;",
    "shuffle": "shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;",
    "vote": "vote.sync.any.pred %p5, %p1, -1;",
}


@SCHEDULES
@pytest.mark.parametrize("meeting", MEETINGS)
@pytest.mark.parametrize("poll", POLLS)
def test_barrier_of_the_grid(poll, meeting, options):
    """Thread 0 of each block adds to a counter and waits until all have; then each block reads what the next one wrote."""
    report, _, out = run(f"""
    st.global.b32 [%rd3], %r4;
    bar.sync 0;
    @!%p1 bra MEET;
    fence.acq_rel.gpu;
    red.global.add.u32 [%rd1], 1;
    SPIN: {POLLS[poll]}
    setp.lt.u32 %p2, %r5, %r15;
    @%p2 bra SPIN;
    fence.acq_rel.gpu;
    MEET: {MEETINGS[meeting]}
    add.u32 %r7, %r2, 1; setp.ge.u32 %p3, %r7, %r15; @%p3 mov.u32 %r7, 0;
    mad.lo.u32 %r8, %r7, %r3, %r1; mul.wide.u32 %rd4, %r8, 4; add.u64 %rd4, %rd2, %rd4;
    ld.global.b32 %r9, [%rd4];
    st.global.b32 [%rd3+8192], %r9;
    """, 12, 32, cooperative=True, **options)  # fmt: skip
    assert report.clean, str(report)
    assert (out[2048 : 2048 + 384] == np.roll(np.arange(384), -32)).all()


@SCHEDULES
def test_look_back(options):
    """Each block waits for the sum of the one before; without a cooperative launch, as their order allows."""
    report, _, out = run("""
    @!%p1 bra MEET;
    mov.u32 %r5, 1;
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra FOUND;
    mul.wide.u32 %rd4, %r2, 4; add.u64 %rd4, %rd1, %rd4;
    SPIN: ld.acquire.gpu.global.b32 %r5, [%rd4+-4];
    setp.eq.u32 %p3, %r5, 0;
    @%p3 bra SPIN;
    add.u32 %r5, %r5, 1;
    FOUND: mul.wide.u32 %rd5, %r2, 4; add.u64 %rd5, %rd1, %rd5;
    st.release.gpu.global.b32 [%rd5], %r5;
    st.shared.b32 [%r14], %r5;
    MEET: bar.warp.sync -1;
    ld.shared.b32 %r6, [%r14];
    st.global.b32 [%rd3], %r6;
    """, 40, 32, **options)
    assert report.clean, str(report)
    assert (out[:1280].reshape(40, 32) == np.arange(1, 41)[:, None]).all()


@SCHEDULES
def test_ticket_that_comes_late(options):
    """Blocks take turns in the order opposite to the one in which they start."""
    report, _, out = run("""
    @!%p1 bra MEET;
    sub.u32 %r6, %r15, %r2; sub.u32 %r6, %r6, 1;
    SPIN: ld.acquire.gpu.global.b32 %r5, [%rd1]; setp.ne.u32 %p2, %r5, %r6; @%p2 bra SPIN;
    MEET: bar.sync 0;
    st.global.b32 [%rd3], %r4;
    bar.sync 0;
    @%p1 red.release.gpu.global.add.u32 [%rd1], 1;
    """, 20, 64, **options)
    assert report.clean, str(report)
    assert (out[:1280] == np.arange(1280)).all()


def test_real_divergence_is_found_beside_a_block_that_waits():
    """Block 0 waits for block 1, whose lanes never meet: the finding is block 1's alone."""
    report, _, _ = run("""
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra SECOND;
    @!%p1 bra MEET;
    SPIN: ld.acquire.gpu.global.b32 %r5, [%rd1]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN;
    MEET: bar.sync 0;
    bra DONE;
    SECOND: setp.lt.u32 %p4, %r1, 16;
    @%p4 bra HALF;
    bar.warp.sync -1;
    bra AFTER;
    HALF: vote.sync.any.pred %p5, %p1, -1;
    AFTER: @%p1 st.release.gpu.global.b32 [%rd1], 1;
    DONE:
    """, 2, 32)
    assert report.completed and {finding.kind for finding in report.findings} == {"divergent-barrier"}, str(report)
    assert {finding.block for finding in report.findings} == {(1, 0, 0)}, str(report)


def deadlock(body, grid=1, block=32, **options):
    report, _, _ = run(body, grid, block, **options)
    assert [finding.kind for finding in report.findings] == ["deadlock"] and not report.completed, str(report)
    return report.findings[0].message


def test_deadlocks_say_what_is_missing():
    message = deadlock("@%p1 mbarrier.init.shared::cta.b64 [%r14], 5;\nbar.sync 0;\n@!%p1 bra W;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 64;\n"
                       "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r14], 0;\n@!%p2 bra W;\n")  # fmt: skip
    assert "phase 0, 4 of 5 arrivals are missing, 64 bytes are outstanding" in message
    message = deadlock("setp.lt.u32 %p2, %r1, 32;\n@!%p2 bra DONE;\nbar.sync 3, 96;\nDONE:\n", block=64)
    assert "`bar.sync 3, 96`, 32 of 96 threads have arrived" in message
    message = deadlock("SPIN: ld.acquire.gpu.global.b32 %r5, [%rd1]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN;\n", grid=3)
    assert "Block 0 warp 0" in message and "ld.acquire.gpu.global.b32" in message


@SCHEDULES
def test_lanes_of_a_warp_are_ordered_by_release_and_acquire(options):
    """A lane writes, releases a flag; another lane of the warp acquires it and reads, then overwrites."""
    report, _, out = run("""
    setp.eq.u32 %p2, %r1, 1;
    @%p1 st.volatile.shared.b32 [%r14], 0;
    bar.warp.sync -1;
    @%p1 bra WRITER;
    @!%p2 bra DONE;
    SPIN: ld.volatile.shared.b32 %r5, [%r14]; setp.eq.u32 %p3, %r5, 0; @%p3 bra SPIN;
    fence.acq_rel.cta;
    ld.shared.b32 %r6, [%r14+8];
    st.global.b32 [%rd2], %r6;
    st.shared.b32 [%r14+8], 1;
    bra DONE;
    WRITER: st.shared.b32 [%r14+8], 42;
    fence.acq_rel.cta;
    st.volatile.shared.b32 [%r14], 1;
    DONE:
    """, 1, 32, **options)
    assert report.clean and out[0] == 42, str(report)


RECEIVER = """
.visible .entry k(.param .u64 out)
{
.reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
.shared .align 8 .b8 bar[8]; .shared .align 16 .b8 from[16]; .shared .align 16 .b8 to[16];
ld.param.u64 %rd1, [out]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, bar; mov.u32 %r3, to; mov.u32 %r4, from;
add.u32 %r5, %r1, 5; st.shared.v4.b32 [%r4], {%r5, %r5, %r5, %r5};
mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], BYTES;
barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
xor.b32 %r6, %r1, 1; mapa.shared::cluster.u32 %r7, %r3, %r6; mapa.shared::cluster.u32 %r8, %r2, %r6;
SEND
W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], 0; @!%p1 bra W;
ld.shared.b32 %r9, [%r3]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.b32 [%rd1], %r9;
END
ret;
}
"""
SENDS = {
    "st.async": ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r7], %r5, [%r8];", 4),
    "bulk copy": ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r4], 16, [%r8];", 16),
}


@SCHEDULES
@pytest.mark.parametrize("send", SENDS)
def test_a_block_that_waits_for_what_it_is_sent_does_not_end_before(send, options):
    text, size = SENDS[send]
    ptx = HEADER.split(".visible")[0] + RECEIVER.replace("SEND", text).replace("BYTES", str(size))
    out = np.zeros(2, np.int32)
    report = simulator.run(ptx.replace("END", ""), "k", 2, 1, [out], cluster=2, **options)
    assert report.clean and out.tolist() == [6, 5], str(report)
    # Without its wait it may have ended.
    lines = [line for line in ptx.replace("END", "").splitlines() if not line.startswith(("W:", "ld.shared"))]
    report = simulator.run("\n".join(lines), "k", 2, 1, [out], cluster=2, **options)
    assert any("may have ended before this access" in finding.message for finding in report.findings), str(report)
