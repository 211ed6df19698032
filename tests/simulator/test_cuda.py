"""PTX that nvcc makes of kernels.cu runs with the right results and no findings."""

from pathlib import Path

import numpy as np
import pytest
from nvcc import NVCC, to_ptx

import nacre.simulator as simulator

pytestmark = pytest.mark.skipif(not NVCC, reason="nvcc is not installed")
SOURCE = Path(__file__).parent / "kernels.cu"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return simulator.load(to_ptx(SOURCE, tmp_path_factory.mktemp("cuda"), "-arch=sm_90a", "-lineinfo"))


@pytest.fixture(params=["fixed", 1, 2], ids=["fixed", "random 1", "random 2"])
def run(module, request):
    def launch(name, grid, block, args, **options):
        if request.param != "fixed":
            options |= {"schedule": "random", "seed": request.param}
        report = module.run(name, grid, block, args, **options)
        assert report.clean, str(report)
        return report

    return launch


def random(seed=0):
    return np.random.default_rng(seed)


def test_reduce(run):
    x = random().integers(0, 50, 5000).astype(np.float32)
    out = np.zeros(1, np.float32)
    run("reduce", 4, 256, [x, out, len(x)])
    assert out[0] == x.sum()


def test_scan(run):
    x = random().integers(0, 50, 200).astype(np.int32)
    out = np.zeros_like(x)
    run("scan", 1, 256, [x, out, len(x)], shared=1024)
    assert (out == np.cumsum(x)).all()


def test_histogram(run):
    x = random().integers(0, 256, 4000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    run("histogram", 3, 128, [x, bins, len(x)])
    assert (bins == np.bincount(x, minlength=256)).all()


def test_tiled_matmul(run):
    m, n, k = 40, 50, 37
    a, b = random().integers(-4, 5, (m, k)).astype(np.float32), random(1).integers(-4, 5, (k, n)).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    run("tiled_matmul", (4, 3), (16, 16), [a, b, c, m, n, k])
    assert (c == a @ b).all()


def test_warp_mma(run):
    a, b = random().integers(-4, 5, (16, 16)).astype(np.float16), random(1).integers(-4, 5, (16, 8)).astype(np.float16)
    c = np.zeros((16, 8), np.float32)
    run("warp_mma", 1, 32, [a, b, c])
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def test_pipeline(run):
    x = random().integers(0, 9, (10, 128, 4)).astype(np.float32)
    out = np.zeros(128, np.float32)
    run("pipeline", 1, 128, [x, out, 10])
    assert (out == x.sum((0, 2))[::-1]).all()


def test_bulk_pipeline(run):
    x = random().integers(0, 9, (7, 4, 64)).astype(np.float32)
    out = np.zeros(64, np.float32)
    run("bulk_pipeline", 1, 96, [x, out, 7])
    assert (out == x.sum((0, 1))).all()


def test_locks(run, module):
    counter = np.zeros(1, np.int32)
    run("locked_count", 20, 32, [counter])
    assert counter[0] == 20
    run("lane_lock", 1, 64, [counter])
    assert counter[0] == 64


def test_grid_barrier(run):
    blocks = 12
    x = np.arange(blocks, dtype=np.int32)
    arrived, partial, out = np.zeros(1, np.int32), np.zeros(blocks, np.int32), np.zeros(blocks, np.int32)
    run("grid_barrier", blocks, 32, [arrived, x, partial, out])
    assert (out == 2 * x.sum()).all()


def test_control_flow(run):
    out = np.zeros(64, np.int32)
    run("recursion", 1, 64, [out])
    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert out.tolist() == [fibonacci[i % 12] for i in range(64)]
    x = random().normal(size=32).astype(np.float32)
    y = np.zeros_like(x)
    run("pointers", 1, 32, [x, y])
    assert (y == np.where(np.arange(32) % 2, x * x, 2 * x)).all()
    v = random().integers(0, 10, 64).astype(np.int32)
    run("switches", 1, 64, [v, out])
    table = [1, 50, 2 ^ 77, 96, -4, 2, 29, int(np.int32(np.uint32(0xE0000000))), 12345, 12345]
    assert out.tolist() == [table[i] for i in v]


def test_local_arrays(run):
    x = random().integers(0, 1000, 64).astype(np.int32)
    out = np.zeros_like(x)
    run("local_arrays", 1, 64, [x, out])
    assert out.tolist() == [sorted(x[(t + i) % 64] for i in range(16))[x[t] & 15] for t in range(64)]


def test_printf(module):
    report = module.run("prints", 1, 32, [2])
    assert report.printed == "thread 0 of block: 0.00 1099511627776 ff%\nthread 1 of block: 0.50 1099511627776 ff%\n"
    assert report.clean


def test_assert(module):
    x = np.ones(32, np.int32)
    assert module.run("asserts", 1, 32, [x]).clean
    x[7] = -1
    report = module.run("asserts", 1, 32, [x])
    assert [finding.kind for finding in report.findings] == ["assertion-failed"]
    assert "x[threadIdx.x] >= 0" in report.findings[0].message and not report.completed
    assert report.findings[0].thread == (7, 0, 0)


def test_halves(run):
    x = random().normal(size=64).astype(np.float16)
    y = (random(1).normal(size=32).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out, other = np.zeros(64, np.float16), np.zeros(32, np.uint16)
    run("halves", 1, 32, [x, y, out, other])
    expected = (x.astype(np.float64) ** 2 + np.maximum(x, np.float16(0.5)).astype(np.float64)).astype(np.float16)
    assert (out == expected).all()

    def bfloat(values):
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

    wide = (y.astype(np.uint32) << 16).view(np.float32)
    square = (bfloat(wide * wide).astype(np.uint32) << 16).view(np.float32)
    assert (other == bfloat(square + np.float32(1.5))).all()


def test_mathematics(run):
    n = 500
    x = random().normal(0, 2, n).astype(np.float32)
    out = np.zeros((8, n), np.float32)
    run("mathematics", 4, 128, [x, out, n])
    w = x.astype(np.float64)
    from math import erf

    expected = [np.exp(w), np.log(np.abs(w) + 0.1), np.sin(w), 1 / np.sqrt(np.abs(w) + 1), [erf(v) for v in w], np.tanh(w), np.abs(w) ** 1.7, w / 3]
    np.testing.assert_allclose(out, np.array(expected), rtol=1e-5, atol=2e-6)


def test_clusters(run):
    x = random().integers(0, 100, 8).astype(np.int32)
    out = np.zeros(8, np.int32)
    run("distributed", 8, 32, [x, out])
    assert out.tolist() == [int((x[i // 4 * 4 : i // 4 * 4 + 4] * [1, 2, 3, 4]).sum()) for i in range(8)]


def test_warpgroup_matmul(run):
    a, b = random().integers(-4, 5, (64, 64)).astype(np.float16), random(1).integers(-4, 5, (8, 64)).astype(np.float16)
    c = np.zeros((64, 8), np.float32)
    maps = simulator.TensorMap(a, (64, 64), swizzle=128), simulator.TensorMap(b, (8, 64), swizzle=128)
    run("warpgroup_matmul", 1, 128, [*maps, c])
    assert (c == a.astype(np.float32) @ b.T.astype(np.float32)).all()


def at_a_sector(shape):
    memory = np.zeros(4 * int(np.prod(shape)) + 32, np.uint8)
    start = -memory.ctypes.data % 32
    return memory[start : len(memory) - 32 + start].view(np.float32).reshape(shape)


def test_counters(module):
    x, out = at_a_sector((32, 32)), at_a_sector((32, 32))
    report = module.run("transpose_conflicts", 1, (32, 32), [x, out])
    counters = report.counters
    assert counters["global_sectors"] == counters["ideal_sectors"] == 2 * 32 * 4
    assert counters["bank_conflicts"] == 32 * 31  # every warp reads one bank 32 times
    line = [i for i, text in enumerate(SOURCE.read_text().splitlines(), 1) if "tile[threadIdx.x][threadIdx.y]" in text][0]
    lines = [entry for entry in report.lines if entry["place"]["line"] == line and entry["place"]["file"].endswith("kernels.cu")]
    assert lines and lines[0]["bank_conflicts"] == 32 * 31
