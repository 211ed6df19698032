"""A random kernel while it is being made: its text, its arrays and scalars, and what is known of each of its values.

What is known of a value keeps the program valid. A float is either *exact*, an integer of at most `bound` in magnitude, and then
sums and products of it are the same in any order and with or without fused operations; or *wild* (bound None: any bits, NaN and
infinities too), and then only what IEEE 754 fixes is done with it, and its sums never. An integer may have a known range.
"""

import contextlib
import math
import re
from dataclasses import dataclass, field

import numpy as np

from .choices import Decisions, Gene, fresh_source
from .element_types import EXACT, FP8, SIGNED, is_float, is_integer, limits
from .index_expressions import LITERAL, IndexMaker

LARGEST = 4096  # elements of a tile
EXTENTS = [1, 2, 4, 8, 16, 32, 64, 3, 5, 7, 12, 17, 20, 31, 33, 48, 65, 100, 128, 256, 513, 1024, 2048]
# 41 and 49: reciprocals that times the number are less than 1.
SCALARS = [0, 1, 2, 3, 5, 7, 8, 16, 20, 32, 33, 41, 48, 49, 64, 100, 128, 1000, -1, -2, -3, -7, -16, -64, 1 << 28, (1 << 30) + 1, (1 << 31) - 1,
           (1 << 31) - 10, (1 << 31) - 100, -(1 << 31), 5 - (1 << 31), (1 << 31) + 5, 1 << 33]  # fmt: skip
TYPES = ["int32", "float32", "int64", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float64",
         "float8e4nv", "float8e5", "int1"]  # fmt: skip


class NoOperand(Exception):
    """A statement that asks for what cannot be had: it is left out."""


@dataclass
class Array:
    """An array that the kernel is given: `contents` says what it holds before."""

    name: str
    type: str
    count: int
    contents: tuple  # ("any", seed), ("range", low, high, seed), ("exact", bound, seed), ("blank",)
    at_end: bool  # it ends where memory ends; otherwise it begins where memory begins
    tolerance: float = 0.0
    same_as: str = ""  # another argument that is the same memory
    described: tuple = ()  # (shape, strides, block) where the argument is a descriptor of the array


@dataclass(eq=False)
class Value:
    text: str
    type: str
    shape: tuple
    key: int
    bound: int | None = None  # of an exact float
    range: tuple | None = None  # of an integer
    used: bool = False
    kind: str = ""  # the maker, for reports

    @property
    def size(self):
        return math.prod(self.shape)


@dataclass
class Loop:
    counter: str
    type: str
    values: list
    unrolled: bool = False  # the counter is a constexpr
    offset: str = ""  # a scalar that every round adds to, and its values
    offsets: list = field(default_factory=list)

    @property
    def text(self):
        return f"tl.full((), {self.counter}, tl.{self.type})" if self.unrolled else self.counter


@dataclass
class Scope:
    values: list = field(default_factory=list)


class Program:
    """Made from genes. `program.source()` is the kernel, `program.arrays` and `program.scalars` are its arguments."""

    def __init__(self, header, genes, source, makers, templates):
        self.header = header
        self.genes = genes
        self.random = source
        self.makers = makers  # [(name, function)]
        self.templates = templates
        self.lines = []
        self.helpers = []  # the texts of functions that the kernel calls
        self.indent = 1
        self.arrays = []
        self.scalars = {}
        self.constants = {}
        self.loops = []
        self.scopes = [Scope()]
        self.count = 0
        self.kinds = []  # of statements, for coverage and for grouping
        self.tolerance = 0.0  # of what a template computes at the moment
        self.unreached = 0  # surrounding loops and branches that never run: arrays in there have no elements
        self._begin(Decisions(header, source))
        if self.templated:
            self.genes = genes = genes[:2]
        for place, gene in enumerate(genes):
            if self.templated and place == 0:
                self.template(gene)
            else:
                self.statement(gene)
        self._store_results()

    @staticmethod
    def fresh(seed, makers, templates):
        source = fresh_source(seed)
        count = 3 + int(source.random() * (9 if source.random() < 0.85 else 20))
        return Program(Gene(), [Gene() for _ in range(count)], source, makers, templates)

    @staticmethod
    def replayed(data, makers, templates):
        header, *genes = (Gene.from_data(item) for item in data)
        program = Program(header, genes, None, makers, templates)
        program.cut_lines(data[0][2] if len(data[0]) > 2 else [])
        return program

    def to_data(self):
        return [self.header.to_data(), *(gene.to_data() for gene in self.genes)]

    def options(self):
        """Of the launch."""
        return {"enable_fp_fusion": self.fusion, "num_warps": self.warps, "num_stages": self.stages}

    def cut_lines(self, places):
        """Leaves lines of the finished text out: what the reducer does last, when no gene can go any more."""
        self.lines = [line for place, line in enumerate(self.lines) if place not in places]

    # ---- The frame

    def _begin(self, d):
        self.templated = d.chance(40)  # the first statement is a whole kernel as people write it
        odd = d.chance(40)
        self.extents = [EXTENTS[d.below(len(EXTENTS))] if odd else 1 << d.below(9) for _ in range(3)]
        self.grid = d.one_of([(1,), (1,), (1,), (2,), (3,), (2, 2)])
        self.programs = math.prod(self.grid)
        self.place = "tl.program_id(0)" if len(self.grid) == 1 else f"(tl.program_id(0) * {self.grid[1]} + tl.program_id(1))"
        self.fusion = d.chance(50)
        for name in ("n0", "n1", "n2"):
            self.scalars[name] = d.one_of(SCALARS)
        self.scalars["trips"] = d.one_of([2, 0, 1, 3, 4])
        self.scalars["step"] = d.one_of([1, 2, 3, 0, -1, -2])
        self.scalars["f0"] = float(d.one_of([1, 2, 3, -2, 0]))
        self.scalars["b0"] = bool(d.below(2))
        self.warps = d.one_of([4, 1, 2, 8])  # for engines that have such
        self.constants["C0"] = d.one_of([4, 3, 8, 16, 7])
        self.stages = d.one_of([3, 1, 2, 4, 5])

    def statement(self, gene):
        d = Decisions(gene, self.random)
        name, make = d.one_of(self.makers)
        self.kinds.append(name)
        with contextlib.suppress(NoOperand):
            make(self, d)

    def template(self, gene):
        """A whole kernel, sometimes run several times over within a loop."""
        d = Decisions(gene, self.random)
        name, make = d.one_of(self.templates)
        self.kinds.append(name)
        self.mutations = d.one_of([[0, 0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 3]])
        again = d.chance(15)
        if again:
            self.emit(f"for again in range({d.one_of(['2', 'trips', '1'])}):")
            self.scopes.append(Scope())
            self.indent += 1
        make(self, d)
        if again:
            self.emit("tl.debug_barrier()")
            self.scopes.pop()
            self.indent -= 1

    def _store_results(self):
        kept = [value for value in self.scopes[0].values if not value.used or value.key % 8 == 0]
        for value in kept[-8:]:
            self.store_output(value)

    def store_output(self, value, tolerance=0.0):
        """Into an array of its own, each program at its own place."""
        array = self.output(value.type, value.size * self.programs, tolerance=tolerance)
        self.emit(f"tl.store({self.own(array, value.size)}{self.offsets(value.shape)}, {value.text})")

    def own(self, array, size):
        """The pointer to a program's own part of an array that programs write."""
        return array.name if self.programs == 1 else f"({array.name} + {self.place} * {size})"

    @staticmethod
    def offsets(shape):
        """The row-major offsets of a tile, as text to add to a pointer."""
        text, stride = "", 1
        for axis in reversed(range(len(shape))):
            lanes = f"tl.arange(0, {shape[axis]})"
            if len(shape) > 1:
                lanes += "[" + ", ".join(":" if a == axis else "None" for a in range(len(shape))) + "]"
            text = f" + {lanes}" + (f" * {stride}" if stride != 1 else "") + text
            stride *= shape[axis]
        return text

    # ---- The text

    def emit(self, line):
        self.lines.append("    " * self.indent + line)

    def named(self, numbers):
        """Those of the scalars or constants that the kernel names."""
        words = set(re.findall(r"\w+", "\n".join(self.lines)))
        return {name: value for name, value in numbers.items() if name in words}

    def source(self):
        constants = [f"{name}: tl.constexpr" for name in self.named(self.constants)]
        parameters = [array.name for array in self.arrays] + list(self.named(self.scalars)) + constants
        body = "\n".join(self.lines) or "    pass"
        helpers = "".join(f"@triton.jit\n{text}\n\n" for text in self.helpers)
        return f"import triton\nimport triton.language as tl\n\n\n{helpers}@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n"

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def helper(self, text):
        if text not in self.helpers:
            self.helpers.append(text)

    # ---- Arrays and scalars

    def input(self, d, type_name, count, contents=None):
        contents = contents or ("any", d.fresh_key())
        array = Array(f"in{len(self.arrays)}", type_name, self._count(count), contents, not d.chance(30))
        self.arrays.append(array)
        return array

    def output(self, type_name, count, tolerance=0.0, contents=("blank",)):
        array = Array(f"out{len(self.arrays)}", type_name, self._count(count), contents, len(self.arrays) % 3 != 2, tolerance)
        self.arrays.append(array)
        return array

    def contents(self, d, type_name, bound=None, range=None):
        """What a fresh array holds so that its elements keep a promise."""
        if range is not None:
            return ("range", *range, d.fresh_key())
        return ("any", d.fresh_key()) if bound is None else ("exact", bound, d.fresh_key())

    def _count(self, count):
        return 0 if self.unreached else int(count)

    def holds(self, test):
        """Whether a test of the launch's scalars holds; None where it depends on more."""
        if not set(re.findall(r"[a-z]\w*", test)) <= set(self.scalars):
            return None
        return bool(eval(test, {}, dict(self.scalars)))  # noqa: S307  (the generator's own text)

    @contextlib.contextmanager
    def reached(self, runs):
        """What is made within runs (or may run); otherwise its arrays have no elements, so that touching them faults."""
        self.unreached += runs is False
        try:
            yield
        finally:
            self.unreached -= runs is False

    def second_name(self, array):
        """The same memory as another argument."""
        other = Array(f"same{len(self.arrays)}", array.type, array.count, array.contents, array.at_end, 0.0, array.name)
        self.arrays.append(other)
        return other

    def number(self, d, value):
        """An integer as text: in the kernel, or given at the launch."""
        if not d.chance(40):
            return str(value)
        name = f"size{len(self.scalars)}"
        self.scalars[name] = value
        return name

    def outer_axes(self):
        return 1 + len(self.loops)

    def index_scalars(self):
        """(text, type, values) of every integer scalar that an index may be made of."""
        outer = self.outer_axes()
        found = []
        for name in ("n0", "n1", "n2", "trips", "step"):
            value = self.scalars[name]
            type_name = LITERAL if value == 1 else "int32" if -(1 << 31) <= value < 1 << 31 else "int64"
            values = np.full((1,) * outer, value, dtype=object if type_name == LITERAL else type_name)
            found.append((name, type_name, values))
        if self.programs > 1:
            for axis, numbers in enumerate(np.indices(self.grid, dtype=np.int32).reshape(len(self.grid), -1)):
                found.append((f"tl.program_id({axis})", "int32", numbers.reshape((self.programs,) + (1,) * (outer - 1))))
        for depth, loop in enumerate(self.loops):
            values = np.array(loop.values, dtype=loop.type).reshape((1,) * (depth + 1) + (len(loop.values),) + (1,) * (outer - depth - 2))
            found += [(loop.text, loop.type, values)] * 2
            if loop.offset:
                numbers = np.array(loop.offsets, dtype=np.int64).astype(np.int32)
                found.append((loop.offset, "int32", numbers.reshape(values.shape)))
        return found

    def index(self, d, shape):
        return IndexMaker(self, d, shape)

    # ---- Values

    def visible(self):
        return [value for scope in self.scopes for value in scope.values]

    def bind(self, d, expression, type_name, shape, bound=None, range=None):
        name = self.name()
        self.emit(f"{name} = {expression}")
        return self.declare(d, name, type_name, shape, bound, range)

    def declare(self, d, name, type_name, shape, bound=None, range=None):
        value = Value(name, type_name, tuple(shape), d.fresh_key(), bound, range, kind=self.kinds[-1] if self.kinds else "")
        self.scopes[-1].values.append(value)
        return value

    def find(self, d, test=lambda value: True):
        """An earlier value, mostly one that nothing has read yet; None where there is none."""
        candidates = [value for value in self.visible() if test(value)]
        if d.chance(60):
            candidates = [value for value in candidates if not value.used] or candidates
        if not candidates:
            return None
        chosen = d.pick(candidates)
        chosen.used = True
        return chosen

    def shape(self, d, rank=None, largest=LARGEST):
        rank = d.one_of([1, 2, 2, 3, 1, 2, 2, 3, 1, 2, 2, 3, 4]) if rank is None else rank
        shape = [self.extent(d) for _ in range(rank)]
        smallest = min(*self.extents, 2)
        while math.prod(shape) > largest:
            place = shape.index(max(shape))
            shape[place] = smallest if shape[place] > smallest else 1
        return tuple(shape)

    def extent(self, d):
        return d.one_of([*self.extents, *self.extents, 1, 2])

    def any(self, d, test=lambda value: True, type_name=None, shape=None):
        """An earlier value that passes the test, or a fresh one."""
        found = self.find(d, test) if d.chance(85) else None
        if found is not None:
            return found
        for _ in range(40):
            type_chosen = type_name or d.one_of(TYPES)
            fresh = Value("", type_chosen, tuple(shape) if shape is not None else self.shape(d), 0)
            if is_float(type_chosen) and d.chance(50):
                fresh.bound = EXACT[type_chosen] if EXACT[type_chosen] < 100 else 100
            if test(fresh):
                return self.load(d, fresh.type, fresh.shape, fresh.bound)
        raise NoOperand

    def load(self, d, type_name, shape, bound=None, range=None):
        """A fresh array, read in the simplest way or with a mask."""
        size = math.prod(shape)
        array = self.input(d, type_name, size, self.contents(d, type_name, bound, range))
        pointer = f"{array.name}{self.offsets(shape)}"
        mask = ""
        if range is None and d.chance(15) and shape:
            mask = self.mask(d, self.index(d, shape).condition(), shape)
            mask += ", other=0" if d.chance(40) else ""
        value = self.bind(d, f"tl.load({pointer}{mask})", type_name, shape, bound, range)
        value.used = True
        return value

    def mask(self, d, condition, shape):
        """The text of a mask: in place, or bound to a name that others may read too."""
        if condition is None:
            return ""
        if condition.shape and d.chance(35):
            text = condition.text if condition.shape == shape else f"tl.broadcast_to({condition.text}, {shape})"
            return f", mask={self._used(self.bind(d, text, 'int1', shape)).text}"
        return f", mask={condition.text}"

    def operand(self, d, type_name, shape, bound=None, range=None):
        """A value of this type and shape: of an exact float the bound, of an integer the range may be asked for."""
        shape = tuple(shape)
        way = d.below(8)
        if way in (1, 2, 3):
            found = self.find(d, lambda v: v.type == type_name and v.shape == shape and self._keeps(v, bound, range))
            if found is not None:
                return found
        if way >= 1:
            found = self.find(d, lambda v: self.reshaped(None, v.shape, shape) is not None)
            if found is not None and (way < 7 or found.type != type_name):
                text, bound, range = self.cast(d, found, type_name, bound, range)
                text = self.reshaped(d, found.shape, shape, text)
                return self._used(self.bind(d, text, type_name, shape, bound, range))
        return self.load(d, type_name, shape, bound, range)

    @staticmethod
    def _used(value):
        value.used = True
        return value

    @staticmethod
    def _keeps(value, bound, range):
        if bound is not None and (value.bound is None or value.bound > bound):
            return False
        return range is None or (value.range is not None and range[0] <= value.range[0] and value.range[1] <= range[1])

    # ---- Conversions that keep what is promised

    def cast(self, d, value, type_name, bound=None, range=None):
        """(text, bound, range) of a value in another type."""
        text = value.text
        if is_float(type_name):
            return self._cast_to_float(d, value, text, type_name, bound)
        if type_name == "int1":
            return (text if value.type == "int1" else f"({text} > 0)"), None, None
        source_range = value.range
        if is_float(value.type):
            wide = text if value.type in ("float32", "float64") else f"{text}.to(tl.float32)"
            text = f"tl.minimum(tl.maximum({wide}, -100.0), 100.0).to(tl.int32)"
            source_range, source = (-100, 100), "int32"
            if range is None and type_name in ("int32", "int64", "uint32") and d.chance(30):  # nearly all that the type holds
                low, high = (0, (1 << 32) - 512) if type_name == "uint32" else (-(1 << 31), (1 << 31) - 256)
                return f"tl.minimum(tl.maximum({wide}, {float(low)}), {float(high)}).to(tl.{type_name})", None, (low, high)
            if value.bound is not None and value.bound <= 1 << 24:
                text, source_range = f"{value.text}.to(tl.float32).to(tl.int32)", (-value.bound, value.bound)
        else:
            source = value.type
            source_range = (0, 1) if source == "int1" else source_range
        if range is not None and not (source_range and range[0] <= source_range[0] and source_range[1] <= range[1]):
            span = range[1] - range[0] + 1
            if span & (span - 1) == 0 and d.chance(60) and source != "int1" and span - 1 <= limits(source)[1]:
                text = f"({text} & {span - 1})"
            else:
                text = f"({text}.to(tl.uint32) % {span})"
            source = ""
            if range[0]:
                signed = "int32" if -range[0] <= limits("int32")[1] else "int64"
                text = f"({text}.to(tl.{type_name}) + {range[0]})" if range[0] > 0 else f"({text}.to(tl.{signed}) - {-range[0]})"
            source_range = range
        if source != type_name:
            text = f"{text}.to(tl.{type_name})"
        low, high = limits(type_name)
        kept = source_range if source_range and low <= source_range[0] and source_range[1] <= high else None
        return text, None, kept

    def _cast_to_float(self, d, value, text, type_name, bound):
        if bound is None:
            if value.type == type_name:
                return text, value.bound, None
            if not is_float(value.type):
                text = f"{text}.to(tl.float32)" if type_name in FP8 or value.type == "int1" else text
                return f"{text}.to(tl.{type_name})", None, None
            kept = value.bound if value.bound is not None and value.bound <= EXACT[type_name] else None
            return f"{text}.to(tl.{type_name})", kept, None
        bound = min(bound, EXACT[type_name])
        if value.type == "int1":
            return f"{text}.to(tl.float32).to(tl.{type_name})", 1, None
        if is_integer(value.type):
            mask = (1 << ((bound + 1).bit_length() - 1)) - 1  # of at most bound
            if value.type in SIGNED and mask >= 3 and d.chance(50):
                return f"(({text} & {min(mask, 127)}) - {min(mask, 127) // 2}).to(tl.float32).to(tl.{type_name})", bound, None
            return f"({text} & {min(mask, 127)}).to(tl.float32).to(tl.{type_name})", min(mask, 127), None
        if value.bound is not None and value.bound <= bound:
            return (text if value.type == type_name else f"{text}.to(tl.{type_name})"), value.bound, None
        wide = text if value.type in ("float32", "float64") else f"{text}.to(tl.float32)"
        text = f"tl.minimum(tl.maximum({wide}, {-float(bound)}), {float(bound)})"
        if value.bound is None:  # whole numbers; what an integer type cannot hold differs from machine to machine
            text = f"{text}.to(tl.int32).to(tl.float32)" if bound < 1 << 31 else f"{text}.to(tl.int64).to(tl.{'float64' if value.type == 'float64' else 'float32'})"
        return f"({text} + 0.0).to(tl.{type_name})", bound, None

    def reshaped(self, d, source, target, text="x"):
        """The text of a value of one shape brought to another, or None (d may be None, to ask only whether it can be)."""
        if source == target:
            return text
        if source == ():
            return f"tl.broadcast_to({text}, {target})" if target else text
        if math.prod(source) == math.prod(target) and target:
            if len(source) == 2 and source[::-1] == target and (d is None or d.chance(70)):
                return f"tl.trans({text})"
            return f"tl.reshape({text}, {target})"
        if len(source) == len(target) and all(a in (b, 1) for a, b in zip(source, target)):
            return f"tl.broadcast_to({text}, {target})"
        if len(source) + 1 == len(target):
            for axis in range(len(target)):
                if target[:axis] + target[axis + 1:] == source:
                    index = ", ".join("None" if a == axis else ":" for a in range(len(target)))
                    return f"tl.broadcast_to({text}[{index}], {target})"
        return None

