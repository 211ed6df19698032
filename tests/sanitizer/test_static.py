"""`nacre sanitize --static`: proofs and witnesses, and never a false proof."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))

import clean
import planted
import torch
import triton
import triton.language as tl

from nacre.sanitizer import _static_program

LINES = Path(planted.__file__).read_text().splitlines()


def verdicts(function):
    """Of the function's first launch, which is not run."""
    session = _static_program.start(runs=False)
    try:
        with pytest.raises(_static_program.LaunchNotRun):
            function()
    finally:
        _static_program.stop()
    return [access for launch in session.launches for access in launch["accesses"]]


def answers(found, check):
    return [access["answer"] for access in found if access["check"] == check]


@pytest.mark.parametrize("function", [clean.vector_add, clean.row_softmax, clean.blocked_matmul], ids=lambda f: f.__name__)
def test_proved(function):
    found = verdicts(function)
    assert found and {access["answer"] for access in found} == {"proved"}, found


BOUNDS = [
    "mask_off_by_one", "load_before_the_begin", "load_before_a_view", "row_stride_too_large", "scalar_load_past_the_end",
    "last_iteration_of_a_loop", "second_operand_too_short",
]  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_witness_of_bounds(name):
    found = [access for access in verdicts(planted.CASES[name][1]) if access["answer"] == "witness"]
    assert found and all(access["check"] == "bounds" for access in found)
    for access in found:
        assert LINES[int(access["place"].rsplit(":", 2)[1]) - 1].endswith("# BUG"), access
        assert "program (" in access["text"] and "element" in access["text"]


RACES = ["every_program_stores_to_the_same_places", "blocks_overlap_by_one", "transpose_over_itself", "second_axis_writes_the_same"]


@pytest.mark.parametrize("name", RACES)
def test_witness_of_races(name):
    found = [access for access in verdicts(planted.CASES[name][1]) if access["answer"] == "witness"]
    assert found and all(access["check"] == "race" for access in found)


@pytest.mark.parametrize("name", [name for name, (kind, _) in planted.CASES.items() if kind in ("asan", "tsan")])
def test_no_bug_is_proved_away(name):
    """The line at fault has at least one answer that is no proof, and all proofs of its check hold elsewhere."""
    kind, function = planted.CASES[name]
    check = "bounds" if kind == "asan" else "race"
    at_fault = [
        access for access in verdicts(function)
        if access["check"] == check and LINES[int(access["place"].rsplit(":", 2)[1]) - 1].endswith("# BUG")
    ]  # fmt: skip
    assert any(access["answer"] != "proved" for access in at_fault), at_fault


@triton.jit
def wraps(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * n + tl.arange(0, BLOCK)  # may wrap: no proof
    tl.store(x + offsets, 1.0, mask=(offsets >= 0) & (offsets < BLOCK))


def test_arithmetic_that_wraps_proves_nothing():
    found = verdicts(lambda: wraps[(3,)](torch.zeros(16), 1 << 30, BLOCK=16))
    assert "proved" not in answers(found, "race")


@triton.jit
def gathered(index, x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    at = tl.load(index + offsets)
    tl.store(out + offsets, tl.load(x + at, mask=(at >= 0) & (at < BLOCK)))


def test_a_mask_tames_what_was_read():
    index = torch.tensor([0, 1, -5, 100, 2, 3, 4, 5], dtype=torch.int32)
    found = verdicts(lambda: gathered[(1,)](index, torch.ones(8), torch.zeros(8), BLOCK=8))
    assert answers(found, "bounds") == ["proved"] * 3
