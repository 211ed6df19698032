"""Atomics: old values, every type, masks, contention between many programs and within one tile."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import TYPES, rounded, sample

WIDE_INTEGERS = ["int32", "int64", "uint32", "uint64"]


@triton.jit
def count_kernel(counter_ptr, old_ptr, amount):
    old = tl.atomic_add(counter_ptr, amount)
    tl.store(old_ptr + tl.program_id(0), old)


@pytest.mark.parametrize("name", [*WIDE_INTEGERS, "float32", "float64"])
def test_add_from_many_programs(engine, name):
    """The old values are each running total exactly once, in some order."""
    counter, old = engine.zeros(1, name), engine.empty(2000, name)
    count_kernel[(2000,)](counter, old, 3)
    assert engine.numpy(counter)[0] == 6000
    np.testing.assert_array_equal(np.sort(engine.numpy(old)), np.arange(2000) * 3)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_add_of_small_floats(engine, name):
    if engine.is_reference_implementation and name == "bfloat16":
        pytest.skip("Triton's interpreter has no bfloat16 arithmetic")
    counter, old = engine.zeros(1, name), engine.empty(100, name)
    count_kernel[(100,)](counter, old, 1)
    assert engine.numpy(counter)[0] == 100


@triton.jit
def histogram_kernel(x_ptr, bins_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    bins = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(bins_ptr + bins, 1, mask=mask)


@pytest.mark.parametrize("bins", [1, 7, 256])
def test_histogram(engine, rng, bins):
    x = rng.integers(0, bins, 10007).astype(np.int32)
    out = engine.zeros(bins, "int32")
    histogram_kernel[(triton.cdiv(x.size, 256),)](engine.array(x), out, x.size, BLOCK=256)
    np.testing.assert_array_equal(engine.numpy(out), np.bincount(x, minlength=bins))


@triton.jit
def same_place_kernel(out_ptr, old_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(old_ptr + lanes, tl.atomic_add(out_ptr + lanes * 0, lanes))


def test_lanes_of_one_tile_at_one_place(engine):
    out, old = engine.zeros(1, "int32"), engine.empty(64, "int32")
    same_place_kernel[(1,)](out, old, BLOCK=64)
    assert engine.numpy(out)[0] == np.arange(64).sum()
    assert engine.numpy(old).min() == 0 and engine.numpy(old).max() <= np.arange(64).sum()


@triton.jit
def extreme_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr, OP: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    x = tl.load(x_ptr + offsets, mask=mask)
    place = out_ptr + offsets % 4
    if OP == "max":
        tl.atomic_max(place, x, mask=mask)
    elif OP == "min":
        tl.atomic_min(place, x, mask=mask)
    elif OP == "and":
        tl.atomic_and(place, x, mask=mask)
    elif OP == "or":
        tl.atomic_or(place, x, mask=mask)
    else:
        tl.atomic_xor(place, x, mask=mask)


@pytest.mark.parametrize("op, function", [("max", np.maximum), ("min", np.minimum)])
@pytest.mark.parametrize("name", [*WIDE_INTEGERS, "float32", "float64"])
def test_max_and_min(engine, rng, name, op, function):
    x = sample(rng, name, 1000)
    start = sample(rng, name, 4)
    out = engine.array(start, name)
    extreme_kernel[(triton.cdiv(1000, 128),)](engine.array(x, name), out, 1000, BLOCK=128, OP=op)
    expected = [function.reduce(np.append(x[i::4], start[i])) for i in range(4)]
    np.testing.assert_array_equal(engine.numpy(out), np.array(expected, x.dtype))


@pytest.mark.parametrize("op, function", [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)])
@pytest.mark.parametrize("name", WIDE_INTEGERS)
def test_bits(engine, rng, name, op, function):
    x, start = sample(rng, name, 1000), sample(rng, name, 4)
    out = engine.array(start, name)
    extreme_kernel[(triton.cdiv(1000, 128),)](engine.array(x, name), out, 1000, BLOCK=128, OP=op)
    np.testing.assert_array_equal(engine.numpy(out), [function.reduce(np.append(x[i::4], start[i])) for i in range(4)])


@triton.jit
def exchange_kernel(place_ptr, old_ptr):
    program = tl.program_id(0)
    tl.store(old_ptr + program, tl.atomic_xchg(place_ptr, program + 1))


@pytest.mark.parametrize("name", ["int32", "int64", "float32"])
def test_exchange_loses_nothing(engine, name):
    place, old = engine.zeros(1, name), engine.empty(500, name)
    exchange_kernel[(500,)](place, old)
    seen = np.append(engine.numpy(old), engine.numpy(place)[0])
    np.testing.assert_array_equal(np.sort(seen), np.arange(501))


@triton.jit
def compare_and_swap_kernel(place_ptr, old_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    expected = lanes % 2
    old = tl.atomic_cas(place_ptr + lanes, expected, lanes + 100)
    tl.store(old_ptr + lanes, old)


def test_compare_and_swap(engine):
    start = np.arange(64, dtype=np.int32) % 3
    place, old = engine.array(start), engine.empty(64, "int32")
    compare_and_swap_kernel[(1,)](place, old, BLOCK=64)
    lanes = np.arange(64)
    np.testing.assert_array_equal(engine.numpy(old), start)
    np.testing.assert_array_equal(engine.numpy(place), np.where(start == lanes % 2, lanes + 100, start))


@triton.jit
def locked_increment_kernel(lock_ptr, total_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, tl.load(total_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("programs", [1, 2, 200])
def test_a_lock(engine, programs):
    lock, total = engine.zeros(1, "int32"), engine.zeros(1, "int32")
    locked_increment_kernel[(programs,)](lock, total)
    assert engine.numpy(total)[0] == programs
    assert engine.numpy(lock)[0] == 0


@triton.jit
def semantics_kernel(out_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.atomic_add(out_ptr, 1, sem=SEM, scope=SCOPE)


@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
@pytest.mark.parametrize("sem", ["acq_rel", "acquire", "release", "relaxed"])
def test_semantics_and_scopes(engine, sem, scope):
    out = engine.zeros(1, "int32")
    semantics_kernel[(50,)](out, SEM=sem, SCOPE=scope)
    assert engine.numpy(out)[0] == 50


@triton.jit
def masked_kernel(out_ptr, old_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = lanes % 3 == 0
    old = tl.atomic_add(out_ptr + lanes, 5, mask=mask)
    tl.store(old_ptr + lanes, old, mask=mask)


def test_masked_lanes_do_nothing(engine):
    start = np.arange(64, dtype=np.int32)
    out, old = engine.array(start), engine.zeros(64, "int32")
    masked_kernel[(1,)](out, old, BLOCK=64)
    mask = start % 3 == 0
    np.testing.assert_array_equal(engine.numpy(out), np.where(mask, start + 5, start))
    np.testing.assert_array_equal(engine.numpy(old), np.where(mask, start, 0))


@triton.jit
def sum_of_products_kernel(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x * x, axis=0))


def test_a_sum_over_programs(engine, rng):
    x = rounded(rng.integers(-8, 9, 5000), "float32")
    out = engine.zeros(1, "float32")
    sum_of_products_kernel[(triton.cdiv(5000, 256),)](engine.array(x, "float32"), out, 5000, BLOCK=256)
    assert engine.numpy(out)[0] == (x * x).sum()


@triton.jit
def add_tile_kernel(out_ptr, x_ptr, R: tl.constexpr, C: tl.constexpr):
    offsets = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.atomic_add(out_ptr + offsets, tl.load(x_ptr + offsets))


def test_tiles_added_by_many_programs(engine, rng):
    x = rng.integers(-9, 10, (16, 32)).astype(np.float32)
    out = engine.zeros((16, 32), "float32")
    add_tile_kernel[(100,)](out, engine.array(x), R=16, C=32)
    np.testing.assert_array_equal(engine.numpy(out), 100 * x)


@triton.jit
def narrow_kernel(out_ptr):
    tl.atomic_max(out_ptr, 1)


@pytest.mark.ours("Triton's interpreter lets these through")
@pytest.mark.parametrize("name", ["int8", "int16", "float16", "bfloat16"])
def test_narrow_types_are_an_error(engine, name):
    assert TYPES[name].bits < 32
    with pytest.raises(triton.TritonError):
        narrow_kernel[(1,)](engine.zeros(1, name))


@triton.jit
def load_store_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.atomic_load(x_ptr + offsets, mask=offsets < COUNT - 1, sem="relaxed")
    tl.atomic_store(out_ptr + offsets, x, mask=offsets > 0)
    tl.atomic_store(out_ptr, tl.atomic_load(x_ptr, scope="sys") + 5, sem="release")


@pytest.mark.ours("new in Triton 3.9")
@pytest.mark.parametrize("name", [*WIDE_INTEGERS, "float32", "float64"])
def test_load_and_store(engine, rng, name):
    x = sample(rng, name, 16, 0, 50)
    out = engine.zeros(16, name)
    load_store_kernel[(1,)](engine.array(x, name), out, COUNT=16)
    expected = x.copy()
    expected[0] = rounded(x[0] + 5, name)
    np.testing.assert_array_equal(engine.numpy(out)[:15], expected[:15])


@triton.jit
def chain_kernel(turn_ptr, out_ptr):
    """Each program waits for its turn; programs start in ascending order, so that each one's predecessor is on its way."""
    me = tl.program_id(0)
    tl.atomic_poll(turn_ptr, me)
    tl.store(out_ptr + me, tl.atomic_load(turn_ptr) * 10)
    tl.atomic_store(turn_ptr, me + 1)


@pytest.mark.ours("new in Triton 3.9")
def test_poll_waits_for_a_value(engine):
    turn, out = engine.zeros(1, "int32"), engine.zeros(8, "int32")
    chain_kernel[(8,)](turn, out)
    assert engine.numpy(turn)[0] == 8
    np.testing.assert_array_equal(engine.numpy(out), np.arange(8) * 10)
