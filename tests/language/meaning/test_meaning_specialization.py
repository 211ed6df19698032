"""Meaning, "Specialization": the types that arguments of a launch get, and what the compiler learns of their values."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved


@triton.jit
def one_kernel(n, out_ptr):
    tl.static_assert(n == 1)
    tl.store(out_ptr + tl.arange(0, n), 1)


@pytest.mark.ours("the interpreter of Triton knows no specialization")
def test_one_becomes_a_constexpr(engine):
    """An integer argument equal to 1 is a constant inside: it can be an extent."""
    proved(engine, one_kernel, 1)


@triton.jit
def extent_kernel(n, out_ptr):
    tl.store(out_ptr + tl.arange(0, n), 1)


@pytest.mark.ours("the interpreter of Triton knows no specialization")
def test_two_does_not(engine):
    """Other integers are run-time values."""
    with pytest.raises(triton.TritonError, match="constexpr"):
        extent_kernel[(1,)](2, engine.zeros(2, "int32"))


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, m):
    tl.store(out_ptr, tl.load(x_ptr) + n + m)


def signature_of(*arguments, kernel=copy_kernel, **options):
    """The first lines of the kernel as the front end understood it."""
    return kernel.warmup(*arguments, grid=(1,), **options).asm["tile"]


def aligned(extra):
    memory = np.zeros(64, np.int32)
    start = (-memory.ctypes.data // 4) % 4
    return memory[start + extra :][:16]


@pytest.mark.ours("what the compiler learns")
def test_multiples_of_16_are_marked():
    """Pointers and integers that 16 divides are marked so, each by itself; others are not."""
    plain = signature_of(aligned(1), aligned(1), 7, 9)
    assert "divisib" not in plain and "16" not in plain.split("func.func")[1].split("(")[1].split(")")[0]
    texts = {
        plain, signature_of(aligned(0), aligned(1), 7, 9), signature_of(aligned(1), aligned(0), 7, 9),
        signature_of(aligned(1), aligned(1), 32, 9), signature_of(aligned(1), aligned(1), 7, 48),
    }  # fmt: skip
    assert len(texts) == 5


@triton.jit
def nothing_kernel(x_ptr, function, out_ptr):
    if x_ptr is None:
        tl.store(out_ptr, function(3))
    else:
        tl.store(out_ptr, tl.load(x_ptr))


@triton.jit
def minus_two(x):
    return x - 2


@triton.jit
def times_two(x):
    return x * 2


@pytest.mark.parametrize("function, expected", [(minus_two, 1), (times_two, 6)], ids=["minus_two", "times_two"])
def test_none_and_functions_are_constexpr(engine, function, expected):
    """Without an annotation: an `if` on None is pruned, a function is called."""
    assert computed(engine, nothing_kernel, 1, "int32", None, function)[0] == expected


@triton.jit
def bool_kernel(flag, out_ptr):
    tl.static_assert(flag.dtype == tl.int1)
    tl.store(out_ptr, flag.to(tl.int32))


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.ours("the interpreter of Triton keeps Python's bools")
def test_bools_are_not_specialized(engine, flag):
    """They are int1 run-time values, True too."""
    assert computed(engine, bool_kernel, 1, "int32", flag)[0] == flag
    if engine.name != "interpreter":
        out = np.zeros(1, np.int32)
        assert bool_kernel.warmup(True, out, grid=(1,)).hash == bool_kernel.warmup(False, out, grid=(1,)).hash


@triton.jit
def type_kernel(n, out_ptr, EXPECTED: tl.constexpr):
    tl.static_assert(n.dtype == EXPECTED)
    tl.store(out_ptr, 1)


INTEGERS = [
    (0, "int32"), (-1, "int32"), (2**31 - 1, "int32"), (-(2**31), "int32"), (2**31, "int64"), (-(2**31) - 1, "int64"), (2**63 - 1, "int64"),
    (2**63, "uint64"), (2**64 - 1, "uint64"),
]  # fmt: skip


@pytest.mark.parametrize("value, expected", INTEGERS)
@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_types_of_integers(engine, value, expected):
    """int32 where it fits, else int64, else uint64."""
    proved(engine, type_kernel, value, EXPECTED=getattr(tl, expected))


@pytest.mark.ours("other classes of errors")
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_integers_of_no_type(engine, value):
    """Beyond 64 bits is an error."""
    with pytest.raises((OverflowError, ValueError, TypeError, triton.TritonError)):
        type_kernel[(1,)](value, engine.zeros(1, "int32"), EXPECTED=tl.int64)


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5, 1e300, float("nan")], ids=str)
@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_floats_are_fp32(engine, value):
    """Whatever their value; 1.0 is no constexpr."""
    proved(engine, type_kernel, value, EXPECTED=tl.float32)


@triton.jit
def forced_kernel(n: int, out_ptr):
    tl.static_assert(n.dtype == tl.int32)
    tl.store(out_ptr, n)


@pytest.mark.ours("the interpreter of Triton keeps Python's numbers")
def test_an_int_annotation_forces_int32(engine):
    """`n: int` is int32 and no constant: 1 is a run-time value like 7. That 16 divides the value is known."""
    for value in (1, 7, 16):
        assert computed(engine, forced_kernel, 1, "int32", value)[0] == value
    if engine.name != "interpreter":
        out = np.zeros(1, np.int32)
        one, seven, sixteen, more = (forced_kernel.warmup(value, out, grid=(1,)).hash for value in (1, 7, 16, 48))
        assert one == seven != sixteen == more


@triton.jit
def tuple_kernel(things, out_ptr):
    tl.static_assert(things[0] == 1)
    tl.static_assert(things[1].dtype == tl.int64)
    tl.static_assert(things[2][0] is None)
    tl.static_assert(things[2][1].dtype == tl.float32)
    tl.store(out_ptr, tl.load(things[3]))


@pytest.mark.ours("the interpreter of Triton knows no specialization")
def test_tuples_recurse(engine):
    """Each item of a tuple argument is treated as an argument: 1, None, large integers, floats, pointers."""
    proved(engine, tuple_kernel, (1, 2**40, (None, 2.5), engine.array(np.array([1]), "int32")))


@triton.jit(do_not_specialize=["n", 1])
def unspecialized_kernel(n, m, k, out_ptr):
    tl.static_assert(n.dtype == tl.int32 and m.dtype == tl.int32)
    tl.store(out_ptr, n + m + k)


@pytest.mark.ours("the interpreter of Triton knows no specialization")
def test_do_not_specialize(engine):
    """By name or by place: 1 and 16 stay run-time values of one compiled kernel."""
    for n, m in ((1, 1), (16, 1), (7, 16)):
        assert computed(engine, unspecialized_kernel, 1, "int32", n, m, 5)[0] == n + m + 5
    if engine.name != "interpreter":
        out = np.zeros(1, np.int32)
        assert len({unspecialized_kernel.warmup(n, m, 5, out, grid=(1,)).hash for n, m in ((1, 1), (16, 1), (7, 16))}) == 1
        assert unspecialized_kernel.warmup(1, 1, 5, out, grid=(1,)).hash != unspecialized_kernel.warmup(1, 1, 16, out, grid=(1,)).hash


@triton.jit(do_not_specialize_on_alignment=["n"])
def unaligned_kernel(n, out_ptr):
    tl.store(out_ptr, n + tl.load(out_ptr))


@pytest.mark.ours("what the compiler learns")
def test_do_not_specialize_on_alignment():
    """Multiples of 16 are not marked; 1 is still a constexpr."""
    out = np.zeros(1, np.int32)
    assert unaligned_kernel.warmup(16, out, grid=(1,)).hash == unaligned_kernel.warmup(7, out, grid=(1,)).hash
    assert unaligned_kernel.warmup(1, out, grid=(1,)).hash != unaligned_kernel.warmup(7, out, grid=(1,)).hash


def test_annotated_widths(engine):
    """`n: tl.int64` gives that type, whatever the value."""
    proved(engine, wide_kernel, 3, 4)


@triton.jit
def wide_kernel(n: tl.int64, m: "u8", out_ptr):  # noqa: F821
    tl.static_assert(n.dtype == tl.int64)
    tl.static_assert(m.dtype == tl.uint8)
    tl.store(out_ptr, (n - 2).to(tl.int32))


def test_arrays_are_pointers_to_their_elements(engine):
    """A tensor or an array arrives as a pointer of its element type."""
    proved(engine, pointer_kernel, counting(engine, "float16"), counting(engine, "int64"))


@triton.jit
def pointer_kernel(x_ptr, y_ptr, out_ptr):
    tl.static_assert(x_ptr.dtype == tl.pointer_type(tl.float16))
    tl.static_assert(y_ptr.dtype.element_ty == tl.int64)
    tl.store(out_ptr, 1)
