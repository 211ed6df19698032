"""Types as values in kernels: their questions, pointer types, constants, the modules they are named through."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.standard import _log2


@triton.jit
def types_kernel(out_ptr, COUNT: tl.constexpr):
    tl.static_assert(tl.core.get_int_dtype(16, True) == tl.int16)
    tl.static_assert(tl.core.get_int_dtype(bitwidth=64, signed=False) == tl.uint64)
    tl.static_assert(tl.standard._log2(64) == 6 and _log2(COUNT) == 4)
    tl.static_assert(tl.TRITON_MAX_TENSOR_NUMEL == 1048576)
    tl.static_assert(tl.float32.is_fp32() and tl.float32.primitive_bitwidth == 32 and not tl.float32.is_fp8())
    tl.static_assert(tl.float8e4nv.is_fp8() and tl.float8e5.is_fp8() and tl.float8e4b15.is_fp8())
    tl.static_assert(tl.float8e4b8.is_fp8e4b8() and tl.float8e5b16.is_fp8e5b16())
    tl.static_assert(tl.bfloat16.is_standard_floating() and tl.bfloat16.fp_mantissa_width == 7)
    tl.static_assert(tl.void.is_void() and not tl.void.is_int())
    tl.static_assert(tl.uint16.int_bitwidth == 16 and tl.uint16.is_int_unsigned())
    tl.static_assert(tl.uint8.get_int_max_value() == 255 and tl.int8.get_int_min_value() == -128)
    x = tl.arange(0, COUNT)
    tl.static_assert(x.type == tl.block_type(tl.int32, [COUNT]))
    tl.static_assert(isinstance(x, tl.tensor) and not isinstance(COUNT, tl.tensor))
    tl.static_assert(out_ptr.dtype == tl.pointer_type(tl.int32) and out_ptr.dtype.element_ty == tl.int32)
    pair = tl.tuple((x, 5))
    tl.store(out_ptr + x, pair[0] + pair[1])


@pytest.mark.ours("Triton's interpreter answers fewer of these")
def test_questions_about_types(engine):
    out = engine.empty(16, "int32")
    types_kernel[(1,)](out, COUNT=16)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(16) + 5)


@triton.jit
def greatest_of(dtype: tl.constexpr):
    unwrapped = dtype.value
    if unwrapped.is_floating():
        return float("inf")
    return 2 ** (unwrapped.int_bitwidth - 1) - 1


@triton.jit
def unwrapped_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT.value)
    x = tl.load(x_ptr + offsets)
    tl.static_assert(x.dtype.value == x_ptr.dtype.element_ty and x_ptr.dtype.value == x_ptr.dtype)
    tl.store(out_ptr + offsets, tl.minimum(x, greatest_of(x.dtype)))


@pytest.mark.ours("Triton's interpreter has no constexprs in called functions")
@pytest.mark.parametrize("dtype", ["float32", "int16", "int32"])
def test_value_of_a_type(engine, dtype):
    """A type is a constexpr in the functions it is handed to; kernels unwrap it there."""
    values = np.arange(16).astype(dtype)
    out = engine.empty(16, dtype)
    unwrapped_kernel[(1,)](engine.array(values), out, COUNT=16)
    np.testing.assert_array_equal(engine.numpy(out), values)


@triton.jit
def const_kernel(x_ptr: tl.const, out_ptr, COUNT: tl.constexpr):
    tl.static_assert(x_ptr.dtype.is_const())
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)


@pytest.mark.ours("const is the compiler's own")
def test_a_pointer_that_is_only_read(engine):
    out = engine.empty(16, "int32")
    const_kernel[(1,)](engine.array(np.arange(16, dtype=np.int32)), out, COUNT=16)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(16) * 2)


@triton.jit
def library_names_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.extra.cuda.libdevice.atan2(x, y))
    tl.store(out_ptr + COUNT + offsets, tl.extra.libdevice.pow(y, 2.0) + tl.extra.hip.libdevice.floor(y) * tl.core.CONSTEXPR_0)
    tl.store(out_ptr + 2 * COUNT + offsets, tl.math.exp(x) + tl.standard.sum(x, 0) * 0)


@pytest.mark.ours("libdevice on every engine")
def test_functions_by_the_names_of_their_modules(engine, rng):
    x, y = rng.standard_normal(32).astype(np.float32), rng.uniform(0.5, 2, 32).astype(np.float32)
    out = engine.empty((3, 32), "float32")
    library_names_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=32)
    np.testing.assert_allclose(engine.numpy(out), np.stack([np.arctan2(x, y), y**2, np.exp(x)]), rtol=2e-6)
