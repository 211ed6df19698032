#!/usr/bin/env python3
"""Fits the series of tl.extra.libdevice's special functions and prints SpecialTables.h, to be piped through
clang-format (needs mpmath).

Each is a Chebyshev series on [-1, 1] of a function that is smooth there, cut where its coefficients fall below the precision
of fp64; the comment beside it says of what.
"""
from mpmath import mp, mpf

mp.dps = 40
SMALLEST = mpf(10) ** -18


def chebyshev(function, points=64):
    nodes = [mp.cos(mp.pi * (2 * i + 1) / (2 * points)) for i in range(points)]
    values = [function(node) for node in nodes]
    series = []
    for k in range(points):
        total = sum(value * mp.cos(mp.pi * k * (2 * i + 1) / (2 * points)) for i, value in enumerate(values))
        series.append(total * (1 if k == 0 else 2) / points)
    scale = max(abs(value) for value in values)
    while abs(series[-1]) < SMALLEST * scale:
        series.pop()
    assert len(series) < points - 8, "more points are needed"
    return series


def of_square(function):
    """Of a function of x in (0, 8], in t = x^2 / 32 - 1."""
    return lambda t: function(mp.sqrt(32 * (t + 1)) if t > -1 else mpf(0))


def erfcx_scaled(q):
    x = 4 * (1 + q) / (1 - q)
    scaled = mp.exp(x * x) * mp.erfc(x) if x < 50 else sum(
        (-1) ** n * mp.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(12)) / (x * mp.sqrt(mp.pi))
    return (1 + 2 * x) * scaled


def log_gamma(t):
    x = t + 2
    return mp.loggamma(x).real / ((x - 1) * (x - 2))


def wave(order, is_sine):
    """The slowly varying factors of the oscillation for x >= 8, in t = 2 (8 / x)^2 - 1; that of the sine times x."""

    def function(t):
        x = 8 / mp.sqrt((t + 1) / 2)
        angle = x - (2 * order + 1) * mp.pi / 4
        j, y, size = mp.besselj(order, x), mp.bessely(order, x), mp.sqrt(2 / (mp.pi * x))
        if is_sine:
            return x * (y * mp.cos(angle) - j * mp.sin(angle)) / size
        return (j * mp.cos(angle) + y * mp.sin(angle)) / size

    return function


log_part = lambda order, x: 2 / mp.pi * mp.log(x) * mp.besselj(order, x)
SERIES = {
    "erfcxSeries": ("(1 + 2 x) erfcx(x), x >= 0, in (x - 4) / (x + 4)", erfcx_scaled),
    "logGammaSeries": ("log gamma(x) / ((x - 1) (x - 2)), 1 <= x <= 3, in x - 2", log_gamma),
    "j0Series": ("J0(x), x <= 8, in x^2 / 32 - 1", of_square(lambda x: mp.besselj(0, x))),
    "j1Series": ("J1(x) / x, x <= 8, in x^2 / 32 - 1", of_square(lambda x: mp.besselj(1, x) / x)),
    "y0Series": ("Y0(x) - 2 / pi log(x) J0(x), x <= 8, in x^2 / 32 - 1",
                 of_square(lambda x: mp.bessely(0, x) - log_part(0, x))),
    "y1Series": ("(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, x <= 8, in x^2 / 32 - 1",
                 of_square(lambda x: (mp.bessely(1, x) - log_part(1, x) + 2 / (mp.pi * x)) / x)),
    "wave0Cosine": ("of J0 and Y0 from x = 8 on, in 128 / x^2 - 1: beside the cosine", wave(0, False)),
    "wave0Sine": ("x times what is beside the sine", wave(0, True)),
    "wave1Cosine": ("of J1 and Y1 from x = 8 on, in 128 / x^2 - 1: beside the cosine", wave(1, False)),
    "wave1Sine": ("x times what is beside the sine", wave(1, True)),
    "i0Series": ("exp(-x) I0(x), x <= 8, in x / 4 - 1", lambda t: mp.exp(-4 * (t + 1)) * mp.besseli(0, 4 * (t + 1))),
    "i1Series": ("exp(-x) I1(x) / x, x <= 8, in x / 4 - 1",
                 lambda t: mp.exp(-4 * (t + 1)) * mp.besseli(1, 4 * (t + 1)) / (4 * (t + 1))),
    "i0Tail": ("sqrt(x) exp(-x) I0(x), x >= 8, in 16 / x - 1",
               lambda t: mp.sqrt(16 / (t + 1)) * mp.exp(-16 / (t + 1)) * mp.besseli(0, 16 / (t + 1))),
    "i1Tail": ("sqrt(x) exp(-x) I1(x), x >= 8, in 16 / x - 1",
               lambda t: mp.sqrt(16 / (t + 1)) * mp.exp(-16 / (t + 1)) * mp.besseli(1, 16 / (t + 1))),
}

print("// The Chebyshev series of the special functions, lowest first, as special_functions.py prints them.")
print("#pragma once\n\nnamespace nacre::special {\n")
for name, (what, function) in SERIES.items():
    print(f"// {what}\ninline constexpr double {name}[] = {{")
    series = [float(coefficient).hex() for coefficient in chebyshev(function)]
    for start in range(0, len(series), 4):
        print("    " + ", ".join(series[start:start + 4]) + ",")
    print("};\n")
print("} // namespace nacre::special")
