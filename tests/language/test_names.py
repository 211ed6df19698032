"""Names that published kernels use beside the usual ones: slices as values, combine functions, types of signatures."""

import numpy as np
import pytest
import triton
import triton.language as tl


def test_slices_as_values(engine):
    @triton.jit
    def kernel(out_ptr):
        numbers = (1, 2, 3, 4, 5)
        middle = numbers[slice(1, 4)]
        last = numbers[tl.slice(3, None)]
        every_other = numbers[slice(None, None, 2)]
        tl.static_assert(len(middle) == 3 and len(last) == 2 and len(every_other) == 3)
        tl.store(out_ptr, middle[0] + 10 * last[1] + 100 * every_other[1])

    out = engine.zeros(1, "int32")
    kernel[(1,)](out)
    assert engine.numpy(out)[0] == 352


@pytest.mark.parametrize("name, reference", [
    ("_sum_combine", np.sum), ("_prod_combine", np.prod), ("_elementwise_max", np.max), ("_elementwise_min", np.min),
    ("_xor_combine", np.bitwise_xor.reduce), ("_or_combine", np.bitwise_or.reduce),
])  # fmt: skip
def test_the_library_s_combine_functions(engine, rng, name, reference):
    @triton.jit
    def kernel(x_ptr, out_ptr, COMBINE: tl.constexpr):
        tl.store(out_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, 8)), 0, COMBINE))

    x = rng.integers(1, 10, 8, dtype=np.int32)
    out = engine.zeros(1, "int32")
    kernel[(1,)](engine.array(x), out, getattr(tl.standard, name))
    assert engine.numpy(out)[0] == reference(x)


def test_a_combine_function_named_in_the_kernel(engine):
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, tl.reduce(tl.arange(0, 8), 0, tl.standard._elementwise_max))

    out = engine.zeros(1, "int32")
    kernel[(1,)](out)
    assert engine.numpy(out)[0] == 7


@triton.jit
def expect_zero_kernel(x_ptr, out_ptr, limit):
    offsets = tl.arange(0, 8)
    tl.store(out_ptr + offsets, tl.expect_zero(tl.load(x_ptr + offsets), offsets >= limit))


@pytest.mark.ours("Triton's interpreter does not assert")
def test_expect_zero(engine):
    x = np.array([1, 2, 3, 4, 0, 0, 0, 0], np.float32)
    out = engine.empty(8, "float32")
    expect_zero_kernel[(1,)](engine.array(x), out, 4, debug=True)
    np.testing.assert_array_equal(engine.numpy(out), x)
    expect_zero_kernel[(1,)](engine.array(x), out, 2)
    np.testing.assert_array_equal(engine.numpy(out), x)
    with pytest.raises(Exception, match="expect_zero"):
        expect_zero_kernel[(1,)](engine.array(x), out, 3, debug=True)


@pytest.mark.ours("how types print")
def test_types_of_signatures():
    assert tl.str_to_ty("*fp32", None) == tl.pointer_type(tl.float32)
    assert tl.str_to_ty("i1", None) == tl.int1
    assert isinstance(tl.str_to_ty("constexpr", 4), tl.constexpr_type)
    pair = tl.str_to_ty(("i32", ("*fp16", "fp64")), None)
    assert str(pair) == "[int32,[pointer<fp16>,fp64]]" and pair[0] == tl.int32 and len(pair) == 2
    assert tl.tuple_type([tl.int32], ["x"]).name == "[x:int32]"
    descriptor = tl.str_to_ty("tensordesc<fp16[64, 32]>", None)
    assert descriptor.block_type == tl.block_type(tl.float16, [64, 32]) and len(descriptor.strides_type) == 2
