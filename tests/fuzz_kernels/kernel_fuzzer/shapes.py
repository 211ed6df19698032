"""Statements that move elements without changing them: reshapes, transposes, joins, slices, flips, gathers."""

import math

from .index_expressions import combine, convert
from .program import LARGEST


def divisors(size):
    return [f for f in range(1, size + 1) if size % f == 0]


def keep(p, d, expression, a, shape, type_name=None):
    return p.bind(d, expression, type_name or a.type, shape, a.bound, a.range)


def reshape(p, d):
    a = p.any(d, lambda v: v.shape)
    first = d.one_of(divisors(a.size))
    rest = a.size // first
    second = d.one_of(divisors(rest))
    shape = d.one_of([(a.size,), (first, rest), (rest, first), (first, second, rest // second), (1, first, rest), (first, rest, 1)])
    function = d.one_of(["reshape", "reshape", "view", "ravel"])
    if function == "ravel":
        keep(p, d, f"tl.ravel({a.text})", a, (a.size,))
    else:
        keep(p, d, f"tl.{function}({a.text}, {shape})", a, shape)


def permute(p, d):
    a = p.any(d, lambda v: len(v.shape) > 1)
    order = d.permutation(len(a.shape))
    shape = tuple(a.shape[axis] for axis in order)
    swapped = (*range(len(a.shape) - 2), len(a.shape) - 1, len(a.shape) - 2)
    if order == swapped and d.chance(60):
        keep(p, d, d.one_of([f"tl.trans({a.text})", f"{a.text}.T" if len(a.shape) == 2 else f"tl.trans({a.text})"]), a, shape)
    else:
        keep(p, d, f"tl.{d.one_of(['permute', 'trans'])}({a.text}, {order})", a, shape)


def expand(p, d):
    a = p.any(d, lambda v: len(v.shape) in (1, 2) and v.size <= 1024)
    axis = d.below(len(a.shape) + 1)
    extent = d.one_of([1, *p.extents])
    if a.size * extent > LARGEST:
        extent = 1
    grown = a.shape[:axis] + (1,) + a.shape[axis:]
    index = ", ".join("None" if place == axis else ":" for place in range(len(grown)))
    text = d.one_of([f"{a.text}[{index}]", f"tl.expand_dims({a.text}, {axis})", f"tl.unsqueeze({a.text}, {axis})"])
    shape = a.shape[:axis] + (extent,) + a.shape[axis:]
    keep(p, d, text if extent == 1 else f"tl.broadcast_to({text}, {shape})", a, shape)


def broadcast(p, d):
    a = p.any(d, lambda v: v.shape and 1 in v.shape)
    shape = list(a.shape)
    for axis, extent in enumerate(a.shape):
        if extent == 1:
            shape[axis] = p.extent(d)
            if math.prod(shape) > LARGEST:
                shape[axis] = 1
    keep(p, d, f"tl.broadcast_to({a.text}, {tuple(shape)})", a, tuple(shape))


def join(p, d):
    a = p.any(d, lambda v: v.shape and v.size * 2 <= LARGEST and len(v.shape) < 3)
    b = p.operand(d, a.type, a.shape, a.bound, a.range)
    bound = None if a.bound is None or b.bound is None else max(a.bound, b.bound)
    way = d.below(5)
    if way == 0:
        p.bind(d, f"tl.interleave({a.text}, {b.text})", a.type, (*a.shape[:-1], 2 * a.shape[-1]), bound)
    elif way == 1:
        dim = d.below(len(a.shape))
        shape = tuple(extent * 2 if axis == dim else extent for axis, extent in enumerate(a.shape))
        option = d.one_of(["", ", can_reorder=False"])
        p.bind(d, f"tl.cat({a.text}, {b.text}{option}, dim={dim})", a.type, shape, bound)
    else:
        made = p.bind(d, f"tl.join({a.text}, {b.text})", a.type, (*a.shape, 2), bound)
        if way >= 3:
            made.used = True
            split(p, d, made)


def split(p, d, a=None):
    a = a or p.any(d, lambda v: v.shape and v.shape[-1] == 2)
    first, second = p.name(), p.name()
    p.emit(f"{first}, {second} = tl.split({a.text})")
    for name in (first, second):
        p.declare(d, name, a.type, a.shape[:-1], a.bound, a.range)


def part(p, d):
    """A slice, or a single row or element."""
    a = p.any(d, lambda v: v.shape and v.size > 1)
    axis = d.below(len(a.shape))
    before = ", ".join([":"] * axis + [""])
    after = ", ".join([""] + [":"] * (len(a.shape) - axis - 1))
    if d.chance(50):
        start = d.below(a.shape[axis])
        stop = start + 1 + d.below(a.shape[axis] - start)
        shape = a.shape[:axis] + (stop - start,) + a.shape[axis + 1:]
        keep(p, d, f"{a.text}[{before}{start}:{stop}{after}]", a, shape)
    else:
        given = [name for name in ("n0", "trips") if p.scalars[name] != 1 or a.shape[axis] > 1]  # 1 is a constexpr, and checked
        place = d.one_of(["0", str(a.shape[axis] - 1), "-1", *given])
        keep(p, d, f"{a.text}[{before}{place}{after}]", a, a.shape[:axis] + a.shape[axis + 1:])


def flip(p, d):
    a = p.any(d, lambda v: v.shape)
    keep(p, d, f"tl.flip({a.text}, {d.below(len(a.shape))})", a, a.shape)


def gather(p, d):
    a = p.any(d, lambda v: v.shape)
    axis = d.below(len(a.shape))
    extent = a.shape[axis]
    shape = list(a.shape)
    if d.chance(50):
        shape[axis] = p.extent(d)
    shape = tuple(shape)
    if math.prod(shape) > LARGEST:
        shape = a.shape
    if d.chance(40):
        maker = p.index(d, shape)
        index = convert(maker.expression(2), "uint32")
        index = combine("%", index, maker.literal(extent), maker.outer)
        text = f"({index.text}).to(tl.int32)"
        text = text if index.shape == shape else f"tl.broadcast_to({text}, {shape})"
    else:
        text = p.operand(d, d.one_of(["int32", "int64", "int32", "uint8" if extent <= 256 else "int32"]), shape, range=(0, extent - 1)).text
    keep(p, d, f"tl.gather({a.text}, {text}, {axis})", a, shape)


def pair(p, d):
    """A helper that takes a tuple and gives one."""
    a = p.any(d)
    b = p.operand(d, a.type, a.shape, a.bound)
    p.helper("def swapped(pair, swap: tl.constexpr):\n    if swap:\n        return pair[1], pair[0]\n    return pair\n")
    first, second = p.name(), p.name()
    p.emit(f"{first}, {second} = swapped(({a.text}, {b.text}), {d.chance(50)})")
    bound = None if a.bound is None or b.bound is None else max(a.bound, b.bound)
    for name in (first, second):
        p.declare(d, name, a.type, a.shape, bound)


def large(p, d):
    """A tile of more than shared memory has room for at once: turned, scanned or reduced, and stored in either order."""
    shape = d.one_of([(128, 128), (64, 256), (256, 64), (128, 64), (100, 130)])
    type_name = d.one_of(["int64", "int32", "int64", "float32", "uint8"])
    bound = 100 if type_name == "float32" else None
    a = p.load(d, type_name, shape, bound)
    turned = f"tl.trans({a.text})"
    forms = [f"{a.text} + {turned}"] * 2 if shape[0] == shape[1] else []
    forms += [f"({a.text} + tl.max({a.text}, {axis}, keep_dims=True)).to(tl.{type_name})" for axis in (0, 1)]
    if bound is None:
        forms += [f"tl.cumsum({a.text}, {axis}, reverse={reverse}).to(tl.{type_name})" for axis in (0, 1) for reverse in (False, True)]
    name = p.name()
    p.emit(f"{name} = {d.one_of([turned, *forms])}")
    if p.lines[-1].endswith(f"= {turned}"):
        shape = shape[::-1]
    if d.chance(40):
        p.emit(f"{name} = tl.trans({name})")
        shape = shape[::-1]
    out = p.output(type_name, math.prod(shape) * p.programs)
    p.emit(f"tl.store({p.own(out, math.prod(shape))}{p.offsets(shape)}, {name})")


MAKERS = [(3, reshape), (4, permute), (3, expand), (1, broadcast), (3, join), (1, split), (2, part), (2, flip), (2, gather), (1, pair), (1, large)]
