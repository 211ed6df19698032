"""Philox is exact to the bit; what is made of it is distributed as it should be."""

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def philox_kernel(counter_ptr, key_ptr, out_ptr, ROUNDS: tl.constexpr):
    c0, c1, c2, c3 = tl.philox_impl(tl.load(counter_ptr), tl.load(counter_ptr + 1), tl.load(counter_ptr + 2), tl.load(counter_ptr + 3),
                                    tl.load(key_ptr), tl.load(key_ptr + 1), ROUNDS)  # fmt: skip
    tl.store(out_ptr, c0)
    tl.store(out_ptr + 1, c1)
    tl.store(out_ptr + 2, c2)
    tl.store(out_ptr + 3, c3)


def philox(engine, counter, key, rounds=10):
    out = engine.empty(4, "uint32")
    philox_kernel[(1,)](engine.array(np.array(counter, np.uint32)), engine.array(np.array(key, np.uint32)), out, ROUNDS=rounds)
    return engine.numpy(out).tolist()


def test_philox_gives_the_published_answers(engine):
    ones = 0xFFFFFFFF
    assert philox(engine, [0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox(engine, [ones] * 4, [ones] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    digits_of_pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert philox(engine, *digits_of_pi) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


@triton.jit
def random_kernel(out_ptr, seed, start, N: tl.constexpr, KIND: tl.constexpr):
    at = tl.arange(0, N)
    if KIND == "randint":
        y = tl.randint(seed, start + at)
    elif KIND == "rand":
        y = tl.rand(seed, start + at)
    elif KIND == "rand4x":
        a, b, c, y = tl.rand4x(seed, start + at)
    elif KIND == "randn":
        y = tl.randn(seed, start + at)
    else:
        a, y, c, d = tl.randn4x(seed, start + at)
    tl.store(out_ptr + at, y)


def numbers(engine, kind, n, seed=7, start=0):
    out = engine.empty(n, "uint32" if kind == "randint" else "float32")
    random_kernel[(1,)](out, seed, start, N=n, KIND=kind)
    return engine.numpy(out)


def reference(seed, offsets):
    """Philox-4x32-10 of (offset, 0, 0, 0) under the key of a seed, in NumPy."""
    c = [np.asarray(offsets, np.uint64) & 0xFFFFFFFF, np.asarray(offsets, np.uint64) >> np.uint64(32), np.zeros(len(offsets), np.uint64),
         np.zeros(len(offsets), np.uint64)]  # fmt: skip
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low = np.uint64(0xFFFFFFFF)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def test_integers_follow_seed_and_offset(engine):
    for seed in (0, 7, 2**31, 0x123456789ABCDEF):
        np.testing.assert_array_equal(numbers(engine, "randint", 64, seed), reference(seed, np.arange(64))[0])
    wide = 5_000_000_000  # an int64 offset
    np.testing.assert_array_equal(numbers(engine, "randint", 64, 3, wide), reference(3, wide + np.arange(64))[0])


def test_uniform_numbers(engine):
    words = reference(7, np.arange(4096))
    for kind, word in (("rand", words[0]), ("rand4x", words[3])):
        x = numbers(engine, kind, 4096)
        signed = word.astype(np.uint32).view(np.int32)
        np.testing.assert_array_equal(x, np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10))
        assert 0 <= x.min() and x.max() < 1
        assert abs(x.mean() - 0.5) < 0.02


def test_normal_numbers(engine):
    for kind in ("randn", "randn4x"):
        x = numbers(engine, kind, 8192).astype(np.float64)
        assert abs(x.mean()) < 0.05 and abs(x.std() - 1) < 0.05
        assert abs((x**3).mean()) < 0.15 and abs((x**4).mean() - 3) < 0.4


@triton.jit
def words_kernel(out_ptr, seed, COUNT: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    if HOW == "philox":
        zero = tl.zeros_like(offsets)
        a, b, c, d = tl.philox(seed, offsets, zero, zero, zero)
    else:
        a, b, c, d = tl.randint4x(seed, offsets)
    tl.store(out_ptr + 0 * COUNT + offsets, a)
    tl.store(out_ptr + 1 * COUNT + offsets, b)
    tl.store(out_ptr + 2 * COUNT + offsets, c)
    tl.store(out_ptr + 3 * COUNT + offsets, d)


@pytest.mark.parametrize("how", ["philox", "randint4x"])
def test_four_words_of_each_counter(engine, how):
    out = engine.empty((4, 64), "uint32")
    words_kernel[(1,)](out, 11, COUNT=64, HOW=how)
    np.testing.assert_array_equal(engine.numpy(out), np.stack(reference(11, np.arange(64))))


@triton.jit
def conversions_kernel(words_ptr, uniform_ptr, first_ptr, second_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    u = tl.random.uint_to_uniform_float(tl.load(words_ptr + offsets))
    n1, n2 = tl.random.pair_uniform_to_normal(u, 1.0 - u)
    tl.store(uniform_ptr + offsets, u)
    tl.store(first_ptr + offsets, n1)
    tl.store(second_ptr + offsets, n2)


def test_words_become_uniform_and_normal_numbers(engine, rng):
    words = np.concatenate([rng.integers(0, 2**32, 60, dtype=np.uint32), np.array([0, 1, 2**31, 2**32 - 1], np.uint32)])
    uniform, first, second = (engine.empty(64, "float32") for _ in range(3))
    conversions_kernel[(1,)](engine.array(words), uniform, first, second, COUNT=64)
    u = engine.numpy(uniform)
    signed = words.view(np.int32)
    np.testing.assert_array_equal(u, np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10))
    radius = np.sqrt(-2 * np.log(np.maximum(1e-7, u.astype(np.float64))))
    angle = 2 * np.pi * (1 - u).astype(np.float64)
    np.testing.assert_allclose(engine.numpy(first), radius * np.cos(angle), atol=1e-5)
    np.testing.assert_allclose(engine.numpy(second), radius * np.sin(angle), atol=1e-5)
