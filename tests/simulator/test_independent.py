"""independent.cu, optimized and for debuggers: independent threads, functions of CUDA's headers, places in the user's source."""

from pathlib import Path

import numpy as np
import pytest
from nvcc import NVCC, to_ptx

import nacre.simulator as simulator

pytestmark = pytest.mark.skipif(not NVCC, reason="nvcc is not installed")
SOURCE = Path(__file__).parent / "independent.cu"
LINES = SOURCE.read_text().splitlines()


@pytest.fixture(scope="module", params=["sm_80 -lineinfo", "sm_90a -lineinfo", "sm_90a -G"])
def module(tmp_path_factory, request):
    arch, option = request.param.split()
    return simulator.load(to_ptx(SOURCE, tmp_path_factory.mktemp("cuda"), f"-arch={arch}", option))


@pytest.fixture(params=["fixed", 1], ids=["fixed", "random"])
def run(module, request):
    def launch(name, grid, block, args, **options):
        if request.param != "fixed":
            options |= {"schedule": "random", "seed": request.param}
        report = module.run(name, grid, block, args, **options)
        assert report.clean, str(report)
        return report

    return launch


def line_of(text):
    return next(i for i, line in enumerate(LINES, 1) if text in line)


def test_lanes_wait_for_each_other(run):
    flag, out = np.zeros(1, np.int32), np.zeros(33, np.int32)
    run("spin_global", 1, 32, [flag, out])
    assert out.tolist() == [7, *range(32)]
    run("spin_shared", 1, 32, [out])
    assert out[:32].tolist() == [9 + t for t in range(32)]
    out = np.zeros(64, np.int32)
    run("chain", 1, 64, [out])
    assert out.tolist() == [3 * t for t in range(64)]


def test_groups(run):
    x = np.random.default_rng(0).integers(0, 100, 128).astype(np.int32)
    out = np.zeros(128, np.int32)
    run("tiles", 1, 64, [x, out])
    sums = x[:64].reshape(4, 16).sum(1)
    assert out[:64].tolist() == [int(sums[t // 16] * (16 if t < 16 else 1)) for t in range(64)]
    run("wide_tiles", 1, 128, [x, out])
    assert out.tolist() == [int(x[t // 64 * 64 : t // 64 * 64 + 64].sum()) for t in range(128)]
    out[:] = 0
    run("coalesced", 1, 32, [out])
    assert out[:32].tolist() == [3000 + t // 3 if t % 3 == 0 else 0 for t in range(32)]


def test_grid(run, module):
    x, out = np.zeros(512, np.int32), np.zeros(512, np.int32)
    run("whole_grid", 8, 64, [x, out], cooperative=True)
    assert (out == np.arange(512)[::-1]).all()
    report = module.run("whole_grid", 8, 64, [x, out])
    assert [finding.kind for finding in report.findings] == ["trap"] and "cooperative" in report.findings[0].message
    assert report.findings[0].line == line_of("grid.sync();")


def test_video(run):
    n = 64
    x, y = np.random.default_rng(1).integers(0, 2**32, (2, n), dtype=np.uint32)
    out = np.zeros((8, n), np.uint32)
    run("video", 1, n, [x, y, out, n])
    a, b = (v.view(np.uint8).reshape(n, 4).astype(np.int64) for v in (x, y))
    sa, sb = (v.view(np.int8).reshape(n, 4).astype(np.int64) for v in (x, y))
    ha, hb = (v.view(np.int16).reshape(n, 2).astype(np.int64) for v in (x, y))

    def word(parts, dtype):
        return parts.astype(dtype).view(np.uint32).reshape(n)

    expected = [
        word(abs(a - b), np.uint8), abs(a - b).sum(1), word(abs(sa - sb), np.uint8), word(a + b, np.uint8),
        word(np.clip(ha + hb, -(2**15), 2**15 - 1), np.int16), word(np.maximum(a, b), np.uint8), word((a > b) * 255, np.uint8),
        word((a + b + 1) // 2, np.uint8),
    ]  # fmt: skip
    for row, right in zip(out, expected):
        np.testing.assert_array_equal(row, right)


def test_stack(run):
    out = np.zeros(32, np.int32)
    run("stack", 1, 32, [out, 10])
    assert out.tolist() == [45 * t for t in range(32)]


@pytest.mark.parametrize(
    "kernel, args, kind, text",
    [
        ("stack_past_the_end", [np.zeros(32, np.int32), 10], "out-of-bounds", "p[n + threadIdx.x % 2]"),
        ("local_past_the_end", [np.zeros(32, np.int32), 1], "out-of-bounds", "a[threadIdx.x % 5 + n]"),
        ("shared_past_the_end", [np.zeros(32, np.int32), 1], "out-of-bounds", "a[threadIdx.x + n]"),
        ("traps", [np.full(32, -1, np.int32)], "trap", "// the trap"),
        ("exited_lane", [np.zeros(32, np.int32), np.zeros(32, np.int32)], "synchronization-misuse", "// reads an exited lane"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_found_at_the_line_of_the_user(module, kernel, args, kind, text):
    report = module.run(kernel, 1, 32, args)
    assert [finding.kind for finding in report.findings] == [kind], str(report)
    finding = report.findings[0]
    assert (Path(finding.file).name, finding.line) == (SOURCE.name, line_of(text)), str(report)
    if kernel == "exited_lane":
        assert "has exited" in finding.message and finding.inner_file.endswith(".hpp") and finding.inner_line


def test_race_through_global_memory_within_a_block(module):
    for options in [{}, {"schedule": "random", "seed": 4}]:
        report = module.run("block_race", 1, 64, [np.zeros(128, np.int32)], **options)
        assert [finding.kind for finding in report.findings] == ["global-race"], str(report)
        assert line_of("// the write") in (report.findings[0].line, report.findings[0].other["line"])
