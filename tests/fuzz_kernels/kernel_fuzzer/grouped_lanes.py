"""Lanes that are taken apart by `//` and `%`: rows of an array that follow one another along the lanes, and groups that begin below zero,
where quotients and remainders go toward zero."""

import math

from .element_types import WIDTHS, is_integer, summed
from .index_expressions import combine, compare
from .memory_statements import pointer_text

TYPES = ["int32", "int16", "int8", "float16", "int64", "float32"]


def rows_cut_off(p, d):
    """Rows of a padded array, one after the other along the lanes, up to a bound that cuts the last of them off: read or written."""
    extent, group = d.one_of([100, 64, 128, 48, 40, 256]), d.one_of([20, 28, 12, 9, 33, 8, 16])
    shape = d.one_of([(extent,), (extent,), (2, extent)])
    type_name = d.one_of(TYPES)
    maker = p.index(d, shape)
    lanes = maker.lanes(len(shape) - 1)
    start = d.one_of([0, 0, 0, 8, group, 3])
    if start:
        lanes = combine("+", lanes, maker.given(start), maker.outer)
    pitch = group + d.one_of([0, 3, group, 16])
    divisor = maker.given(group)
    rows = combine("*", combine("//", lanes, divisor, maker.outer), maker.given(pitch), maker.outer)
    index = combine("+", rows, combine("%", lanes, divisor, maker.outer), maker.outer)
    if len(shape) == 2:
        apart = maker.given(index.high + 1 + d.one_of([0, 5]))
        index = combine("+", combine("*", maker.lanes(0), apart, maker.outer), index, maker.outer)
    mask = compare("<", lanes, maker.given(start + d.between(1, extent)), maker.outer) if d.chance(80) else None
    used = maker.used_values(index, mask)
    count = int(used.max()) + 1
    text = "" if mask is None else p.mask(d, mask, shape)
    if d.chance(50):
        array = p.input(d, type_name, count)
        other = d.one_of(["", ", other=3", ", other=0"]) if text else ""
        p.bind(d, f"tl.load({pointer_text(array.name, index, shape)}{text}{other})", type_name, shape)
        return
    value = p.operand(d, type_name, shape)
    array = p.output(type_name, count * p.programs)
    p.emit(f"tl.store({pointer_text(p.own(array, count), index, shape)}, {value.text}{text})")
    if p.loops:
        p.emit("tl.debug_barrier()")


def groups_from_below(p, d):
    """Quotients and remainders of lanes that begin some groups below zero: compared, in the mask of a row, or as places that begin at a multiple
    of the group."""
    group, extent = d.one_of([8, 16, 4, 32, 20, 7, 36, 100, 70]), d.one_of([64, 32, 128, 100, 256])
    shape = d.one_of([(extent,), (extent,), (4, extent)])
    type_name = d.one_of(TYPES)
    maker = p.index(d, shape)
    start = group * d.one_of([2, 1, 4, 3]) + d.one_of([0, 0, 0, 1, 3])
    lanes = combine("-", maker.lanes(len(shape) - 1), maker.given(start), maker.outer)
    divisor = maker.literal(group) if d.chance(60) else maker.given(group)
    divided = combine(d.one_of(["//", "%"]), lanes, divisor, maker.outer)
    if d.chance(40):
        mask = compare(d.one_of(["<", "==", ">=", "!="]), divided, maker.literal(d.one_of([-1, 0, -2, 1])), maker.outer)
        array = p.input(d, type_name, math.prod(shape))
        p.bind(d, f"tl.load({array.name}{p.offsets(shape)}{p.mask(d, mask, shape)}, other=3)", type_name, shape)
        return
    index = combine("+", divided, maker.given(group * -(-max(-divided.low, 1) // group)), maker.outer)
    if len(shape) == 2:
        apart = maker.given(-(-(index.high + 1) // 16) * 16)
        index = combine("+", combine("*", maker.lanes(0), apart, maker.outer), index, maker.outer)
    array = p.input(d, type_name, -(-(index.high + 1) // 16) * 16)  # it begins at a multiple of 16 bytes
    loaded = f"tl.load({pointer_text(array.name, index, shape)})"
    if is_integer(type_name) and d.chance(40):  # read where it is summed
        axis = len(shape) - 1
        p.bind(d, f"tl.sum({loaded}, {axis})", summed(type_name), shape[:axis])
    else:
        p.bind(d, loaded, type_name, shape)


def ragged_promise(p, d):
    """Groups that lie apart, each promised to lie together, and lanes that end within the last one: what is written by groups must leave alone
    what comes behind the last lane."""
    shape = d.one_of([(64, 12), (1028,), (32, 20), (300,), (128, 12), (20,)])
    extent, type_name = shape[-1], d.one_of(["int16", "int8", "float16", "int32", "uint8"])
    unit = 128 // WIDTHS[type_name] * d.one_of([1, 1, 2])  # 16 or 32 bytes
    pitch, groups = unit * d.one_of([2, 1, 3]), -(-extent // unit)
    size = pitch * groups * math.prod(shape[:-1])
    lanes = f"tl.arange(0, {extent})"
    places = f"({lanes} // {unit} * {pitch} + {lanes} % {unit})"
    multiple, contiguous = "16", str(unit)
    if len(shape) == 2:
        places = f"tl.arange(0, {shape[0]})[:, None] * {pitch * groups} + {places}[None, :]"
        multiple, contiguous = "[16, 16]", f"[1, {unit}]"
    writes = d.chance(70)
    array = p.output(type_name, size * p.programs) if writes else p.input(d, type_name, size)
    base = p.own(array, size) if writes else array.name
    pointer = f"tl.max_contiguous(tl.multiple_of({base} + {places}, {multiple}), {contiguous})"
    if not writes:
        p.bind(d, f"tl.load({pointer})", type_name, shape)
        return
    # A value that no thread has yet leaves it to the store who writes what.
    numbers = f"({lanes}{'[None, :]' if len(shape) == 2 else ''} & 63).to(tl.{type_name})"
    value = d.one_of([f"tl.broadcast_to({numbers}, {shape})", f"tl.full({shape}, 5, tl.{type_name})", p.operand(d, type_name, shape).text])
    p.emit(f"tl.store({pointer}, {value})")
    if p.loops:
        p.emit("tl.debug_barrier()")


MAKERS = [(2, rows_cut_off), (3, groups_from_below), (1, ragged_promise)]
