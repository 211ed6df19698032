"""Kernels with a defect each: the simulator says what is wrong, and nothing of the same kernel without the defect."""

import numpy as np
import pytest
from amdgcn_program import PROGRAM, assemble, compile_c, run, tools

pytestmark = pytest.mark.skipif(not PROGRAM.exists() or not tools(), reason="amdgcn-run, or llvm-mc and ld.lld of LLVM 22, are not there")

LOAD_ARGUMENTS = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
# Each: arguments, LDS, the body with {defect} or {repair} filled in, both of them, and the kind that is found.
DEFECTS = {
    "load_not_waited_for": ("  global_load_dword v2, v1, s[4:5]\n  {0}\n  v_add_u32 v2, v2, v2\n  global_store_dword v1, v2, s[6:7]", "s_nop 0", "s_waitcnt vmcnt(0)", "missing wait"),
    "too_many_left": (
        "  global_load_dword v2, v1, s[4:5]\n  global_load_dword v3, v1, s[4:5]\n  s_waitcnt vmcnt({0})\n  global_store_dword v1, v3, s[6:7]",
        "1", "0", "missing wait"),  # fmt: skip
    "scalar_load_not_waited_for": ("  s_load_dword s8, s[4:5], 0x0\n  {0}\n  v_mov_b32 v2, s8\n  global_store_dword v1, v2, s[6:7]", "s_nop 0", "s_waitcnt lgkmcnt(0)", "missing wait"),
    # Scalar loads end in any order: that one of two may be under way says nothing of the first.
    "scalar_loads_in_order": ("  s_load_dword s8, s[4:5], 0x0\n  s_load_dword s9, s[4:5], 0x4\n  s_waitcnt lgkmcnt({0})\n  v_mov_b32 v2, s8\n  global_store_dword v1, v2, s[6:7]", "1", "0", "missing wait"),
    "register_not_written": ("  {0}\n  global_store_dword v1, v2, s[6:7]", "s_nop 0", "v_mov_b32 v2, 7", "uninitialized"),
    "address_not_written": ("  {0}\n  global_load_dword v2, v3, s[4:5]\n  s_waitcnt vmcnt(0)\n  global_store_dword v1, v2, s[6:7]", "s_nop 0", "v_mov_b32 v3, 0", "uninitialized"),
    "lds_not_written": ("  {0}\n  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]", "s_nop 0", "ds_write_b32 v1, v0", "uninitialized"),
    # Of a pair that is stored together each word is defined by itself.
    "half_of_a_pair_not_written": (
        "  v_lshlrev_b32 v7, 3, v0\n  v_mov_b32 v2, 1\n  ds_write_b64 v7, v[2:3]\n  s_waitcnt lgkmcnt(0)\n  ds_read_b64 v[4:5], v7\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, {0}, s[6:7]",
        "v5", "v4", "uninitialized"),  # fmt: skip
    "past_the_end": ("  v_mov_b32 v2, 1\n  global_store_dword v1, v2, s[6:7] offset:{0}", "4", "0", "out of bounds"),
    "past_the_end_of_lds": ("  v_mov_b32 v2, 1\n  ds_write_b32 v1, v2 offset:{0}\n  s_waitcnt lgkmcnt(0)", "772", "768", "out of bounds"),
    "store_to_read_only": ("  v_mov_b32 v2, 1\n  global_store_dword v1, v2, s[{0}]", "4:5", "6:7", "store to read-only memory"),
    "misaligned_atomic": ("  v_mov_b32 v2, 1\n  v_lshlrev_b32 v3, 1, v0\n  {0}\n  global_atomic_add v3, v2, s[6:7]", "s_nop 0", "v_lshlrev_b32 v3, 2, v0", "misaligned"),
    "no_barrier": (
        "  v_xor_b32 v3, 64, v0\n  v_lshlrev_b32 v3, 2, v3\n  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  {0}\n  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]",
        "s_nop 0", "s_barrier", "race in LDS"),  # fmt: skip
    # What a wave has written is there for the others only where it waited for it before the barrier.
    "barrier_without_wait": (
        "  v_xor_b32 v3, 64, v0\n  v_lshlrev_b32 v3, 2, v3\n  ds_write_b32 v1, v0\n  {0}\n  s_barrier\n  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]",
        "s_nop 0", "s_waitcnt lgkmcnt(0)", "race in LDS"),  # fmt: skip
    "written_while_read": (
        "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n  s_barrier\n  v_xor_b32 v3, 64, v0\n  v_lshlrev_b32 v3, 2, v3\n  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n  {0}\n"
        "  v_add_u32 v4, v0, v2\n  ds_write_b32 v1, v4\n  s_waitcnt lgkmcnt(0)",
        "s_nop 0", "s_barrier", "race in LDS"),  # fmt: skip
    "waves_write_one_word": ("  {0}\n  v_mov_b32 v3, 0\n  global_store_dword v3, v2, s[6:7]", "v_mov_b32 v2, v0", "v_mov_b32 v2, 5", "race in global memory"),
    "trap": ("  v_mov_b32 v2, 1\n  {0}", "s_trap 2", "s_nop 0", "trap"),
}  # fmt: skip


@pytest.fixture(scope="module")
def code():
    kernels = {}
    for name, (body, defect, repair, _) in DEFECTS.items():
        kernels[f"{name}_broken"] = (LOAD_ARGUMENTS + body.format(defect), 2, 1024)
        kernels[f"{name}_repaired"] = (LOAD_ARGUMENTS + body.format(repair), 2, 1024)
    return assemble("defects", "gfx942", kernels)


def launch(code, kernel):
    x, out = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    return run(code, kernel, [x, out], size=64 if "past" in kernel and "lds" in kernel else 128, clean=False, read_only=(0,))


@pytest.mark.parametrize("name", DEFECTS)
def test_defect(code, name):
    kinds = {finding["kind"] for finding in launch(code, f"{name}_broken")["findings"]}
    if name == "no_barrier":
        kinds -= {"uninitialized"}  # the wave that writes runs later
    assert kinds == {DEFECTS[name][3]}
    assert not launch(code, f"{name}_repaired")["findings"]


def test_halves_of_a_word_are_told_apart():
    """Each wave writes one half of a word, then, after a barrier, the other one."""
    half = "  v_and_b32 v3, 63, v0\n  v_lshlrev_b32 v3, 2, v3\n  v_lshrrev_b32 v4, 6, v0\n  v_lshl_add_u32 v5, v4, 1, v3\n  v_xor_b32 v6, 2, v5\n"
    body = LOAD_ARGUMENTS + half + "  ds_write_b16 v5, v0\n  s_waitcnt lgkmcnt(0)\n  {0}\n  v_add_u32 v7, 1, v0\n  ds_write_b16 v6, v7\n  s_waitcnt lgkmcnt(0)"
    code = assemble("halves", "gfx942", {"ordered": (body.format("s_barrier"), 2, 1024), "racing": (body.format("s_nop 0"), 2, 1024)})
    assert not launch(code, "ordered")["findings"]
    assert {finding["kind"] for finding in launch(code, "racing")["findings"]} == {"race in LDS"}


def test_groups_race():
    body = LOAD_ARGUMENTS + "  v_mov_b32 v2, s2\n  global_store_dword v1, v2, s[6:7]"
    groups = assemble("groups", "gfx942", {"races": (body, 2, 0)})
    out = np.zeros(64, np.int32)
    answer = run(groups, "races", [np.zeros(64, np.int32), out], groups=2, clean=False)
    assert [finding["kind"] for finding in answer["findings"]] == ["race in global memory"]


def test_a_loop_without_end_is_stopped():
    code = assemble("endless", "gfx942", {"endless": ("again:\n  s_branch again", 0, 0)})
    answer = run(code, "endless", [], clean=False, limit=10000)
    assert [finding["kind"] for finding in answer["findings"]] == ["limit reached"]


def test_an_instruction_that_is_not_simulated_is_refused_by_name():
    code = assemble("refused", "gfx942", {"refused": ("  s_cbranch_scc1 over\n  v_mqsad_u32_u8 v[4:7], v[0:1], v2, v[4:7]\nover:", 0, 0)})
    with pytest.raises(RuntimeError, match="`v_mqsad_u32_u8` is not simulated"):
        run(code, "refused", [])


def test_arguments_of_the_wrong_size_are_refused():
    code = assemble("sizes", "gfx942", {"sizes": ("", 1, 0)})
    with pytest.raises(RuntimeError, match="argument 1 of `sizes` has 8 bytes; 4 were given"):
        run(code, "sizes", [np.int32(1)])


def test_findings_name_lines_of_the_source():
    text = """__attribute__((amdgpu_kernel)) void past(float *x, float *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = x[i
             + 1];
}
"""
    answer = run(compile_c("past", "gfx942", text), "past", [np.zeros(64, np.float32), np.zeros(64, np.float32)], clean=False)
    (finding,) = answer["findings"]
    assert finding["kind"] == "out of bounds" and finding["place"].endswith("past.c:3")
    assert "at byte 256 of argument 0 (256 bytes)" in finding["message"]


def test_counters():
    strided = LOAD_ARGUMENTS + "  v_lshlrev_b32 v3, {0}, v0\n  ds_write_b32 v3, v0\n  global_load_dword v2, v3, s[4:5]\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  global_store_dword v1, v2, s[6:7]"
    code = assemble("strided", "gfx942", {f"by_{4 << n}": (strided.format(2 + n), 2, 64 * (4 << n)) for n in (0, 3)})
    x, out = np.zeros(64 * 8, np.int32), np.zeros(64, np.int32)
    dense, sparse = (run(code, name, [x, out])["counters"] for name in ("by_4", "by_32"))
    assert dense["global_lines"] == dense["ideal_lines"] == 4
    assert sparse["global_lines"] == 16 + 2  # 64 words 32 bytes apart, and the dense store
    assert dense["bank_conflicts"] == 0
    assert sparse["bank_conflicts"] == 2 * 7  # eight words of each bank, for both halves of the wave
