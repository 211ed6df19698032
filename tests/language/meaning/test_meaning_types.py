"""The section "Types": predicates, attributes, names, short names, what a tensor has."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, proved
from triton.compiler import ASTSource

SHORT = {
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "float8e4b15": "fp8e4b15", "float8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}  # fmt: skip
BITS = {
    "int1": 1,
    **{name: int("".join(c for c in name.replace("bfloat", "") if c.isdigit())) for name in SHORT if "float8" not in name and name != "int1"},
    **{name: 8 for name in SHORT if "float8" in name},
}  # fmt: skip
FORMATS = {
    "float8e4nv": (3, 7), "float8e5": (2, 15), "float8e4b15": (3, 15), "float8e4b8": (3, 8), "float8e5b16": (2, 16), "float16": (10, 15),
    "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023),
}  # fmt: skip


def printed(name):
    """How a type prints: floats by their short name, integers by their full one."""
    return SHORT[name] if "float" in name else name


@pytest.mark.parametrize("name", [*SHORT, "void"])
def test_every_type_is_there_and_prints(name):
    """str(tl.float32) is fp32, and .name is the same; integers print in full."""
    t = getattr(tl, name)
    assert isinstance(t, tl.dtype)
    assert str(t) == (printed(name) if name != "void" else "void") and t.name == str(t)
    assert tl.dtype(t.name) == t


@pytest.mark.parametrize("name", SHORT)
def test_predicates(name):
    """is_fp8, is_floating, is_standard_floating, is_int, is_int_signed, is_bool, is_ptr, is_block, and each type's own."""
    t = getattr(tl, name)
    is_float = "float" in name
    assert t.is_fp8() == ("float8" in name)
    assert t.is_floating() == is_float
    assert t.is_standard_floating() == (is_float and "float8" not in name)
    assert t.is_int() == (not is_float)
    assert t.is_int_signed() == (name in ("int8", "int16", "int32", "int64"))
    assert t.is_bool() == (name == "int1")
    assert not t.is_ptr() and not t.is_block() and not t.is_void()
    for other in SHORT:
        assert getattr(t, "is_" + printed(other))() == (other == name)


@pytest.mark.parametrize("name", SHORT)
def test_attributes(name):
    """Widths, sizes, the fields of floats, the scalar itself, the extremes of integers."""
    t = getattr(tl, name)
    assert t.primitive_bitwidth == BITS[name] and t.itemsize == max(BITS[name] // 8, 1)
    assert t.scalar == t
    if name in FORMATS:
        assert (t.fp_mantissa_width, t.exponent_bias) == FORMATS[name]
    else:
        assert t.int_bitwidth == BITS[name]
        signed = name in t.SINT_TYPES
        assert t.get_int_max_value() == 2 ** (BITS[name] - signed) - 1
        assert t.get_int_min_value() == (-(2 ** (BITS[name] - 1)) if signed else 0)


def test_kinds_and_lists():
    """kind() orders bool, integer and float; the lists of names are on every type."""
    assert tl.int1.kind() != tl.int32.kind() != tl.float32.kind()
    assert tl.int8.kind() == tl.uint64.kind() and tl.float8e5.kind() == tl.float64.kind()
    assert tl.int1.kind().value < tl.int8.kind().value < tl.float16.kind().value
    assert tl.dtype.SINT_TYPES == ["int8", "int16", "int32", "int64"]
    assert set(tl.dtype.UINT_TYPES) == {"int1", "uint8", "uint16", "uint32", "uint64"}
    assert set(tl.dtype.STANDARD_FP_TYPES) == {"fp16", "bf16", "fp32", "fp64"}
    assert set(tl.dtype.FP_TYPES) == {printed(name) for name in FORMATS}


def test_compound_types():
    """pointer_type(elem, address_space, const) and block_type(elem, shape): elements, questions, equality."""
    pointer = tl.pointer_type(tl.float16)
    assert pointer.is_ptr() and pointer.element_ty == tl.float16 and not pointer.is_block()
    assert pointer == tl.pointer_type(tl.float16) and pointer != tl.pointer_type(tl.float32)
    read_only = tl.pointer_type(tl.float16, 1, True)
    assert read_only.is_const() and not pointer.is_const()
    block = tl.block_type(tl.int32, [4, 8])
    assert block.is_block() and block.element_ty == tl.int32 and block.scalar == tl.int32 and list(block.shape) == [4, 8] and block.numel == 32
    assert block == tl.block_type(tl.int32, [4, 8]) and block != tl.block_type(tl.int32, [8, 4])


def test_constexprs_outside_of_kernels():
    """tl.constexpr holds a value and computes with it."""
    five = tl.constexpr(5)
    assert five.value == 5 and (five + 2).value == 7 and (five == 5) and (five // 2).value == 2


@triton.jit
def any_kernel(x, out_ptr):
    tl.store(out_ptr, 1)


@pytest.mark.ours("compiles without a device")
@pytest.mark.parametrize("short", [*SHORT.values(), "u1", "*fp32", "*kfp16", "*i1", "*fp8e5", "tensordesc<fp16[64, 64]>"])
def test_short_names_in_signatures(short):
    """Every short name is a type of a signature, pointers and descriptors too."""
    compiled = triton.compile(ASTSource(any_kernel, {"x": short, "out_ptr": "*i32"}, {}))
    assert compiled.asm["tile"]


@triton.jit
def tensor_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.static_assert(x.shape[0] == 4 and len(x.shape) == 2 and x.shape == (4, 4))
    tl.static_assert(x.numel == 16 and x.dtype == tl.float32)
    tl.static_assert(x.type == tl.block_type(tl.float32, [4, 4]))
    row = tl.arange(0, x.shape[1])
    tl.store(out_ptr, row.numel - 3)


def test_what_a_tensor_has(engine):
    """shape (of constexprs: good as an extent), numel, dtype, type."""
    proved(engine, tensor_kernel, counting(engine, "float32"))


@triton.jit
def methods_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16)) + 1
    y = x.reshape(4, 4)
    place = tl.arange(0, 16)
    tl.store(out_ptr + 0, x.sum(0))
    tl.store(out_ptr + 1, x.max(axis=0))
    tl.store(out_ptr + 2, x.min(0))
    tl.store(out_ptr + 3, x.argmax(0))
    tl.store(out_ptr + 4, x.argmin(0))
    tl.store(out_ptr + 5, (x.exp() - tl.exp(x)).sum())
    tl.store(out_ptr + 6, (x.log() - tl.log(x)).sum() + (x.log2() - tl.log2(x)).sum() + (x.exp2() - tl.exp2(x)).sum())
    tl.store(out_ptr + 7, (x.sqrt() - tl.sqrt(x)).sum() + (x.rsqrt() - tl.rsqrt(x)).sum() + (x.sin() - tl.sin(x)).sum() + (x.cos() - tl.cos(x)).sum())
    tl.store(out_ptr + 8, (x.erf() - tl.erf(x)).sum() + (x.floor() - tl.floor(x)).sum() + (x.ceil() - tl.ceil(x)).sum() + (x.abs() - tl.abs(x)).sum())
    tl.store(out_ptr + 9, (x.sigmoid() - tl.sigmoid(x)).sum() + (x.softmax() - tl.softmax(x)).sum())
    tl.store(out_ptr + 10, (x.to(tl.int32) - x.cast(tl.int32)).sum())
    tl.store(out_ptr + 11, (y.trans() - y.permute(1, 0)).sum() + (y.T - y.trans(1, 0)).sum())
    tl.store(out_ptr + 12, y.expand_dims(0).numel + y.expand_dims(0).broadcast_to(2, 4, 4).numel)
    tl.store(out_ptr + 13, x.reshape(8, 2).split()[1].sum())
    tl.store(out_ptr + 14, x.reduce(0, plus) + x.associative_scan(0, plus).max(0))
    tl.store(out_ptr + 15, (x.gather(place ^ 1, 0) - tl.gather(x, place ^ 1, 0)).sum())
    tl.store(out_ptr + 16, (place % 4).histogram(4).sum() + x.flip().argmax(0) + (x.sort(descending=True)).argmax(0))
    tl.store(
        out_ptr + 17,
        place.cdiv(3).sum() + (place > 3).logical_and(place < 6).to(tl.int32).sum() + (place > 3).logical_or(place < 2).to(tl.int32).sum(),
    )  # fmt: skip
    tl.store(out_ptr + 18, x.cumsum(0).max(0) + x.cumprod(0).min(0) + place.xor_sum(0))
    tl.store(out_ptr + 19, x.sum(0, keep_dims=True).item() + y.ravel().max(0) + x.view(2, 8).max().item() + (place > 14).reduce_or(0).to(tl.int32))
    (out_ptr + 20).store(x.sum(0))


@triton.jit
def plus(a, b):
    return a + b


@pytest.mark.ours("more methods than Triton's interpreter has")
def test_methods_of_a_tensor(engine):
    """The listed ones, all math, all reductions, as methods: each equals its function."""
    x = np.arange(1, 17)
    got = computed(engine, methods_kernel, 21, "float32", counting(engine, "float32"))
    expected = [
        136, 16, 1, 15, 0, 0, 0, 0, 0, 0, 0, 0, 16 + 32, sum(x[1::2]), 136 * 2, 0, 16 + 0 + 0, sum(-(-i // 3) for i in range(16)) + 2 + 14,
        136 + 1 + 0, 136 + 16 + 16 + 1, 136,
    ]  # fmt: skip
    np.testing.assert_allclose(got, expected)


@triton.jit
def atomic_methods_kernel(x_ptr, out_ptr):
    (x_ptr + tl.arange(0, 4)).atomic_add(tl.full((4,), 10, tl.int32))
    (x_ptr + 0).atomic_max(50)
    (x_ptr + 1).atomic_min(-5)
    (x_ptr + 2).atomic_xchg(7)
    (x_ptr + 3).atomic_cas(13, 99)
    (x_ptr + 4).atomic_and(6)
    (x_ptr + 5).atomic_or(8)
    (x_ptr + 6).atomic_xor(3)
    tl.store(out_ptr, 1)


@pytest.mark.ours("more methods than Triton's interpreter has")
def test_atomic_methods_of_a_pointer(engine):
    """atomic_* as methods of what points."""
    x = counting(engine, "int32", 8)
    proved(engine, atomic_methods_kernel, x)
    np.testing.assert_array_equal(engine.numpy(x), [50, -5, 7, 99, 4 & 6, 5 | 8, 6 ^ 3, 7])
