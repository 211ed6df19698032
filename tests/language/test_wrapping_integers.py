"""Index arithmetic that wraps: what is known of an arange in closed form is known of it modulo 2^bits only."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def narrow_kernel(out_ptr, compared_ptr, limit, start, TYPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    narrow = (i + start).to(TYPE)
    tl.store(out_ptr + i, narrow.to(tl.int64))
    tl.store(compared_ptr + i, (narrow < limit).to(tl.int32))


@pytest.mark.parametrize("type_name", ["int8", "int16"])
@pytest.mark.parametrize("start", [0, 100, -200, 32700, 65500])
@pytest.mark.parametrize("n", [64, 256, 300])
def test_casts_to_few_bits(engine, type_name, start, n):
    out, compared = engine.zeros(n, "int64"), engine.zeros(n, "int32")
    narrow_kernel[(1,)](out, compared, 5, start, TYPE=getattr(tl, type_name), N=n)
    expected = (np.arange(n) + start).astype(type_name)
    np.testing.assert_array_equal(engine.numpy(out), expected)
    np.testing.assert_array_equal(engine.numpy(compared), expected < 5)


@triton.jit
def widen_kernel(sum_ptr, product_ptr, below_ptr, above_ptr, rest_ptr, quotient_ptr, start, step, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    moved = i + start
    tl.store(sum_ptr + i, moved.to(tl.int64))
    tl.store(product_ptr + i, (i * step).to(tl.int64) + 1)
    tl.store(below_ptr + i, (moved < limit).to(tl.int32))
    tl.store(above_ptr + i, (moved >= limit).to(tl.int32))
    tl.store(rest_ptr + i, moved % 48)
    tl.store(quotient_ptr + i, moved // 48)


@pytest.mark.parametrize("start", [0, 7, 2**31 - 100, 2**31 - 128, -5, -(2**31)])
@pytest.mark.parametrize("step", [1, 3, 2**28, 2**24 + 1, -(2**27)])
@pytest.mark.parametrize("limit", [0, 2**31 - 10])
def test_sums_and_products_past_the_largest_integer(engine, start, step, limit):
    n = 256
    names = ["int64", "int64", "int32", "int32", "int32", "int32"]
    outs = [engine.zeros(n, name) for name in names]
    widen_kernel[(1,)](*outs, start, step, limit, N=n)
    i = np.arange(n, dtype=np.int64)
    moved = (i + start).astype(np.int32)
    rest = np.fmod(moved, 48)
    expected = [moved, (i * step).astype(np.int32).astype(np.int64) + 1, moved < limit, moved >= limit, rest,
                (moved.astype(np.int64) - rest) // 48]  # fmt: skip
    for out, value in zip(outs, expected):
        np.testing.assert_array_equal(engine.numpy(out), value)


@triton.jit
def masked_load_kernel(x_ptr, out_ptr, start, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    moved = i + start
    mask = (moved >= 0) & (moved < limit)
    x = tl.load(x_ptr + (moved.to(tl.int64) - start), mask=mask, other=-1)
    tl.store(out_ptr + i, x)
    total = tl.sum(tl.load(x_ptr + i, mask=moved < limit, other=0), 0)
    tl.store(out_ptr + N, total)


@pytest.mark.parametrize("start", [0, 3, 2**31 - 64, 2**31 - 200, -100, -(2**31), 2**31 - 1])
@pytest.mark.parametrize("limit", [100, 2**31 - 1, 2**31 - 40, -20])
@pytest.mark.parametrize("n", [64, 200])
def test_bound_checks_of_lanes_that_wrap(engine, start, limit, n):
    x = np.arange(1, n + 1, dtype=np.int32)
    out = engine.zeros(n + 1, "int32")
    moved = (np.arange(n, dtype=np.int64) + start).astype(np.int32)
    masked_load_kernel[(1,)](engine.array(np.concatenate([x])), out, start, limit, N=n)
    mask = (moved >= 0) & (moved < limit)
    expected = np.where(mask, x, -1)
    np.testing.assert_array_equal(engine.numpy(out), np.append(expected, x[moved < limit].sum()))


@triton.jit
def column_sums_kernel(x_ptr, out_ptr, start, limit, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    mask = (c + start < limit) & (r + start < limit)
    x = tl.load(x_ptr + r * C + c, mask=mask, other=0)
    tl.store(out_ptr + tl.arange(0, C), tl.sum(x, 0))
    tl.store(out_ptr + C + tl.arange(0, R), tl.sum(x, 1))


@pytest.mark.parametrize("start", [0, 2**31 - 20, -7])
@pytest.mark.parametrize("limit", [0, 10, 2**31 - 8])
def test_sums_along_each_axis_of_what_wraps(engine, start, limit):
    rows, columns = 24, 48
    x = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    out = engine.zeros(rows + columns, "int32")
    column_sums_kernel[(1,)](engine.array(x), out, start, limit, R=rows, C=columns)
    r = (np.arange(rows, dtype=np.int64) + start).astype(np.int32) < limit
    c = (np.arange(columns, dtype=np.int64) + start).astype(np.int32) < limit
    kept = np.where(r[:, None] & c[None, :], x, 0)
    np.testing.assert_array_equal(engine.numpy(out), np.concatenate([kept.sum(0), kept.sum(1)]))


@triton.jit
def narrow_offsets_kernel(x_ptr, out_ptr, middle, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + middle + i.to(tl.int8)))


def test_offsets_of_eight_bits(engine):
    x = np.arange(400, dtype=np.int32)
    out = engine.zeros(256, "int32")
    narrow_offsets_kernel[(1,)](engine.array(x), out, 200, N=256)
    np.testing.assert_array_equal(engine.numpy(out), 200 + np.arange(256).astype(np.int8).astype(np.int32))


@triton.jit
def shift_kernel(out_ptr, n):
    i = tl.arange(0, 64)
    tl.store(out_ptr + i, i << n)


@pytest.mark.parametrize("n", [0, 1, 5, 30, 31, 32, 40, 64, -3])
def test_shifts_by_the_width_and_more(engine, n):
    out = engine.zeros(64, "int32")
    shift_kernel[(1,)](out, n)
    expected = (np.arange(64, dtype=np.int64) << n).astype(np.int32) if 0 <= n < 32 else np.zeros(64)
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def two_axes_kernel(x_ptr, rest_ptr, quotient_ptr, read_ptr, turned_ptr, n, R: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    at = r * C + c
    tl.store(rest_ptr + at, (r + c) % D)
    tl.store(quotient_ptr + at, (r + c) // D)
    tl.store(read_ptr + at, tl.load(x_ptr + (r + c) % n))
    tl.store(turned_ptr + at, (c + 8) % (r + 1))


@pytest.mark.parametrize("divisor, n", [(8, 64), (16, 16), (32, 48), (7, 5), (64, 1)])
def test_remainders_that_both_axes_make(engine, divisor, n):
    rows, columns = 8, 64
    x = np.arange(100, 100 + n, dtype=np.int32)
    outs = [engine.zeros((rows, columns), "int32") for _ in range(4)]
    two_axes_kernel[(1,)](engine.array(x), *outs, n, R=rows, C=columns, D=divisor)
    r, c = np.arange(rows)[:, None], np.arange(columns)[None, :]
    for out, expected in zip(outs, [(r + c) % divisor, (r + c) // divisor, x[(r + c) % n], (c + 8) % (r + 1)]):
        np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def wrapped_operand_kernel(a_ptr, b_ptr, out_ptr, period, limit, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    wrapped = (k % period)[None, :]
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    whole = tl.load(a_ptr + m[:, None] * period + wrapped)
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(whole, b, input_precision="ieee"))
    cut = tl.load(a_ptr + m[:, None] * period + wrapped, mask=wrapped < limit, other=0)
    tl.store(out_ptr + M * N + m[:, None] * N + n[None, :], tl.dot(cut, b, input_precision="ieee"))


@pytest.mark.parametrize("period, limit", [(20, 7), (32, 20), (5, 5), (16, 3)])
def test_a_product_of_what_is_loaded_at_wrapped_offsets(engine, rng, period, limit):
    a = rng.integers(-5, 5, (16, period)).astype(np.float32)
    b = rng.integers(-5, 5, (32, 16)).astype(np.float32)
    out = engine.zeros((2, 16, 16), "float32")
    wrapped_operand_kernel[(1,)](engine.array(a), engine.array(b), out, period, limit, M=16, K=32, N=16)
    wrapped = np.arange(32) % period
    expected = [a[:, wrapped] @ b, np.where(wrapped < limit, a[:, wrapped], 0) @ b]
    np.testing.assert_array_equal(engine.numpy(out), expected)
