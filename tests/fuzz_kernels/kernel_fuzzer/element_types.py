"""The element types of the language as the generator knows them: widths, what each holds exactly, how two of them meet."""

SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
INTEGERS = {**SIGNED, **UNSIGNED}
FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
FP8 = {"float8e4nv": 8, "float8e5": 8}
WIDTHS = {"int1": 1, **INTEGERS, **FLOATS, **FP8}
# The largest n such that all integers from -n to n are values of the type.
EXACT = {"float8e4nv": 16, "float8e5": 8, "float16": 2048, "bfloat16": 256, "float32": 1 << 24, "float64": 1 << 53}


def is_float(name):
    return name in EXACT


def is_integer(name):
    return name in INTEGERS


def limits(name):
    bits = INTEGERS[name]
    return (0, (1 << bits) - 1) if name in UNSIGNED else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def holds(name, value):
    low, high = limits(name)
    return low <= value <= high


def promoted(a, b):
    """The type two tiles meet in, or None where they do not."""
    if a == b:
        return a
    if "int1" in (a, b):
        return b if a == "int1" else a
    if is_integer(a) and is_integer(b):
        if WIDTHS[a] != WIDTHS[b]:
            return a if WIDTHS[a] > WIDTHS[b] else b
        return a if a in UNSIGNED else b
    if is_float(a) and is_float(b):
        if a in FP8 and b in FP8:
            return "float16"
        if {a, b} == {"float16", "bfloat16"}:
            return "float16"
        if "bfloat16" in (a, b) and (a in FP8 or b in FP8):
            return "float32"
        return a if WIDTHS[a] > WIDTHS[b] else b
    number, real = (a, b) if is_integer(a) else (b, a)
    if real in FP8:
        return None
    return "float32" if real == "bfloat16" else real


def summed(name):
    """The type in which sums and running totals of a type are computed."""
    if is_integer(name) and WIDTHS[name] < 32:
        return "int32" if name in SIGNED else "uint32"
    return name


def extreme(name):
    """The type of max and min without indices."""
    if is_integer(name):
        return "int32" if WIDTHS[name] < 32 else name
    return "float32" if WIDTHS[name] < 32 else name
