"""Code objects that Triton makes for AMD's GPUs run with the right results and no findings. `make test-setup` installs Triton's own package
into .venv/triton, where a process of its own compiles."""

import json
import os
import subprocess

import numpy as np
import pytest
from amdgcn_program import PROGRAM, ROOT, lanes, run, scratch

PYTHON = ROOT / ".venv/triton/bin/python"
pytestmark = [
    pytest.mark.skipif(not PYTHON.exists(), reason="Triton is not installed in .venv/triton (make test-setup)"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="amdgcn-run is not built"),
]
EVERY = pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])


@pytest.fixture(scope="module")
def compiler():
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    process = subprocess.Popen([PYTHON, "-W", "ignore", ROOT / "tests/simulator_amdgcn/amdgcn_triton_kernels.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    yield process
    process.stdin.close()
    process.wait(60)


@pytest.fixture
def launch(compiler):
    def launch(kernel, signature, constants, arch, groups, arguments, **options):
        whole = {**signature, **{name: "constexpr" for name in constants}}
        request = {"kernel": kernel, "signature": whole, "constants": constants, "arch": arch, "options": options, "folder": str(scratch())}
        compiler.stdin.write(json.dumps(request) + "\n")
        compiler.stdin.flush()
        answer = compiler.stdout.readline()
        assert answer, "Triton's process has ended; its standard error says why"
        code, name, shared, warps = json.loads(answer)
        return run(code, name, arguments, groups, warps * lanes(arch), shared)

    return launch


@EVERY
def test_vector_add(launch, arch):
    n = 1500
    x, y = np.random.default_rng(0).normal(size=(2, n)).astype(np.float32)
    out = np.zeros(n, np.float32)
    launch("add", {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}, arch, 2, [x, y, out, np.int32(n)])
    assert (out == x + y).all()


@EVERY
def test_softmax(launch, arch):
    x = np.random.default_rng(1).normal(size=(2, 700)).astype(np.float32)
    out = np.zeros_like(x)
    launch("softmax", {"x": "*fp32", "out": "*fp32", "stride": "i32", "n": "i32"}, {"BLOCK": 1024}, arch, 2, [x, out, np.int32(700), np.int32(700)])
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=3e-6)


def rounded(values, name):
    """The values of a format, and the array that holds them."""
    if name == "bf16":
        bits = ((values.view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
        return (bits.astype(np.uint32) << 16).view(np.float32), bits
    kept = (values * 30).astype(np.int8) if name == "i8" else values.astype({"fp16": np.float16, "fp32": np.float32}[name])
    return kept, kept


@EVERY
@pytest.mark.parametrize("name,options", [("fp16", {}), ("fp16", {"matrix_instr_nonkdim": 16}), ("bf16", {}), ("i8", {}), ("fp32", {})], ids=["fp16", "fp16-16", "bf16", "i8", "fp32"])
def test_matmul(launch, arch, name, options):
    if name == "fp32" and not arch.startswith("gfx9"):
        pytest.skip("there the product is made of ordinary instructions")
    M, N, K = 50, 60, 72
    random = np.random.default_rng(2)
    (a, held_a), (b, held_b) = rounded(random.normal(size=(M, K)).astype(np.float32), name), rounded(random.normal(size=(K, N)).astype(np.float32), name)
    out = np.zeros((M, N), np.int32 if name == "i8" else np.float32)
    signature = {"a": "*" + name, "b": "*" + name, "c": "*i32" if name == "i8" else "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    answer = launch("matmul", signature, {"BM": 64, "BN": 64, "BK": 32}, arch, 1, [held_a, held_b, out, *np.int32([M, N, K])], **options)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    # gfx942 rounds floats of 32 bits to ten bits of fraction where TF32 is allowed.
    np.testing.assert_allclose(out, expected, atol=0.03 if name == "fp32" else 2e-5 if name != "i8" else 0)
    assert answer["counters"]["matrix"] > 0


@EVERY
def test_attention(launch, arch):
    n, d = 100, 64
    q, k, v = np.random.default_rng(3).normal(size=(3, n, d)).astype(np.float16)
    out = np.zeros((n, d), np.float16)
    signature = {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "n": "i32", "scale": "fp32"}
    launch("attention", signature, {"D": d, "BM": 64, "BN": 32}, arch, 2, [q, k, v, out, np.int32(n), np.float32(0.125)])
    s = q.astype(np.float32) @ k.astype(np.float32).T * 0.125
    p = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(1, keepdims=True) @ v.astype(np.float32), atol=4e-3)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_histogram_scan_and_sort(launch, arch):
    random = np.random.default_rng(4)
    x, out = random.integers(0, 10, 400).astype(np.int32), np.zeros(10, np.int32)
    launch("histogram", {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 256}, arch, 2, [x, out, np.int32(400)])
    assert (out == np.bincount(x, minlength=10)).all()
    x, out = random.integers(0, 10, 1024).astype(np.float32), np.zeros(1024, np.float32)
    launch("scan", {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 1024}, arch, 1, [x, out])
    assert (out == np.cumsum(x)).all()
    x, out = random.normal(size=256).astype(np.float32), np.zeros(256, np.float32)
    launch("sort", {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 256}, arch, 1, [x, out])
    assert (out == np.sort(x)).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_functions(launch, arch):
    import math

    x = np.random.default_rng(5).normal(size=512).astype(np.float32) * 20
    out = np.zeros_like(x)
    launch("functions", {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 512}, arch, 1, [x, out])
    w = x.astype(np.float64)
    expected = np.sin(w) + np.log(abs(w) + 1) + np.sqrt(abs(w)) + np.floor(w) + np.vectorize(math.erf)(w) + w / (w * w + 1)
    np.testing.assert_allclose(out, expected, rtol=2e-6, atol=4e-6)
