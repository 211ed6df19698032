"""Integer expressions over lanes, program numbers, loop counters and scalars, together with their values.

An expression is built as text and as a NumPy array at once, by the documented meaning: integers wrap, `//` and `%` follow C,
`x // 0` has all bits set, `x % 0` is x, a shift by the width or more (or by a negative count) leaves 0 or the sign. So the
generator knows every address and every mask of a program before it runs, and makes each array exactly as large as is touched.

The array of a value has one axis for the programs, one for each surrounding loop, and then those of the tile; an axis along
which nothing changes has extent 1.
"""

from dataclasses import dataclass

import numpy as np

from .element_types import SIGNED, UNSIGNED, holds, promoted

LITERAL = "literal"  # the type of a number in the text, which takes the other operand's
NUMBERS = [1, 2, 3, 4, 5, 7, 8, 16, 20, 32, 64, 6, 12, 24, 33, 48, 100, 127, 128, 255, 256, 1000, 4096, 65536, 0, -1, -3, -8]
STARTS = [0, 0, 0, 0, 0, 1, 8, 16, 3, 120, 126, 250, 32760]  # of lanes: some cross what a narrow type holds
ADDRESSES = 8192  # elements of the largest array that an index may need


@dataclass
class Index:
    text: str
    type: str
    values: np.ndarray
    shape: tuple  # of the tile
    literal: int = 0

    def paren(self):
        simple = self.text.replace("_", "").isalnum() or (self.text.endswith(")") and self.text.startswith("tl.") and self.text.count("(") == 1)
        return self.text if simple else f"({self.text})"

    @property
    def low(self):
        return int(self.values.min())

    @property
    def high(self):
        return int(self.values.max())


def convert(index, name):
    with np.errstate(all="ignore"):
        return Index(f"{index.paren()}.to(tl.{name})", name, index.values.astype(name), index.shape)


def quotient(a, b):
    """Toward zero; by zero all bits are set, and the smallest number by -1 wraps."""
    info = np.iinfo(a.dtype)
    zero = b == 0
    safe = np.where(zero, b.dtype.type(1), b)
    with np.errstate(all="ignore"):
        if info.min == 0:
            result = a // safe
        else:
            overflow = (a == info.min) & (safe == -1)
            safe = np.where(overflow, a.dtype.type(1), safe)
            floor = a // safe
            result = floor + ((a - floor * safe != 0) & ((a < 0) != (safe < 0)))
            result = np.where(overflow, a, result)
    ones = a.dtype.type(info.max if info.min == 0 else -1)
    return np.where(zero, ones, result).astype(a.dtype)


def remainder(a, b):
    info = np.iinfo(a.dtype)
    zero = b == 0
    with np.errstate(all="ignore"):
        result = a - quotient(a, b) * np.where(zero, b.dtype.type(1), b)
        if info.min != 0:
            result = np.where((a == info.min) & (b == -1), a.dtype.type(0), result)
    return np.where(zero, a, result).astype(a.dtype)


def shifted(a, b, left):
    width = a.dtype.itemsize * 8
    beyond = (b < 0) | (b >= width) if np.iinfo(b.dtype).min < 0 else b >= width
    count = np.where(beyond, 0, b).astype(a.dtype)
    sign = np.where(a < 0, a.dtype.type(-1), a.dtype.type(0)) if np.iinfo(a.dtype).min < 0 else np.zeros_like(a)
    if left:
        return np.where(beyond, a.dtype.type(0), a << count).astype(a.dtype)
    return np.where(beyond, sign, a >> count).astype(a.dtype)


_FUNCTIONS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "minimum": np.minimum, "maximum": np.maximum, "//": quotient, "%": remainder,
    "<<": lambda a, b: shifted(a, b, True), ">>": lambda a, b: shifted(a, b, False),
}  # fmt: skip
_COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}


def common_type(a, b):
    """The type in which two operands meet; None where a number does not fit the other's type."""
    if a.type == LITERAL or b.type == LITERAL:
        number, other = (a, b) if a.type == LITERAL else (b, a)
        return other.type if other.type != LITERAL and holds(other.type, number.literal) else None
    return promoted(a.type, b.type)


def joint_shape(a, b):
    if not a.shape or not b.shape:
        return a.shape or b.shape
    return tuple(np.broadcast_shapes(a.shape, b.shape))


def aligned(values, outer, rank):
    """A scalar's values with an axis for each axis of the tile."""
    return values.reshape(values.shape[:outer] + (1,) * (rank - (values.ndim - outer)) + values.shape[outer:])


def combine(operator, a, b, outer):
    """`a operator b`, or None where the language does not have it. `outer` axes stand before the tile's."""
    type_name = common_type(a, b)
    if type_name is None:
        return None
    if operator in ("//", "%", "<<", ">>") and LITERAL not in (a.type, b.type) and (a.type in SIGNED) != (b.type in SIGNED):
        return None
    if operator in ("<<", ">>") and (a.type == LITERAL or b.type == LITERAL and b.literal < 0):
        return None
    shape = joint_shape(a, b)
    with np.errstate(all="ignore"):
        x = aligned(a.values, outer, len(shape)).astype(type_name)
        y = aligned(b.values, outer, len(shape)).astype(type_name)
        values = _FUNCTIONS[operator](x, y).astype(type_name)
    text = f"tl.{operator}({a.text}, {b.text})" if operator in ("minimum", "maximum") else f"{a.paren()} {operator} {b.paren()}"
    return Index(text, type_name, values, shape)


def compare(operator, a, b, outer):
    """A condition: unsigned where an unsigned operand is at least as wide as a signed one."""
    type_name = common_type(a, b)
    if type_name is None:
        return None
    shape = joint_shape(a, b)
    with np.errstate(all="ignore"):
        x = aligned(a.values, outer, len(shape)).astype(type_name)
        y = aligned(b.values, outer, len(shape)).astype(type_name)
    return Index(f"{a.paren()} {operator} {b.paren()}", "int1", _COMPARISONS[operator](x, y), shape)


class IndexMaker:
    """Makes expressions for tiles of one shape in one place of a program."""

    def __init__(self, builder, decisions, shape):
        self.builder = builder
        self.d = decisions
        self.shape = tuple(shape)
        self.outer = builder.outer_axes()

    # ---- Leaves

    def literal(self, value):
        return Index(str(value), LITERAL, np.full((1,) * (self.outer + len(self.shape)), value, dtype=object), (), value)

    def lanes(self, axis, start=0):
        extent, rank = self.shape[axis], len(self.shape)
        text = f"tl.arange({start}, {start + extent})"
        if rank > 1:
            text += "[" + ", ".join(":" if a == axis else "None" for a in range(rank)) + "]"
        values = np.arange(start, start + extent, dtype=np.int32).reshape((1,) * (self.outer + axis) + (extent,) + (1,) * (rank - 1 - axis))
        return Index(text, "int32", values, tuple(extent if a == axis else 1 for a in range(rank)))

    def scalar(self):
        text, type_name, values = self.d.one_of(self.builder.index_scalars())
        values = values.reshape(values.shape + (1,) * len(self.shape))
        if type_name == LITERAL:
            return Index(text, LITERAL, values, (), int(values.flat[0]))
        return Index(text, type_name, values, ())

    def number(self):
        return self.literal(self.d.one_of(NUMBERS))

    def leaf(self):
        kind = self.d.below(10)
        if kind < 6 and self.shape:
            axis = self.d.below(len(self.shape))
            return self.lanes(axis, self.d.one_of(STARTS))
        if kind < 8:
            return self.scalar()
        return self.number()

    # ---- Trees

    def linear(self, strides=None):
        """The sum of the lanes, each axis with its stride (row-major when none are given)."""
        total, stride = None, 1
        row_major = []
        for extent in reversed(self.shape):
            row_major.insert(0, stride)
            stride *= extent
        for axis, step in enumerate(strides or row_major):
            term = self.lanes(axis)
            if step != 1:
                term = combine("*", term, self.literal(step), self.outer)
            total = term if total is None else combine("+", total, term, self.outer)
        return total if total is not None else self.zero()

    def strided(self):
        """The sum of the lanes with gaps, interleaved, transposed or backwards; a stride may be given at the launch."""
        total = None
        span = 1
        for axis in self.d.permutation(len(self.shape)):
            stride = self.d.one_of([span, span, span, 1, 2, 3, 4, 8, -1, -span, span + 3, 16])
            term = self.lanes(axis)
            if stride != 1:
                term = combine("*", term, self.given(stride), self.outer)
            total = term if total is None else combine("+", total, term, self.outer)
            span = max(span, abs(stride) * self.shape[axis])
        return total if total is not None else self.zero()

    def given(self, value):
        """A number in the text, or one that is given at the launch."""
        text = self.builder.number(self.d, value)
        values = self.literal(value).values
        return self.literal(value) if text == str(value) or value == 1 else Index(text, "int32", values.astype(np.int32), ())

    def zero(self):
        return Index("tl.full((), 0, tl.int32)", "int32", np.zeros((1,) * (self.outer + len(self.shape)), np.int32), ())

    def sum_of_lanes(self):
        """Lanes of some axes, added without strides: what wraps around across rows."""
        axes = [axis for axis in range(len(self.shape)) if self.d.chance(75)] or ([0] if self.shape else [])
        total = None
        for axis in axes:
            term = self.lanes(axis, self.d.one_of([0, 0, 0, 1, 5]))
            if self.d.chance(30):
                term = combine("*", term, self.literal(self.d.one_of([2, 3, 8, 16, 5, 17])), self.outer)
            total = term if total is None else combine(self.d.one_of(["+", "+", "-", "^"]), total, term, self.outer)
        return total if total is not None else self.zero()

    def idiom(self):
        """One of the forms in which kernels write indices, simple enough for a compiler to see through."""
        kind = self.d.below(10)
        if kind >= 8:
            return self.in_groups()
        lanes = self.lanes(self.d.below(len(self.shape)), self.d.one_of(STARTS)) if self.shape else self.zero()
        added = self.sum_of_lanes()
        number = self.literal(self.d.one_of([8, 16, 3, 20, 32, 64, 7, 1, 4, 5]))
        if kind == 0:
            return combine("%", added, number, self.outer)
        if kind == 1:
            return combine("//", added, number, self.outer)
        if kind == 2:
            if self.d.chance(40):
                lanes = combine("+", lanes, self.scalar(), self.outer) or lanes
            return self.through_cast(lanes)
        if kind == 3:
            wide = combine(self.d.one_of(["+", "*", "-"]), lanes, self.scalar(), self.outer)
            return convert(wide, self.d.one_of(["int64", "uint64"])) if self.d.chance(70) else wide
        if kind == 4:
            return combine(self.d.one_of(["<<", ">>"]), lanes, self.scalar(), self.outer) or lanes
        if kind == 5:
            block = combine("*", combine("//", added, number, self.outer), self.literal(self.d.one_of([2, 10, 32, 100])), self.outer)
            return combine("+", block, combine("%", added, number, self.outer), self.outer)
        if kind == 6:
            return combine("-", self.number(), lanes, self.outer)
        return combine(self.d.one_of(["&", "^", "|"]), added, number, self.outer)

    def from_below(self):
        """Lanes of an axis, or of all of them, that begin a little below zero, or above."""
        if not self.shape:
            return self.zero()
        lanes = self.linear() if self.d.chance(30) else self.lanes(self.d.below(len(self.shape)))
        start = self.d.one_of([8, 16, 3, 5, 0, 1, 32, -8, -3])
        return combine("-" if start >= 0 else "+", lanes, self.given(abs(start)), self.outer) if start else lanes

    def group(self):
        """How many lanes make a group: known, or given at the launch."""
        return self.given(self.d.one_of([8, 16, 4, 32, 5, 20, 2, 7]))

    def in_groups(self):
        """The number of each lane's group, or its place in there, counted from below zero on; toward zero, as C does."""
        lanes = self.from_below()
        group = self.group()
        made = combine(self.d.one_of(["//", "%"]), lanes, group, self.outer)
        if self.d.chance(30):  # around: what is negative comes from the other end
            made = combine("%", combine("+", combine("%", lanes, group, self.outer), group, self.outer), group, self.outer)
        return made

    def groups_apart(self):
        """Groups of neighbours, each a pitch away from the one before: rows of a padded array, taken from a tile's lanes by // and %."""
        axes = self.d.permutation(len(self.shape))
        if not axes:
            return self.zero()
        size = self.d.one_of([8, 16, 4, 32, 5, 20])
        group = self.given(size)
        pitch = self.given(size + self.d.one_of([size, 16, 3, 0, 1]))
        lanes = self.lanes(axes[0])
        start = self.d.one_of([0, 0, 3, 8, size, 1])
        if start:
            lanes = combine(self.d.one_of(["-", "-", "+"]), lanes, self.given(start), self.outer)
        rows = combine("*", combine("//", lanes, group, self.outer), pitch, self.outer)
        total = combine("+", rows, combine("%", lanes, group, self.outer), self.outer)
        span = 4 * self.shape[axes[0]]
        for axis in axes[1:]:
            total = combine("+", total, combine("*", self.lanes(axis), self.given(max(span, 2)), self.outer), self.outer)
            span *= self.shape[axis]
        return total

    def tree(self, depth):
        kind = self.d.below(15)
        if kind == 0 or depth <= 0:
            return self.leaf()
        if kind >= 12:
            return self.idiom()
        if kind == 1:
            return self.sum_of_lanes()
        if kind < 9:
            operator = self.d.one_of(["+", "+", "-", "*", "%", "%", "//", "//", "<<", ">>", "&", "|", "^", "minimum", "maximum"])
            a, b = self.tree(depth - 1), self.leaf() if self.d.chance(60) else self.tree(depth - 1)
            made = combine(operator, a, b, self.outer)
            return a if made is None else made
        if kind < 11:
            return self.through_cast(self.tree(depth - 1))
        return self.chosen(depth)

    def through_cast(self, a):
        """To another width and, often, back: what does not fit wraps."""
        if a.type == LITERAL:
            return a
        narrow = convert(a, self.d.one_of(["int64", "int8", "int16", "uint8", "uint16", "uint32", "uint64"]))
        return convert(narrow, "int32") if self.d.chance(60) else narrow

    def chosen(self, depth):
        condition = self.condition(depth - 1)
        a, b = self.tree(depth - 1), self.tree(depth - 1)
        type_name = common_type(a, b)
        if type_name is None or LITERAL in (a.type, b.type):
            return a
        shape = joint_shape(condition, Index("", type_name, a.values, joint_shape(a, b)))
        with np.errstate(all="ignore"):
            taken, x, y = (aligned(operand.values, self.outer, len(shape)) for operand in (condition, a, b))
            values = np.where(taken, x.astype(type_name), y.astype(type_name))
        return Index(f"tl.where({condition.text}, {a.text}, {b.text})", type_name, values, shape)

    def bounds_check(self):
        """Lanes of one or several axes against bounds, known or not: the mask of most kernels."""
        made = None
        axes = [axis for axis in range(len(self.shape)) if self.d.chance(60)] or [len(self.shape) - 1]
        for axis in axes:
            extent = self.shape[axis]
            lanes = self.lanes(axis)
            if self.d.chance(40):
                lanes = combine("+", lanes, self.scalar(), self.outer)
            bound = self.literal(self.d.one_of([1, extent - 1, extent // 2, extent, 0, 3 * extent // 4 - 1, extent // 4, 7]))
            bound = self.scalar() if self.d.chance(30) else bound
            check = compare(self.d.one_of(["<", "<", ">=", "==", ">", "!="]), lanes, bound, self.outer)
            made = check if made is None else self.joined(made, check, "&", np.logical_and)
        return made

    def negated(self, a):
        return Index(f"~({a.text})", "int1", np.logical_not(a.values), a.shape)

    def joined(self, a, b, operator, function):
        shape = joint_shape(a, b)
        values = function(aligned(a.values, self.outer, len(shape)), aligned(b.values, self.outer, len(shape)))
        return Index(f"({a.text}) {operator} ({b.text})", "int1", values, shape)

    def condition(self, depth=1):
        """int1: one comparison, or several that are joined, or what is left without them."""
        made = self.positive_condition(depth)
        return self.negated(made) if self.d.chance(15) else made

    def launched(self, value):
        """A number that is given at the launch."""
        name = f"size{len(self.builder.scalars)}"
        self.builder.scalars[name] = value
        return Index(name, "int32", np.full((1,) * (self.outer + len(self.shape)), value, np.int32), ())

    def excluded(self, axis, unit):
        """What is in none of two ranges, or not in both: one of the lanes of an axis up to a known multiple of `unit`, one of another axis up to
        a bound that the launch gives."""
        others = [other for other in range(len(self.shape)) if other != axis]
        negated, (operator, function) = self.d.one_of([(True, ("|", np.logical_or)), (True, ("|", np.logical_or)), (False, ("&", np.logical_and)),
                                                       (True, ("&", np.logical_and)), (False, ("|", np.logical_or))])  # fmt: skip
        bound = self.literal(self.d.one_of([unit, unit, 2 * unit, self.shape[axis] // 2, unit - 1]))
        made = compare(self.d.one_of([">=", ">=", "<", ">"]), self.lanes(axis), bound, self.outer)
        if others:
            checked = self.lanes(self.d.one_of([other for other in others if self.shape[other] > 1] or others))
            other = compare(self.d.one_of(["<", ">=", "=="]), checked, self.launched(self.d.one_of([3, 2, 5, 9])), self.outer)
            made = self.joined(made, other, operator, function)
        return self.negated(made) if negated else made

    def positive_condition(self, depth):
        if self.shape and self.d.chance(40):
            return self.bounds_check()
        made = None
        if self.shape and self.d.chance(15):
            made = compare(self.d.one_of(["==", "<", ">=", "!="]), self.in_groups(), self.literal(self.d.one_of([0, 1, 2, -1, 3])), self.outer)
        for _ in range(6 if made is None else 0):
            a, b = self.idiom() if self.d.chance(30) else self.tree(depth), self.leaf()
            if LITERAL in (a.type, b.type) and a.type == b.type:
                continue
            made = compare(self.d.one_of(["<", "<=", ">", ">=", "==", "!="]), a, b, self.outer)
            if made is not None:
                break
        if made is None:
            made = compare("<", self.lanes(0) if self.shape else self.zero(), self.literal(7), self.outer)
        if self.d.chance(30):
            other = self.condition(depth)
            operator, function = self.d.one_of([("&", np.logical_and), ("|", np.logical_or), ("^", np.logical_xor)])
            made = self.joined(made, other, operator, function)
        return made

    def expression(self, depth=3):
        """Any expression that is not a bare number."""
        made = self.idiom() if self.d.chance(35) else self.tree(depth)
        if made.type == LITERAL:
            made = self.sum_of_lanes()
        return made

    # ---- Addresses

    def address(self, limit=ADDRESSES):
        """(index, mask or None): where the mask is true (everywhere without one) the index is from 0 to less than `limit`."""
        kind = self.d.below(11)
        plain = {0: self.linear, 1: self.linear, 2: self.sum_of_lanes, 8: self.strided, 9: self.strided, 10: self.groups_apart}
        index = plain[kind]() if kind in plain else self.expression(self.d.between(1, 3))
        if self.d.chance(25):
            index = combine("+", index, self.scalar(), self.outer) or index
        mask = self.condition() if self.d.chance(35) else None
        used = self.used_values(index, mask)
        low, high = (int(used.min()), int(used.max())) if used.size else (0, 0)
        if high - low >= limit or max(abs(low), abs(high)) > 1 << 40:
            index, mask = self.brought_into(index, mask, limit)
        return self.shifted_to_zero(index, mask), mask

    def used_values(self, index, mask):
        if mask is None:
            return index.values
        rank = max(len(index.shape), len(mask.shape))
        values, kept = np.broadcast_arrays(aligned(index.values, self.outer, rank), aligned(mask.values, self.outer, rank))
        return values[kept]

    def brought_into(self, index, mask, limit):
        """By a remainder, or by a check of the bounds."""
        bound = min(limit // 2, self.d.one_of([7, 8, 16, 20, 32, 64, 100, 128, 256, 1000]))
        if index.type in ("int8", "uint8"):
            bound = min(bound, 100)
        if self.d.chance(50):
            below = compare("<", index, self.literal(bound), self.outer)
            for check in [compare(">=", index, self.literal(0), self.outer), below] if index.type in SIGNED else [below]:
                mask = check if mask is None else self.joined(mask, check, "&", np.logical_and)
            return index, mask
        return combine("%", index, self.literal(bound), self.outer), mask

    def shifted_to_zero(self, index, mask):
        used = self.used_values(index, mask)
        low = int(used.min()) if used.size else 0
        if low == 0 or (0 < low and used.size and int(used.max()) < ADDRESSES and self.d.chance(50)):
            return index
        if index.type in UNSIGNED or index.type in ("int8", "int16") or not -(2**31) < low < 2**31 - 1:
            index = convert(index, "int64")
        with np.errstate(all="ignore"):
            moved = combine("-" if low > 0 else "+", index, self.literal(abs(low)), self.outer)
        used = self.used_values(moved, mask)
        if used.size and int(used.min()) != 0:  # the difference wrapped around
            moved = combine("-" if low > 0 else "+", convert(index, "int64"), self.literal(abs(low)), self.outer)
        return moved
