"""sum, max, min, argmax, argmin, xor_sum and reduce: every axis, every type, ties, NaN, several tensors at once."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import FLOATS, INTEGERS, STANDARD, TYPES, rounded, sample


@triton.jit
def reduce_1d_kernel(x_ptr, out_ptr, N: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    if OP == "sum":
        y = tl.sum(x, axis=AXIS)
    elif OP == "max":
        y = tl.max(x, axis=AXIS)
    elif OP == "min":
        y = tl.min(x, axis=AXIS)
    elif OP == "argmax":
        y = tl.argmax(x, axis=AXIS)
    elif OP == "argmin":
        y = tl.argmin(x, axis=AXIS)
    else:
        y = tl.xor_sum(x, axis=AXIS)
    tl.store(out_ptr, y)


def run_1d(engine, x, name, op, out_type, axis=0):
    out = engine.empty(1, out_type)
    reduce_1d_kernel[(1,)](engine.array(x, name), out, N=len(x), OP=op, AXIS=axis)
    return engine.numpy(out)[0]


@pytest.mark.parametrize("n", [1, 2, 16, 128, 1024, 8192])
def test_sum_of_integers_of_any_length(engine, rng, n):
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    assert run_1d(engine, x, "int32", "sum", "int32") == x.sum()
    assert run_1d(engine, x, "int32", "sum", "int32", axis=None) == x.sum()


@pytest.mark.ours("lengths that are not powers of two")
@pytest.mark.parametrize("op, function", [("sum", np.sum), ("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin)])
@pytest.mark.parametrize("n", [3, 5, 31, 33, 100, 781, 1000])
def test_odd_lengths(engine, rng, n, op, function):
    """All values on the far side of what padding would hold."""
    for x in (rng.integers(5, 1000, n).astype(np.int32), rng.integers(-1000, -5, n).astype(np.int32)):
        assert run_1d(engine, x, "int32", op, "int32") == function(x)


@pytest.mark.parametrize("name", ["int1", *INTEGERS])
def test_integers_are_summed_in_at_least_32_bits(engine, rng, name):
    x = sample(rng, name, 128)
    t = TYPES[name]
    wide = t.name if t.bits >= 32 else "int32" if t.kind == "int" else "uint32"
    with np.errstate(over="ignore"):
        expected = x.astype(wide).sum(dtype=wide)
    assert run_1d(engine, x, name, "sum", wide) == expected


@pytest.mark.parametrize("name", FLOATS)
def test_sum_of_floats(engine, rng, name):
    """Small whole numbers: any order of adding is exact, in any of the types."""
    x = rng.integers(-4, 5, 128).astype(np.float64)
    assert run_1d(engine, x, name, "sum", name) == rounded(x.sum(), name)


@pytest.mark.parametrize("n", [64, 4096, 65536])
def test_sum_of_floats_is_accurate(engine, rng, n):
    """In blocks, not one after the other: the error of a long sum stays a few ulp of the sum of magnitudes."""
    x = rng.standard_normal(n).astype(np.float32)
    got = run_1d(engine, x, "float32", "sum", "float32")
    assert abs(got - x.astype(np.float64).sum()) <= 1e-6 * np.abs(x).sum()


@triton.jit
def sum_type_kernel(x_ptr, out_ptr, SUM: tl.constexpr, MAX: tl.constexpr, EXPLICIT: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.static_assert(tl.sum(x, axis=0).dtype == SUM)
    tl.static_assert(tl.max(x, axis=0).dtype == MAX)
    tl.static_assert(tl.min(x, axis=0).dtype == MAX)
    tl.static_assert(tl.sum(x, axis=0, dtype=EXPLICIT).dtype == EXPLICIT)
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.static_assert(value.dtype == x.dtype)
    tl.static_assert(index.dtype == tl.int32)
    tl.static_assert(tl.argmin(x, axis=0).dtype == tl.int32)
    tl.store(out_ptr, 1)


@pytest.mark.ours("Triton's interpreter keeps small types")
@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_types_of_results(engine, name):
    t = TYPES[name]
    total = name if t.is_float or t.bits >= 32 else "int32" if t.kind == "int" else "uint32"
    largest = name if t.bits >= 32 else "float32" if t.is_float else "int32"
    out = engine.zeros(1, "int32")
    sum_type_kernel[(1,)](
        engine.zeros(16, name), out, SUM=getattr(tl, total), MAX=getattr(tl, largest),
        EXPLICIT=tl.float64 if t.is_float else tl.int64,
    )  # fmt: skip
    assert engine.numpy(out)[0] == 1


@pytest.mark.parametrize("op, function", [("max", np.max), ("min", np.min), ("argmax", np.argmax), ("argmin", np.argmin)])
@pytest.mark.parametrize("name", STANDARD[1:])
def test_extremes(engine, rng, name, op, function):
    x = sample(rng, name, 256)
    assert run_1d(engine, x, name, op, "int32" if op.startswith("arg") else name) == function(x)


@pytest.mark.parametrize("op", ["max", "min"])
def test_infinities(engine, op):
    for x in ([-np.inf] * 16, [np.inf] * 16, [-np.inf] * 15 + [np.inf], [1.0] * 8 + [np.inf, -np.inf] * 4):
        assert run_1d(engine, np.array(x), "float32", op, "float32") == getattr(np, op)(x)


@pytest.mark.ours("Triton's interpreter lets NaN through")
@pytest.mark.parametrize("name", FLOATS)
def test_max_and_min_ignore_nan(engine, rng, name):
    x = sample(rng, name, 64)
    x[[0, 3, 17, 63]] = np.nan
    assert run_1d(engine, x, name, "max", name) == np.nanmax(x)
    assert run_1d(engine, x, name, "min", name) == np.nanmin(x)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_sum_keeps_nan(engine, name):
    assert np.isnan(run_1d(engine, np.array([1.0] * 15 + [np.nan]), name, "sum", name))


@pytest.mark.parametrize("name", ["int32", "uint8", "float32"])
def test_ties_go_to_the_left(engine, name):
    x = np.resize([3, 7, 1, 7, 1], 64)
    assert run_1d(engine, x, name, "argmax", "int32") == 1
    assert run_1d(engine, x, name, "argmin", "int32") == 2
    assert run_1d(engine, np.full(128, 5), name, "argmax", "int32") == 0


@pytest.mark.parametrize("name", INTEGERS)
def test_xor_sum(engine, rng, name):
    x = sample(rng, name, 64)
    assert run_1d(engine, x, name, "xor_sum", name) == np.bitwise_xor.reduce(x)


@triton.jit
def reduce_2d_kernel(
    x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr, KEEP: tl.constexpr
):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    if OP == "sum":
        y = tl.sum(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "max":
        y = tl.max(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "min":
        y = tl.min(x, axis=AXIS, keep_dims=KEEP)
    elif OP == "argmax":
        y = tl.argmax(x, axis=AXIS, keep_dims=KEEP)
    else:
        y = tl.argmin(x, axis=AXIS, keep_dims=KEEP)
    if AXIS is None:
        if KEEP:
            tl.static_assert(len(y.shape) == 2)
            y = tl.reshape(y, (1,))
            tl.store(out_ptr + tl.arange(0, 1), y)
        else:
            tl.store(out_ptr, y)
    elif KEEP:
        tl.static_assert(len(y.shape) == 2)
        tl.static_assert(y.shape[AXIS] == 1)
        if AXIS == 0:
            tl.store(out_ptr + tl.arange(0, C)[None, :], y)
        else:
            tl.store(out_ptr + tl.arange(0, R)[:, None], y)
    else:
        tl.static_assert(len(y.shape) == 1)
        if AXIS == 0:
            tl.store(out_ptr + tl.arange(0, C), y)
        else:
            tl.store(out_ptr + tl.arange(0, R), y)


@pytest.mark.parametrize("keep", [False, True], ids=["", "keep_dims"])
@pytest.mark.parametrize("op, axis", [(op, axis) for op in ("sum", "max", "min", "argmax", "argmin") for axis in (0, 1)] + [("sum", None), ("max", None), ("min", None)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 1), (8, 32), (32, 16)], ids=str)
def test_two_axes(engine, rng, shape, op, axis, keep):
    if axis is None and keep and engine.is_reference_implementation:
        pytest.skip("Triton's interpreter loses the shape")
    x = rng.integers(-100, 100, shape).astype(np.int32)
    count = 1 if axis is None else shape[1 - axis]
    out = engine.empty(count, "int32")
    reduce_2d_kernel[(1,)](engine.array(x), out, *shape, OP=op, AXIS=axis, KEEP=keep)
    np.testing.assert_array_equal(engine.numpy(out), np.reshape(getattr(np, op)(x, axis=axis), (count,)))


@pytest.mark.ours("shapes that are not powers of two")
@pytest.mark.parametrize("op, function", [("sum", np.sum), ("max", np.max), ("argmin", np.argmin)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(3, 7), (1, 5), (17, 33), (100, 3)], ids=str)
def test_two_odd_axes(engine, rng, shape, op, function, axis):
    x = rng.integers(-100, -10, shape).astype(np.int32)
    out = engine.empty(shape[1 - axis], "int32")
    reduce_2d_kernel[(1,)](engine.array(x), out, *shape, OP=op, AXIS=axis, KEEP=False)
    np.testing.assert_array_equal(engine.numpy(out), function(x, axis=axis))


@triton.jit
def reduce_3d_kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    y = tl.sum(tl.load(x_ptr + (a * B + b) * C + c), axis=AXIS)
    R: tl.constexpr = y.shape[0]
    S: tl.constexpr = y.shape[1]
    tl.store(out_ptr + tl.arange(0, R)[:, None] * S + tl.arange(0, S)[None, :], y)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_three_axes(engine, rng, axis):
    x = rng.integers(-100, 100, (4, 8, 16)).astype(np.int32)
    expected = x.sum(axis)
    out = engine.empty(expected.shape, "int32")
    reduce_3d_kernel[(1,)](engine.array(x), out, *x.shape, AXIS=axis)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def with_indices_kernel(x_ptr, value_ptr, index_ptr, R: tl.constexpr, C: tl.constexpr, MAX: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    if MAX:
        value, index = tl.max(x, axis=1, return_indices=True)
    else:
        value, index = tl.min(x, axis=1, return_indices=True)
    tl.store(value_ptr + tl.arange(0, R), value)
    tl.store(index_ptr + tl.arange(0, R), index)


@pytest.mark.parametrize("is_max", [True, False])
@pytest.mark.parametrize("name", ["int8", "int32", "float16", "float32", "float64"])
def test_values_with_indices(engine, rng, name, is_max):
    x = rng.integers(-20, 20, (16, 64))  # many ties
    value, index = engine.empty(16, name), engine.empty(16, "int32")
    with_indices_kernel[(1,)](engine.array(x, name), value, index, R=16, C=64, MAX=is_max)
    np.testing.assert_array_equal(engine.numpy(value), x.max(1) if is_max else x.min(1))
    np.testing.assert_array_equal(engine.numpy(index), x.argmax(1) if is_max else x.argmin(1))


@triton.jit
def methods_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, x.sum(0))
    tl.store(out_ptr + 1, x.max(0))
    tl.store(out_ptr + 2, x.min(axis=0))
    tl.store(out_ptr + 3, x.argmax(0))
    tl.store(out_ptr + 4, x.argmin(0))
    tl.store(out_ptr + 5, tl.sum(x))


def test_methods(engine, rng):
    x = rng.integers(-100, 100, 32).astype(np.int32)
    out = engine.empty(6, "int32")
    methods_kernel[(1,)](engine.array(x), out, N=32)
    np.testing.assert_array_equal(engine.numpy(out), [x.sum(), x.max(), x.min(), x.argmax(), x.argmin(), x.sum()])


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def larger_magnitude(a, b):
    return tl.where(tl.abs(a) >= tl.abs(b), a, b)


@triton.jit
def custom_kernel(x_ptr, product_ptr, magnitude_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(product_ptr + tl.arange(0, R), tl.reduce(x, 1, multiply))
    tl.store(magnitude_ptr + tl.arange(0, C), tl.reduce(x, axis=0, combine_fn=larger_magnitude))


@pytest.mark.parametrize("shape", [(1, 1), (8, 4), (4, 8), (16, 16)], ids=str)
def test_reduce_with_a_function(engine, rng, shape):
    x = rng.permutation(np.arange(1, shape[0] * shape[1] + 1)).reshape(shape) * rng.choice([-1, 1], shape)
    x = x.astype(np.int32)
    product, magnitude = engine.empty(shape[0], "int32"), engine.empty(shape[1], "int32")
    custom_kernel[(1,)](engine.array(x), product, magnitude, *shape)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(engine.numpy(product), np.multiply.reduce(x, axis=1, dtype=np.int32))
    np.testing.assert_array_equal(engine.numpy(magnitude), np.take_along_axis(x, np.abs(x).argmax(0)[None], 0)[0])


@triton.jit
def combine_moments(mean_a, square_a, weight_a, mean_b, square_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, square_a + square_b + delta * delta * weight_a * share, weight


@triton.jit
def welford_kernel(x_ptr, mean_ptr, variance_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    zeros = tl.zeros((R, C), dtype=tl.float32)
    mean, square, weight = tl.reduce((x, zeros, zeros + 1), 1, combine_moments)
    tl.store(mean_ptr + tl.arange(0, R), mean)
    tl.store(variance_ptr + tl.arange(0, R), square / weight)


@pytest.mark.parametrize("shape", [(1, 64), (8, 128), (4, 1)], ids=str)
def test_reduce_of_several_tensors(engine, rng, shape):
    x = sample(rng, "float32", shape) * 3 + 1
    mean, variance = engine.empty(shape[0], "float32"), engine.empty(shape[0], "float32")
    welford_kernel[(1,)](engine.array(x, "float32"), mean, variance, *shape)
    x = rounded(x, "float32").astype(np.float64)
    np.testing.assert_allclose(engine.numpy(mean), x.mean(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(engine.numpy(variance), x.var(1), rtol=1e-5, atol=1e-6)


@triton.jit
def larger_with_label(value_a, label_a, value_b, label_b):
    first = value_a >= value_b
    return tl.where(first, value_a, value_b), tl.where(first, label_a, label_b)


@triton.jit
def labels_kernel(x_ptr, label_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    labels = tl.load(label_ptr + tl.arange(0, N))
    value, label = tl.reduce((x, labels), 0, larger_with_label)
    tl.store(out_ptr, label)


def test_reduce_of_tensors_of_different_types(engine, rng):
    x = rng.permutation(128).astype(np.float32)
    labels = rng.integers(0, 2**40, 128)
    out = engine.empty(1, "int64")
    labels_kernel[(1,)](engine.array(x), engine.array(labels), out, N=128)
    assert engine.numpy(out)[0] == labels[x.argmax()]


@triton.jit
def softmax_rows_kernel(x_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    offsets = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + offsets)
    x = x - tl.max(x, axis=1, keep_dims=True)
    exponentials = tl.exp(x)
    tl.store(out_ptr + offsets, exponentials / tl.sum(exponentials, axis=1)[:, None])


@pytest.mark.parametrize("shape", [(1, 16), (16, 64), (64, 4)], ids=str)
def test_softmax_of_a_tile(engine, rng, shape):
    x = sample(rng, "float32", shape) * 5
    out = engine.empty(shape, "float32")
    softmax_rows_kernel[(1,)](engine.array(x, "float32"), out, *shape)
    expected = np.exp(x - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(engine.numpy(out), expected, rtol=2e-5, atol=1e-9)


@triton.jit
def bad_axis_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 16)), axis=1))


@pytest.mark.ours("Triton's interpreter raises other classes")
def test_an_axis_out_of_range_is_an_error(engine):
    with pytest.raises(triton.TritonError):
        bad_axis_kernel[(1,)](engine.zeros(16, "int32"), engine.zeros(1, "int32"))


@triton.jit
def or_kernel(x_ptr, out_ptr, all_ptr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    tl.store(out_ptr + tl.arange(0, R), tl.reduce_or(x, axis=1))
    tl.store(all_ptr, tl.reduce_or(x, axis=None))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64"])
def test_reduce_or(engine, rng, name):
    x = sample(rng, name, (8, 32)) & sample(rng, name, (8, 32)) & sample(rng, name, (8, 32))
    out, everything = engine.empty(8, name), engine.empty(1, name)
    or_kernel[(1,)](engine.array(x), out, everything, R=8, C=32)
    np.testing.assert_array_equal(engine.numpy(out), np.bitwise_or.reduce(x, axis=1))
    assert engine.numpy(everything)[0] == np.bitwise_or.reduce(x, axis=None)


@triton.jit
def greatest_divisor(a, b):
    while b != 0:
        rest = a % b
        a = b
        b = rest
    return a


@pytest.mark.ours("Triton's combine functions neither loop nor branch in its interpreter")
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["reduce", "scan"])
def test_a_combine_function_that_loops(engine, rng, axis, kind):
    @triton.jit
    def kernel(x_ptr, out_ptr, AXIS: tl.constexpr, KIND: tl.constexpr):
        offsets = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
        x = tl.load(x_ptr + offsets)
        if KIND == "reduce":
            result = tl.reduce(x, AXIS, greatest_divisor, keep_dims=True)
        else:
            result = tl.associative_scan(x, AXIS, greatest_divisor)
        tl.store(out_ptr + offsets, tl.broadcast_to(result, (8, 16)))

    x = (rng.integers(1, 50, (8, 16)) * 12).astype(np.int32)
    out = engine.empty((8, 16), "int32")
    kernel[(1,)](engine.array(x), out, axis, kind)
    expected = np.gcd.accumulate(x, axis=axis)
    if kind == "reduce":
        expected = np.broadcast_to(np.gcd.reduce(x, axis=axis, keepdims=True), (8, 16))
    np.testing.assert_array_equal(engine.numpy(out), expected)
