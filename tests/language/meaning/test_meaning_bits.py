"""Meaning, "Bits and comparisons": integers, int1, shifts, comparisons, and/or/not, conditions of the compiler."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, proved, refused
from scalar_types import FLOATS, INTEGERS, TYPES


@triton.jit
def wrap_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 4)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x + y)
    tl.store(out_ptr + 4 + offsets, x - y)
    tl.store(out_ptr + 8 + offsets, x * y)
    tl.store(out_ptr + 12 + offsets, -x)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap(engine, name):
    """Sums, differences, products and negation are taken modulo the type's width."""
    info = np.iinfo(TYPES[name].numpy)
    x = np.array([info.max, info.min, info.max, info.min], TYPES[name].numpy)
    y = np.array([1, info.max, info.max, info.min], TYPES[name].numpy)
    with np.errstate(over="ignore"):
        expected = np.concatenate([x + y, x - y, x * y, -x])
    np.testing.assert_array_equal(computed(engine, wrap_kernel, 16, name, engine.array(x), engine.array(y)), expected)


@triton.jit
def smallest_by_minus_one_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x // y)
    tl.store(out_ptr + 16 + offsets, x % y)


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64"])
def test_the_smallest_integer_divided_by_minus_one_wraps(engine, name):
    """The one quotient that overflows wraps to the smallest integer again, and leaves no remainder."""
    info = np.iinfo(TYPES[name].numpy)
    x, y = np.full(16, info.min, TYPES[name].numpy), np.full(16, -1, TYPES[name].numpy)
    got = computed(engine, smallest_by_minus_one_kernel, 32, name, engine.array(x), engine.array(y))
    np.testing.assert_array_equal(got[:16], x)
    np.testing.assert_array_equal(got[16:], 0)


@triton.jit
def one_bit_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 4)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.static_assert(x.dtype == tl.int1)
    tl.static_assert((x & y).dtype == tl.int1 and (~x).dtype == tl.int1 and (x == y).dtype == tl.int1)
    tl.store(out_ptr + offsets, (x + y).to(tl.int32))
    tl.store(out_ptr + 4 + offsets, (~x).to(tl.int32))
    tl.store(out_ptr + 8 + offsets, (x ^ y).to(tl.int32))
    tl.store(out_ptr + 12 + offsets, (x * y).to(tl.int32))


@pytest.mark.ours("the interpreter of Triton adds bools as NumPy does")
def test_int1_is_one_bit(engine):
    """True + True is False, ~True is False: arithmetic modulo 2."""
    x, y = np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)
    got = computed(engine, one_bit_kernel, 16, "int32", engine.array(x), engine.array(y))
    np.testing.assert_array_equal(got, [0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1])


@triton.jit
def shift_kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 8)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) >> tl.load(y_ptr + offsets).to(x_ptr.dtype.element_ty))


@pytest.mark.parametrize("name", INTEGERS)
def test_right_shift_follows_the_sign_of_the_left(engine, name):
    """`>>` fills with the sign bit of a signed left operand and with zeros for an unsigned one."""
    info = np.iinfo(TYPES[name].numpy)
    x = np.array([info.min, info.max, 1, 0, info.max // 2, 7, 100, info.max - 1], TYPES[name].numpy)
    y = np.array([1, 1, 3, 2, 4, 0, 2, 7], TYPES[name].numpy)
    np.testing.assert_array_equal(computed(engine, shift_kernel, 8, name, engine.array(x), engine.array(y)), x >> y)


@triton.jit
def mixed_shift_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 4), tl.load(x_ptr + tl.arange(0, 4)) >> tl.load(y_ptr + tl.arange(0, 4)))


def test_right_shift_by_a_value_of_the_other_sign(engine):
    """Only the left operand decides: int32 >> uint32 keeps the sign, uint32 >> int32 does not."""
    amounts = np.array([1, 2, 3, 4])
    x = np.full(4, -16)
    got = computed(engine, mixed_shift_kernel, 4, "int32", engine.array(x, "int32"), engine.array(amounts, "uint32"))
    np.testing.assert_array_equal(got, [-8, -4, -2, -1])
    big = np.full(4, 2**32 - 16)
    got = computed(engine, mixed_shift_kernel, 4, "int64", engine.array(big, "uint32"), engine.array(amounts, "int32"))
    np.testing.assert_array_equal(got, (2**32 - 16) >> amounts)


@triton.jit
def less_kernel(x_ptr, y_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 4), (tl.load(x_ptr + tl.arange(0, 4)) < tl.load(y_ptr + tl.arange(0, 4))).to(tl.int32))


@pytest.mark.parametrize("signed, unsigned", [(f"int{a}", f"uint{b}") for a in (8, 16, 32, 64) for b in (8, 16, 32, 64)])
def test_comparisons_of_mixed_signs(engine, signed, unsigned):
    """-1 against 1: as unsigned numbers where the unsigned side is at least as wide, as signed ones otherwise."""
    got = computed(engine, less_kernel, 4, "int32", engine.array(np.full(4, -1), signed), engine.array(np.full(4, 1), unsigned))
    unsigned_compare = TYPES[unsigned].bits >= TYPES[signed].bits
    np.testing.assert_array_equal(got, 0 if unsigned_compare else 1)


@triton.jit
def nan_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    places = tl.arange(0, 4)
    tl.store(out_ptr + places, (x != x).to(tl.int32))
    tl.store(out_ptr + 4 + places, (x == x).to(tl.int32))
    tl.store(out_ptr + 8 + places, (x < 1).to(tl.int32))
    tl.store(out_ptr + 12 + places, (x <= x).to(tl.int32))
    tl.store(out_ptr + 16 + places, (x > 1).to(tl.int32))
    tl.store(out_ptr + 20 + places, (1 >= x).to(tl.int32))


@pytest.mark.parametrize("name", FLOATS)
def test_comparisons_of_nan(engine, name):
    """With NaN, `!=` is true and the five others are false."""
    got = computed(engine, nan_kernel, 24, "int32", engine.array(np.full(4, np.nan), name))
    np.testing.assert_array_equal(got.reshape(6, 4), np.array([1, 0, 0, 0, 0, 0])[:, None] * np.ones(4))


@triton.jit
def words_kernel(x_ptr, n, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    both = (x > 1) and (x < 3)
    tl.static_assert(both.dtype == tl.int1 and both.shape[0] == 4)
    tl.store(out_ptr + tl.arange(0, 4), both.to(tl.int32))
    tl.store(out_ptr + 4 + tl.arange(0, 4), ((x < 1) or (x > 2)).to(tl.int32))
    tl.store(out_ptr + 8 + tl.arange(0, 4), (not (x > 1)).to(tl.int32))
    tl.store(out_ptr + 12 + tl.arange(0, 4), ((n > 3) and (x > 1)).to(tl.int32))


@pytest.mark.ours("Python's own words in the interpreter of Triton")
def test_and_or_not_of_tensors(engine):
    """They work element by element on int1 tiles and scalars."""
    got = computed(engine, words_kernel, 16, "int32", engine.array(np.arange(4, dtype=np.int32)), 5)
    np.testing.assert_array_equal(got, [0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1])


@triton.jit
def and_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.store(out_ptr + tl.arange(0, 4), x and x)


@triton.jit
def or_scalar_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, x or (x == 0))


@triton.jit
def not_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 4), not tl.load(x_ptr + tl.arange(0, 4)))


@pytest.mark.ours("Python's own words in the interpreter of Triton")
@pytest.mark.parametrize("kernel, word", [(and_kernel, "and"), (or_scalar_kernel, "or"), (not_kernel, "not")])
@pytest.mark.parametrize("name", ["int32", "float32"])
def test_and_or_not_need_int1(engine, kernel, word, name):
    """Of other types they are an error that names the word."""
    refused(engine, kernel, engine.zeros(4, name), engine.zeros(4, "int32"), words=[word, "int1"])


@triton.jit
def count_call(counter_ptr, answer):
    tl.atomic_add(counter_ptr, 1)
    return answer != 0


@triton.jit
def both_sides_kernel(zero, counter_ptr):
    result = count_call(counter_ptr, zero) and count_call(counter_ptr, zero)
    other = count_call(counter_ptr, zero + 1) or count_call(counter_ptr, zero)
    tl.store(counter_ptr + 1, result.to(tl.int32) + other.to(tl.int32))


@pytest.mark.ours("Python's own words in the interpreter of Triton")
def test_and_or_of_tensors_do_not_short_circuit(engine):
    """Both sides are computed, whatever the first says."""
    counter = engine.zeros(2, "int32")
    both_sides_kernel[(1,)](0, counter)
    np.testing.assert_array_equal(engine.numpy(counter), [4, 1])


@triton.jit
def constexpr_words_kernel(out_ptr, NOTHING: tl.constexpr, N: tl.constexpr):
    if NOTHING is not None and NOTHING.no_such_attribute > 3:
        tl.static_assert(False)
    if NOTHING is None or NOTHING.no_such_attribute:
        tl.store(out_ptr, 1)
    tl.static_assert((N or 5) == 5)
    tl.static_assert((N and 5) == 0)
    tl.static_assert(not N)


def test_and_or_of_constexprs_short_circuit(engine):
    """The second side is not even looked at, and the value is Python's."""
    out = engine.zeros(1, "int32")
    constexpr_words_kernel[(1,)](out, NOTHING=None, N=0)
    assert engine.numpy(out)[0] == 1


@triton.jit
def chain_kernel(x_ptr, n, out_ptr, LOW: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr + tl.arange(0, 8), (LOW < x < n).to(tl.int32))
    tl.store(out_ptr + 8 + tl.arange(0, 8), (1 <= x < n <= 100).to(tl.int32))
    tl.static_assert(0 < LOW < 5 <= 5)


@pytest.mark.ours("Python's own chain in the interpreter of Triton")
def test_chains_of_comparisons(engine):
    """`a < b < c` is both comparisons joined."""
    x = np.arange(8, dtype=np.int32)
    got = computed(engine, chain_kernel, 16, "int32", engine.array(x), 6, LOW=2)
    np.testing.assert_array_equal(got, np.concatenate([(2 < x) & (x < 6), (1 <= x) & (x < 6)]))


@triton.jit
def least_kernel(out_ptr, A: tl.constexpr, B: tl.constexpr):
    small: tl.constexpr = min(A, B)
    tl.static_assert(min(A, B) == 3 and max(A, B, 2) == 8)
    tl.static_assert(max(A, 2.5) == 8)
    tl.store(out_ptr + tl.arange(0, max(A, B)), small)


def test_min_and_max_of_constexprs(engine):
    """They stay constexpr: good for extents."""
    np.testing.assert_array_equal(computed(engine, least_kernel, 8, "int32", A=8, B=3), np.full(8, 3))


@triton.jit
def least_value_kernel(x_ptr, n, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr + tl.arange(0, 8), min(x, n) * 100 + max(x, 5))


def test_min_and_max_of_tensors(engine):
    """Of run-time values they are minimum and maximum, element by element."""
    x = np.arange(8, dtype=np.int32)
    np.testing.assert_array_equal(computed(engine, least_value_kernel, 8, "int32", engine.array(x), 3), np.minimum(x, 3) * 100 + np.maximum(x, 5))


@triton.jit
def constexpr_if_kernel(out_ptr, FLAG: tl.constexpr):
    if FLAG:
        tl.store(out_ptr, 1)
    else:
        tl.store(out_ptr, 0)


@pytest.mark.parametrize("flag, expected", [(True, 1), (False, 0), (5, 1), (0, 0), (-1, 1), (None, 0)])
def test_what_a_constexpr_if_takes(engine, flag, expected):
    """A bool, an int (anything but 0) or None (false)."""
    assert computed(engine, constexpr_if_kernel, 1, "int32", FLAG=flag)[0] == expected


@pytest.mark.ours("Python's own if in the interpreter of Triton")
@pytest.mark.parametrize("flag", ["text", 2.5, (1, 2)], ids=["text", "float", "tuple"])
def test_what_a_constexpr_if_does_not_take(engine, flag):
    """Anything else is an error that names what was given."""
    if engine.name == "interpreter":
        pytest.skip("all of Python may be used there")
    refused(engine, constexpr_if_kernel, engine.zeros(1, "int32"), FLAG=flag, words=["bool", "int"])


@triton.jit
def arms_kernel(n, x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    y = x if n > 3 else x * 2
    z = (n + 1) if n > 3 else n
    tl.store(out_ptr + tl.arange(0, 4), y + z)


@pytest.mark.parametrize("n", [2, 5])
def test_conditional_expressions(engine, n):
    """A run-time conditional expression gives one of two values of one type."""
    x = np.arange(4, dtype=np.int32)
    expected = (x if n > 3 else x * 2) + (n + 1 if n > 3 else n)
    np.testing.assert_array_equal(computed(engine, arms_kernel, 4, "int32", n, engine.array(x)), expected)


@triton.jit
def two_types_kernel(n, x_ptr, out_ptr):
    x = tl.load(x_ptr)
    y = x if n > 3 else x.to(tl.float32)
    tl.store(out_ptr, y)


@pytest.mark.ours("Python takes one arm in the interpreter of Triton")
def test_conditional_expressions_of_two_types(engine):
    """Arms of two types are an error that names both."""
    if engine.name == "interpreter":
        pytest.skip("CPython takes one arm and never sees the other's type")
    refused(engine, two_types_kernel, 5, engine.zeros(4, "int32"), engine.zeros(4, "int32"), words=["int32", "fp32"])


def test_proofs_can_fail(engine):
    """A static assert that does not hold is an error: the tests of types in this folder rest on it."""
    with pytest.raises(triton.TritonError):
        proved(engine, false_kernel)


@triton.jit
def false_kernel(out_ptr):
    tl.static_assert(tl.load(out_ptr).dtype == tl.float32)
    tl.store(out_ptr, 1)
