"""Bytes and flops that the compiler counts: the metrics of kernels that have none of their own."""

import json

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.profiler as proton
from nacre.profiler import viewer


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, powers / tl.sum(powers, axis=0), mask=offsets < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, inner = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a + rows[:, None] * K + (k * BK + inner)[None, :])
        total = tl.dot(left, tl.load(b + (k * BK + inner)[:, None] * N + columns[None, :]), total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def triangle(x, out, BLOCK: tl.constexpr):
    """Program i adds up i + 1 blocks."""
    program = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, program + 1):
        total += tl.load(x + i * BLOCK + offsets)
    tl.store(out + program * BLOCK + offsets, total)


@triton.jit
def until(x, out):
    """How long it runs is for its data to say."""
    n = tl.load(x)
    total = 0.0
    for i in range(0, n.to(tl.int32)):
        total += tl.load(x + i)
    tl.store(out, total)


@triton.jit
def early(x, out, n, BLOCK: tl.constexpr):
    """Half of the programs have nothing to do."""
    program = tl.program_id(0)
    if program < n:
        offsets = program * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets) * 2.0)


def floats(*shape):
    return np.ones(shape, np.float32)


@pytest.fixture
def profiled(tmp_path):
    """profiled(launch) -> the metrics of its only kernel."""

    def run(launch, hook=None, scope=None):
        proton.start(str(tmp_path / "profile"), hook=hook)
        with proton.scope("all", scope):
            launch()
        proton.finalize()
        root, _ = json.loads((tmp_path / "profile.hatchet").read_text())
        (kernel,) = [child for child in root["children"][0]["children"] if "count" in child["metrics"]]
        return kernel["metrics"]

    return run


def test_vector_add(profiled):
    metrics = profiled(lambda: add[(8,)](floats(1000), floats(1000), floats(1000), 1000, BLOCK=128))
    assert metrics["bytes"] == 12 * 1000 and metrics["flops32"] == 8 * 128 and metrics["counted"] == "by the compiler"
    assert metrics["config"].startswith("BLOCK=128, num_warps=") and metrics["source"] == f"{__file__}:{add.fn.__code__.co_firstlineno}"


def test_softmax(profiled):
    x = floats(16, 781)
    metrics = profiled(lambda: softmax[(16,)](x, np.empty_like(x), 781, BLOCK=1024))
    assert metrics["bytes"] == 2 * x.nbytes
    assert metrics["flops32"] == 16 * 1024 * 5  # maximum, difference, power, sum, quotient


def test_matmul(profiled):
    a, b, c = floats(64, 96), floats(96, 32), floats(64, 32)
    metrics = profiled(lambda: matmul[(4, 2)](a, b, c, 64, 32, 96, BM=16, BN=16, BK=32))
    assert metrics["flops32"] == 2 * 64 * 32 * 96 and metrics["bytes"] == a.nbytes + b.nbytes + c.nbytes


def test_a_product_of_half_precision(profiled):
    a, b, c = floats(32, 32).astype(np.float16), floats(32, 32).astype(np.float16), floats(32, 32)
    metrics = profiled(lambda: matmul[(2, 2)](a, b, c, 32, 32, 32, BM=16, BN=16, BK=32))
    assert metrics["flops16"] == 2 * 32**3 and metrics["bytes"] == 2 * 2048 + 4096


def test_programs_that_differ(profiled):
    x = floats(1 << 16)
    metrics = profiled(lambda: triangle[(10,)](x, np.empty_like(x), BLOCK=64))
    assert metrics["flops32"] == 64 * 55 and metrics["bytes"] == 64 * 55 * 4 + 64 * 10 * 4


def test_branches(profiled):
    metrics = profiled(lambda: early[(8,)](floats(512), floats(512), 4, BLOCK=64))
    assert metrics["bytes"] == 2 * 4 * 64 * 4 and metrics["flops32"] == 4 * 64


def test_what_depends_on_data_is_not_counted(profiled):
    metrics = profiled(lambda: until[(1,)](floats(8), floats(1)))
    assert metrics["count"] == 1 and "bytes" not in metrics and "flops32" not in metrics and "counted" not in metrics


def test_other_numbers_are_other_work(tmp_path):
    proton.start(str(tmp_path / "profile"))
    for n in (128, 1000, 1000):
        add[(triton.cdiv(n, 128),)](floats(n), floats(n), floats(n), n, BLOCK=128)
    proton.finalize()
    root, _ = json.loads((tmp_path / "profile.hatchet").read_text())
    kernel = next(child for child in root["children"] if "count" in child["metrics"])["metrics"]
    assert kernel["count"] == 3 and kernel["bytes"] == 12 * (128 + 2 * 1000)


def test_what_the_user_says_counts(profiled):
    annotated = triton.jit(add.fn, launch_metadata=lambda grid, metadata, args: {"name": "mine", "flops64": 7.0})
    launch = lambda: annotated[(8,)](floats(1000), floats(1000), floats(1000), 1000, BLOCK=128)  # noqa: E731
    metrics = profiled(launch, hook="triton")
    assert metrics["flops64"] == 7.0 and "bytes" not in metrics and "counted" not in metrics and "config" in metrics
    metrics = profiled(launch, scope={"bytes": 100})
    assert "bytes" not in metrics and "flops32" not in metrics


def vector_add():
    add[(8,)](floats(1000), floats(1000), floats(1000), 1000, BLOCK=128)


def rows_of_softmax():
    softmax[(16,)](floats(16, 1024), floats(16, 1024), 1024, BLOCK=1024)


def product():
    matmul[(4, 2)](floats(64, 96), floats(96, 32), floats(64, 32), 64, 32, 96, BM=16, BN=16, BK=32)


# The least time by hand, of the tests' 10 GB/s and 100 GFLOP/s.
@pytest.mark.parametrize("launch, name, least", [
    (vector_add, "add", 12 * 1000 / 10e9),
    (rows_of_softmax, "softmax", 2 * 4 * 16 * 1024 / 10e9),
    (product, "matmul", max(4 * (64 * 96 + 96 * 32 + 64 * 32) / 10e9, 2 * 64 * 96 * 32 / 1e11)),
])  # fmt: skip
def test_utilization_without_annotations(tmp_path, launch, name, least):
    path = str(tmp_path / "profile")
    proton.start(path)
    launch()
    proton.finalize()
    graph, columns = viewer.parse(["util", "gbyte/s", "tflop32/s"], path + ".hatchet")
    frame = next(frame for frame in graph.frames() if frame.name == name)
    assert frame.columns["util"] == pytest.approx(least / (frame.own["time (ns)"] / 1e9), rel=0.05)
