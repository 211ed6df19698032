"""What findings say: the user's line, the thread, what is missing; and nothing that changes from run to run."""

import re

import numpy as np
import pytest

import nacre.simulator as simulator

HEADER = """.version 8.6
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.file 2 "/opt/cuda-13.0/include/cccl/cuda/atomic.h"
.file 3 "/usr/local/cuda/targets/sbsa-linux/include/sm_32_atomic_functions.h"
.file 4 "/home/me/cuda-samples/include/mine.h"
"""
START = """
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
.shared .align 16 .b8 tile[256];
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r3, %r2, %r3;
setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0;
"""


def run(body, functions="", grid=1, block=64, size=64, **options):
    out = np.zeros(size, np.int32)
    ptx = HEADER + functions + ".visible .entry k(.param .u64 out)\n{" + START + body + "\nret;\n}"
    return simulator.run(ptx, "k", grid, block, [out], **options)


@pytest.mark.parametrize("file, line, inner", [(2, 7, 50), (3, 7, 50), (4, 50, 0)])
def test_lines_of_the_toolkit_are_not_the_users(file, line, inner):
    finding = run(f".loc 1 7 1\nadd.u32 %r4, %r1, 1;\n.loc {file} 50 3, function_name L, inlined_at 1 7 1\nst.global.b32 [%rd2+4], %r4;\nL:", block=64).findings[0]
    assert (finding.line, finding.inner_line) == (line, inner)


ADD = """
.func add(.param .b32 at) {
.loc 2 50 3
.reg .b32 %r<2>; ld.param.b32 %r1, [at]; red.shared.add.u32 [%r1], 1; ret;
}
"""


def test_the_other_access_within_a_library_has_the_line_of_its_call():
    """As code for debuggers has it: nothing is inlined. Whichever of the two comes second, it is one race."""
    body = """
    .param .b32 at;
    .loc 1 5 1
    @%p2 st.shared.b32 [tile], 0;
    bar.sync 0;
    st.param.b32 [at], %r2;
    .loc 1 8 1
    call.uni add, (at);
    .loc 1 9 1
    ld.shared.b32 %r5, [tile];
    """
    for options in ({}, {"schedule": "random", "seed": 1}, {"schedule": "random", "seed": 4}):
        report = run(body, ADD, **options)
        (finding,) = report.findings
        assert finding.kind == "shared-race" and {finding.line, finding.other["line"]} == {8, 9}, str(report)


def test_findings_of_no_thread_name_none():
    report = run("@!%p2 bra DONE;\nmbarrier.init.shared::cta.b64 [tile], 1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 64;\nDONE:", block=32)
    (finding,) = report.findings
    assert "64 bytes outstanding" in finding.message and finding.thread is None and "thread (" not in str(report)
    report = run("setp.ge.u32 %p3, %r1, 32;\n@%p3 bra LATE;\nbar.sync 0;\nbra DONE;\nLATE: add.u32 %r4, %r4, 1;\n@%p3 exit;\nDONE:")
    assert [finding.thread for finding in report.findings] == [(0, 0, 0)], str(report)


def test_a_missing_barrier_is_called_one():
    """The first pair that shows it may be of one warp; what is missing may be a barrier of the block all the same."""
    report = run("st.shared.b32 [%r3], %r1;\nxor.b32 %r4, %r3, 4;\nld.shared.b32 %r5, [%r4];\n", block=32)
    (finding,) = report.findings
    assert "by another of its lanes: __syncwarp or a barrier of the block is missing" in finding.message


@pytest.mark.parametrize("copy, name", [("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 16, [tile+64];", "a bulk copy")])
def test_copies_have_their_names(copy, name):
    report = run(f"""
    @!%p2 bra READ;
    mbarrier.init.shared::cta.b64 [tile+64], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [tile+64], 16;
    {copy}
    ld.shared.b32 %r5, [tile];
    READ:
    """, block=32)  # fmt: skip
    assert f"not ordered after the write by {name}: a barrier or a wait is missing" in report.findings[0].message, str(report)


@pytest.mark.parametrize(
    "instruction, message",
    [
        ("ld.global.b32 %r5, [%rd2+256];", "global load of 4 bytes at byte 256, past the end of `out` (256 bytes)"),
        ("st.global.b32 [%rd2+-8], %r1;", "global store of 4 bytes at byte -8, before the beginning of `out` (256 bytes)"),
        ("ld.global.v2.b32 {%r5, %r6}, [%rd2+4];", "global load of 8 bytes at byte 4 of `out`, which is not a multiple of 8"),
        ("ld.global.b32 %r5, [64];", "global load of 4 bytes at 0x40: a null pointer"),
    ],
)
def test_places_in_global_memory_are_told_by_their_array(instruction, message):
    report = run(instruction, block=1)
    assert report.findings[0].message == message
    assert not re.search("0x[0-9a-f]{8}", str(report))


DEEP = """
.func (.param .b32 result) sum(.param .b32 n) {
.reg .pred %p; .reg .b32 %r<4>; .local .align 4 .b8 frame[FRAME]; .param .b32 a; .param .b32 r;
ld.param.b32 %r1, [n]; st.local.b32 [frame], %r1; mov.u32 %r3, 0; setp.eq.u32 %p, %r1, 0;
@%p bra END;
sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call.uni (r), sum, (a); ld.param.b32 %r3, [r]; ld.local.b32 %r2, [frame]; add.u32 %r3, %r3, %r2;
END: st.param.b32 [result], %r3; ret;
}
"""
CALL = ".param .b32 a; .param .b32 r; st.param.b32 [a], DEPTH; call.uni (r), sum, (a); ld.param.b32 %r4, [r]; st.global.b32 [%rd2], %r4;"


def test_recursion_has_a_stack():
    report = run(CALL.replace("DEPTH", "200"), DEEP.replace("FRAME", "256"), block=1)
    assert report.clean, str(report)
    report = run(CALL.replace("DEPTH", "400"), DEEP.replace("FRAME", "256"), block=1)
    (finding,) = report.findings
    assert finding.kind == "out-of-bounds" and "stack overflow: the call of `sum`" in finding.message and "256 bytes" in finding.message


@pytest.mark.parametrize("member, clean", [("st.local.b8 [s], 1;", True), ("", False)], ids=["gap", "missing member"])
def test_gaps_of_copied_structures_are_not_values(member, clean):
    """struct { char a; int b; } copied word by word: the bytes after `a` are nobody's, `a` itself must be written."""
    report = run(f".local .align 8 .b8 s[8]; {member} st.local.b32 [s+4], 2; ld.local.v2.b32 {{%r4, %r5}}, [s]; st.global.v2.b32 [%rd1], {{%r4, %r5}};", block=1)
    assert report.clean == clean, str(report)
    report = run(".local .align 8 .b8 s[8]; st.local.b8 [s], 1; ld.local.b32 %r4, [s]; add.u32 %r4, %r4, 1; st.global.b32 [%rd1], %r4;", block=1)
    assert [finding.kind for finding in report.findings] == ["uninitialized"], str(report)
