"""Functions that Python runs while a kernel is compiled: on constexprs, and on run-time values for their types and shapes."""

import numpy as np
import pytest

import triton
import triton.language as tl
from triton.language import constexpr_type


@triton.constexpr_function
def element_type(x):
    if isinstance(x, tl.tensor_descriptor):
        return x.dtype
    if isinstance(x, tl.tensor):
        return x.dtype.element_ty if x.dtype.is_ptr() else x.dtype
    raise ValueError(f"not a value of a kernel: {type(x)}")


@triton.constexpr_function
def about(x):
    return x.shape, x.numel, x.type


@triton.constexpr_function
def about_descriptor(x):
    return tuple(x.block_shape), x.base.dtype, len(x.shape)


@triton.constexpr_function
def first_type(items):
    return items[0].dtype, items[1]


@triton.jit
def kernel(x_ptr, descriptor, out_ptr, n, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.static_assert(element_type(x_ptr) == tl.float32 and element_type(descriptor) == tl.float16)
    tl.static_assert(element_type(n) == tl.int32 and element_type(x > 0) == tl.int1)
    shown: tl.constexpr = about(x)
    tl.static_assert(shown[0] == (N,) and shown[1] == N and shown[2] == x.type)
    pointers: tl.constexpr = about(x_ptr + tl.arange(0, N))
    tl.static_assert(pointers[2] == (x_ptr + tl.arange(0, N)).type)
    blocks: tl.constexpr = about_descriptor(descriptor)
    tl.static_assert(blocks[0] == (16, 32) and blocks[1].element_ty == tl.float16 and blocks[2] == 2)
    pair: tl.constexpr = first_type((x, 3))
    tl.static_assert(pair[0] == tl.float32)
    tl.store(out_ptr + tl.arange(0, N), x.to(element_type(descriptor)) * pair[1])


@pytest.mark.ours("a descriptor of an array, on any device")
def test_types_of_run_time_values(engine):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, out = engine.array(np.arange(16, dtype=np.float32)), engine.empty((16,), "float32")
    descriptor = TensorDescriptor(engine.empty((32, 64), "float16"), [32, 64], [64, 1], [16, 32])
    for _ in range(2):  # the second launch finds the kernel
        kernel[(1,)](x, descriptor, out, 77, 16)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(16) * 3)


@triton.jit
def constexpr_types_kernel(out_ptr, n, pair, N: tl.constexpr):
    a: tl.constexpr = 10
    tl.static_assert(a.type == constexpr_type(10) and a.type == tl.constexpr_type(N) and a.type != constexpr_type(11))
    tl.static_assert(isinstance(a.type, tl.constexpr_type) and isinstance(a.type, constexpr_type))
    tl.static_assert(isinstance(pair[1].type, constexpr_type) and pair[1].type.value == 1)
    tl.static_assert((1, 2).type == constexpr_type((1, 2)) and "a".type == constexpr_type("a"))
    b = a
    tl.static_assert(b.type == tl.int32 and b.dtype == tl.int32 and n.type == tl.int32)
    tl.store(out_ptr, n + b)


def test_types_of_constexprs(engine):
    out = engine.empty((1,), "int32")
    constexpr_types_kernel[(1,)](out, 7, (5, 1), 10)
    assert engine.numpy(out)[0] == 17
