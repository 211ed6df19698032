"""Shapes: new axes, broadcasting, reshape, transposition; element order is row-major everywhere."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import sample


@triton.jit
def store_2d(out_ptr, value):
    rows: tl.constexpr = value.shape[0]
    columns: tl.constexpr = value.shape[1]
    tl.store(out_ptr + tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :], value)


@triton.jit
def reshape_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, R: tl.constexpr, C: tl.constexpr, HOW: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, COUNT))
    if HOW == "tuple":
        y = tl.reshape(x, (R, C))
    elif HOW == "list":
        y = tl.reshape(x, [R, C])
    elif HOW == "arguments":
        y = tl.reshape(x, R, C)
    elif HOW == "method":
        y = x.reshape(R, C)
    else:
        y = tl.view(x, (R, C))
    tl.static_assert(y.shape[0] == R)
    tl.static_assert(y.shape[1] == C)
    store_2d(out_ptr, y)


@pytest.mark.parametrize("how", ["tuple", "list", "arguments", "method", "view"])
def test_ways_to_reshape(engine, rng, how):
    x = sample(rng, "float32", 64)
    out = engine.empty((4, 16), "float32")
    reshape_kernel[(1,)](engine.array(x, "float32"), out, COUNT=64, R=4, C=16, HOW=how)
    np.testing.assert_array_equal(engine.numpy(out), x.reshape(4, 16))


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("rows, columns", [(1, 128), (128, 1), (2, 64), (32, 4)])
def test_reshape(engine, rng, name, rows, columns):
    x = sample(rng, name, rows * columns)
    out = engine.empty((rows, columns), name)
    reshape_kernel[(1,)](engine.array(x, name), out, COUNT=rows * columns, R=rows, C=columns, HOW="tuple")
    np.testing.assert_array_equal(engine.numpy(out), x.reshape(rows, columns))


@pytest.mark.ours("shapes that are not powers of two")
@pytest.mark.parametrize("rows, columns", [(3, 5), (7, 13), (1, 9), (100, 3)])
def test_reshape_of_odd_shapes(engine, rng, rows, columns):
    x = sample(rng, "float32", rows * columns)
    out = engine.empty((rows, columns), "float32")
    reshape_kernel[(1,)](engine.array(x, "float32"), out, COUNT=rows * columns, R=rows, C=columns, HOW="tuple")
    np.testing.assert_array_equal(engine.numpy(out), x.reshape(rows, columns))


@triton.jit
def reshape_2d_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, R2: tl.constexpr, C2: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    y = tl.reshape(x * 2, (R2, C2))
    store_2d(out_ptr, y + tl.arange(0, R2)[:, None])


@pytest.mark.parametrize("shape, new", [((8, 16), (16, 8)), ((4, 32), (32, 4)), ((64, 2), (1, 128)), ((16, 16), (2, 128))])
def test_reshape_between_two_axes(engine, rng, shape, new):
    x = rng.integers(-100, 100, shape).astype(np.int32)
    out = engine.empty(new, "int32")
    reshape_2d_kernel[(1,)](engine.array(x), out, *shape, *new)
    np.testing.assert_array_equal(engine.numpy(out), (x * 2).reshape(new) + np.arange(new[0])[:, None])


@triton.jit
def ravel_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(out_ptr + tl.arange(0, R * C), tl.ravel(x))


def test_ravel(engine, rng):
    x = sample(rng, "float32", (8, 16))
    out = engine.empty(128, "float32")
    ravel_kernel[(1,)](engine.array(x, "float32"), out, R=8, C=16)
    np.testing.assert_array_equal(engine.numpy(out), x.ravel())


@triton.jit
def transpose_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, HOW: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    if HOW == "trans":
        y = tl.trans(x)
    elif HOW == "T":
        y = x.T
    elif HOW == "permute":
        y = tl.permute(x, (1, 0))
    elif HOW == "permute arguments":
        y = tl.permute(x, 1, 0)
    else:
        y = x.trans(1, 0)
    tl.static_assert(y.shape[0] == C)
    store_2d(out_ptr, y)


@pytest.mark.parametrize("how", ["trans", "T", "permute", "permute arguments", "method"])
def test_ways_to_transpose(engine, rng, how):
    x = sample(rng, "float32", (8, 32))
    out = engine.empty((32, 8), "float32")
    transpose_kernel[(1,)](engine.array(x, "float32"), out, R=8, C=32, HOW=how)
    np.testing.assert_array_equal(engine.numpy(out), x.T)


@pytest.mark.parametrize("name", ["int8", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 1), (16, 16), (128, 64)], ids=str)
def test_transpose(engine, rng, name, shape):
    x = sample(rng, name, shape)
    out = engine.empty(shape[::-1], name)
    transpose_kernel[(1,)](engine.array(x, name), out, *shape, HOW="trans")
    np.testing.assert_array_equal(engine.numpy(out), x.T)


@pytest.mark.ours("shapes that are not powers of two")
@pytest.mark.parametrize("shape", [(3, 5), (17, 1), (33, 7), (5, 100)], ids=str)
def test_transpose_of_odd_shapes(engine, rng, shape):
    x = sample(rng, "float32", shape)
    out = engine.empty(shape[::-1], "float32")
    transpose_kernel[(1,)](engine.array(x, "float32"), out, *shape, HOW="trans")
    np.testing.assert_array_equal(engine.numpy(out), x.T)


@triton.jit
def permute_3d_kernel(
    x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr
):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    y = tl.permute(x, (P, Q, R))
    X: tl.constexpr = y.shape[0]
    Y: tl.constexpr = y.shape[1]
    Z: tl.constexpr = y.shape[2]
    i = tl.arange(0, X)[:, None, None]
    j = tl.arange(0, Y)[None, :, None]
    k = tl.arange(0, Z)[None, None, :]
    tl.store(out_ptr + (i * Y + j) * Z + k, y)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_permute(engine, rng, order):
    x = sample(rng, "float32", (4, 8, 16))
    out = engine.empty(tuple(x.shape[axis] for axis in order), "float32")
    permute_3d_kernel[(1,)](engine.array(x, "float32"), out, *x.shape, *order)
    np.testing.assert_array_equal(engine.numpy(out), x.transpose(order))


@triton.jit
def expand_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    a = tl.expand_dims(x, 0)
    b = tl.expand_dims(x, 1)
    c = x[:, None]
    d = x[None, :]
    e = tl.expand_dims(x, -1)
    f = tl.expand_dims(x, (0, 2))
    g = x.expand_dims(0)
    tl.static_assert(a.shape[0] == 1 and a.shape[1] == N)
    tl.static_assert(b.shape[0] == N and b.shape[1] == 1)
    tl.static_assert(c.shape[0] == N and c.shape[1] == 1)
    tl.static_assert(e.shape[0] == N and e.shape[1] == 1)
    tl.static_assert(len(f.shape) == 3 and f.shape[1] == N)
    tl.static_assert(len(x[None, :, None].shape) == 3)
    store_2d(out_ptr, a + b * 2 + c * 4 + d * 8 + e * 16 + tl.reshape(f, (1, N)) * 32 + g * 64)


def test_expand_dims(engine, rng):
    x = rng.integers(-100, 100, 16).astype(np.int32)
    out = engine.empty((16, 16), "int32")
    expand_kernel[(1,)](engine.array(x), out, N=16)
    np.testing.assert_array_equal(engine.numpy(out), x[None, :] * (1 + 8 + 32 + 64) + x[:, None] * (2 + 4 + 16))


@triton.jit
def subscript_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    y = x[:, None, :]
    z = x[:, :, None]
    tl.static_assert(y.shape[0] == R and y.shape[1] == 1 and y.shape[2] == C)
    tl.static_assert(z.shape[2] == 1)
    product = y * 10 + tl.permute(z, (2, 0, 1))
    i = tl.arange(0, R)[:, None, None]
    j = tl.arange(0, R)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    tl.store(out_ptr + (i * R + j) * C + k, product)


def test_new_axes_in_the_middle(engine, rng):
    x = rng.integers(-100, 100, (4, 8)).astype(np.int32)
    out = engine.empty((4, 4, 8), "int32")
    subscript_kernel[(1,)](engine.array(x), out, R=4, C=8)
    np.testing.assert_array_equal(engine.numpy(out), x[:, None, :] * 10 + x[None, :, :])


@triton.jit
def broadcast_to_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, HOW: tl.constexpr):
    if HOW == "row":
        y = tl.broadcast_to(tl.load(x_ptr + tl.arange(0, C))[None, :], (R, C))
    elif HOW == "column":
        y = tl.load(x_ptr + tl.arange(0, R))[:, None].broadcast_to(R, C)
    elif HOW == "scalar":
        y = tl.broadcast_to(tl.load(x_ptr), (R, C))
    else:
        y, _ = tl.broadcast(tl.load(x_ptr + tl.arange(0, C))[None, :], tl.zeros((R, C), dtype=tl.int32))
    tl.static_assert(y.shape[0] == R and y.shape[1] == C)
    store_2d(out_ptr, y)


@pytest.mark.parametrize("how", ["row", "column", "scalar", "both"])
def test_broadcast_to(engine, how):
    x = np.arange(3, 35, dtype=np.int32)
    out = engine.empty((8, 32), "int32")
    broadcast_to_kernel[(1,)](engine.array(x), out, R=8, C=32, HOW=how)
    source = {"row": x[None, :], "both": x[None, :], "column": x[:8, None], "scalar": x[0]}[how]
    np.testing.assert_array_equal(engine.numpy(out), np.broadcast_to(source, (8, 32)))


@triton.jit
def bad_reshape_kernel(x_ptr, out_ptr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, 16)), (4, 8))
    tl.store(out_ptr, tl.sum(x))


@triton.jit
def bad_broadcast_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 16)) + tl.load(x_ptr + tl.arange(0, 8))))


@triton.jit
def bad_broadcast_to_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.broadcast_to(tl.load(x_ptr + tl.arange(0, 16)), (4, 16))))


@triton.jit
def bad_permute_kernel(x_ptr, out_ptr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, 16)), (4, 4))
    tl.store(out_ptr, tl.sum(tl.permute(x, (0, 0))))


@triton.jit
def bad_axis_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.expand_dims(tl.load(x_ptr + tl.arange(0, 16)), 5)))


@pytest.mark.ours("Triton's interpreter raises other classes")
@pytest.mark.parametrize(
    "kernel", [bad_reshape_kernel, bad_broadcast_kernel, bad_broadcast_to_kernel, bad_permute_kernel, bad_axis_kernel],
    ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_errors(engine, kernel):
    with pytest.raises(triton.TritonError):
        kernel[(1,)](engine.zeros(16, "int32"), engine.zeros(1, "int32"))


@triton.jit
def through_every_shape_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 256))
    a = tl.reshape(x, (4, 8, 8))
    b = tl.permute(a, (2, 0, 1)) + 1
    c = tl.reshape(b, (32, 8))
    d = tl.trans(c) * 2
    tl.store(out_ptr + tl.arange(0, 256), tl.reshape(d, (256,)))


def test_a_chain_of_shapes(engine, rng):
    x = rng.integers(-1000, 1000, 256).astype(np.int32)
    out = engine.empty(256, "int32")
    through_every_shape_kernel[(1,)](engine.array(x), out)
    expected = ((x.reshape(4, 8, 8).transpose(2, 0, 1) + 1).reshape(32, 8).T * 2).reshape(256)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def cat_kernel(a_ptr, b_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.cat(tl.load(a_ptr + tl.arange(0, A)), tl.load(b_ptr + tl.arange(0, B)), can_reorder=True)
    tl.static_assert(x.shape[0] == A + B)
    tl.store(out_ptr + tl.arange(0, A + B), x)


@pytest.mark.ours("Triton needs can_reorder and then gives any order")
@pytest.mark.parametrize("name", ["int8", "float32", "int1"])
@pytest.mark.parametrize("a, b", [(8, 8), (5, 12), (1, 3)])
def test_cat_keeps_the_order(engine, rng, name, a, b):
    x, y = sample(rng, name, a), sample(rng, name, b)
    out = engine.empty(a + b, name)
    cat_kernel[(1,)](engine.array(x, name), engine.array(y, name), out, A=a, B=b)
    np.testing.assert_array_equal(engine.numpy(out), np.concatenate([x, y]))


@triton.jit
def cat_rows_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, DIM: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    store_2d(out_ptr, tl.cat(x, x + 1, dim=DIM))


@pytest.mark.ours("Triton 3.8 and older join along the first axis only")
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_along_an_axis(engine, rng, dim):
    x = sample(rng, "int32", (4, 8), -100, 100)
    expected = np.concatenate([x, x + 1], axis=dim)
    out = engine.empty(expected.shape, "int32")
    cat_rows_kernel[(1,)](engine.array(x), out, R=4, C=8, DIM=dim)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def split_kernel(x_ptr, first_ptr, second_ptr, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 2 * COUNT))
    first, second = tl.split(tl.reshape(x, (COUNT, 2)))
    again, _ = tl.join(first, second).split()
    tl.store(first_ptr + tl.arange(0, COUNT), again)
    tl.store(second_ptr + tl.arange(0, COUNT), second)


@pytest.mark.parametrize("count", [1, 16])
def test_split_takes_the_last_axis_apart(engine, rng, count):
    x = sample(rng, "float32", 2 * count)
    first, second = engine.empty(count, "float32"), engine.empty(count, "float32")
    split_kernel[(1,)](engine.array(x, "float32"), first, second, COUNT=count)
    np.testing.assert_array_equal(engine.numpy(first), x[0::2])
    np.testing.assert_array_equal(engine.numpy(second), x[1::2])


@triton.jit
def squeeze_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, COUNT))
    tall = tl.unsqueeze(x, 1)
    tl.static_assert(tall.shape[0] == COUNT and tall.shape[1] == 1)
    wide = x.unsqueeze(0)
    tl.static_assert(wide.shape[0] == 1 and wide.shape[1] == COUNT)
    tl.store(out_ptr + tl.arange(0, COUNT), tl.squeeze(tall, 1) + wide.squeeze(0))


@pytest.mark.ours("the released Triton has neither")
def test_squeeze_and_unsqueeze(engine, rng):
    x = sample(rng, "int32", 16, -100, 100)
    out = engine.empty(16, "int32")
    squeeze_kernel[(1,)](engine.array(x), out, COUNT=16)
    np.testing.assert_array_equal(engine.numpy(out), 2 * x)


def test_shapes_join_lists_and_tuples(engine):
    @triton.jit
    def kernel(x_ptr, out_ptr, EXTRA: tl.constexpr):
        x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
        wide = tl.reshape(x, [1, 1] + x.shape)
        tl.static_assert(len(wide.shape) == 4 and wide.shape[3] == 8)
        mixed = tl.reshape(wide, x.shape[:1] + (2,) + x.shape[1:][:0] + [4] + EXTRA)
        tl.static_assert(len(mixed.shape) == 4 and mixed.shape[1] == 2 and mixed.shape[3] == 1)
        tl.store(out_ptr + tl.arange(0, 32), tl.reshape(mixed, (1 + 31,)))

    x = np.arange(32, dtype=np.int32)
    out = engine.zeros(32, "int32")
    kernel[(1,)](engine.array(x), out, (1,))
    np.testing.assert_array_equal(engine.numpy(out), x)
