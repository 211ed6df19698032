"""Arrays that begin or end at an inaccessible page, so that an access out of bounds ends the process, and what they hold.

This file depends on NumPy alone: the scripts that are written for findings hold its text.
"""

import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE
FILLER = 0xA5  # what surrounds an array within its pages, and what an array holds that nothing was put in
CARRIERS = {"int1": "bool", "bfloat16": "uint16", "float8e4nv": "uint8", "float8e5": "uint8"}  # NumPy's type of the same size
# Of a float: bits of the exponent, of the mantissa, bias.
FIELDS = {"float8e4nv": (4, 3, 7), "float8e5": (5, 2, 15), "float16": (5, 10, 15), "bfloat16": (8, 7, 127), "float32": (8, 23, 127),
          "float64": (11, 52, 1023)}  # fmt: skip
TORCH_NAMES = {"bfloat16": "torch.bfloat16", "float8e4nv": "torch.float8_e4m3fn", "float8e5": "torch.float8_e5m2"}


def carrier(type_name):
    return np.dtype(CARRIERS.get(type_name, type_name))


def code_of(values, type_name):
    """The bits of whole numbers in a float type that holds them."""
    exponent_bits, mantissa, bias = FIELDS[type_name]
    magnitude = np.abs(values).astype(np.float64)
    exponent = np.floor(np.log2(np.maximum(magnitude, 1))).astype(np.int64)
    fraction = ((magnitude / 2.0**exponent - 1) * 2**mantissa).astype(np.int64)
    code = np.where(values == 0, 0, ((exponent + bias) << mantissa) | fraction) | ((values < 0).astype(np.int64) << (exponent_bits + mantissa))
    return code.astype(np.uint64).astype(f"uint{1 + exponent_bits + mantissa}").view(carrier(type_name))


def contents_of(type_name, count, contents):
    """The bits that an array holds before the launch."""
    dtype = carrier(type_name)
    kind, *limits = contents
    if kind == "blank":
        return np.full(count, 1, bool) if type_name == "int1" else np.full(count * dtype.itemsize, FILLER, np.uint8).view(dtype)
    *limits, seed = limits
    rng = np.random.default_rng(seed)
    if kind == "range":
        return rng.integers(limits[0], limits[1], count, endpoint=True).astype(dtype)
    if kind == "exact":
        return code_of(rng.integers(-limits[0], limits[0], count, endpoint=True), type_name)
    if type_name == "int1":
        return rng.integers(0, 2, count).astype(bool)
    raw = rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)
    if type_name == "float64":  # a third of them: next to the middle between two numbers of a smaller format
        mantissa = rng.choice([2, 3, 7, 10], count)
        middle = (2 * ((1 << mantissa) + (rng.random(count) * (1 << mantissa)).astype(np.int64)) + 1) * 2.0 ** rng.integers(-20, 4, count)
        middle *= rng.choice([-1.0, 1.0], count)
        raw = np.where(rng.random(count) < 0.33, middle * (1 + rng.choice([0.0, 1.0, -1.0], count) * 2.0**-40), raw)
    small = rng.integers(-4, 9, count)
    small = code_of(small, type_name) if type_name in FIELDS else small.astype(dtype)
    return np.where(rng.random(count) < 0.5, raw, small)


class Pointer:
    """An argument of a type that NumPy does not have."""

    def __init__(self, array, type_name):
        self.array = array
        self.dtype = TORCH_NAMES[type_name]

    def data_ptr(self):
        return self.array.ctypes.data


class GuardedArray:
    """`count` elements at the end (or the beginning) of pages between two inaccessible ones."""

    def __init__(self, type_name, count, at_end=True):
        self.type_name = type_name
        dtype = carrier(type_name)
        size = count * dtype.itemsize
        pages = max(1, -(-size // PAGE))
        self.memory = mmap.mmap(-1, (pages + 2) * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        libc = ctypes.CDLL(None, use_errno=True)
        for guard in (address, address + (pages + 1) * PAGE):
            if libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.inside = np.frombuffer(self.memory, np.uint8, pages * PAGE, PAGE)
        self.inside[:] = FILLER
        begin = pages * PAGE - size if at_end or not size else 0  # without elements, it is the guard itself
        self.array = self.inside[begin : begin + size].view(dtype)
        self.around = [self.inside[:begin], self.inside[begin + size :]]

    def argument(self):
        return Pointer(self.array, self.type_name) if self.type_name in TORCH_NAMES else self.array

    def fill(self, bits):
        self.array[:] = bits

    def intact(self):
        """Whether nothing around the array was written."""
        return all((part == FILLER).all() for part in self.around)


def differences(type_name, a, b, tolerance=0.0):
    """Where two results differ. Any NaN is as good as another, and so is the sign of a zero."""
    if type_name not in FIELDS:
        return a != b
    exponent_bits, mantissa, _ = FIELDS[type_name]
    unsigned = f"uint{1 + exponent_bits + mantissa}"
    x, y = a.view(unsigned), b.view(unsigned)
    magnitude = x.dtype.type((1 << (exponent_bits + mantissa)) - 1)
    largest = ((1 << exponent_bits) - 1) << mantissa if type_name != "float8e4nv" else 0x7E

    def nan(bits):
        return (bits & magnitude) > largest

    same = (x == y) | (nan(x) & nan(y)) | (((x & magnitude) == 0) & ((y & magnitude) == 0))
    if tolerance:
        with np.errstate(all="ignore"):
            same |= np.abs(a - b) <= tolerance * np.maximum(np.abs(a), 1.0)
    return ~same
