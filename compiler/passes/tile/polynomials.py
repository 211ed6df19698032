#!/usr/bin/env python3
"""Fits the polynomials of expand-math and prints MathTables.h, to be piped through clang-format (needs mpmath; takes
half a minute).

Each polynomial is the minimax one on a dense Chebyshev grid, found by Remez' exchange. Coefficients are rounded to the
working precision one at a time, lowest first, and the rest are fitted anew after each: rounding then costs almost
nothing.
"""
from mpmath import mp, mpf

mp.prec = 500


def chebyshev_grid(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)][::-1]


def extrema(errors, wanted):
    """The indices of `wanted` extrema of alternating sign, the largest ones."""
    runs = []
    for i, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    size = lambda position: abs(errors[runs[position]])
    while len(runs) > wanted:
        smallest = min(range(len(runs)), key=size)
        if len(runs) == wanted + 1 or smallest in (0, len(runs) - 1):
            runs.pop(0 if size(0) < size(-1) else -1)
        else: # an inner one goes with a neighbour, so that the signs still alternate
            first = smallest - 1 if size(smallest - 1) < size(smallest + 1) else smallest
            del runs[first:first + 2]
    return runs


def remez(points, values, weights, count):
    """Coefficients of the `count`-term polynomial nearest to `values` at `points`, and the weighted error."""
    reference = [round((len(points) - 1) * (1 - mp.cos(mp.pi * j / count)) / 2) for j in range(count + 1)]
    for _ in range(40):
        system = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for row, i in enumerate(reference):
            for column in range(count):
                system[row, column] = points[i] ** column
            system[row, count] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = mp.lu_solve(system, right)
        coefficients = list(solution[:count])
        errors = [(v - mp.polyval(coefficients[::-1], x)) * w for x, v, w in zip(points, values, weights)]
        worst = max(abs(e) for e in errors)
        if worst <= abs(solution[count]) * mpf("1.001"):
            break
        chosen = extrema(errors, count + 1)
        if len(chosen) <= count:
            break
        reference = chosen
    return coefficients, worst


def rounded(value, precision):
    with mp.workprec(precision):
        return +mpf(value)


def fit(target, weight, low, high, count, precision, split_first):
    """The rounded coefficients and their error. With split_first the lowest one is two numbers, high and low."""
    points = chebyshev_grid(mpf(low), mpf(high), 24 * (count + 1))
    values = [target(x) for x in points]
    weights = [abs(weight(x)) for x in points]
    coefficients = []
    while len(coefficients) < count:
        best, worst = remez(points, values, weights, count - len(coefficients))
        coefficients.append(rounded(best[0], precision))
        values = [v - coefficients[-1] for v in values]
        if split_first and len(coefficients) == 1:
            low_part = rounded(best[0] - coefficients[0], precision)
            values = [v - low_part for v in values]
        values = [v / x for x, v in zip(points, values)]
        weights = [w * abs(x) for x, w in zip(points, weights)]
    worst = max(abs(v * w) for v, w in zip(values, weights))
    return coefficients[:1] + ([low_part] if split_first else []) + coefficients[1:], worst


def hexadecimal(value):
    return float(value).hex().replace("0000000p", "p")


PRECISIONS = {"F32": 24, "F64": 53}


def array(name, suffix, texts, per_line=4, element="double"):
    print(f"inline constexpr {element} {name}{suffix}[] = {{")
    for i in range(0, len(texts), per_line):
        print("    " + " ".join(text + "," for text in texts[i:i + per_line]))
    print("};")


def table(name, suffixes=("F32", "F64")):
    fields = ", ".join(f".{suffix.lower()} = {name}{suffix}" for suffix in suffixes)
    print(f"inline constexpr Table {name} = {{{fields}}};")


def polynomial(name, suffix, target, weight, low, high, count, split_first=False):
    coefficients, worst = fit(target, weight, low, high, count, PRECISIONS[suffix], split_first)
    print(f"// error 2^{float(mp.log(worst, 2)):.1f} on [{float(low):.5g}, {float(high):.5g}]")
    array(name, suffix, [hexadecimal(c) for c in coefficients])


def emit(name, meaning, target, weight, low, high, counts):
    print(f"\n// {meaning}")
    present = [suffix for suffix, count in zip(PRECISIONS, counts) if count]
    for suffix, count in zip(PRECISIONS, counts):
        if count:
            polynomial(name, suffix, target, weight, low, high, count)
    table(name, present)


def constant(name, meaning, value, parts, spare=(0, 0)):
    """A constant as a sum of `parts` numbers; the first leaves its `spare` lowest bits zero."""
    print(f"\n// {meaning}")
    for (suffix, precision), zeros in zip(PRECISIONS.items(), spare):
        rest, numbers = mpf(value), []
        for part in range(parts):
            numbers.append(rounded(rest, precision - (zeros if part == 0 else 0)))
            rest -= numbers[-1]
        array(name, suffix, [hexadecimal(n) for n in numbers])
    table(name)


def bit_words(value, width, count):
    return [f"0x{int(mp.floor(value * mpf(2)**(width * (i + 1)))) % 2**width:x}u" for i in range(count)]


def odd_tail(function):
    """P with function(sqrt z) = sqrt z (1 + z P(z)), in z, and the weight that makes its error relative."""
    return (lambda z: (function(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda z: z * mp.sqrt(z) / function(mp.sqrt(z)))


print("""// The polynomials and constants of the elementary functions, exact in the precision they are for. Polynomials have their
// lowest coefficient first; constants are sums of numbers, the largest first.
//
// Written by polynomials.py. The errors are those of the approximation, before any rounding of the evaluation.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace nacre::elementary::tables {

struct Table {
  llvm::ArrayRef<double> f32 = {}, f64 = {};
};""")

constant("logOfTwo", "ln 2; the high part times an exponent is exact", mp.log(2), 2, (8, 11))
constant("decimalLogOfTwo", "log10 2; the high part times an exponent is exact", mp.log10(2), 2, (8, 11))
constant("binaryLogOfE", "log2 e", 1 / mp.log(2), 2)
constant("decimalLogOfE", "log10 e", mp.log10(mp.e), 2)
constant("third", "1/3", mpf(1) / 3, 2)
constant("halfPi", "pi / 2", mp.pi / 2, 3)
constant("twoOverPi", "2 / pi", 2 / mp.pi, 1)
print("\n// The binary digits of 2/pi after the point, behind one word of zeros.")
array("twoOverPiWords", "32", ["0x0u"] + bit_words(2 / mp.pi, 32, 7), 8, "uint32_t")
mp.prec = 1500
array("twoOverPiWords", "64", ["0x0u"] + bit_words(2 / mp.pi, 64, 19), 5, "uint64_t")
mp.prec = 500

half_log2 = mp.log(2) / 2 * mpf("1.002")
emit("exponential", "exp(r) = 1 + r + r^2 P(r)", lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r),
     -half_log2, half_log2, (5, 10))
emit("binaryExponential", "2^r = 1 + r P(r)", lambda r: mp.expm1(r * mp.log(2)) / r, lambda r: r / mpf(2)**r,
     -mpf("0.501"), mpf("0.501"), (6, 11))
emit("hyperbolicSine", "sinh(r) = r + r^3 P(r^2)", *odd_tail(mp.sinh), 0, half_log2**2, (3, 5))
emit("hyperbolicCosine", "cosh(r) = 1 + r^2 P(r^2)", lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z,
     lambda z: z / mp.cosh(mp.sqrt(z)), 0, half_log2**2, (3, 5))
emit("hyperbolicTangent", "tanh(x) = x + x^3 P(x^2)", *odd_tail(mp.tanh), 0, mpf("0.55")**2, (5, 11))

root_half = mp.sqrt(mpf(1) / 2) - 1 - mpf("0.0001")
root_two = mp.sqrt(2) - 1 + mpf("0.0001")
emit("logarithm", "log(1 + f) = f - f^2/2 + f^3/2 P(f)", lambda f: 2 * (mp.log1p(f) - f + f * f / 2) / f**3,
     lambda f: f**3 / mp.log1p(f) / 2, root_half, root_two, (8, 0))
largest_s = (root_two / (2 + root_two))**2
emit("logarithmByQuotient", "2 atanh(s) = 2 s + s z P(z), z = s^2",
     lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, lambda z: z * mp.sqrt(z) / mp.atanh(mp.sqrt(z)) / 2,
     0, largest_s, (0, 7))
emit("quotientTail", "atanh(s) = s + s z (1/3 + z P(z)), z = s^2",
     lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1 - z / 3) / z**2,
     lambda z: z**2 * mp.sqrt(z) / mp.atanh(mp.sqrt(z)),
     0, largest_s, (3, 8))

quarter_turn = (mp.pi / 4 * mpf("1.01"))**2
emit("sine", "sin(r) = r + r^3 P(r^2)", *odd_tail(mp.sin), 0, quarter_turn, (3, 6))
emit("cosine", "cos(r) = 1 - r^2/2 + r^4 P(r^2)", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
     lambda z: z**2 / mp.cos(mp.sqrt(z)), 0, quarter_turn, (3, 6))
emit("arcTangent", "atan(t) = t + t^3 P(t^2)", *odd_tail(mp.atan), 0, (mp.sqrt(2) - 1)**2 * mpf("1.001"), (5, 11))
emit("arcSine", "asin(s) = s + s^3 P(s^2)", *odd_tail(mp.asin), 0, mpf("0.25"), (5, 13))

emit("errorFunction", "erf(x) = x + x P(x^2)", lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
     lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)), mpf("1e-9"), 1, (7, 14))
emit("logErrorComplement", "log(1 - erf(x)) = P(x), weighed for 1 - exp(P(x))", lambda x: mp.log(mp.erfc(x)),
     lambda x: mp.erfc(x) / mp.erf(x), 1, mpf("4.01"), (7, 0))
print("""
// exp(a^2) erfc(a) (1 + 2 a) = P((a - c) / (a + c)), c = 3 for f32 and 4 for f64; the lowest coefficient in two parts""")
for suffix, center, top, count in (("F32", 3, mpf("10.3"), 11), ("F64", 4, mpf("27.5"), 24)):
    polynomial("scaledErrorComplement", suffix,
               lambda t: (lambda a: mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a))(center * (1 + t) / (1 - t)),
               lambda t: mpf(1), -1, (top - center) / (top + center), count, split_first=True)
table("scaledErrorComplement")

print("\n} // namespace nacre::elementary::tables")
