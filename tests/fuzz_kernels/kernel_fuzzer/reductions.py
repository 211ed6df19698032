"""Statements in which many elements meet: reductions, scans, sorts, counts. Combine functions are associative by construction."""

from .element_types import EXACT, FP8, SIGNED, extreme, is_float, is_integer, limits, summed

# Functions of two elements that may be applied in any grouping (the order of elements is kept): of one tensor, of two, of three.
# Integers wrap, so that linear maps and products of matrices compose exactly.
COMBINES = {
    "combine_add": "def combine_add(a, b):\n    return a + b\n",
    "combine_mul": "def combine_mul(a, b):\n    return a * b\n",
    "combine_last": "def combine_last(a, b):\n    return b\n",
    "combine_xor": "def combine_xor(a, b):\n    return a ^ b\n",
    "combine_max": "def combine_max(a, b):\n    return tl.maximum(a, b)\n",
    "combine_min_if": "def combine_min_if(a, b):\n    if a < b:\n        c = a\n    else:\n        c = b\n    return c\n",
    "combine_and": "def combine_and(a, b):\n    return a & b\n",
}
PAIRS = {
    "compose_linear": "def compose_linear(a, b, c, d):\n    return a * c, b * c + d\n",
    "keep_larger": "def keep_larger(a, b, c, d):\n    take = (c > a) | ((c == a) & (d < b))\n    return tl.where(take, c, a), tl.where(take, d, b)\n",
    "add_and_or": "def add_and_or(a, b, c, d):\n    return a + c, b | d\n",
    "segmented_sum": "def segmented_sum(a, b, c, d):\n    return tl.where((d & 1) != 0, c, a + c), b | d\n",
}
TRIPLES = {
    "two_by_two": "def two_by_two(a, b, c, d, e, f):\n    return a * d, a * e + b * f, c * f\n",
    "add_xor_max": "def add_xor_max(a, b, c, d, e, f):\n    return a + d, b ^ e, tl.maximum(c, f)\n",
}

ORDERED = {"combine_last", "compose_linear", "segmented_sum", "two_by_two"}  # where the order of the elements counts


def reduced(shape, axis, keep):
    if axis is None:
        return (1,) * len(shape) if keep else ()
    return shape[:axis] + ((1,) if keep else ()) + shape[axis + 1:]


def axis_of(d, shape, none=20):
    return None if d.chance(none) else d.below(len(shape))


def integer_reduction(p, d):
    a = p.any(d, lambda v: v.shape and is_integer(v.type))
    operation = d.one_of(["sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or"])
    axis = axis_of(d, a.shape, 0 if operation.startswith("arg") else 20)
    keep = d.chance(40)
    type_name = {"sum": summed(a.type), "xor_sum": a.type, "reduce_or": a.type, "max": extreme(a.type), "min": extreme(a.type)}.get(operation, "int32")
    extra = ", keep_dims=True" if keep else ""
    text = a.text
    if d.chance(25):  # all negative, or all beyond the largest signed number: what starts at zero, or at that, shows
        text = f"({a.text} | {limits(a.type)[0] if a.type in SIGNED else (limits(a.type)[1] >> 1) + 1})"
    if operation == "sum" and d.chance(20):
        type_name = d.one_of(["int64", "int32", "uint64"])
        extra += f", dtype=tl.{type_name}"
    p.bind(d, f"tl.{operation}({text}, axis={axis}{extra})", type_name, reduced(a.shape, axis, keep))


def float_sum(p, d):
    """Of whole numbers so small that every partial sum is exact."""
    type_name = d.one_of(["float32", "float64", "float16", "bfloat16"])
    a = p.any(d, lambda v: v.shape and v.bound is not None and v.type not in FP8)
    axis = axis_of(d, a.shape)
    count = a.size if axis is None else a.shape[axis]
    if a.bound * count > EXACT[a.type]:
        room = EXACT[type_name] // count
        if room < 1:
            type_name, room = "float32", EXACT["float32"] // count
        text, bound, _ = p.cast(d, a, type_name, min(room, 64))
        a = p.bind(d, text, type_name, a.shape, bound)
        a.used = True
    keep = d.chance(40)
    p.bind(d, f"tl.sum({a.text}, axis={axis}{', keep_dims=True' if keep else ''})", a.type, reduced(a.shape, axis, keep), a.bound * count)


def float_extreme(p, d):
    """NaN is ignored; where all are NaN the result is NaN. The sign of a zero is free, so 0.0 is added."""
    a = p.any(d, lambda v: v.shape and is_float(v.type) and v.type not in FP8)
    operation = d.one_of(["max", "min", "argmax", "argmin"])
    axis = axis_of(d, a.shape, 0 if operation.startswith("arg") else 20)
    keep = d.chance(40)
    extra = ", keep_dims=True" if keep else ""
    if operation.startswith("arg"):
        clean = a.text if a.bound is not None or d.chance(40) else f"tl.where({a.text} == {a.text}, {a.text}, 0.0)"
        p.bind(d, f"tl.{operation}({clean}, axis={axis}{extra})", "int32", reduced(a.shape, axis, keep))
    else:
        p.bind(d, f"tl.{operation}({a.text}, axis={axis}{extra}) + 0.0", extreme(a.type), reduced(a.shape, axis, keep), a.bound)


def extreme_with_place(p, d):
    a = p.any(d, lambda v: v.shape and v.type not in FP8 and v.type != "int1")
    axis = d.below(len(a.shape))
    keep = d.chance(30)
    clean = a.text
    if is_float(a.type):
        clean = f"({a.text} + 0.0)" if a.bound is not None else f"tl.where({a.text} == {a.text}, {a.text} + 0.0, 0.0)"
    value, place = p.name(), p.name()
    p.emit(f"{value}, {place} = tl.{d.one_of(['max', 'min'])}({clean}, axis={axis}, return_indices=True{', keep_dims=True' if keep else ''})")
    shape = reduced(a.shape, axis, keep)
    p.declare(d, value, a.type, shape, a.bound)
    p.declare(d, place, "int32", shape, None, (0, a.shape[axis] - 1))


def custom_reduction(p, d):
    type_name = d.one_of(["int32", "int64", "uint32", "int16", "uint8", "float32", "float16", "float64"])
    shape = p.shape(d)
    axis = d.below(len(shape))
    keep = d.chance(30)
    several(p, d, "tl.reduce", type_name, shape, axis, f", keep_dims={keep}", reduced(shape, axis, keep))


def custom_scan(p, d):
    type_name = d.one_of(["int32", "int64", "uint32", "int16", "uint8", "float32", "float16", "float64"])
    shape = p.shape(d)
    axis = d.below(len(shape))
    several(p, d, "tl.associative_scan", type_name, shape, axis, f", reverse={d.chance(40)}", shape)


def several(p, d, function, type_name, shape, axis, extra, result_shape):
    """One, two or three tensors combined together. Of floats only what is the same in any grouping: the largest, the last."""
    if is_float(type_name):
        combine = d.one_of(["combine_max", "combine_last"]) if function != "tl.reduce" else "combine_max"
        p.helper(COMBINES[combine])
        a = p.operand(d, type_name, shape)
        p.bind(d, f"{function}({a.text}, {axis}, {combine}{extra}) + 0.0", type_name, result_shape)
        return
    table = d.one_of([COMBINES, COMBINES, PAIRS, PAIRS, TRIPLES])
    count = 1 if table is COMBINES else 2 if table is PAIRS else 3
    names = sorted(table)
    if function == "tl.reduce":  # which takes the elements in any order
        names = [name for name in names if name not in ORDERED]
    combine = d.one_of(names)
    p.helper(table[combine])
    types = [type_name] * count
    if combine in ("keep_larger", "add_and_or", "add_xor_max") and d.chance(40):  # whose tensors do not mix
        types[1] = d.one_of(["int64", "uint8", "int32", "uint16"])
    operands = [p.operand(d, name, shape) for name in types]
    if count == 1:
        p.bind(d, f"{function}({operands[0].text}, {axis}, {combine}{extra}).to(tl.{type_name})", type_name, result_shape)
        return
    names = [p.name() for _ in range(count)]
    p.emit(f"{', '.join(names)} = {function}(({', '.join(value.text for value in operands)}), {axis}, {combine}{extra})")
    for name, made in zip(names, types):
        p.declare(d, name, made, result_shape)


def wide_scan(p, d):
    """Across warps, of so many columns that these cannot tell each other all of their totals at once."""
    shape, type_name = d.one_of([(2, 2048), (4, 1024), (8, 512)]), d.one_of(["int64", "int64", "uint64", "int32"])
    combine = d.one_of(["add_xor_max", "two_by_two"])
    p.helper(TRIPLES[combine])
    operands = ", ".join(p.operand(d, type_name, shape).text for _ in range(3))
    names = [p.name() for _ in range(3)]
    p.emit(f"{', '.join(names)} = tl.associative_scan(({operands}), {d.one_of([0, 0, 0, 1])}, {combine}, reverse={d.chance(40)})")
    for name in names:
        p.declare(d, name, type_name, shape)


def running_total(p, d):
    a = p.any(d, lambda v: v.shape and is_integer(v.type))
    axis = d.below(len(a.shape))
    p.bind(d, f"tl.{d.one_of(['cumsum', 'cumprod'])}({a.text}, {axis}, reverse={d.chance(40)})", summed(a.type), a.shape)


def running_float_sum(p, d):
    shape = p.shape(d)
    axis = d.below(len(shape))
    type_name = d.one_of(["float32", "float64", "float16", "bfloat16"])
    bound = min(EXACT[type_name] // shape[axis], 32)
    if bound < 1:
        type_name, bound = "float32", 32
    a = p.operand(d, type_name, shape, bound)
    p.bind(d, f"tl.cumsum({a.text}, {axis}, reverse={d.chance(40)})", type_name, shape, a.bound * shape[axis])


def order(p, d):
    a = p.any(d, lambda v: v.shape and v.shape[-1] <= 128 and v.type not in FP8 and v.type != "int1")
    clean = a.text
    if is_float(a.type):
        clean = f"({a.text} + 0.0)" if a.bound is not None else f"tl.where({a.text} == {a.text}, {a.text} + 0.0, 0.0)"
    extent = a.shape[-1]
    if d.chance(40):
        k = d.one_of([k for k in range(1, extent + 1) if extent % k == 0] if extent & (extent - 1) else [1 << b for b in range(extent.bit_length())])
        p.bind(d, f"tl.topk({clean}, {k}, descending={d.chance(50)}).to(tl.{a.type})", a.type, (*a.shape[:-1], k), a.bound)
    else:
        p.bind(d, f"tl.sort({clean}, descending={d.chance(50)})", a.type, a.shape, a.bound)


def histogram(p, d):
    shape = (p.extent(d),)
    bins = d.one_of([4, 8, 16, 32, 5, 20, 1, 2])
    a = p.operand(d, "int32", shape, range=d.one_of([(0, bins - 1), (0, bins + 3), (-3, bins)]))
    mask = f", mask={p.operand(d, 'int1', shape).text}" if d.chance(40) else ""
    p.bind(d, f"tl.histogram({a.text}, {bins}{mask})", "int32", (bins,), None, (0, shape[0]))


MAKERS = [
    (4, integer_reduction), (2, float_sum), (2, float_extreme), (2, extreme_with_place), (2, custom_reduction), (2, custom_scan), (2, running_total),
    (1, running_float_sum), (2, order), (1, histogram), (1, wide_scan),
]  # fmt: skip
