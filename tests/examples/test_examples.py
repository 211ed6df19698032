"""Every example runs at a small size and agrees with PyTorch or NumPy (each raises when it does not). test_llm.py tests the language model."""

import importlib
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SIZES = {
    "vector_add": dict(count=5000),
    "memory_copy": dict(count=5000),
    "greyscale": dict(height=31, width=57),
    "softmax": dict(shapes=((8, 128), (5, 77))),
    "layer_norm": dict(rows=5, columns=77),
    "rms_norm": dict(rows=3, columns=1500),
    "gelu": dict(rows=7, columns=77),
    "swiglu": dict(count=5000),
    "rotary": dict(positions=9, heads=3, dimension=16),
    "matmul": dict(M=64, N=64, K=64, odd=(50, 33, 27)),
    "dequantize": dict(count=4096, group=32),
    "attention": dict(heads=2, length=100, dimension=16),
    "numpy_arrays": dict(count=5000, rows=5, columns=77),
}


@pytest.fixture(autouse=True)
def alias(monkeypatch):
    import nacre

    nacre.activate()
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_every_example_is_tested():
    scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"compare", "run_all"}
    assert scripts == set(SIZES)
    import run_all

    assert scripts | {"llm"} == {*run_all.NEEDS_TORCH, *run_all.NEEDS_NUMPY}


@pytest.mark.parametrize("name", SIZES)
def test_example(name, monkeypatch, capsys):
    if name != "numpy_arrays":
        pytest.importorskip("torch")
        import compare

        monkeypatch.setattr(compare, "best_time_ms", lambda function: function() is None or 1.0)  # checked, not timed
    importlib.import_module(name).main(**SIZES[name])
    assert "max error" in capsys.readouterr().out


def test_a_wrong_result_is_caught():
    torch = pytest.importorskip("torch")
    import compare

    x = torch.ones(4)
    with pytest.raises(AssertionError, match="largest error"):
        compare.compare("wrong", lambda: x + 1e-3, lambda: x, tolerance=1e-4)
    with pytest.raises(AssertionError, match="largest error"):
        compare.compare("not a number", lambda: x * float("nan"), lambda: x, tolerance=1e-4)
