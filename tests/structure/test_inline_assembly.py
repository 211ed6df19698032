"""Inline assembly of our own is made in one place, which knows the registers that results may share; users' code keeps the user's constraints."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# file -> why it may
MAY = {
    "compiler/targets/cuda/InlinePtx.cpp": "the builder of all others",
    "compiler/passes/gpu/LowerInlineCode.cpp": "the user's text and constraints",
    "compiler/passes/cpu/InlineCode.cpp": "the user's text and constraints",
    "compiler/targets/cuda/PtxCode.cpp": "one instruction without operands",
    "compiler/targets/amd/Instructions.cpp": "no instruction: a value that the optimizer does not see through",
}


def test_nobody_else_makes_inline_assembly():
    made = set()
    for top in ("compiler", "runtime", "sanitizer", "cli", "python/core"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".h", ".cpp") and re.search(r"LLVM::InlineAsmOp::create|\bInlineAsm::get\(", path.read_text()):
                made.add(path.relative_to(ROOT).as_posix())
    assert made == set(MAY)
