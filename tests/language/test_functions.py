"""Helper functions, constexprs, globals, tuples, and how arguments are passed."""

import numpy as np
import pytest
import triton
import triton.language as tl

SCALE = tl.constexpr(3)
NAME = tl.constexpr("triple")
TABLE = tl.constexpr((2, 4, 8))


@triton.jit
def add(x, y=1):
    return x + y


@triton.jit
def twice(x):
    """A docstring, and a call of another helper."""
    return add(x, x)


@triton.jit
def divide(x, y):
    quotient = x // y
    return quotient, x - quotient * y


@triton.jit
def choose(x, MODE: tl.constexpr, FACTOR: tl.constexpr = 10):
    if MODE == "scaled":
        return x * FACTOR
    else:
        return x + 0.5


@triton.jit
def nothing(pointer, value):
    tl.store(pointer, value)


@triton.jit
def helpers_kernel(x_ptr, out_ptr, side_ptr):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    a = add(x)
    b = add(x, 5)
    c = add(y=7, x=x)
    d = twice(x)
    q, r = divide(x, 7)
    e = choose(x, "scaled")
    f = choose(x, MODE="scaled", FACTOR=2)
    tl.static_assert(choose(x, "plain").dtype == tl.float32)
    nothing(side_ptr, 42)
    tl.store(out_ptr + offsets, a + b + c + d + q * 1000 + r + e + f)


def test_helpers(engine):
    x = np.arange(64, dtype=np.int32)
    out, side = engine.empty(64, "int32"), engine.zeros(1, "int32")
    helpers_kernel[(1,)](engine.array(x), out, side)
    expected = (x + 1) + (x + 5) + (x + 7) + 2 * x + (x // 7) * 1000 + x % 7 + 10 * x + 2 * x
    np.testing.assert_array_equal(engine.numpy(out), expected)
    assert engine.numpy(side)[0] == 42


@triton.jit
def total_of(first, *rest):
    total = first
    for i in tl.static_range(len(rest)):
        total += rest[i]
    return total


@triton.jit
def variadic_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    tl.store(out_ptr + tl.arange(0, 64), total_of(x) + total_of(x, x * 2, 5))


def test_variadic_helpers(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    variadic_kernel[(1,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), x + 3 * x + 5)


@triton.jit
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit
def sign_kernel(x_ptr, out_ptr):
    program = tl.program_id(0)
    tl.store(out_ptr + program, sign(tl.load(x_ptr + program)))


def test_a_helper_with_several_returns(engine):
    x = np.array([-3, 0, 8, -1, 1], dtype=np.int32)
    out = engine.empty(5, "int32")
    sign_kernel[(5,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), np.sign(x))


@triton.jit
def globals_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    if NAME == "triple":
        x = x * SCALE
    tl.store(out_ptr + tl.arange(0, 64), x + TABLE[1])


def test_constexpr_globals(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    globals_kernel[(1,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), x * 3 + 4)


PLAIN_GLOBAL = 5


@triton.jit
def plain_global_kernel(out_ptr):
    tl.store(out_ptr, PLAIN_GLOBAL)


@pytest.mark.ours("Triton's interpreter reads any global")
def test_a_plain_global_is_an_error(engine):
    if engine.name == "interpreter":
        pytest.skip("CPython reads any global")
    with pytest.raises(triton.TritonError, match="PLAIN_GLOBAL"):
        plain_global_kernel[(1,)](engine.zeros(1, "int32"))


@triton.jit
def split_index(index, COUNT: tl.constexpr, STEP: tl.constexpr = 1):
    return index % COUNT, index // COUNT * STEP


@triton.jit
def annotated_helper_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    inner, outer = split_index(offsets, tl.cdiv(n, 2), STEP=n + 1)
    tl.store(out_ptr + offsets, inner * 100 + outer)


def test_a_helper_takes_run_time_values_where_it_says_constexpr(engine):
    out = engine.empty(32, "int32")
    annotated_helper_kernel[(1,)](out, 9, 32)
    index = np.arange(32)
    np.testing.assert_array_equal(engine.numpy(out), index % 5 * 100 + index // 5 * 10)


@triton.jit
def function_argument_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    tl.store(out_ptr + tl.arange(0, 64), FUNCTION(x))


@pytest.mark.parametrize("function, factor", [(twice, 2), (add, None)], ids=["twice", "add"])
def test_a_function_as_an_argument(engine, function, factor):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    function_argument_kernel[(1,)](engine.array(x), out, FUNCTION=function)
    np.testing.assert_array_equal(engine.numpy(out), x * 2 if factor else x + 1)


@triton.jit
def optional_kernel(x_ptr, bias_ptr, out_ptr, scale):
    offsets = tl.arange(0, 64)
    x = tl.load(x_ptr + offsets)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + offsets)
    tl.store(out_ptr + offsets, x * scale)


@pytest.mark.parametrize("with_bias", [True, False])
def test_an_optional_pointer(engine, with_bias):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    optional_kernel[(1,)](engine.array(x), engine.array(x * 2) if with_bias else None, out, 3)
    np.testing.assert_array_equal(engine.numpy(out), x * (9 if with_bias else 3))


@triton.jit
def integers_kernel(out_ptr, a, b, c):
    tl.store(out_ptr, a)
    tl.store(out_ptr + 1, b)
    tl.store(out_ptr + 2, c)


@pytest.mark.parametrize("values", [(1, 0, 16), (1, 1, 1), (-1, 2**31 - 1, -(2**31)), (2**31, 2**40, -(2**63)), (5, 32, 33)], ids=str)
def test_integer_arguments(engine, values):
    """One is specialized, 16 and its multiples are marked, large ones are wider: the value is the same."""
    out = engine.empty(3, "int64")
    integers_kernel[(1,)](out, *values)
    np.testing.assert_array_equal(engine.numpy(out), values)


@triton.jit
def unsigned_argument_kernel(out_ptr, a):
    tl.static_assert(a.dtype == tl.uint64)
    tl.store(out_ptr, a)


@pytest.mark.ours("Triton's interpreter differs")
def test_an_integer_beyond_int64(engine):
    out = engine.empty(1, "uint64")
    unsigned_argument_kernel[(1,)](out, 2**64 - 3)
    assert engine.numpy(out)[0] == 2**64 - 3


@triton.jit
def floats_kernel(out_ptr, a, flag):
    tl.static_assert(a.dtype == tl.float32)
    tl.store(out_ptr, a * 2)
    if flag:
        tl.store(out_ptr + 1, 1.0)
    else:
        tl.store(out_ptr + 1, 0.0)


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5, 0.1, 1e30, float("inf")])
@pytest.mark.parametrize("flag", [True, False])
def test_float_and_bool_arguments(engine, value, flag):
    out = engine.empty(2, "float32")
    floats_kernel[(1,)](out, value, flag)
    np.testing.assert_array_equal(engine.numpy(out), [np.float32(value) * np.float32(2), float(flag)])


@triton.jit
def tuple_kernel(pointers, out_ptr, sizes):
    x = tl.load(pointers[0] + tl.arange(0, 64))
    y = tl.load(pointers[1] + tl.arange(0, 64))
    tl.store(out_ptr + tl.arange(0, 64), x * sizes[0] + y * sizes[1] + len(sizes))


@pytest.mark.ours("tuples of tensors")
def test_tuple_arguments(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    tuple_kernel[(1,)]((engine.array(x), engine.array(x * x)), out, (3, 1))
    np.testing.assert_array_equal(engine.numpy(out), x * 3 + x * x + 2)


@triton.jit
def unpack_kernel(x_ptr, out_ptr):
    pair = (tl.load(x_ptr + tl.arange(0, 64)), 5)
    x, five = pair
    (a, b), c = (x + 1, x + 2), five
    tl.store(out_ptr + tl.arange(0, 64), a * b + c + pair[1])


def test_tuples_inside_a_kernel(engine):
    x = np.arange(64, dtype=np.int32)
    out = engine.empty(64, "int32")
    unpack_kernel[(1,)](engine.array(x), out)
    np.testing.assert_array_equal(engine.numpy(out), (x + 1) * (x + 2) + 10)


@triton.jit
def constexpr_arithmetic_kernel(out_ptr, N: tl.constexpr, LIST: tl.constexpr):
    half: tl.constexpr = N // 2
    power: tl.constexpr = 2**half
    wide: tl.constexpr = 10**20 // 10**18
    smallest: tl.constexpr = min(N, 3)
    largest: tl.constexpr = max(LIST)
    tl.static_assert(half == 4)
    tl.store(out_ptr, power)
    tl.store(out_ptr + 1, wide)
    tl.store(out_ptr + 2, smallest)
    tl.store(out_ptr + 3, largest)
    tl.store(out_ptr + 4, N if N > 5 else -N)
    tl.store(out_ptr + 5, len(LIST) * 10 + LIST[-1])
    tl.store(out_ptr + 6, int(N / 3))
    tl.store(out_ptr + 7, not N)


@pytest.mark.ours("max of a constexpr tuple")
def test_constexprs_follow_python(engine):
    out = engine.empty(8, "int32")
    constexpr_arithmetic_kernel[(1,)](out, N=8, LIST=(4, 9, 2))
    np.testing.assert_array_equal(engine.numpy(out), [16, 100, 3, 9, 8, 32, 2, 0])


@triton.jit
def host_functions_kernel(out_ptr, n, N: tl.constexpr):
    tl.store(out_ptr, tl.cdiv(n, 7))
    tl.store(out_ptr + 1, tl.cdiv(N, 7))
    tl.store(out_ptr + 2, triton.cdiv(N, 16))


def test_cdiv(engine):
    out = engine.empty(3, "int32")
    host_functions_kernel[(1,)](out, 50, N=50)
    np.testing.assert_array_equal(engine.numpy(out), [8, 8, 4])


def test_host_helpers():
    assert [triton.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [triton.next_power_of_2(n) for n in (1, 2, 3, 5, 781, 1024)] == [1, 2, 4, 8, 1024, 1024]


@triton.jit
def swizzle_kernel(out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUP: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    new_i, new_j = tl.swizzle2d(i, j, ROWS, COLUMNS, GROUP)
    tl.store(out_ptr + new_i * COLUMNS + new_j, i * COLUMNS + j)


@pytest.mark.parametrize("rows, columns, group", [(4, 4, 2), (8, 4, 2), (4, 8, 4), (16, 16, 4)])
def test_swizzle2d(engine, rows, columns, group):
    """Within a group of rows the order runs down the columns."""
    out = engine.empty((rows, columns), "int32")
    swizzle_kernel[(1,)](out, ROWS=rows, COLUMNS=columns, GROUP=group)
    expected = np.empty((rows, columns), np.int32)
    order = [(g + i, j) for g in range(0, rows, group) for j in range(columns) for i in range(group)]
    for position, (i, j) in enumerate(order):
        expected[i, j] = position
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def recursive(x):
    return recursive(x) + 1


@triton.jit
def recursive_kernel(out_ptr):
    tl.store(out_ptr, recursive(1))


@triton.jit
def missing_argument_kernel(out_ptr):
    tl.store(out_ptr, divide(1))


@triton.jit
def unknown_keyword_kernel(out_ptr):
    tl.store(out_ptr, add(1, z=2))


@triton.jit
def undefined_name_kernel(out_ptr):
    tl.store(out_ptr, never_defined_anywhere)  # noqa: F821


@triton.jit
def unknown_function_kernel(out_ptr):
    tl.store(out_ptr, tl.no_such_function(1))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize(
    "kernel",
    [recursive_kernel, missing_argument_kernel, unknown_keyword_kernel, undefined_name_kernel, unknown_function_kernel],
    ids=lambda kernel: kernel.__name__,
)
def test_errors(engine, kernel):
    if engine.name == "interpreter":
        pytest.skip("CPython's own errors there")
    with pytest.raises(triton.TritonError):
        kernel[(1,)](engine.zeros(1, "int32"))
