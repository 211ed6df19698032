"""Block pointers: bounds, padding, advance through loops, branches and helpers, every order of the axes."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FP8, STANDARD, sample

# The Triton package dropped block pointers in 3.9; published kernels use them.
pytestmark = pytest.mark.ours("block pointers")


def block_of(x, offsets, block, fill=0):
    """The block of an array that starts at the offsets, `fill` outside."""
    result = np.full(block, fill, x.dtype)
    for index in np.ndindex(*block):
        place = tuple(o + i for o, i in zip(offsets, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            result[index] = x[place]
    return result


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, row, column, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (row, column), (BM, BN), (1, 0))
    out = tl.make_block_ptr(out_ptr, shape=(BM, BN), strides=(BN, 1), offsets=(0, 0), block_shape=(BM, BN), order=(1, 0))
    tl.store(out, tl.load(x, boundary_check=(0, 1), padding_option="zero"))


@pytest.mark.parametrize("offsets", [(0, 0), (3, 5), (12, 30), (-3, -7), (-20, 4), (14, -16), (40, 40)])
@pytest.mark.parametrize("shape", [(13, 37), (16, 32), (1, 1)])
def test_load_checks_both_ends_of_every_axis(engine, rng, shape, offsets):
    x = sample(rng, "float32", shape)
    out = engine.empty((8, 16), "float32")
    copy_kernel[(1,)](engine.array(x), out, *shape, *offsets, BM=8, BN=16)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, offsets, (8, 16)))


@pytest.mark.parametrize("name", [*STANDARD, *FP8])
def test_every_element_type(engine, rng, name):
    x = sample(rng, name, (5, 9))
    out = engine.empty((8, 16), name)
    copy_kernel[(1,)](engine.array(x, name), out, 5, 9, -1, 2, BM=8, BN=16)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, (-1, 2), (8, 16)))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_padding_with_nan(engine, rng, name):
    @triton.jit
    def kernel(x_ptr, out_ptr, N):
        x = tl.make_block_ptr(x_ptr, (N,), (1,), (0,), (32,), (0,))
        tl.store(out_ptr + tl.arange(0, 32), tl.load(x, boundary_check=(0,), padding_option="nan"))

    x = sample(rng, name, 20)
    out = engine.empty(32, name)
    kernel[(1,)](engine.array(x, name), out, 20)
    np.testing.assert_array_equal(engine.numpy(out), np.concatenate([x, np.full(12, np.nan)]))


def test_only_the_named_axes_are_checked(engine, rng):
    """An axis that is not named is read past its extent, as the strides say."""

    @triton.jit
    def kernel(x_ptr, out_ptr):
        x = tl.make_block_ptr(x_ptr, (3, 2), (8, 1), (0, 0), (4, 4), (1, 0))
        block = tl.load(x, boundary_check=(0,))
        tl.store(out_ptr + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], block)

    x = sample(rng, "float32", (4, 8))
    out = engine.empty((4, 4), "float32")
    kernel[(1,)](engine.array(x), out)
    expected = x[:, :4].copy()
    expected[3] = 0
    np.testing.assert_array_equal(engine.numpy(out), expected)


@pytest.mark.parametrize("offsets", [(0, 0), (2, 3), (-2, -3)])
def test_store_writes_inside_alone(engine, offsets):
    @triton.jit
    def kernel(out_ptr, M, N, row, column):
        out = tl.make_block_ptr(out_ptr, (M, N), (16, 1), (row, column), (4, 8), (1, 0))
        tl.store(out, tl.full((4, 8), 3, tl.int32), boundary_check=(0, 1))

    out = engine.zeros((8, 16), "int32")
    kernel[(1,)](out, 5, 9, *offsets)
    expected = np.zeros((8, 16), np.int32)
    for i in range(4):
        for j in range(8):
            if 0 <= i + offsets[0] < 5 and 0 <= j + offsets[1] < 9:
                expected[i + offsets[0], j + offsets[1]] = 3
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    a = tl.make_block_ptr(a_ptr, (M, K), (sam, sak), (row, 0), (BM, BK), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, N), (sbk, sbn), (0, column), (BK, BN), (0, 1))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total += tl.dot(tl.load(a, boundary_check=(0, 1)), tl.load(b, boundary_check=(0, 1)), input_precision="ieee")
        a = tl.advance(a, (0, BK))
        b = tl.advance(b, [BK, 0])
    c = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (row, column), (BM, BN), (1, 0))
    tl.store(c, total, boundary_check=(0, 1))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(64, 64, 64), (50, 33, 41), (17, 80, 16)])
def test_matmul_advances_through_a_loop(engine, rng, shape, transposed):
    M, N, K = shape
    a, b = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
    c = engine.empty((M, N), "float32")
    stored = np.ascontiguousarray(b.T) if transposed else b
    strides = (1, K) if transposed else (N, 1)
    matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        engine.array(a), engine.array(stored), c, M, N, K, K, 1, *strides, BM=32, BN=32, BK=16
    )
    np.testing.assert_allclose(engine.numpy(c), a @ b, rtol=1e-4, atol=1e-4)


@triton.jit
def moved(pointer, by):
    return tl.advance(pointer, (by,))


@triton.jit
def make(x_ptr, N, SIZE: tl.constexpr):
    return tl.make_block_ptr(x_ptr, (N,), (1,), (0,), (SIZE,), (0,))


def test_helpers_make_and_move_them(engine):
    @triton.jit
    def kernel(x_ptr, out_ptr, N):
        pointer = moved(make(x_ptr, N, 8), 4)
        tl.store(out_ptr + tl.arange(0, 8), tl.load(pointer, boundary_check=(0,)))

    out = engine.empty(8, "int32")
    kernel[(1,)](engine.array(np.arange(1, 11, dtype=np.int32)), out, 10)
    np.testing.assert_array_equal(engine.numpy(out), [5, 6, 7, 8, 9, 10, 0, 0])


def test_branches_and_while_carry_them(engine):
    @triton.jit
    def kernel(x_ptr, out_ptr, N, forward):
        pointer = make(x_ptr, N, 4)
        if forward > 0:
            pointer = pointer.advance((4,))
        else:
            pointer = tl.advance(pointer, (8,))
        total = tl.zeros((4,), tl.int32)
        i = 0
        while i < 3:
            total += tl.load(pointer, boundary_check=(0,))
            pointer = tl.advance(pointer, (1,))
            i += 1
        tl.store(out_ptr + tl.arange(0, 4), total)

    x = np.arange(1, 11, dtype=np.int32)
    for forward, start in ((1, 4), (0, 8)):
        out = engine.empty(4, "int32")
        kernel[(1,)](engine.array(x), out, 10, forward)
        expected = sum(block_of(x, (start + i,), (4,)) for i in range(3))
        np.testing.assert_array_equal(engine.numpy(out), expected)


def test_three_axes_and_64_bit_offsets(engine, rng):
    @triton.jit
    def kernel(x_ptr, out_ptr, A, B, C, start):
        offset = start.to(tl.int64)
        x = tl.make_block_ptr(x_ptr, (A, B, C), (B * C, C, 1), (offset, 1, -1), (2, 4, 8), (2, 1, 0))
        out = tl.make_block_ptr(out_ptr, (2, 4, 8), (32, 8, 1), (0, 0, 0), (2, 4, 8), (2, 1, 0))
        tl.store(out, tl.load(x, boundary_check=(0, 1, 2)))

    x = sample(rng, "int32", (3, 4, 6))
    out = engine.empty((2, 4, 8), "int32")
    kernel[(1,)](engine.array(x), out, 3, 4, 6, 2)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, (2, 1, -1), (2, 4, 8)))


def test_the_loaded_types(engine):
    @triton.jit
    def kernel(x_ptr, out_ptr):
        pointer = make(x_ptr, 8, 8)
        tl.static_assert(isinstance(pointer, tl.tensor))
        block = tl.load(pointer)
        tl.static_assert(block.dtype == tl.float16 and block.shape[0] == 8)
        tl.static_assert(block.to(tl.float32).to(pointer.type.element_ty).dtype == tl.float16)
        tl.static_assert(block.to(tl.float32).to(pointer.dtype.element_ty).dtype == tl.float16)
        pointer.store(block + 1)
        tl.store(out_ptr + tl.arange(0, 8), tl.load(pointer))

    x, out = engine.zeros(8, "float16"), engine.empty(8, "float32")
    kernel[(1,)](x, out)
    np.testing.assert_array_equal(engine.numpy(out), np.ones(8))
