"""cumsum, cumprod, associative_scan, sort, topk, bitonic_merge, flip, histogram."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import TYPES


@triton.jit
def row_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OP: tl.constexpr, FLAG: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    x = tl.load(x_ptr + rows * N + tl.arange(0, N)[None, :])
    if OP == "cumsum":
        y = tl.cumsum(x, axis=1, reverse=FLAG)
    elif OP == "cumprod":
        y = tl.cumprod(x, axis=1, reverse=FLAG)
    elif OP == "sort":
        y = tl.sort(x, descending=FLAG)
    elif OP == "topk":
        y = tl.topk(x, K)
    elif OP == "bitonic_merge":
        y = tl.bitonic_merge(x, descending=FLAG)
    else:
        y = tl.flip(x, 1 if FLAG else 0)
    tl.store(out_ptr + rows * K + tl.arange(0, K)[None, :], y)


def run(engine, x, name, op, flag=False, k=None, out_type=None):
    m, n = x.shape
    out = engine.empty((m, k or n), out_type or name)
    row_kernel[(1,)](engine.array(x, name), out, M=m, N=n, K=k or n, OP=op, FLAG=flag)
    return engine.numpy(out)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op, function", [("cumsum", np.cumsum), ("cumprod", np.cumprod)])
def test_running_totals(engine, rng, op, function, reverse):
    x = rng.integers(1, 3, (4, 16)).astype(np.int32)
    expected = function(x[:, ::-1], axis=1)[:, ::-1] if reverse else function(x, axis=1)
    np.testing.assert_array_equal(run(engine, x, "int32", op, reverse), expected)


@triton.jit
def _then(scale1, shift1, scale2, shift2):
    """x -> scale2 * (scale1 * x + shift1) + shift2: associative, and the order matters."""
    return scale1 * scale2, shift1 * scale2 + shift2


@triton.jit
def chains_kernel(scale_ptr, shift_ptr, scale_out, shift_out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    scale, shift = tl.associative_scan((tl.load(scale_ptr + place), tl.load(shift_ptr + place)), AXIS, _then, reverse=REVERSE)
    tl.store(scale_out + place, scale)
    tl.store(shift_out + place, shift)


@pytest.mark.ours("extents that are not powers of two")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("m, n", [(1, 16), (3, 33), (2, 64), (5, 100), (17, 4), (1, 300)])
def test_a_scan_of_two_tiles_in_order(engine, rng, m, n, axis, reverse):
    scale, shift = rng.choice([-1, 1, 1, 2], (m, n)), rng.integers(-3, 4, (m, n))
    scales, shifts = np.empty((m, n), np.int64), np.empty((m, n), np.int64)
    along = [(slice(None), k) if axis == 1 else (k, slice(None)) for k in range((m, n)[axis])]
    a, b = np.ones_like(scale[along[0]]), np.zeros_like(shift[along[0]])
    for place in reversed(along) if reverse else along:
        a, b = a * scale[place], b * scale[place] + shift[place]
        scales[place], shifts[place] = a, b
    outs = [engine.empty((m, n), "int32") for _ in range(2)]
    chains_kernel[(1,)](engine.array(scale, "int32"), engine.array(shift, "int32"), *outs, M=m, N=n, AXIS=axis, REVERSE=reverse)
    np.testing.assert_array_equal(engine.numpy(outs[0]), scales.astype(np.int32))
    np.testing.assert_array_equal(engine.numpy(outs[1]), shifts.astype(np.int32))


@pytest.mark.ours("extents that are not powers of two")
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float64", "int64", "uint8"])
@pytest.mark.parametrize("n", [5, 16, 31, 257])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_of_any_length(engine, rng, name, n, reverse):
    x = rng.integers(0, 2, (3, n))  # every sum is exact in each type
    expected = np.cumsum(x[:, ::-1], axis=1)[:, ::-1] if reverse else np.cumsum(x, axis=1)
    if name == "bfloat16":
        expected = np.minimum(expected, 256)  # where a sum is not, it stays
    out_type = "uint32" if name == "uint8" else name
    np.testing.assert_array_equal(run(engine, x, name, "cumsum", reverse, out_type=out_type), expected)


def test_a_running_sum_past_nan_and_infinities(engine, rng):
    x = rng.integers(-3, 4, (4, 64)).astype(np.float32)
    x[0, 20], x[1, 40], x[2, 7] = np.nan, np.inf, -np.inf
    x[2, 50] = np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run(engine, x, "float32", "cumsum"), np.cumsum(x, axis=1))


def test_running_sums_of_small_integers_are_wide(engine, rng):
    x = rng.integers(0, 256, (2, 64))
    np.testing.assert_array_equal(run(engine, x, "uint8", "cumsum", out_type="uint32"), np.cumsum(x, axis=1))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 2), (4, 32), (1, 512)])
def test_sort(engine, rng, shape, name, descending):
    low = 0 if TYPES[name].kind == "uint" else -100
    x = rng.integers(low, 100, shape)
    expected = np.sort(x, axis=1)[:, ::-1] if descending else np.sort(x, axis=1)
    np.testing.assert_array_equal(run(engine, x, name, "sort", descending), expected)


@pytest.mark.ours("lengths that are not powers of two, NaN last")
@pytest.mark.parametrize("n", [1, 3, 13, 100])
def test_sort_of_any_length_with_nan_and_infinities(engine, rng, n):
    x = rng.standard_normal((3, n)).astype(np.float32)
    x[0, n // 2] = np.nan
    x[1, n // 3] = np.inf
    x[2, 0] = -np.inf
    np.testing.assert_array_equal(run(engine, x, "float32", "sort"), np.sort(x, axis=1))
    np.testing.assert_array_equal(run(engine, x, "float32", "sort", True), np.sort(x, axis=1)[:, ::-1])


@pytest.mark.parametrize("name, out_type", [("float32", "float32"), ("float16", "float32"), ("int8", "int32"), ("int32", "int32")])
@pytest.mark.parametrize("k", [1, 4, 16])
def test_topk(engine, rng, name, out_type, k):
    x = rng.integers(-100, 100, (4, 64))
    np.testing.assert_array_equal(run(engine, x, name, "topk", k=k, out_type=out_type), -np.sort(-x, axis=1)[:, :k])


@triton.jit
def topk_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    x = tl.load(x_ptr + rows * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr + rows * K + tl.arange(0, K)[None, :], tl.topk(x, K, descending=DESCENDING))


def few_of_many(rng, name, n):
    """Rows with what a selection may stumble over: many equal, extremes, all the same, and for floats NaN, infinities and zeros."""
    kind = TYPES[name].kind
    if kind == "float":
        x = rng.standard_normal((5, n))
        x[1] = np.round(x[1])
        x[1][x[1] == 0] = np.where(np.arange(np.count_nonzero(x[1] == 0)) % 2, -0.0, 0.0)
        x[2, ::7] = np.nan
        x[2, 1::7] = -np.inf
        x[2, 2::9] = np.inf
        x[4] = np.nan
    else:
        dtype = np.dtype(name)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = rng.integers(low, high, (5, n), dtype=dtype, endpoint=True)
        x[1] = rng.integers(0, 4, n)
        x[2, ::3] = low
        x[2, 1::3] = high
        x[4] = low
    x[3] = np.sort(x[3])
    return x.astype(name)


@pytest.mark.ours("NaN is the largest, and of zeros the negative one is the smaller")
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("n, k", [(256, 1), (256, 64), (512, 100), (300, 7), (1000, 33), (256, 65)])
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "uint32", "int64"])
def test_topk_of_many(engine, rng, name, n, k, descending):
    x = few_of_many(rng, name, n)
    out = engine.empty((5, k), name)
    topk_kernel[(1,)](engine.array(x, name), out, M=5, N=n, K=k, DESCENDING=descending)
    ordered = np.sort(x, axis=1)
    expected = ordered[:, ::-1][:, :k] if descending else ordered[:, :k]
    np.testing.assert_array_equal(engine.numpy(out), expected)


@pytest.mark.parametrize("descending", [False, True])
def test_bitonic_merge(engine, rng, descending):
    x = np.sort(rng.integers(-100, 100, (4, 32)), axis=1)
    x[:, 16:] = x[:, :15:-1]  # rises, then falls
    expected = np.sort(x, axis=1)[:, ::-1] if descending else np.sort(x, axis=1)
    np.testing.assert_array_equal(run(engine, x, "int32", "bitonic_merge", descending), expected)


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64"])
def test_flip(engine, rng, name):
    x = rng.integers(-100, 100, (4, 8))
    np.testing.assert_array_equal(run(engine, x, name, "flip", True), x[:, ::-1])
    np.testing.assert_array_equal(run(engine, x, name, "flip", False), x[::-1])


@triton.jit
def larger_run(value1, count1, value2, count2):
    return tl.where(value2 > value1, value2, value1), count1 + count2


@triton.jit
def pair_scan_kernel(x_ptr, best_ptr, count_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    best, count = tl.associative_scan((x, tl.full((N,), 1, tl.int32)), 0, larger_run)
    tl.store(best_ptr + at, best)
    tl.store(count_ptr + at, count)


def test_scan_of_two_tensors(engine, rng):
    x = rng.standard_normal(64).astype(np.float32)
    best, count = engine.empty(64, "float32"), engine.empty(64, "int32")
    pair_scan_kernel[(1,)](engine.array(x), best, count, N=64)
    np.testing.assert_array_equal(engine.numpy(best), np.maximum.accumulate(x))
    np.testing.assert_array_equal(engine.numpy(count), np.arange(1, 65))


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=at < n))


def test_histogram(engine, rng):
    x = rng.integers(0, 16, 256).astype(np.int32)
    out = engine.empty(16, "int32")
    histogram_kernel[(1,)](engine.array(x), out, 200, N=256, BINS=16)
    np.testing.assert_array_equal(engine.numpy(out), np.bincount(x[:200], minlength=16))
