"""Statements that read and write memory: at any index, masked, uniform, indirect, through block pointers and descriptors, in
place, after one another, in atomic steps. Every array is exactly as large as what is touched of it."""

import math
import re

import numpy as np

from .element_types import EXACT, FP8, WIDTHS, is_float, is_integer
from .index_expressions import ADDRESSES, aligned, combine

ALL = ["int32", "float32", "int8", "uint8", "int16", "uint16", "int64", "uint32", "uint64", "float16", "bfloat16", "float64", "float8e4nv", "float8e5"]


def pointer_text(base, index, shape, whole=True):
    """A tile of pointers. Where the index has a smaller shape it is grown to the whole one."""
    text = f"{base} + {index.paren()}"
    if whole and index.shape != shape:
        text = f"tl.broadcast_to({text}, {shape})"
    return text


def hint(d):
    return d.one_of(["", "", "", "", ', cache_modifier=".cg"', ', eviction_policy="evict_last"', ", volatile=True"])


def indexed_load(p, d):
    shape = p.shape(d)
    maker = p.index(d, shape)
    index, mask = maker.address()
    type_name = d.one_of(ALL)
    used = maker.used_values(index, mask)
    bound = min(EXACT[type_name], 50) if is_float(type_name) and d.chance(50) else None
    array = p.input(d, type_name, int(used.max()) + 1 if used.size else 0, p.contents(d, type_name, bound))
    text = ""
    late = index.shape not in (shape, ()) and d.chance(50)  # a scalar pointer takes no mask of a tile
    if mask is not None:
        text = p.mask(d, mask, shape) + d.one_of(["", ", other=0", ", other=3"])
        if bound is None and "other" not in text and not late and d.chance(30):
            text += f", other={p.operand(d, type_name, shape).text}"
        if bound is not None:
            bound = max(bound, 3)
    joint = index.shape if mask is None or not mask.shape else tuple(max(a, b) for a, b in zip(index.shape or (1,) * len(shape), mask.shape))
    joint = shape if re.match(r", mask=v\d+\b", text) else joint
    expression = f"tl.load({pointer_text(array.name, index, shape, not late)}{text}{hint(d)})"
    if late and joint != shape:
        expression = f"tl.broadcast_to({expression}, {shape})"
    p.bind(d, expression, type_name, shape, bound)


def uniform_load(p, d):
    """All lanes read one place, or the lanes along one axis do."""
    shape = p.shape(d)
    type_name = d.one_of(ALL)
    array = p.input(d, type_name, max(shape), p.contents(d, type_name))
    way = d.below(4)
    if way == 0 or not shape:
        pointer = f"{array.name} + tl.zeros({shape}, tl.int32)"
    elif way == 1:
        pointer = f"tl.broadcast_to({array.name} + {d.below(max(shape))}, {shape})"
    else:
        maker = p.index(d, shape)
        lanes = maker.lanes(d.below(len(shape)))
        pointer = pointer_text(array.name, combine("%", lanes, maker.literal(d.one_of([7, 3, 1, 8])), maker.outer), shape)
    expression = f"tl.load({pointer})"
    if is_integer(type_name) and d.chance(60):
        expression += d.one_of([" + 1", " - 3", " * 2"])
    p.bind(d, expression, type_name, shape)


def indirect_load(p, d):
    """At places that were themselves loaded or computed."""
    shape = p.shape(d)
    size = d.one_of([8, 20, 64, 100, 1, 33])
    index = p.operand(d, d.one_of(["int32", "int64", "uint8", "int16"]), shape, range=(0, size - 1))
    type_name = d.one_of(ALL)
    array = p.input(d, type_name, size, p.contents(d, type_name))
    mask = f", mask={p.index(d, shape).condition().text}" if d.chance(30) else ""
    p.bind(d, f"tl.load({array.name} + {index.text}{mask})", type_name, shape)


def is_injective(maker, index, mask):
    """Whether no two lanes write one place at once."""
    rank = len(maker.shape)
    places = aligned(index.values, maker.outer, rank)
    kept = np.ones((1,) * places.ndim, bool) if mask is None else aligned(mask.values, maker.outer, rank)
    outer = np.broadcast_shapes(places.shape[: maker.outer], kept.shape[: maker.outer])
    places, kept = (np.broadcast_to(array, outer + maker.shape).reshape(math.prod(outer), -1) for array in (places, kept))
    return all(len(np.unique(row[chosen])) == np.count_nonzero(chosen) for row, chosen in zip(places, kept))


def scattered_store(p, d):
    """A value written at places of its own, under a mask, in another type; what is not written must stay as it was."""
    a = p.any(d, lambda v: v.size <= 2048)
    maker = p.index(d, a.shape)
    index, mask = maker.address()
    if not is_injective(maker, index, mask):
        index, mask = maker.linear(), maker.condition() if d.chance(70) else None
    type_name = d.one_of([a.type, a.type, *ALL])
    text, bound, known = p.cast(d, a, type_name)
    used = maker.used_values(index, mask)
    size = int(used.max()) + 1 if used.size else 0
    array = p.output(type_name, size * p.programs)
    base = p.own(array, size)
    p.emit(f"tl.store({pointer_text(base, index, a.shape)}, {text}{'' if mask is None else f', mask={mask.text}'})")
    if p.loops:
        p.emit("tl.debug_barrier()")


def stored_and_read(p, d):
    """Written, then read at other lanes' places after a barrier."""
    a = p.any(d, lambda v: v.shape and v.size > 1)
    size = a.size
    array = p.output(a.type, size * p.programs, contents=p.contents(d, a.type, a.bound, a.range))
    base = p.name("base")
    p.emit(f"{base} = {p.own(array, size)}")
    if p.loops:
        p.emit("tl.debug_barrier()")
    maker = p.index(d, a.shape)
    mask = f", mask={maker.condition().text}" if d.chance(40) else ""
    places = p.offsets(a.shape).removeprefix(" + ")
    p.emit(f"tl.store({base} + {places}, {a.text}{mask})")
    p.emit("tl.debug_barrier()")
    way = d.below(3)
    if way == 0:
        p.bind(d, f"tl.load({base} + ({size - 1} - ({places})))", a.type, a.shape, a.bound, a.range)
    elif way == 1:
        p.bind(d, f"tl.load({base} + (({places}) * {d.one_of([3, 5, 7])} + 1) % {size})", a.type, a.shape, a.bound, a.range)
    else:
        shape = p.shape(d, largest=2048)
        index, mask = p.index(d, shape).address(limit=max(size // 2, 1))
        used = p.index(d, shape).used_values(index, mask)
        if used.size and int(used.max()) < size:
            text = "" if mask is None else f", mask={mask.text}"
            p.bind(d, f"tl.load({pointer_text(base, index, shape)}{text})", a.type, shape, a.bound)
    if p.loops:
        p.emit("tl.debug_barrier()")


def in_place(p, d):
    """Read, changed and written lane by lane; the old value is used again afterwards, and the place once more."""
    shape = () if d.chance(15) else p.shape(d)
    type_name = d.one_of(["int32", "int64", "int8", "uint16", "uint32"])
    size = max(math.prod(shape), 1)
    array = p.input(d, type_name, size * p.programs)
    base = p.own(array, size)
    uniform = d.chance(30) and shape
    pointer, old = p.name("at"), p.name()
    if uniform:
        p.emit(f"{old} = tl.load({base} + tl.zeros({shape}, tl.int32)) + 1")
        p.emit("tl.debug_barrier()")
        p.emit(f"{pointer} = {base}{p.offsets(shape)}")
    else:
        p.emit(f"{pointer} = {base}{p.offsets(shape)}")
        p.emit(f"{old} = tl.load({pointer})" + d.one_of(["", " + 1", " * 3"]))
    other = p.name()
    p.emit(f"{other} = {moved_within(d, old, shape)}")
    new = p.operand(d, type_name, shape)
    if d.chance(25):  # the same place by another name
        other_name = p.name("at")
        p.emit(f"{other_name} = {p.own(p.second_name(array), size)}{p.offsets(shape)}")
        p.emit("tl.debug_barrier()")
        pointer = other_name
    p.emit(f"tl.store({pointer}, {d.one_of([new.text, f'{old} ^ {new.text}', f'{other} + 1', '0'])})")
    if d.chance(50):  # the same lanes read what they wrote: in order without it
        p.emit("tl.debug_barrier()")
    p.declare(d, old, type_name, shape)
    p.declare(d, other, type_name, shape)
    if d.chance(60):
        p.bind(d, f"{old} * 3 + {other} - tl.load({pointer})", type_name, shape)
    p.emit("tl.debug_barrier()")


def moved_within(d, text, shape):
    """The elements of a tile at other places of it."""
    forms = ["tl.flip({0}, 0)"] if shape else ["{0}"]
    if len(shape) == 2 and shape[0] == shape[1]:
        forms = ["tl.trans({0})", "tl.trans({0})", *forms]
    elif len(shape) > 1:
        forms += [f"tl.reshape(tl.permute({{0}}, {tuple(reversed(range(len(shape))))}), {shape})", f"tl.flip({{0}}, {len(shape) - 1})"]
    return d.one_of(forms).format(text)


def state_in_memory(p, d):
    """Read, changed and written back in every round, or in some: a round reads what the one before wrote, at the same lanes."""
    side = d.one_of([16, 32, 8, 64, 5, 20])
    shape = d.one_of([(side, side), (side, side), (side,), p.shape(d, largest=1024)])
    type_name = d.one_of(["int32", "int32", "int16", "int64", "uint8"])
    size = math.prod(shape)
    array = p.input(d, type_name, size * p.programs)
    at, old, counter = p.name("at"), p.name(), p.name("i")
    axis = d.below(len(shape))
    forms = [moved_within(d, old, shape), f"{old} - tl.max({old}, {axis}, keep_dims=True)", f"tl.cumsum({old}, {axis})"]
    if len(shape) == 2 and shape[0] == shape[1]:
        weights = p.operand(d, "int8", shape)
        forms = [f"tl.dot({old}.to(tl.int8), {weights.text})", f"tl.dot({weights.text}, {old}.to(tl.int8))", *forms]
    changed = f"({d.one_of(forms)} + {counter}).to(tl.{type_name})"
    test = d.one_of(["", "", f"{counter} != 1", "n0 > 3", f"{counter} < 2"])
    p.emit(f"{at} = {p.own(array, size)}{p.offsets(shape)}")
    p.emit(f"for {counter} in range({d.one_of(['3', '2', 'trips'])}):")
    p.emit(f"    {old} = tl.load({at})")
    if test:
        p.emit(f"    if {test}:")
    p.emit(f"    {'    ' if test else ''}tl.store({at}, {changed})")
    if d.chance(40):
        p.bind(d, f"tl.load({at})", type_name, shape)
    p.emit("tl.debug_barrier()")


def masked_in_place(p, d):
    """Read under a mask of several checks, along memory or across it, then changed there; what was read is used once more."""
    shape = d.one_of([(64, 64), (16, 64), (64, 16), (32, 48), (64, 1, 64)]) if d.chance(50) else p.shape(d)
    type_name = d.one_of(["int32", "int8", "int32", "uint16", "int64"])
    order, strides, span = d.permutation(len(shape)), [0] * len(shape), 1
    for axis in order:
        strides[axis] = span
        span *= shape[axis]
    maker = p.index(d, shape)
    mask = maker.excluded(max(order, key=lambda axis: (shape[axis] > 1, -strides[axis])), 256 // WIDTHS[type_name])  # of a vector of AVX2
    array = p.input(d, type_name, span * p.programs)
    at, kept, old = p.name("at"), p.name("mask"), p.name()
    p.emit(f"{at} = {pointer_text(p.own(array, span), maker.linear(strides), shape)}")
    p.emit(f"{kept} = tl.broadcast_to({mask.text}, {shape})")
    p.emit(f"{old} = tl.load({at}, mask={kept}{d.one_of(['', '', ', other=0', ', other=3'])})")
    extreme = f"{old} ^ tl.max({old}, {d.below(len(shape))}, keep_dims=True)"
    changed = d.one_of([extreme, extreme, extreme, f"{old} * 3", f"tl.flip({old}, {d.below(len(shape))})", "7"])
    p.emit(f"tl.store({at}, {changed}{d.one_of([f', mask={kept}', f', mask={kept}', f', mask={kept}', ''])})")
    p.emit("tl.debug_barrier()")
    p.declare(d, old, type_name, shape)


def stored_twice(p, d):
    """The later of two stores counts, lane by lane; then the place is read again."""
    shape = () if d.chance(10) else p.shape(d)
    type_name = d.one_of(ALL)
    size = max(math.prod(shape), 1)
    first, second = p.operand(d, type_name, shape), p.operand(d, type_name, shape)
    array = p.output(type_name, size * p.programs)
    pointer = p.name("at")
    p.emit(f"{pointer} = {p.own(array, size)}{p.offsets(shape)}")
    p.emit(f"tl.store({pointer}, {first.text})")
    mask = p.mask(d, p.index(d, shape).condition(), shape) if shape else ""
    p.emit(f"tl.store({pointer}, {second.text}{mask})")
    if d.chance(70):
        p.bind(d, f"tl.load({pointer})", type_name, shape)
    p.emit("tl.debug_barrier()")


def overlapping(p, d):
    """Two windows of one array, the second written from the first, perhaps under another name of the same memory."""
    shape = p.shape(d, rank=1)
    type_name = d.one_of(["int32", "float32", "int8", "int64", "float16"])
    shift = d.one_of([1, 2, 8, 16, 3])
    size = shape[0] + shift
    array = p.input(d, type_name, size * p.programs)
    base = p.own(array, size)
    first, second = ("", f" + {shift}") if d.chance(50) else (f" + {shift}", "")
    old = p.bind(d, f"tl.load({base}{first}{p.offsets(shape)})", type_name, shape)
    p.emit("tl.debug_barrier()")
    other = p.own(p.second_name(array), size) if d.chance(50) else base
    p.emit(f"tl.store({other}{second}{p.offsets(shape)}, {old.text})")
    p.emit("tl.debug_barrier()")
    if d.chance(60):
        p.bind(d, f"tl.load({base}{p.offsets(shape)})", type_name, shape)
        p.emit("tl.debug_barrier()")


# ---- Block pointers and descriptors


def window(p, d, rank):
    """(shape of an array, shape of a block, where it begins): inside, across an edge, or beyond it."""
    block = p.shape(d, rank=rank, largest=1024)
    array, begin = [], []
    for extent in block:
        part = d.between(1, extent)
        size = d.one_of([extent, extent + 3, max(1, extent - 1), 2 * extent, part, part, part, part])
        array.append(size)
        begin.append(d.one_of([0, 0, 0, 0, 0, 1, -1, -1, -1, -extent // 2, max(size - extent, 0), size - 1, size, size + 5, -extent, -extent - 2]))
    return tuple(array), block, tuple(begin)


def texts(p, d, numbers, known):
    """A tuple of numbers: all known to the compiler, or some of them given at the launch."""
    return "(" + ", ".join(str(number) if known else p.number(d, number) for number in numbers) + ("," if len(numbers) == 1 else "") + ")"


def block_pointer(p, d):
    rank = d.one_of([2, 1, 2])
    array_shape, block, begin = window(p, d, rank)
    turned = rank == 2 and d.chance(30)
    strides = (1,) if rank == 1 else (1, array_shape[0]) if turned else (array_shape[1], 1)
    inside = [axis for axis in range(rank) if begin[axis] >= 0 and begin[axis] + block[axis] <= array_shape[axis]]
    checked = tuple(axis for axis in range(rank) if axis not in inside or d.chance(60))
    type_name = d.one_of(ALL)
    writes = d.chance(30)
    value = p.operand(d, type_name, block) if writes else None
    size = math.prod(array_shape)
    array = p.output(type_name, size * p.programs) if writes else p.input(d, type_name, size)
    base = p.own(array, size) if writes else array.name
    order = "(0,)" if rank == 1 else "(0, 1)" if turned else "(1, 0)"
    pointer = p.name("block")
    moved = d.chance(30)
    start = tuple(place - 1 for place in begin) if moved else begin
    known = not d.chance(50)
    numbers = ", ".join(texts(p, d, numbers, known) for numbers in (array_shape, strides, start))
    p.emit(f"{pointer} = tl.make_block_ptr({base}, {numbers}, {block}, {order})")
    if moved:
        p.emit(f"{pointer} = tl.advance({pointer}, {(1,) * rank})")
    check = f", boundary_check={checked}" if checked else ""
    if writes:
        p.emit(f"tl.store({pointer}, {value.text}{check})")
        if p.loops:
            p.emit("tl.debug_barrier()")
        return
    padding = ""
    if checked:
        padding = d.one_of(["", ', padding_option="zero"', ', padding_option="nan"' if is_float(type_name) and type_name not in FP8 else ""])
    p.bind(d, f"tl.load({pointer}{check}{padding})", type_name, block)


def descriptor(p, d):
    array_shape, block, begin = window(p, d, d.one_of([2, 1, 2, 3]))
    type_name = d.one_of(ALL)
    unit = max(1, 16 // (WIDTHS[type_name] // 8))
    block = (*block[:-1], max(block[-1], unit))
    array_shape = (*array_shape[:-1], -(-array_shape[-1] // unit) * unit)
    strides = [1]
    for extent in reversed(array_shape[1:]):
        strides.insert(0, strides[0] * extent)
    writes = d.chance(30)
    value = p.operand(d, type_name, block) if writes else None
    size = math.prod(array_shape)
    array = p.output(type_name, size * p.programs) if writes else p.input(d, type_name, size)
    base = p.own(array, size) if writes else array.name
    name = p.name("desc")
    padding = d.one_of(["", ', padding_option="nan"' if is_float(type_name) and type_name not in FP8 else ""])
    known = not d.chance(50)
    listed = lambda numbers: "[" + texts(p, d, numbers, known)[1:-1].rstrip(",") + "]"  # noqa: E731
    last = "" if len(strides) == 1 else listed(strides[:-1])[1:-1] + ", "
    p.emit(f"{name} = tl.make_tensor_descriptor({base}, {listed(array_shape)}, [{last}1], {list(block)}{padding})")
    if writes:
        p.emit(f"{name}.store({listed(begin)}, {value.text})")
        if p.loops:
            p.emit("tl.debug_barrier()")
    else:
        p.bind(d, f"{name}.load({listed(begin)})", type_name, block)


def rows_by_number(p, d):
    """A descriptor's gather and scatter: rows by their numbers, columns from a place on."""
    type_name = d.one_of(["float32", "int32", "float16", "float64", "int16", "float32", "int64"])
    unit = max(1, 16 // (WIDTHS[type_name] // 8))
    rows, columns = d.one_of([8, 3, 20]), unit * d.one_of([1, 2, 4])
    count = d.one_of([8, 16, 32])
    start = d.one_of([0, unit, columns - 1])
    name = p.name("desc")
    size = rows * columns
    if d.chance(70):
        index = p.operand(d, "int32", (count,), range=d.one_of([(0, rows - 1), (-2, rows + 1)]))  # rows that are not there are zero
        array = p.input(d, type_name, size)
        padding = d.one_of(["", ', padding_option="nan"']) if is_float(type_name) else ""
        p.emit(f"{name} = tl.make_tensor_descriptor({array.name}, [{rows}, {columns}], [{columns}, 1], [1, {unit * 2}]{padding})")
        p.bind(d, f"{name}.gather({index.text}, {p.number(d, start)})", type_name, (count, unit * 2))
    else:
        value = p.operand(d, type_name, (8, unit * 2))
        array = p.output(type_name, 8 * columns * p.programs)
        p.emit(f"{name} = tl.make_tensor_descriptor({p.own(array, 8 * columns)}, [8, {columns}], [{columns}, 1], [1, {unit * 2}])")
        p.emit(f"{name}.scatter({value.text}, 7 - tl.arange(0, 8), {p.number(d, start)})")
        if p.loops:
            p.emit("tl.debug_barrier()")


def ping_pong(p, d):
    """Two buffers that change places in every round."""
    shape = () if d.chance(12) else p.shape(d, largest=1024)
    size = max(math.prod(shape), 1)
    type_name = d.one_of(["int32", "int64", "uint8", "int16"])
    first, second = (p.input(d, type_name, size * p.programs) for _ in range(2))
    a, b, counter = p.name("a"), p.name("b"), p.name("i")
    p.emit(f"{a} = {p.own(first, size)}")
    p.emit(f"{b} = {p.own(second, size)}")
    places = p.offsets(shape)
    elsewhere = places if d.chance(40) or not shape else f" + ({size - 1} - ({places.removeprefix(' + ')}))"
    p.emit(f"for {counter} in range({d.one_of(['trips', '3', '2'])}):")
    p.emit(f"    tl.store({b}{places}, tl.load({a}{elsewhere}) * 3 + 1)")
    p.emit("    tl.debug_barrier()")
    p.emit(f"    {a}, {b} = {b}, {a}")
    p.bind(d, f"tl.load({a}{places})", type_name, shape)
    p.emit("tl.debug_barrier()")


def chosen_pointers(p, d):
    """Pointers into two arrays, chosen lane by lane or by a run-time condition."""
    shape = p.shape(d, largest=1024)
    size = max(math.prod(shape), 1)
    type_name = d.one_of(ALL)
    first, second = (p.input(d, type_name, size) for _ in range(2))
    places = p.offsets(shape)
    name = p.name("at")
    way = d.below(3)
    if way == 0:
        condition = p.index(d, shape).condition()
        text = condition.text if condition.shape == shape else f"tl.broadcast_to({condition.text}, {shape})"
        p.emit(f"{name} = tl.where({text}, {first.name}{places}, {second.name}{places})")
    elif way == 1:
        p.emit(f"{name} = ({first.name} if {d.one_of(['n0 > 3', 'trips > 1', 'b0'])} else {second.name}){places}")
    else:
        p.emit(f"if {d.one_of(['n0 > 3', 'trips > 1', 'b0'])}:")
        p.emit(f"    {name} = {first.name}{places}")
        p.emit("else:")
        p.emit(f"    {name} = {second.name}{places}")
    p.bind(d, f"tl.load({name})", type_name, shape)


def other_type(p, d):
    """Memory written in one type and read in another, through a converted pointer."""
    wide, narrow = d.one_of([("int32", "uint8"), ("int32", "int16"), ("int64", "int32"), ("int16", "int8"), ("int64", "uint16")])
    shape = (d.one_of([4, 16, 7, 64]),)
    ratio = WIDTHS[wide] // WIDTHS[narrow]
    value = p.operand(d, wide, shape)
    array = p.input(d, wide, shape[0] * p.programs)
    base = p.own(array, shape[0])
    p.emit(f"tl.store({base}{p.offsets(shape)}, {value.text})")
    p.emit("tl.debug_barrier()")
    parts = (shape[0] * ratio,)
    p.bind(d, f"tl.load({base}.to(tl.pointer_type(tl.{narrow})){p.offsets(parts)})", narrow, parts)
    p.emit("tl.debug_barrier()")
    if d.chance(40):
        p.emit(f"tl.store({base}.to(tl.pointer_type(tl.{narrow})) + 1, 5)")
        p.emit("tl.debug_barrier()")
        p.bind(d, f"tl.load({base}{p.offsets(shape)})", wide, shape)
        p.emit("tl.debug_barrier()")


def promised(p, d):
    """Places whose multiples and runs are promised to the compiler, truly."""
    extent = d.one_of([16, 32, 64, 128])
    unit = d.one_of([4, 8, 16])
    array = p.input(d, d.one_of(["int32", "float16", "float32", "int8"]), extent + unit * 3)
    places = f"tl.arange(0, {extent}) + {p.number(d, unit * d.one_of([1, 2, 3, 0]))}"
    hinted = d.one_of([f"tl.max_contiguous(tl.multiple_of({places}, {unit}), {unit})", f"tl.multiple_of({places}, {unit})",
                       f"tl.max_constancy(({places}) // {unit}, {unit})"])  # fmt: skip
    mask = p.mask(d, p.index(d, (extent,)).condition(), (extent,)) if d.chance(50) else ""
    p.bind(d, f"tl.load({array.name} + {hinted}{mask})", array.type, (extent,))


def backwards(p, d):
    """The last element first, under a mask, read and written."""
    shape = p.shape(d)
    size = math.prod(shape)
    type_name = d.one_of(ALL)
    maker = p.index(d, shape)
    places = f"({size - 1} - ({p.offsets(shape).removeprefix(' + ')}))"
    if d.chance(50):
        array = p.input(d, type_name, size)
        p.bind(d, f"tl.load({array.name} + {places}{p.mask(d, maker.condition(), shape)}{d.one_of(['', ', other=0'])})", type_name, shape)
        return
    value = p.operand(d, type_name, shape)
    array = p.output(type_name, size * p.programs)
    p.emit(f"tl.store({p.own(array, size)} + {places}, {value.text}{p.mask(d, maker.condition(), shape)})")
    if p.loops:
        p.emit("tl.debug_barrier()")


# ---- Atomics


def atomic(p, d):
    type_name = d.one_of(["int32", "uint32", "int64", "uint64", "float32", "float64", "float16", "bfloat16", "int16"])
    shape = () if d.chance(12) else p.shape(d)
    size = max(math.prod(shape), 1)
    if is_float(type_name):
        operation = d.one_of(["add", "max", "min", "xchg"]) if WIDTHS[type_name] >= 32 else "add"
        bound = max(1, min(16, EXACT[type_name] // (size * 4 * p.programs)))
        value = p.operand(d, type_name, shape, bound)
        contents, limit = ("exact", 1, d.fresh_key()), EXACT[type_name] // (2 * p.programs)
    else:
        operation = d.one_of(["add", "max", "min", "and", "or", "xor", "xchg", "cas"]) if type_name != "int16" else "cas"
        value, contents, limit = p.operand(d, type_name, shape), None, 1 << 62
    maker = p.index(d, shape)
    mask = maker.condition() if d.chance(50) and operation != "cas" else None
    text = "" if mask is None else f", mask={mask.text}"
    if mask is not None and shape and d.chance(40):  # data, not a bound
        text = f", mask={p.operand(d, 'int1', shape).text}"
    together = operation not in ("xchg", "cas") and d.chance(50)
    loops = math.prod(len(loop.values) for loop in p.loops)
    if is_float(type_name) and size * 16 * loops + 1 > limit:
        return
    if together:  # several lanes, and all programs, at one place: only the sum of it all is known
        places = d.one_of([1, 4, 7])
        array = p.input(d, type_name, places, contents)
        pointer = f"{array.name} + ({p.offsets(shape).removeprefix(' + ')}) % {places}" if shape else array.name
        p.emit(f"tl.atomic_{operation}({pointer}, {value.text}{text})")
        return
    apart = d.one_of([1, 2, -1]) if shape else 1  # side by side, with gaps, backwards
    room = size * abs(apart)
    array = p.input(d, type_name, room * p.programs, contents)
    offsets = p.offsets(shape)
    if apart != 1:
        offsets = f" + ({offsets.removeprefix(' + ')}) * 2" if apart == 2 else f" + ({size - 1} - ({offsets.removeprefix(' + ')}))"
    pointer = f"{p.own(array, room)}{offsets}"
    old = p.name()
    if operation == "cas":
        compared = p.operand(d, type_name, shape)
        p.emit(f"{old} = tl.atomic_cas({pointer}, {compared.text}, {value.text})")
    else:
        sem = d.one_of(["", ', sem="relaxed"', ', sem="acq_rel", scope="cta"'])
        p.emit(f"{old} = tl.atomic_{operation}({pointer}, {value.text}{text}{sem})")
    p.emit("tl.debug_barrier()")
    p.declare(d, old, type_name, shape)


def chosen_atomics(p, d):
    """Elements here and there, as data says, at places that are no row; the others give 0."""
    shape = d.one_of([(64,), (128,), (8, 16), (4, 32), (2, 64), (20,)])
    size = math.prod(shape)
    type_name = d.one_of(["int32", "int64", "uint32"])
    mask, value = p.operand(d, "int1", shape), p.operand(d, type_name, shape)
    step = d.one_of([3, -1, 5])
    array = p.input(d, type_name, size * abs(step) * p.programs)
    offsets = p.offsets(shape).removeprefix(" + ")
    places = f"({size - 1} - ({offsets}))" if step < 0 else f"({offsets}) * {step}"
    total, counter = p.name(), p.name("i")
    p.emit(f"{total} = tl.zeros({shape}, tl.{type_name})")
    p.emit(f"for {counter} in range({d.one_of(['2', '3', 'trips'])}):")
    p.emit(f"    {mask.text}_{counter} = {mask.text} ^ ({counter} == 1)")
    pointer = f"{p.own(array, size * abs(step))} + {places}"
    changed = f"tl.atomic_{d.one_of(['add', 'max', 'xor', 'xchg'])}({pointer}, {value.text}, mask={mask.text}_{counter})"
    p.emit(f"    {total} = {total} * 3 + {changed}")
    p.emit("    tl.debug_barrier()")
    p.declare(d, total, type_name, shape)


def pointer_walk(p, d):
    """A carried tile of pointers, or a carried block pointer, read in every round."""
    shape = p.shape(d, largest=512)
    trips = d.one_of([2, 1, 3, 5])
    type_name = d.one_of(["int32", "int8", "uint16", "int64"])
    total, at, counter = p.name(), p.name("at"), p.name("i")
    by_block = len(shape) == 2 and d.chance(40)
    if by_block:
        step = d.one_of([shape[1], 1, 5])
        columns = max(1, shape[1] + step * (trips - 1) - d.one_of([0, 1, 3]))
        array = p.input(d, type_name, shape[0] * columns)
        p.emit(f"{at} = tl.make_block_ptr({array.name}, ({shape[0]}, {p.number(d, columns)}), ({p.number(d, columns)}, 1), (0, 0), {shape}, (1, 0))")
        load, advance = f"tl.load({at}, boundary_check=(0, 1))", f"{at} = tl.advance({at}, (0, {p.number(d, step)}))"
    else:
        maker = p.index(d, shape)
        index, mask = maker.address(limit=ADDRESSES // 4)
        step = d.one_of([1, 3, 16, max(math.prod(shape), 1), 64])
        used = maker.used_values(index, mask)
        high = int(used.max()) if used.size else 0
        backwards = d.chance(30)
        array = p.input(d, type_name, high + 1 + step * (trips - 1))
        base = f"({array.name} + {step * (trips - 1)})" if backwards else array.name
        p.emit(f"{at} = {pointer_text(base, index, shape)}")
        load = f"tl.load({at}{'' if mask is None else f', mask={mask.text}'})"
        advance = f"{at} {'-' if backwards else '+'}= {p.number(d, step)}"
    start = p.operand(d, type_name, shape)
    p.emit(f"{total} = {start.text}")
    if d.chance(30) and not by_block:  # an offset is carried instead of the pointers
        offset = p.name("offset")
        p.emit(f"{offset} = 0")
        load, advance = load.replace(f"tl.load({at}", f"tl.load({at} + {offset}", 1), advance.replace(f"{at} ", f"{offset} ", 1)
    p.emit(f"for {counter} in range({p.number(d, trips)}):")
    p.emit(f"    {total} = {total} * 3 + {load}")
    p.emit(f"    {advance}")
    p.declare(d, total, type_name, shape)


MAKERS = [
    (6, indexed_load), (2, uniform_load), (2, indirect_load), (4, scattered_store), (2, stored_and_read), (2, in_place), (2, state_in_memory), (3, masked_in_place), (2, stored_twice), (2, overlapping),
    (2, rows_by_number), (2, ping_pong), (1, promised), (2, chosen_pointers), (1, other_type), (2, backwards),
    (3, block_pointer), (2, descriptor), (3, atomic), (1, chosen_atomics), (2, pointer_walk),
]  # fmt: skip
