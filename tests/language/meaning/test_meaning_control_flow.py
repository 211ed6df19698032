"""Meaning, "Control flow": types at joins, names after branches, loops, conditions."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved, refused

ONE_PATH = "CPython takes one path: types at joins are the compiler's"


@triton.jit
def branch_type_kernel(n, out_ptr):
    x = 1
    if n > 3:
        x = 2.5
    tl.store(out_ptr, x)


@triton.jit
def branch_width_kernel(n, out_ptr):
    x = tl.full((), 1, tl.int32)
    if n > 3:
        x = tl.full((), 1, tl.int64)
    tl.store(out_ptr, x)


@triton.jit
def branch_shape_kernel(n, out_ptr):
    x = tl.zeros((4,), tl.int32)
    if n > 3:
        x = tl.zeros((8,), tl.int32)
    tl.store(out_ptr, tl.sum(x))


@triton.jit
def both_branches_kernel(n, out_ptr):
    if n > 3:
        x = 1
    else:
        x = 2.5
    tl.store(out_ptr, x)


@triton.jit
def for_type_kernel(n, out_ptr):
    x = 0
    for i in range(n):
        x = x + 0.5
    tl.store(out_ptr, x)


@triton.jit
def for_shape_kernel(n, out_ptr):
    x = tl.zeros((4,), tl.int32)
    for i in range(n):
        x = tl.zeros((8,), tl.int32)
    tl.store(out_ptr, tl.sum(x))


@triton.jit
def while_type_kernel(n, out_ptr):
    x = n
    while x < 100:
        x = x * 2.0
    tl.store(out_ptr, x)


KINDS = [branch_type_kernel, branch_width_kernel, branch_shape_kernel, both_branches_kernel, for_type_kernel, for_shape_kernel, while_type_kernel]


@pytest.mark.ours(ONE_PATH)
@pytest.mark.parametrize("kernel", KINDS, ids=lambda kernel: kernel.__name__)
def test_a_variable_has_one_type_on_every_path(engine, kernel):
    """Another dtype or shape after an if, a for or a while is an error that names the variable."""
    if engine.name == "interpreter":
        pytest.skip(ONE_PATH)
    text = refused(engine, kernel, 5, engine.zeros(1, "int32"), words="`x`")
    assert any(word in text for word in ("int32", "[4]")), text


@triton.jit
def survives_kernel(n, out_ptr):
    if n > 3:
        x = 1
        y = tl.arange(0, 4)
    elif n > 2:
        x = 2
        y = tl.arange(0, 4) * 2
    else:
        x = 3
        y = tl.zeros((4,), tl.int32)
    tl.store(out_ptr + tl.arange(0, 4), y + x)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_name_bound_in_both_branches_survives(engine, n):
    """With one type, scalars and tiles."""
    expected = {2: np.full(4, 3), 3: np.arange(4) * 2 + 2, 4: np.arange(4) + 1}[n]
    np.testing.assert_array_equal(computed(engine, survives_kernel, 4, "int32", n), expected)


@triton.jit
def single_branch_kernel(n, out_ptr):
    if n > 3:
        x = 1
    tl.store(out_ptr, x)


@triton.jit
def single_else_kernel(n, out_ptr):
    if n > 3:
        y = 0
    else:
        x = 1
    tl.store(out_ptr, x)


@triton.jit
def loop_only_kernel(n, out_ptr):
    for i in range(n):
        x = i
    tl.store(out_ptr, x)


@triton.jit
def while_only_kernel(n, out_ptr):
    while n < 10:
        x = n
        n += 1
    tl.store(out_ptr, x)


@pytest.mark.ours(ONE_PATH)
@pytest.mark.parametrize(
    "kernel", [single_branch_kernel, single_else_kernel, loop_only_kernel, while_only_kernel], ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_a_name_bound_on_one_path_is_not_visible(engine, kernel):
    """After the branch or the loop it is no name: an error that says where it was bound."""
    if engine.name == "interpreter":
        pytest.skip(ONE_PATH)
    refused(engine, kernel, 5, engine.zeros(1, "int32"), words="`x`")


@triton.jit
def constexpr_branch_kernel(n, out_ptr, FLAG: tl.constexpr):
    if FLAG:
        x = 1
    else:
        x = 2.5
    tl.store(out_ptr, x)


@pytest.mark.parametrize("flag, expected", [(True, 1), (False, 2.5)])
def test_a_constexpr_branch_binds_what_it_takes(engine, flag, expected):
    """The rules above are for run-time branches: a constexpr `if` has one path only."""
    assert computed(engine, constexpr_branch_kernel, 1, "float32", 0, FLAG=flag)[0] == expected


@triton.jit
def down_kernel(start, out_ptr, STEP: tl.constexpr):
    total = 0
    for i in range(start, 0, STEP):
        total = total * 10 + i
    tl.store(out_ptr, total)


@pytest.mark.parametrize("step, expected", [(-1, 54321), (-2, 531), (-7, 5)])
def test_a_negative_constexpr_step(engine, step, expected):
    """Counts down, the end left out."""
    assert computed(engine, down_kernel, 1, "int32", 5, STEP=step)[0] == expected


@triton.jit
def literal_down_kernel(start, out_ptr):
    total = 0
    for i in range(start, -1, -1):
        total = total * 10 + i
    tl.store(out_ptr, total)


def test_a_negative_literal_step(engine):
    """-1 is a constexpr too."""
    assert computed(engine, literal_down_kernel, 1, "int32", 3)[0] == 3210


@triton.jit
def run_time_step_kernel(start, end, step, out_ptr):
    count = 0
    for i in range(start, end, step):
        count += 1
    tl.store(out_ptr, count)


def test_a_run_time_step_counts_up(engine):
    """Without a constexpr the loop only counts up: a negative run-time step is no way down."""
    assert computed(engine, run_time_step_kernel, 1, "int32", 2, 11, 3)[0] == 3


@triton.jit
def index_type_kernel(start_ptr, end_ptr, out_ptr, EXPECTED: tl.constexpr):
    count = 0
    for i in range(tl.load(start_ptr), tl.load(end_ptr)):
        tl.static_assert(i.dtype == EXPECTED)
        count += 1
    tl.store(out_ptr, count)


@pytest.mark.ours("the index is a Python int in the interpreter of Triton")
@pytest.mark.parametrize(
    "start, end, expected",
    [
        ("int32", "int32", "int32"), ("int32", "int64", "int64"), ("int64", "int32", "int64"), ("int8", "int16", "int32"),
        ("uint32", "uint32", "uint32"), ("int64", "int64", "int64"),
    ],
)  # fmt: skip
def test_the_index_has_the_bounds_promoted_type(engine, start, end, expected):
    """The step (here the literal 1, an int32) takes part: nothing narrower than int32."""
    got = computed(
        engine, index_type_kernel, 1, "int32", engine.array(np.array([1]), start), engine.array(np.array([4]), end),
        EXPECTED=getattr(tl, expected),
    )  # fmt: skip
    assert got[0] == 3


@triton.jit
def float_bound_kernel(out_ptr):
    for i in range(0, 2.5):
        tl.store(out_ptr, i)


@pytest.mark.ours("Python's own error in the interpreter of Triton")
def test_bounds_are_integers(engine):
    """A float bound is an error."""
    refused(engine, float_bound_kernel, engine.zeros(1, "int32"), words=["range"], error=(triton.TritonError, TypeError))


@triton.jit
def unrolled_kernel(out_ptr):
    for i in tl.static_range(4):
        tl.store(out_ptr + tl.arange(0, 2 ** (i + 1)), i)
    for i in tl.static_range(2, 8, 3):
        tl.static_assert(i == 2 or i == 5)


def test_static_range_unrolls(engine):
    """Its index is a constexpr: it can be an extent."""
    got = computed(engine, unrolled_kernel, 16, "int32")
    np.testing.assert_array_equal(got, np.full(16, 3))


@triton.jit
def not_unrolled_kernel(out_ptr):
    for i in range(4):
        tl.store(out_ptr + tl.arange(0, i + 1), i)


@triton.jit
def tl_range_kernel(out_ptr):
    for i in tl.range(0, 4, loop_unroll_factor=4):
        tl.store(out_ptr + tl.arange(0, i + 1), i)


@pytest.mark.ours("the index is a Python int in the interpreter of Triton")
@pytest.mark.parametrize("kernel", [not_unrolled_kernel, tl_range_kernel], ids=lambda kernel: kernel.__name__)
def test_nothing_else_unrolls(engine, kernel):
    """The index of range and tl.range is a run-time value, also between constants and with an unroll factor: no extent."""
    refused(engine, kernel, engine.zeros(16, "int32"), words=["constexpr", "int32"])


@triton.jit
def one_element_kernel(x_ptr, out_ptr):
    flag = tl.load(x_ptr + tl.arange(0, 1)) > 2
    square = tl.load(x_ptr + tl.arange(0, 1)[:, None] + tl.arange(0, 1)[None, :])
    result = 0
    if flag:
        result = 1
    if square:
        result += 10
    i = tl.zeros((1,), tl.int32)
    while i < 3:
        i += 1
        result += 100
    chosen = 1000 if flag else 2000
    tl.store(out_ptr, result + chosen)


@pytest.mark.parametrize("value, expected", [(0, 2300), (1, 2310), (5, 1311)])
def test_a_tile_of_one_element_is_a_condition(engine, value, expected):
    """Of if, while and conditional expressions, with any number of axes."""
    assert computed(engine, one_element_kernel, 1, "int32", engine.array(np.array([value], np.int32)))[0] == expected


@triton.jit
def many_elements_kernel(x_ptr, out_ptr):
    if tl.load(x_ptr + tl.arange(0, 2)) > 2:
        tl.store(out_ptr, 1)


@pytest.mark.ours("NumPy's own error in the interpreter of Triton")
def test_a_tile_of_more_elements_is_no_condition(engine):
    """An error that says to reduce it or to use tl.where."""
    refused(engine, many_elements_kernel, counting(engine), engine.zeros(1, "int32"), words=["condition", "tl.where"])


@triton.jit
def empty_loops_kernel(n, out_ptr):
    a = 5
    b = tl.full((4,), 7, tl.int32)
    for i in range(n):
        a += i
        b = b * 0
    while n > 100:
        a = 0
        n -= 1
    for i in tl.static_range(0):
        a = 0
    tl.store(out_ptr + tl.arange(0, 4), b + a)


@pytest.mark.parametrize("n", [0, -3])
def test_loops_that_run_zero_times(engine, n):
    """Leave what they carry as it was."""
    np.testing.assert_array_equal(computed(engine, empty_loops_kernel, 4, "int32", n), np.full(4, 12))


@triton.jit
def index_after_kernel(n, out_ptr):
    i = 100
    for i in range(n):
        pass
    tl.store(out_ptr, 1)


def test_an_index_that_has_a_name_of_before(engine):
    """The index may reuse a name that was bound before the loop."""
    proved(engine, index_after_kernel, 3)
