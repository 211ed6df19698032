"""What all operators share: checks that name the argument, registration with torch, blocks."""

import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from nacre.kernels import _arrays, _blocks


def test_the_package_needs_neither_torch_nor_kernels():
    code = "import sys, nacre.kernels; print([m for m in sys.modules if m == 'torch' or m.startswith('nacre.kernels.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_every_function_is_on_the_page():
    import nacre.kernels as kernels

    docs = Path(__file__).parents[2] / "docs"
    page = "".join((docs / name).read_text() for name in ("15-kernels.md", "16-kernels-attention.md", "17-language-models.md"))
    names = [name for names in kernels.FAMILIES.values() for name in names]
    assert [name for name in names if f"`{name}`" not in page] == []
    assert [name for name in names if not re.search(rf"\b{name}\b", kernels.__doc__)] == []


def test_all_that_is_listed_is_there_and_documented():
    import nacre.kernels as kernels

    for module, names in kernels.FAMILIES.items():
        assert isinstance(getattr(kernels, module), types.ModuleType)
        for name in names:
            assert getattr(kernels, name).__doc__, f"{name} has no documentation"
            assert getattr(kernels, name) is getattr(getattr(kernels, module), name)
    with pytest.raises(AttributeError, match="no attribute 'soft_max'"):
        kernels.soft_max


@pytest.mark.parametrize("check, text", [
    (lambda: _arrays.check_array("x", [1, 2]), "x must be a torch tensor or a NumPy array, not a list"),
    (lambda: _arrays.check_dtype("x", np.ones(3, np.int32), _arrays.FLOATING), "x has elements of type int32; float16, .* convert it"),
    (lambda: _arrays.check_shape("bias", np.ones(3), (4,), "as x has 4 columns"), r"bias has shape \(3,\); \(4,\) is expected, as x has 4 columns"),
    (lambda: _arrays.check_shape("x", np.ones((3, 2)), (None, 4)), r"x has shape \(3, 2\); \(any, 4\) is expected"),
    (lambda: _arrays.check_same_dtype("y", np.ones(3, np.float32), np.ones(3), "x"), "y has elements of type float32 and x of float64"),
    (lambda: _arrays.check_axes("x", np.ones(3), 2), r"x has shape \(3,\); at least 2 axes"),
    (lambda: _arrays.check_number("p", 1.5, least=0, most=1), "p is 1.5; it must be at least 0 and at most 1"),
    (lambda: _arrays.check_number("p", float("nan"), least=0), "p is nan"),
])  # fmt: skip
def test_checks_name_the_argument(check, text):
    with pytest.raises((TypeError, ValueError), match=text):
        check()


def test_arrays_of_two_kinds_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="weight is a NumPy array and x is a torch tensor on cpu: bring them to one device"):
        _arrays.check_array("weight", np.ones(3), torch.ones(3), "x")


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_rows_are_views_where_they_can_be(kind):
    x = np.arange(48, dtype=np.float32).reshape(4, 12)
    if kind == "torch":
        x = pytest.importorskip("torch").from_numpy(x)
    strided = _arrays.as_rows(x[::2, 2:7])
    assert _arrays.row_stride(strided) == 24 and tuple(strided.shape) == (2, 5)
    spread = _arrays.as_rows(x[:, ::2])
    assert _arrays.row_stride(spread) == 6 and (np.asarray(spread) == np.asarray(x[:, ::2])).all()
    assert tuple(_arrays.as_rows(x[:0].reshape(0, 3, 4)).shape) == (0, 4)
    assert tuple(_arrays.as_rows(x[0]).shape) == (1, 12)


def test_blocks_follow_from_sizes():
    x = np.zeros(1, np.float32)
    assert _blocks.row_block(x, 781)["BLOCK"] == 1024
    assert _blocks.row_block(x, 1)["BLOCK"] == 1
    assert _blocks.row_block(x, 1 << 20)["BLOCK"] < 1 << 20
    assert _blocks.rows_of_a_part(x, 1) >= 1


def test_the_simulated_gpu_has_blocks_of_its_own(monkeypatch):
    from nacre.backends.nvidia.driver import SimulatedDriver
    from nacre.runtime.driver import driver

    x = np.zeros(1, np.float32)
    assert _blocks.runs_on_host(x)
    monkeypatch.setattr(driver, "_active", SimulatedDriver())
    assert not _blocks.runs_on_host(x)
