"""Random numbers from the counter-based generator Philox-4x32 (and 4x64), written in the language itself.

The same seed and offset give the same number everywhere, whatever the grid.
"""

from nacre.language import core, math
from nacre.runtime.jit import jit


@jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: core.constexpr = 10):
    """Philox on a counter of four words and a key of two, all uint32 or all uint64.

    c0, c1, c2, c3: the counter.
    k0, k1: the key.
    n_rounds: how often the words are mixed.
    """
    core.static_assert(c0.dtype == core.uint32 or c0.dtype == core.uint64, "philox works on uint32 or uint64")
    is_narrow: core.constexpr = c0.dtype == core.uint32
    multiplier_a: core.constexpr = 0xD2511F53 if is_narrow else 0xD2E7470EE14C6C93
    multiplier_b: core.constexpr = 0xCD9E8D57 if is_narrow else 0xCA5A826395121157
    weyl_a: core.constexpr = 0x9E3779B9 if is_narrow else 0x9E3779B97F4A7C15
    weyl_b: core.constexpr = 0xBB67AE85 if is_narrow else 0xBB67AE8584CAA73B
    for _ in core.static_range(n_rounds):
        low_a = core.mul(c0, multiplier_a, sanitize_overflow=False)
        low_b = core.mul(c2, multiplier_b, sanitize_overflow=False)
        high_a = math.umulhi(c0, multiplier_a)
        high_b = math.umulhi(c2, multiplier_b)
        c0 = high_b ^ c1 ^ k0
        c1 = low_b
        c2 = high_a ^ c3 ^ k1
        c3 = low_a
        k0 = core.add(k0, weyl_a, sanitize_overflow=False)
        k1 = core.add(k1, weyl_b, sanitize_overflow=False)
    return c0, c1, c2, c3


@jit
def philox(seed, c0, c1, c2, c3, n_rounds: core.constexpr = 10):
    """Four blocks of random words for a seed and a counter; uint32 for counters of 32 bits, uint64 for 64.

    seed: an integer, of which 64 bits count.
    c0, c1, c2, c3: the counter.
    n_rounds: how often the words are mixed.
    """
    key = core.cast(seed, core.uint64)
    c0 = core.to_tensor(c0)
    c1 = core.to_tensor(c1)
    c2 = core.to_tensor(c2)
    c3 = core.to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        return philox_impl(core.cast(c0, core.uint32, bitcast=True), core.cast(c1, core.uint32, bitcast=True),
                           core.cast(c2, core.uint32, bitcast=True), core.cast(c3, core.uint32, bitcast=True),
                           core.cast(key, core.uint32), core.cast(key >> 32, core.uint32), n_rounds)
    else:
        core.static_assert(c0.dtype.primitive_bitwidth == 64, "philox takes counters of 32 or 64 bits")
        return philox_impl(core.cast(c0, core.uint64, bitcast=True), core.cast(c1, core.uint64, bitcast=True),
                           core.cast(c2, core.uint64, bitcast=True), core.cast(c3, core.uint64, bitcast=True), key,
                           core.cast(0, core.uint64), n_rounds)


@jit
def randint4x(seed, offset, n_rounds: core.constexpr = 10):
    """Four blocks of random uint32, the cheapest way to make many.

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    place = core.to_tensor(offset)
    low = core.cast(place, core.uint32)
    zero = core.zeros_like(low)
    if place.dtype.primitive_bitwidth > 32:
        return philox(seed, low, core.cast(place >> 32, core.uint32), zero, zero, n_rounds)
    else:
        return philox(seed, low, zero, zero, zero, n_rounds)


@jit
def randint(seed, offset, n_rounds: core.constexpr = 10):
    """A block of random uint32.

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    first, second, third, fourth = randint4x(seed, offset, n_rounds)
    return first


@jit
def uint_to_uniform_float(x):
    """Random words of 32 or 64 bits as fp32 numbers, even over [0, 1)."""
    core.static_assert(x.dtype.primitive_bitwidth == 32 or x.dtype.primitive_bitwidth == 64,
                       "uint_to_uniform_float takes integers of 32 or 64 bits")
    # The scales are a little under 2^-31 and 2^-63, so that the largest word stays below 1 after rounding.
    if x.dtype.primitive_bitwidth == 32:
        word = core.cast(x, core.int32, bitcast=True)
        return core.cast(core.where(word < 0, ~word, word), core.float32) * 4.6566127342e-10
    else:
        word = core.cast(x, core.int64, bitcast=True)
        return core.cast(core.where(word < 0, ~word, word), core.float32) * 1.0842020432385337e-19


@jit
def rand(seed, offset, n_rounds: core.constexpr = 10):
    """A block of random fp32, even over [0, 1).

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed, offset, n_rounds: core.constexpr = 10):
    """Four blocks of random fp32, even over [0, 1).

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    i1, i2, i3, i4 = randint4x(seed, offset, n_rounds)
    return (uint_to_uniform_float(i1), uint_to_uniform_float(i2), uint_to_uniform_float(i3), uint_to_uniform_float(i4))


@jit
def pair_uniform_to_normal(u1, u2):
    """Two independent standard normals from two uniforms (the Box-Muller transform).

    u1, u2: numbers in [0, 1).
    """
    radius = math.sqrt(-2.0 * math.log(core.maximum(1.0e-7, u1)))
    angle = 6.283185307179586 * u2
    return radius * math.cos(angle), radius * math.sin(angle)


@jit
def randn(seed, offset, n_rounds: core.constexpr = 10):
    """A block of random fp32 of the standard normal distribution.

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    i1, i2, i3, i4 = randint4x(seed, offset, n_rounds)
    first, second = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return first


@jit
def randn4x(seed, offset, n_rounds: core.constexpr = 10):
    """Four blocks of random fp32 of the standard normal distribution.

    seed: an integer.
    offset: a block of places in the stream; its shape is the result's.
    n_rounds: how often the words are mixed.
    """
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
