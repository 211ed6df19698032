"""ptxas takes the kernels of the language tests for every GPU, a sample of them here; named kernels take no more registers than they did
and spill none."""

import os
import re
import subprocess
import sys

import pytest
import triton
import triton.language as tl
from ptxas_kernels import CAPABILITIES, ROOT, assemble, assemble_all, collect
from nacre import _core
from triton.compiler import ASTSource


def test_a_sample_of_the_language_tests(tmp_path):
    """Each kernel for two GPUs, in turn."""
    files = collect(tmp_path, [ROOT / "tests" / "language"], every=90, seconds=600)
    count = len(CAPABILITIES)
    results = assemble_all(files, lambda number: {CAPABILITIES[number % count], CAPABILITIES[(number + 3) % count]}, len(os.sched_getaffinity(0)))
    wrong = [result.text() for result in results if result.error or result.remarks]
    assert not wrong, "\n".join(wrong)
    assert len(files) >= 20


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    row = tl.load(x_ptr + tl.program_id(0) * n + offsets, mask=mask, other=-float("inf"))
    numerator = tl.exp(row - tl.max(row, 0))
    tl.store(out_ptr + tl.program_id(0) * n + offsets, numerator / tl.sum(numerator, 0), mask=mask)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + tl.program_id(0) * n + offsets, mask=mask, other=0.0)
    centred = tl.where(mask, x - tl.sum(x, 0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    weight, bias = tl.load(weight_ptr + offsets, mask=mask), tl.load(bias_ptr + offsets, mask=mask)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, centred * scale * weight + bias, mask=mask)


@triton.jit
def cumsum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.cumsum(tl.load(x_ptr + offsets), 0))


@triton.jit
def transpose(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    rows, columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x_ptr + rows[:, None] * n + columns[None, :])
    tl.store(out_ptr + columns[:, None] * n + rows[None, :], tl.trans(tile))


# Registers of a thread with CUDA 13.0's ptxas: (kernel, block, for 80, for 90).
REGISTERS = [
    (add, 1024, 30, 30),
    (softmax, 1024, 32, 30),
    (softmax, 4096, 64, 53),
    (layer_norm, 1024, 32, 32),
    (cumsum, 1024, 32, 32),
    (transpose, 64, 40, 40),
]
SLACK = 1.05


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("row", REGISTERS, ids=lambda row: f"{row[0].__name__}-{row[1]}")
def test_registers_of_named_kernels(row, capability):
    kernel, block, *known = row
    names = [name for name in kernel.arg_names if name.endswith("_ptr")]
    signature = {**dict.fromkeys(names, "*fp32"), "n": "i32", "BLOCK": "constexpr"}
    attributes = {(place,): [["tt.divisibility", 16]] for place in range(len(names) + 1)}
    triton.knobs.runtime.override_arch = str(capability)
    _core.set_active_device("simulate")
    try:
        ptx = triton.compile(ASTSource(kernel, signature, {"BLOCK": block}, attributes)).asm["ptx"]
    finally:
        _core.set_active_device(None)
        triton.knobs.runtime.override_arch = None
    made = assemble(kernel.__name__, capability, ptx)
    assert not made.error and made.spilled_bytes == 0
    limit = known[capability == 90]
    assert made.registers <= limit * SLACK, f"{made.registers} registers, which were {limit}"


STREAMS = """
import triton
import triton.language as tl

@triton.jit
def row_sums(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0))

@triton.jit
def with_many_others(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    factors = tl.load(out_ptr.to(tl.pointer_type(tl.int64)) + tl.arange(0, BLOCK))
    total = 0.0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
        total += tl.sum((x.to(tl.int64) * factors).to(tl.float32) * x, 0)
    tl.store(out_ptr, total)

@triton.jit
def scores(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    q = tl.load(x_ptr + places)
    largest = tl.full((BLOCK,), float("-inf"), tl.float32)
    values = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start * BLOCK + places)
        weights = tl.dot(q, tl.trans(x), input_precision="ieee")
        more = tl.maximum(largest, tl.max(weights, 1))
        values = values * tl.exp2(largest - more)[:, None] + tl.dot(tl.exp2(weights - more[:, None]), x, input_precision="ieee")
        largest = more
    tl.store(out_ptr + places, values)
"""


def registers_and_spills(tmp_path, kernel, block):
    """As the command says of the cubin."""
    (tmp_path / "streams.py").write_text(STREAMS)
    command = [sys.executable, "-m", "nacre", "compile", "streams.py", "--kernel", kernel, "--signature", f"*fp32:16, *fp32:16, i32:16, BLOCK={block}",
               "--target", "cuda:90", "--emit", "cubin", "--report", "-o", "out.cubin"]  # fmt: skip
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    return tuple(map(int, re.search(r"(\d+) registers, (\d+) bytes spilled", process.stderr + process.stdout).groups()))


def test_a_loop_that_streams_memory_has_registers_for_all_of_its_loads(tmp_path):
    registers, spilled = registers_and_spills(tmp_path, "row_sums", 2048)
    assert 36 <= registers <= 64 and spilled == 0  # 16 that are carried, 16 that are loaded; 30 without the hint


def test_a_hint_that_makes_registers_spill_is_taken_back(tmp_path):
    registers, spilled = registers_and_spills(tmp_path, "with_many_others", 4096)
    assert registers > 64 and spilled == 0


def test_plain_products_are_dealt_out_to_all_threads(tmp_path):
    """Also where only reductions say how: their rows may not lie in one thread each, and in copies."""
    registers, spilled = registers_and_spills(tmp_path, "scores", 64)
    assert spilled == 0
