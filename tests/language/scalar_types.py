"""The scalar types of the language on the side of the tests: their bits, computed with NumPy alone.

A test states what it expects from the definition of a type (exponent, mantissa, bias), never from the compiler's own code.
`encode` turns real values into a type's bits, `decode` turns bits into float64 or integer values.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ScalarType:
    name: str  # as in triton.language
    numpy: type  # the NumPy type that holds the bits (for the small floats, an unsigned integer)
    kind: str  # "bool", "int", "uint" or "float"
    bits: int
    exponent: int = 0
    mantissa: int = 0
    bias: int = 0
    specials: str = ""  # "ieee": inf and NaN; "nan": NaN in the last code only; "unsigned_zero": NaN is minus zero

    def __str__(self):
        return self.name

    @property
    def is_float(self):
        return self.kind == "float"

    @property
    def is_integer(self):
        return self.kind in ("int", "uint")

    @property
    def is_fp8(self):
        return self.is_float and self.bits == 8

    @property
    def native(self):
        """NumPy computes in this type."""
        return self.name not in ("bfloat16",) and not self.is_fp8


_ALL = [
    ScalarType("int1", np.bool_, "bool", 1),
    *(ScalarType(f"int{b}", np.dtype(f"int{b}").type, "int", b) for b in (8, 16, 32, 64)),
    *(ScalarType(f"uint{b}", np.dtype(f"uint{b}").type, "uint", b) for b in (8, 16, 32, 64)),
    ScalarType("float8e4nv", np.uint8, "float", 8, 4, 3, 7, "nan"),
    ScalarType("float8e5", np.uint8, "float", 8, 5, 2, 15, "ieee"),
    ScalarType("float8e4b8", np.uint8, "float", 8, 4, 3, 8, "unsigned_zero"),
    ScalarType("float8e5b16", np.uint8, "float", 8, 5, 2, 16, "unsigned_zero"),
    ScalarType("float16", np.float16, "float", 16, 5, 10, 15, "ieee"),
    ScalarType("bfloat16", np.uint16, "float", 16, 8, 7, 127, "ieee"),
    ScalarType("float32", np.float32, "float", 32, 8, 23, 127, "ieee"),
    ScalarType("float64", np.float64, "float", 64, 11, 52, 1023, "ieee"),
]
TYPES = {t.name: t for t in _ALL}
INTEGERS = [t.name for t in _ALL if t.is_integer]
SIGNED = [t.name for t in _ALL if t.kind == "int"]
UNSIGNED = [t.name for t in _ALL if t.kind == "uint"]
FP8 = ["float8e4nv", "float8e5"]  # the two that published kernels use; the others are tested for their bits
FLOATS = ["float16", "bfloat16", "float32", "float64"]
STANDARD = ["int1", *INTEGERS, *FLOATS]


def _fp8_values(t):
    """The 256 values of an 8-bit float, as float64, by the definition of its fields."""
    codes = np.arange(256)
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent = (codes >> t.mantissa) & ((1 << t.exponent) - 1)
    fraction = codes & ((1 << t.mantissa) - 1)
    scale = 2.0 ** (np.maximum(exponent, 1) - t.bias - t.mantissa)
    values = sign * scale * np.where(exponent == 0, fraction, fraction + (1 << t.mantissa))
    if t.specials == "ieee":
        top = exponent == (1 << t.exponent) - 1
        values = np.where(top, np.where(fraction == 0, sign * np.inf, np.nan), values)
    elif t.specials == "nan":
        values = np.where((codes & 0x7F) == 0x7F, np.nan, values)
    else:
        values = np.where(codes == 0x80, np.nan, values)
    return values


_FP8_VALUES = {t.name: _fp8_values(t) for t in _ALL if t.is_fp8}


def decode(bits, name):
    """Bits to values: float64 for the small floats, unchanged for what NumPy knows."""
    t = TYPES[name]
    if t.is_fp8:
        return _FP8_VALUES[name][bits]
    if name == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits


def _encode_fp8(values, t):
    """Round to nearest even, saturating: everything beyond the largest value, infinities too, becomes the largest."""
    table = _FP8_VALUES[t.name][:128]
    finite = np.flatnonzero(np.isfinite(table))
    grid = table[finite]  # ascending, from zero to the largest
    magnitude = np.minimum(np.abs(values), grid[-1])
    above = np.searchsorted(grid, magnitude, side="left").clip(0, len(grid) - 1)
    below = np.maximum(above - 1, 0)
    to_below, to_above = magnitude - grid[below], grid[above] - magnitude
    nearest = np.where(to_below < to_above, below, np.where(to_above < to_below, above, np.where(below % 2 == 0, below, above)))
    code = finite[nearest].astype(np.uint8)
    negative = np.signbit(values)
    if t.specials == "unsigned_zero":
        negative &= code != 0
    code = np.where(negative, code | 0x80, code)
    nan = {"ieee": 0x7F, "nan": 0x7F, "unsigned_zero": 0x80}[t.specials]
    return np.where(np.isnan(values), nan, code).astype(np.uint8)


def _encode_bfloat16(values):
    """One rounding, from float64: round to odd in float32 first, so that the second rounding cannot see a false tie."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(all="ignore"):
        near = values.astype(np.float32)
        wide = near.view(np.uint32)
        inexact = (near.astype(np.float64) != values) & np.isfinite(near)
        # Where float32 rounded away from zero, step back; then mark inexactness in the last bit.
        away = inexact & (np.abs(near.astype(np.float64)) > np.abs(values))
    wide = np.where(away, wide - 1, wide)
    wide = np.where(inexact, wide | 1, wide).astype(np.uint64)
    rounded = (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def encode(values, name):
    """Real values to a type's bits (NumPy array of `TYPES[name].numpy`), rounding to nearest even."""
    t = TYPES[name]
    values = np.asarray(values)
    if t.is_fp8:
        return _encode_fp8(values.astype(np.float64), t)
    if name == "bfloat16":
        return _encode_bfloat16(values)
    if t.kind == "bool":
        return values != 0
    with np.errstate(all="ignore"):
        return values.astype(t.numpy)


def rounded(values, name):
    """What is left of values once stored in a type, as float64 (or the integer itself)."""
    return decode(encode(values, name), name)


def sample(rng, name, shape, low=None, high=None):
    """Random values that the type holds exactly, spread over what it can say (or between low and high)."""
    t = TYPES[name]
    if t.kind == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if t.is_integer:
        info = np.iinfo(t.numpy)
        low = info.min if low is None else low
        high = info.max if high is None else high
        return rng.integers(low, high, shape, dtype=t.numpy, endpoint=True)
    values = rng.standard_normal(shape) if low is None else rng.uniform(low, high, shape)
    return rounded(values, name)
