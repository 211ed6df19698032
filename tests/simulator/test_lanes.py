"""Lanes of a warp part, wait for each other and meet, as independent threads do."""

import numpy as np
import pytest

import nacre.simulator as simulator

HEADER = """.version 8.0
.target sm_90
.address_size 64
"""
START = """
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;
"""


def run(body, functions="", block=32, **options):
    out = np.zeros(64, np.int32)
    ptx = HEADER + functions + ".visible .entry k(.param .u64 out)\n{" + START + body + "\nret;\n}"
    report = simulator.run(ptx, "k", 1, block, [out], **options)
    return report, out


SCHEDULES = pytest.mark.parametrize("options", [{}, {"schedule": "random", "seed": 1}, {"schedule": "random", "seed": 5}], ids=["fixed", "random 1", "random 5"])


@SCHEDULES
def test_lanes_meet_at_different_lines(options):
    """The two sides of a branch each have their shuffle; they exchange across it."""
    report, out = run("""
    and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mul.lo.u32 %r3, %r1, 10;
    @%p1 bra EVEN;
    shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
    add.u32 %r4, %r4, 1;
    bra DONE;
    EVEN: mov.u32 %r5, %r3;
    shfl.sync.bfly.b32 %r4, %r5, 1, 31, -1;
    DONE: st.global.u32 [%rd2], %r4;
    """, **options)
    assert report.clean, str(report)
    t = np.arange(32)
    assert (out[:32] == (t ^ 1) * 10 + t % 2).all()


@SCHEDULES
def test_votes_and_barriers_meet_at_different_lines(options):
    report, out = run("""
    setp.lt.u32 %p1, %r1, 12; setp.lt.u32 %p2, %r1, 7;
    @%p1 bra LOW;
    vote.sync.ballot.b32 %r4, %p2, -1;
    bar.warp.sync -1;
    bra DONE;
    LOW: vote.sync.ballot.b32 %r4, %p2, -1;
    bar.warp.sync -1;
    DONE: st.global.u32 [%rd2], %r4;
    """, **options)
    assert report.clean, str(report)
    assert (out[:32] == 127).all()


SPIN = """
.func meet(.param .b32 mask) { .reg .b32 %r<2>; ld.param.b32 %r1, [mask]; bar.warp.sync %r1; ret; }
"""


@SCHEDULES
def test_a_lane_waits_for_another_and_both_meet_in_a_function(options):
    """As code for debuggers does: __syncwarp is called, by lanes that come one after another."""
    report, out = run("""
    .shared .align 4 .b32 flag;
    .param .b32 mask;
    st.param.b32 [mask], -1;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1;
    @%p1 st.volatile.shared.b32 [flag], 0;
    call.uni meet, (mask);
    @!%p1 bra OTHERS;
    SPIN: ld.volatile.shared.b32 %r2, [flag]; setp.eq.u32 %p3, %r2, 0; @%p3 bra SPIN;
    bra MEET;
    OTHERS: @%p2 st.volatile.shared.b32 [flag], 7;
    MEET: call.uni meet, (mask);
    ld.volatile.shared.b32 %r3, [flag];
    st.global.u32 [%rd2], %r3;
    """, SPIN, **options)
    assert report.clean, str(report)
    assert (out[:32] == 7).all()


@SCHEDULES
def test_lanes_that_enter_a_function_apart_meet_at_its_barrier(options):
    report, out = run("""
    setp.eq.u32 %p1, %r1, 0;
    @!%p1 bra CALL;
    add.u32 %r9, %r9, 1; add.u32 %r9, %r9, 1;
    LOOP: ld.volatile.global.b32 %r2, [%rd1+128]; setp.ne.u32 %p2, %r2, 0; @%p2 bra LOOP;
    CALL: call.uni whole;
    st.global.u32 [%rd2], %r1;
    """, ".func whole() { bar.sync 0; ret; }\n", **options)
    assert report.clean, str(report)


@SCHEDULES
def test_groups_of_one_line_do_not_wait_for_each_other(options):
    """Lanes 0 to 15 and 16 to 31 have masks of their own. Half of the second group comes only after the first is through."""
    report, out = run("""
    .shared .align 4 .b32 flag;
    setp.lt.u32 %p1, %r1, 16; selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1; setp.ge.u32 %p2, %r1, 24; setp.eq.u32 %p4, %r1, 0;
    @%p4 st.volatile.shared.b32 [flag], 0;
    bar.warp.sync -1;
    @!%p2 bra MEET;
    SPIN: ld.volatile.shared.b32 %r3, [flag]; setp.eq.u32 %p3, %r3, 0; @%p3 bra SPIN;
    MEET: redux.sync.add.u32 %r4, %r1, %r2;
    @%p4 st.volatile.shared.b32 [flag], 1;
    st.global.u32 [%rd2], %r4;
    """, **options)
    assert report.clean, str(report)
    assert (out[:16] == 120).all() and (out[16:32] == 376).all()


@SCHEDULES
def test_exited_lanes_are_not_waited_for(options):
    """PTX: all lanes of the mask that have not exited. A shuffle among those that are left is right."""
    report, out = run("""
    setp.ge.u32 %p1, %r1, 20;
    @%p1 exit;
    setp.lt.u32 %p2, %r1, 3;
    vote.sync.ballot.b32 %r2, %p2, -1;
    bar.warp.sync -1;
    shfl.sync.idx.b32 %r3, %r1, 19, 31, -1;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd2], %r2;
    """, **options)
    assert report.clean, str(report)
    assert (out[:20] == 7 + 19).all() and (out[20:] == 0).all()


@pytest.mark.parametrize("exchange", ["bar.warp.sync -1;", "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;", "redux.sync.add.u32 %r3, %r1, -1;"])
def test_lanes_that_never_come_are_named(exchange):
    report, _ = run(f"setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra AWAY;\n{exchange}\nret;\nAWAY: bar.sync 1, 32;")
    kinds = [finding.kind for finding in report.findings]
    assert "divergent-barrier" in kinds, str(report)
    message = next(finding.message for finding in report.findings if finding.kind == "divergent-barrier")
    assert message.startswith("lanes 0-7 of the warp wait here for lanes 8-31"), message


def test_a_mask_without_the_lane_itself():
    report, _ = run("setp.lt.u32 %p1, %r1, 8;\n@%p1 bar.warp.sync 0xF;")
    assert any("lane 4 executes it but is not in its member mask" in finding.message for finding in report.findings), str(report)


SHUFFLE_DOWN = """
setp.ge.u32 %p1, %r1, 20;
@%p1 exit;
shfl.sync.down.b32 %r2, %r1, 16, 31, -1;
add.u32 %r3, %r1, 16; setp.lt.u32 %p2, %r3, 20; add.u32 %r4, %r1, %r2;
"""


@pytest.mark.parametrize(
    "keep",
    [
        "selp.b32 %r5, %r4, %r1, %p2;",
        "setp.gt.u32 %p3, %r4, 5; and.pred %p4, %p2, %p3; selp.b32 %r5, %r1, %r1, %p4;",
        "setp.gt.u32 %p3, %r4, 5; not.pred %p5, %p2; or.pred %p4, %p5, %p3; selp.b32 %r5, %r1, %r1, %p4;",
        "mov.b32 %r5, %r1; @%p2 mov.b32 %r5, %r4;",
    ],
)
def test_a_value_from_nobody_may_be_thrown_away(keep):
    report, _ = run(SHUFFLE_DOWN + keep + "st.global.u32 [%rd2], %r5;")
    assert report.clean, str(report)


@pytest.mark.parametrize(
    "use",
    [
        "st.global.u32 [%rd2], %r4;",
        "setp.gt.u32 %p3, %r4, 5; @%p3 st.global.u32 [%rd2], %r1;",
        "setp.gt.u32 %p3, %r4, 5; not.pred %p3, %p3; @%p3 bra DONE; st.global.u32 [%rd2], %r1; DONE:",
        "cvt.u64.u32 %rd3, %r4; add.u64 %rd3, %rd3, %rd1; ld.global.u8 %r5, [%rd3];",
        "shfl.sync.idx.b32 %r5, %r4, 5, 31, -1; st.global.u32 [%rd2], %r5;",
    ],
)
def test_a_value_from_nobody_must_not_be_used(use):
    report, _ = run(SHUFFLE_DOWN + use)
    finding = report.findings[0]
    assert finding.kind == "synchronization-misuse" and "which has exited" in finding.message, str(report)
    assert finding.instruction.startswith("shfl.sync.down") and finding.other["ptx_line"] > finding.ptx_line


def test_members_of_some_bits_are_written_one_after_another():
    """The word is read before it was written, for the bits that stay."""
    report, out = run("""
    .local .align 4 .b8 word[4];
    ld.local.b32 %r2, [word]; and.b32 %r2, %r2, 0xFFFF0000; or.b32 %r2, %r2, 5; st.local.b32 [word], %r2;
    ld.local.b32 %r2, [word]; and.b32 %r2, %r2, 0xFFFF; or.b32 %r2, %r2, 0x70000; st.local.b32 [word], %r2;
    ld.local.b32 %r3, [word]; st.global.u32 [%rd2], %r3;
    """)
    assert report.clean, str(report)
    assert (out[:32] == 0x70005).all()
