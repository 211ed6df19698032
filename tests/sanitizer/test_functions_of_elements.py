"""Accesses inside of functions of single elements: map_elementwise."""

import io

import numpy as np
import pytest
import triton
import triton.language as tl
from nacre import sanitizer


@triton.jit
def look_up(table, index):
    if index >= 0:
        value = tl.load(table + index)
    else:
        value = 0.0
    return value


@triton.jit
def look_up_all(table, index, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tables = tl.broadcast_to(table, (BLOCK,))
    tl.store(out + tl.program_id(0) * BLOCK + at, tl.map_elementwise(look_up, tables, tl.load(index + at)))


@triton.jit
def count_in(table, index):
    tl.store(table + index, 1.0)
    return index


@triton.jit
def write_all(table, index, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tables = tl.broadcast_to(table, (BLOCK,))
    tl.store(out + at, tl.map_elementwise(count_in, tables, tl.load(index + at)))


@triton.jit
def larger_entry(a, ta, b, tb):
    """The combine function of a reduction that loops, and reads a table."""
    at = tl.minimum(a, b)
    found = at
    while at < tl.maximum(a, b):
        at += 1
        if tl.load(ta + at) >= 0:
            found = at
    return found, ta


@triton.jit
def largest(table, index, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tables = tl.broadcast_to(table, (BLOCK,))
    value, _ = tl.reduce((tl.load(index + at), tables), 0, larger_entry)
    tl.store(out, value)


def findings(kinds, launch):
    sanitizer.start(kinds, goes_on=True, stream=io.StringIO())
    try:
        launch()
    finally:
        found = sanitizer.stop()
    return found


def look(indices, table=8):
    out = np.zeros(16, np.float32)
    look_up_all[(2,)](np.arange(table, dtype=np.float32), np.array(indices, np.int32), out, BLOCK=8)
    return out


def test_a_load_out_of_bounds():
    assert findings("asan,tsan", lambda: look([0, 7, -1, 3, 5, -9, 2, 1])) == []
    (found,) = findings("asan,tsan", lambda: look([0, 7, -1, 3, 8, -9, 2, 1]))
    assert found["kind"] == "asan" and found["argument"] == "table" and found["element"] == 8 and found["line"] == 15
    assert found["program"] == [0, 0, 0]


@pytest.mark.parametrize("indices, races", [(range(16), False), ([*range(15), 3], True)])
def test_stores_that_race(indices, races):
    table, out = np.zeros(16, np.float32), np.zeros(16, np.int32)
    found = findings("asan,tsan", lambda: write_all[(2,)](table, np.array(indices, np.int32), out, BLOCK=8))
    assert [(one["kind"], one["line"], one["what"]) for one in found] == ([("tsan", 30, "write after write")] if races else [])


def largest_of(indices):
    out = np.zeros(1, np.int32)
    largest[(1,)](np.arange(8, dtype=np.float32), np.array(indices, np.int32), out, BLOCK=8)
    return out[0]


def test_a_combine_function():
    seen = []
    assert findings("asan", lambda: seen.append(largest_of([0, 7, 1, 3, 5, 2, 6, 1]))) == [] and seen == [7]
    (found,) = findings("asan", lambda: largest_of([0, 8, 1, 3, 5, 2, 6, 1]))
    assert found["kind"] == "asan" and found["argument"] == "table" and found["element"] == 8 and found["line"] == 48
