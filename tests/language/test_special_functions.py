"""The special functions of libdevice against values of 30 digits, and its operations with directed rounding, exactly."""

import functools
from fractions import Fraction

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice

mpmath = pytest.importorskip("mpmath")
mpmath.mp.dps = 40
pytestmark = pytest.mark.ours("Triton's interpreter has no libdevice")


@triton.jit
def unary_kernel(x_ptr, out_ptr, FN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, FN(tl.load(x_ptr + offsets)))


def apply(engine, function, x, name):
    """The function of each element; the result is of the type `name`."""
    out = engine.empty(len(x), name)
    unary_kernel[(1,)](engine.array(x), out, function, len(x))
    return engine.numpy(out)


def spread(low, high, count=256, seed=1):
    return np.random.default_rng(seed).uniform(low, high, count)


def logarithmic(low, high, count=256):
    return np.exp(spread(np.log(low), np.log(high), count))


def inverse_erfc(p):
    """Newton's steps from the logarithm's estimate."""
    if p > 1:
        return -inverse_erfc(2 - p)
    y = mpmath.sqrt(-mpmath.log(p)) if p < 0.5 else mpmath.erfinv(1 - p)
    for _ in range(60):
        change = (mpmath.erfc(y) - p) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
        y += change
        if abs(change) < abs(y) * mpmath.mpf(10) ** -30:
            break
    return y


def inverse_normal(p):
    return -mpmath.sqrt(2) * inverse_erfc(2 * p)


def scaled_erfc(x):
    if x < 100:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    return sum((-1) ** n * mpmath.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(8)) / (x * mpmath.sqrt(mpmath.pi))


# name: (reference, arguments, units in the last place of fp64 allowed, error counted against at least this size)
CASES = {
    "erfinv": (mpmath.erfinv, np.concatenate([spread(-1, 1), 1 - logarithmic(1e-14, 0.5)]), 8, 0),
    "erfcinv": (inverse_erfc, np.concatenate([spread(0.01, 1.99), logarithmic(1e-300, 0.5)]), 8, 0),
    "normcdfinv": (inverse_normal, np.concatenate([spread(0.01, 0.99), logarithmic(1e-300, 0.5)]), 8, 0),
    "erfcx": (scaled_erfc, np.concatenate([spread(-25, 10), logarithmic(1e-3, 1e10)]), 8, 0),
    "tgamma": (mpmath.gamma, np.concatenate([spread(1e-3, 171), spread(-20, 0)]), 64, 0),
    "lgamma": (lambda x: mpmath.loggamma(x).real, np.concatenate([spread(0.01, 30), logarithmic(1e-10, 1e10), 1 + logarithmic(1e-9, 2)]), 32, 0),
    "j0": (lambda x: mpmath.besselj(0, x), np.concatenate([spread(-12, 12), spread(8, 1000)]), 16, 0.5),
    "j1": (lambda x: mpmath.besselj(1, x), np.concatenate([spread(-12, 12), spread(8, 1000)]), 16, 0.5),
    "y0": (lambda x: mpmath.bessely(0, x), np.concatenate([spread(1e-3, 12), spread(8, 1000)]), 16, 0.5),
    "y1": (lambda x: mpmath.bessely(1, x), np.concatenate([spread(1e-3, 12), spread(8, 1000)]), 16, 0.5),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), np.concatenate([spread(-9, 9), spread(8, 700)]), 16, 0),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), np.concatenate([spread(-9, 9), spread(8, 700)]), 16, 0),
}  # fmt: skip


@functools.cache
def arguments_and_values(name, type_name):
    reference, x = CASES[name][:2]
    x = x.astype(type_name)
    x = np.resize(x[x != 0], 512)
    return x, [reference(mpmath.mpf(float(value))) for value in x]


@pytest.mark.parametrize("type_name", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_against_many_digits(engine, name, type_name):
    units, floor = CASES[name][2:]
    x, exact = arguments_and_values(name, type_name)
    found = apply(engine, getattr(libdevice, name), x, type_name)
    information = np.finfo(type_name)
    allowed = units if type_name == "float64" else 1
    for value, wanted, got in zip(x, exact, found, strict=True):
        if abs(wanted) > information.max:
            assert np.isinf(got), (value, wanted, got)
            continue
        size = max(abs(wanted), mpmath.mpf(floor), mpmath.mpf(float(information.tiny)))
        error = abs(mpmath.mpf(float(got)) - wanted) / size / mpmath.mpf(float(information.eps))
        assert error <= allowed, f"{name}({float(value)!r}) is {mpmath.nstr(wanted, 18)}, found {float(got)!r}: {mpmath.nstr(error, 4)} ulp"


SPECIAL = {
    "erfinv": [(0, 0), (1, np.inf), (-1, -np.inf), (1.5, np.nan)],
    "erfcinv": [(0, np.inf), (2, -np.inf), (1, 0), (-1, np.nan), (3, np.nan)],
    "normcdfinv": [(0, -np.inf), (1, np.inf), (0.5, 0), (2, np.nan)],
    "erfcx": [(np.inf, 0), (-np.inf, np.inf), (0, 1), (np.nan, np.nan), (-30, np.inf)],
    "tgamma": [(np.inf, np.inf), (-np.inf, np.nan), (0, np.inf), (-3, np.nan), (1, 1), (5, 24), (180, np.inf), (np.nan, np.nan)],
    "lgamma": [(np.inf, np.inf), (-np.inf, np.inf), (0, np.inf), (-3, np.inf), (1, 0), (2, 0), (np.nan, np.nan)],
    "j0": [(0, 1), (np.inf, 0), (-np.inf, 0), (np.nan, np.nan)],
    "j1": [(0, 0), (np.inf, 0), (np.nan, np.nan)],
    "y0": [(0, -np.inf), (-1, np.nan), (np.inf, 0), (np.nan, np.nan)],
    "y1": [(0, -np.inf), (-1, np.nan), (np.inf, 0), (np.nan, np.nan)],
    "cyl_bessel_i0": [(0, 1), (np.inf, np.inf), (-np.inf, np.inf), (np.nan, np.nan)],
    "cyl_bessel_i1": [(0, 0), (np.inf, np.inf), (-np.inf, -np.inf), (np.nan, np.nan)],
}  # fmt: skip


@pytest.mark.parametrize("type_name", ["float64", "float32"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_arguments(engine, name, type_name):
    pairs = SPECIAL[name] + [SPECIAL[name][0]] * (8 - len(SPECIAL[name]))
    x = np.array([pair[0] for pair in pairs], type_name)
    np.testing.assert_allclose(apply(engine, getattr(libdevice, name), x, type_name), [pair[1] for pair in pairs], rtol=1e-6, atol=1e-300)

# ---- Bessel functions of any order, the upper half of a reciprocal


@triton.jit
def order_kernel(n_ptr, x_ptr, out_ptr, FN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, FN(tl.load(n_ptr + offsets), tl.load(x_ptr + offsets)))


def apply_order(engine, name, n, x):
    n, x = np.broadcast_arrays(np.asarray(n, np.int32), x)
    out = engine.empty(len(x), x.dtype.name)
    order_kernel[(1,)](engine.array(n.copy()), engine.array(x.copy()), out, getattr(libdevice, name), len(x))
    return engine.numpy(out)


@functools.cache
def orders_and_values(name, type_name):
    random = np.random.default_rng(3)
    n = np.concatenate([random.integers(0, 12, 200), random.integers(0, 150, 100), random.integers(2, 20, 84)]).astype(np.int32)
    x = np.concatenate([spread(-30, 30, 200), spread(0.5, 200, 100), logarithmic(1e-6, 1, 84)]).astype(type_name)
    x = np.abs(x) if name == "yn" else x
    function = mpmath.besselj if name == "jn" else mpmath.bessely
    return n, x, [function(int(order), mpmath.mpf(float(value))) for order, value in zip(n, x, strict=True)]


@pytest.mark.parametrize("type_name", ["float64", "float32"])
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(engine, name, type_name):
    """Where the function is a wave its errors count against the wave's height, elsewhere against its value."""
    n, x, exact = orders_and_values(name, type_name)
    found = apply_order(engine, name, n, x)
    information = np.finfo(type_name)
    allowed = 64 if type_name == "float64" else 1
    for order, value, wanted, got in zip(n, x, exact, found, strict=True):
        if abs(wanted) > information.max:
            assert np.isinf(got), (order, value, wanted, got)
            continue
        is_wave = abs(float(value)) > order
        height = mpmath.sqrt(2 / (mpmath.pi * abs(float(value)))) if is_wave else 0
        size = max(abs(wanted), mpmath.mpf(height), mpmath.mpf(float(information.tiny)))
        error = abs(mpmath.mpf(float(got)) - wanted) / size / mpmath.mpf(float(information.eps))
        assert error <= allowed, f"{name}({order}, {float(value)!r}) is {mpmath.nstr(wanted, 18)}, found {float(got)!r}: {mpmath.nstr(error, 4)} ulp"


ORDERS = {
    "jn": [(0, 0, 1), (1, 0, 0), (2, 0, 0), (7, np.inf, 0), (3, np.nan, np.nan), (-1, 1, np.nan), (300, 1e-3, 0), (3, -1e-100, -(1e-100**3) / 48)],
    "yn": [(0, 0, -np.inf), (1, 0, -np.inf), (5, 0, -np.inf), (7, np.inf, 0), (3, np.nan, np.nan), (-1, 1, np.nan), (2, -1, np.nan), (300, 1e-3, -np.inf)],
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_special_arguments_of_any_order(engine, name):
    n, x, wanted = (np.array(column) for column in zip(*ORDERS[name], strict=True))
    np.testing.assert_allclose(apply_order(engine, name, n, x.astype("float64")), wanted, rtol=1e-12, atol=0)


def test_bessel_functions_of_scalars(engine):
    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, libdevice.jn(3, tl.full((), 2.5, tl.float64)))
        tl.store(out_ptr + 1, libdevice.yn(3, tl.full((), 2.5, tl.float64)))

    out = engine.empty(2, "float64")
    kernel[(1,)](out)
    np.testing.assert_allclose(engine.numpy(out), [float(mpmath.besselj(3, 2.5)), float(mpmath.bessely(3, 2.5))], rtol=1e-14)


def test_upper_half_of_the_reciprocal(engine):
    x = np.concatenate([spread(-100, 100, 100), logarithmic(1e-300, 1e300, 148), [0.0, -0.0, np.inf, -np.inf, 5e-324, -1e-310, 1.5e308, np.nan]])

    def upper_half(values):
        kept = (values.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
        return np.where(np.abs(kept) < 2.0**-1022, np.copysign(0.0, values), kept)

    with np.errstate(divide="ignore"):
        wanted = upper_half(1 / upper_half(x))
    found = apply(engine, libdevice.rcp64h, x, "float64")
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[:-1]), np.signbit(wanted[:-1]))


# ---- Directed rounding


def rounded(exact, direction, type_name):
    """The float of the type nearest to a fraction on the wanted side."""
    dtype = np.dtype(type_name).type
    nearest = dtype(float(exact)) if type_name == "float64" else dtype(np.float64(float(exact)))
    lower = upper = nearest
    while Fraction(float(lower)) > exact:
        lower = np.nextafter(lower, dtype(-np.inf))
    while np.isfinite(lower) and Fraction(float(np.nextafter(lower, dtype(np.inf)))) <= exact:
        lower = np.nextafter(lower, dtype(np.inf))
    upper = lower if Fraction(float(lower)) == exact else np.nextafter(lower, dtype(np.inf))
    if direction == "rz":
        return lower if exact > 0 else upper
    return lower if direction == "rd" else upper


OPERATIONS = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "mul": (2, lambda x, y: x * y),
    "div": (2, lambda x, y: x / y), "rcp": (1, lambda x: 1 / x), "fma": (3, lambda x, y, z: x * y + z),
}  # fmt: skip


@triton.jit
def operation_kernel(x_ptr, y_ptr, z_ptr, out_ptr, FN: tl.constexpr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets), tl.load(z_ptr + offsets)
    if COUNT == 1:
        result = FN(x)
    elif COUNT == 2:
        result = FN(x, y)
    else:
        result = FN(x, y, z)
    tl.store(out_ptr + offsets, result)


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("direction", ["rz", "rd", "ru"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_directed_rounding(engine, rng, operation, direction, type_name):
    count, exact = OPERATIONS[operation]
    values = (rng.standard_normal((3, 128)) * np.exp2(rng.integers(-20, 20, (3, 128)))).astype(type_name)
    values[1, :4] = values[0, :4] * 2  # exact quotients
    out = engine.empty(128, type_name)
    function = getattr(libdevice, f"{operation}_{direction}")
    operation_kernel[(1,)](*(engine.array(part) for part in values), out, function, count, 128)
    wanted = [rounded(exact(*(Fraction(float(v)) for v in column[:count])), direction, type_name) for column in values.T]
    np.testing.assert_array_equal(engine.numpy(out), np.array(wanted, type_name))


@triton.jit
def sum_of_product_kernel(x_ptr, y_ptr, z_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    product = tl.load(x_ptr + offsets) * tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, libdevice.add_rd(product, tl.load(z_ptr + offsets)))


@pytest.mark.parametrize("type_name", ["float32", "float64"])
def test_directed_sum_of_a_product(engine, rng, type_name):
    """The sum that is directed is that of the rounded product, also where a product and a sum may be rounded once."""
    x, y, z = rng.standard_normal((3, 128)).astype(type_name)
    out = engine.empty(128, type_name)
    sum_of_product_kernel[(1,)](*(engine.array(part) for part in (x, y, z)), out, 128)
    wanted = [rounded(Fraction(float(a)) + Fraction(float(b)), "rd", type_name) for a, b in zip(x * y, z, strict=True)]
    np.testing.assert_array_equal(engine.numpy(out), np.array(wanted, type_name))


@pytest.mark.parametrize("type_name", ["float32", "float64"])
@pytest.mark.parametrize("direction", ["rz", "rd", "ru"])
def test_directed_square_root(engine, rng, direction, type_name):
    x = np.abs(rng.standard_normal(128)).astype(type_name)
    x[:4] = [4, 9, 2, 0]
    found = apply(engine, getattr(libdevice, f"sqrt_{direction}"), x, type_name)
    for value, got in zip(x, found, strict=True):
        square, nearby = Fraction(float(value)), np.nextafter(got, got.dtype.type(np.inf if direction != "ru" else -np.inf))
        if direction == "ru":
            assert Fraction(float(got)) ** 2 >= square and (got == 0 or Fraction(float(nearby)) ** 2 < square)
        else:
            assert Fraction(float(got)) ** 2 <= square < Fraction(float(nearby)) ** 2


def test_overflow_stops_at_the_largest(engine):
    largest = np.finfo(np.float32).max
    x = np.array([largest, -largest, largest, -largest] * 2, np.float32)
    wanted = {"rz": [largest, -largest], "rd": [largest, -np.inf], "ru": [np.inf, -largest]}
    for direction, expected in wanted.items():
        out = engine.empty(8, "float32")
        operation_kernel[(1,)](*[engine.array(x)] * 3, out, getattr(libdevice, f"add_{direction}"), 2, 8)
        np.testing.assert_array_equal(engine.numpy(out), expected * 4)


CONVERSIONS = {
    "int2float": ("int32", "float32"), "uint2float": ("uint32", "float32"), "ll2float": ("int64", "float32"),
    "ull2float": ("uint64", "float32"), "ll2double": ("int64", "float64"), "ull2double": ("uint64", "float64"),
}  # fmt: skip


@pytest.mark.parametrize("direction", ["rz", "rd", "ru"])
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_directed_conversions(engine, rng, conversion, direction):
    source, target = CONVERSIONS[conversion]
    limits = np.iinfo(source)
    x = rng.integers(limits.min, limits.max, 64, dtype=source, endpoint=True)
    x[:4] = [limits.min, limits.max, 0, 3]
    found = apply(engine, getattr(libdevice, f"{conversion}_{direction}"), x, target)
    np.testing.assert_array_equal(found, np.array([rounded(Fraction(int(v)), direction, target) for v in x], target))


@pytest.mark.parametrize("direction", ["rd", "ru"])
def test_directed_narrowing(engine, rng, direction):
    x = rng.standard_normal(64)
    found = apply(engine, getattr(libdevice, f"double2float_{direction}"), x, "float32")
    np.testing.assert_array_equal(found, np.array([rounded(Fraction(v), direction, "float32") for v in x], "float32"))
