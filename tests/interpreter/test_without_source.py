"""Kernels whose text cannot be read, such as those that exec makes: Python runs them as they stand; compiling them is an error."""

import numpy as np
import pytest
import triton

TEXT = """
import triton
import triton.language as tl

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def scale(x, FACTOR: tl.constexpr = tl.constexpr(3)):
    return x * FACTOR

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    for i in range(n // n + 1):
        x = x + i
    if n > 2:
        x = scale(x)
    total = tl.reduce(x, 0, add)
    tl.store(out_ptr + offsets, x + total, mask=mask)
"""


def defined(monkeypatch, interpret):
    monkeypatch.setenv("TRITON_INTERPRET", interpret)
    names = {"__name__": "made_by_exec"}
    exec(TEXT, names)
    return names


def test_python_runs_them(monkeypatch):
    kernel = defined(monkeypatch, "1")["kernel"]
    x = np.arange(8, dtype=np.float32)
    out = np.zeros(8, np.float32)
    kernel[(1,)](x, out, 8, BLOCK=8)
    expected = (x + 1) * 3
    np.testing.assert_array_equal(out, expected + expected.sum())


def test_asking_for_the_text_says_why_there_is_none(monkeypatch):
    kernel = defined(monkeypatch, "1")["kernel"]
    with pytest.raises(ValueError, match="the source of <string> cannot be read"):
        _ = kernel.src


def test_compiling_them_is_an_error_where_they_are_made(monkeypatch):
    with pytest.raises(ValueError, match="a kernel must be defined in a file or a notebook"):
        defined(monkeypatch, "0")


def test_an_error_in_them_names_the_line(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    names = {"__name__": "made_by_exec"}
    exec(TEXT.replace("x + total", "tl.exp(offsets)"), names)
    with pytest.raises(triton.TritonError, match="<string>:23:.*tl.exp"):
        names["kernel"][(1,)](np.zeros(8, np.float32), np.zeros(8, np.float32), 8, BLOCK=8)
