"""PTX that Triton makes for sm_80 and sm_90 runs with the right results and no findings. `make test-setup` installs Triton's
own package into .venv/triton, where a process of its own compiles: here `triton` may be the alias of nacre."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nacre.simulator as simulator

FOLDER = Path(__file__).parent
PYTHON = Path(os.environ.get("NACRE_TRITON_PYTHON") or FOLDER.parents[1] / ".venv/triton/bin/python")
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="Triton is not installed in .venv/triton (make test-setup)")


@pytest.fixture(scope="module")
def compiler():
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    process = subprocess.Popen([PYTHON, FOLDER / "triton_kernels.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    yield process
    process.stdin.close()
    process.wait(60)


@pytest.fixture
def run(compiler):
    def launch(kernel, signature, constants, arch, grid, arguments, **options):
        request = {"kernel": kernel, "signature": {**signature, **{c: "constexpr" for c in constants}}, "constants": constants, "arch": arch, "options": options}
        compiler.stdin.write(json.dumps(request) + "\n")
        compiler.stdin.flush()
        answer = compiler.stdout.readline()
        assert answer, "Triton's process has ended; its standard error says why"
        ptx, name, shared, threads = json.loads(answer)
        module = simulator.load(ptx)
        scratch = np.zeros(1 << 20, np.uint8)  # for descriptors made by the kernel
        extra = [scratch] * (len(module.kernels[name]["parameters"]) - len(arguments))
        report = module.run(name, grid, threads, [*arguments, *extra], shared=shared)
        assert report.clean, str(report)
        return report

    return launch


ARCHITECTURES = pytest.mark.parametrize("arch", [80, 90])


@ARCHITECTURES
def test_vector_add(run, arch):
    n = 3000
    x, y = np.random.default_rng(0).normal(size=(2, n)).astype(np.float32)
    z = np.zeros(n, np.float32)
    run("add_kernel", {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32"}, {"BLOCK": 1024}, arch, 3, [x, y, z, n])
    assert (z == x + y).all()


@ARCHITECTURES
def test_softmax(run, arch):
    rows, n = 5, 700
    x = np.random.default_rng(1).normal(size=(rows, n)).astype(np.float32)
    out = np.zeros_like(x)
    run("softmax_kernel", {"out": "*fp32", "x": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 1024}, arch, rows, [out, x, n, n])
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-6)


@ARCHITECTURES
def test_layer_norm(run, arch):
    rows, n = 4, 500
    random = np.random.default_rng(2)
    x = random.normal(size=(rows, n)).astype(np.float32)
    w, b = random.normal(size=(2, n)).astype(np.float32)
    out = np.zeros_like(x)
    signature = {"out": "*fp32", "x": "*fp32", "w": "*fp32", "b": "*fp32", "stride": "i32", "n": "i32", "eps": "fp32"}
    run("layer_norm_kernel", signature, {"BLOCK": 512}, arch, rows, [out, x, w, b, n, n, 1e-5])
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


MATMUL = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}


@ARCHITECTURES
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("tile", [(64, 64, 32), (128, 64, 64)])
def test_matmul(run, arch, stages, tile):
    m, n, k = 128, 128, 96
    random = np.random.default_rng(3)
    a, b = random.integers(-3, 4, (m, k)).astype(np.float16), random.integers(-3, 4, (k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float16)
    bm, bn, bk = tile
    run("matmul_kernel", MATMUL, {"BM": bm, "BN": bn, "BK": bk}, arch, (m // bm, n // bn), [a, b, c, m, n, k], num_warps=4, num_stages=stages)
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)).all()


def test_matmul_with_descriptors(run):
    m, n, k = 128, 128, 128
    random = np.random.default_rng(4)
    a, b = random.integers(-3, 4, (m, k)).astype(np.float16), random.integers(-3, 4, (k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float16)
    run("descriptor_matmul_kernel", MATMUL, {"BM": 64, "BN": 64, "BK": 64}, 90, (2, 2), [a, b, c, m, n, k], num_warps=4, num_stages=2)
    assert (c == (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)).all()


@ARCHITECTURES
def test_attention(run, arch):
    s, d = 128, 64
    random = np.random.default_rng(5)
    q, k, v = random.normal(size=(3, s, d)).astype(np.float16)
    o = np.zeros((s, d), np.float16)
    signature = {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "S": "i32", "scale": "fp32"}
    scale = 1.4426950408889634 / d**0.5
    run("attention_kernel", signature, {"BM": 64, "BN": 32, "D": d}, arch, s // 64, [q, k, v, o, s, scale], num_warps=4, num_stages=2)
    scores = q.astype(np.float64) @ k.T.astype(np.float64) / d**0.5
    p = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(o, p / p.sum(1, keepdims=True) @ v.astype(np.float64), atol=4e-3)


@ARCHITECTURES
def test_atomics(run, arch):
    n = 4000
    x = np.random.default_rng(6).integers(0, 100, n).astype(np.int32)
    out = np.zeros(1, np.int32)
    run("atomic_kernel", {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 256}, arch, 16, [x, out, n])
    assert out[0] == x.sum()
