"""Makes small random kernels over every type, valid by construction, whose results are the same bits on every engine.

What the language leaves open is kept out: shifts stay below the width, divisors are not zero, floats are brought into range
before they become integers, float sums (whose order is free) only add what is exact, and the sign of a zero that `maximum` or a
sort may choose is dropped by adding 0.0. Elementary functions are stored at once, and compared with a tolerance.
"""

import math
import random
import re
from dataclasses import dataclass

SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
INTEGERS = {**SIGNED, **UNSIGNED}
FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
FP8 = {"float8e4nv": 8, "float8e5": 8}
LARGEST = 2048  # elements of a tile


@dataclass(frozen=True)
class Tile:
    name: str
    type: str
    shape: tuple

    @property
    def is_integer(self):
        return self.type in INTEGERS

    @property
    def is_float(self):
        return self.type in FLOATS or self.type in FP8

    @property
    def size(self):
        return math.prod(self.shape)


@dataclass(frozen=True)
class Array:
    type: str
    shape: tuple
    tolerance: float = 0.0  # 0: bit for bit


def offsets_text(shape):
    """The row-major offsets of a tile, as an expression."""
    if not shape:
        return "0"
    terms, stride = [], 1
    for axis in reversed(range(len(shape))):
        index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
        lanes = f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "")
        terms.append(f"{lanes} * {stride}" if stride != 1 else lanes)
        stride *= shape[axis]
    return " + ".join(reversed(terms))


class TypedProgram:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.statements = []  # (lines, names bound)
        self.tiles = []
        self.conditions = []  # tiles of int1
        self.made = []  # both, in order
        self.inputs = []  # Array
        self.outputs = []  # (Array, expression)
        self.count = 0
        self.writes = False
        self.runtime = self.random.choice([0, 1, 3, 5])  # the scalar argument n
        self.odd = self.random.random() < 0.4
        for _ in range(self.random.randint(2, 4)):
            self._load()
        makers = [self._binary] * 5 + [self._cast] * 2 + [self._where] * 2 + [
            self._unary, self._compare, self._reduce, self._reduce, self._scan, self._reshape, self._permute, self._expand, self._join,
            self._cat, self._gather, self._loop, self._loop, self._branch, self._while, self._slice, self._sort, self._math, self._helper,
            self._load, self._dot, self._count, self._extreme_with_place, self._masked_store, self._atomic, self._nested, self._flip,
            self._scalar, self._strided_load, self._strided_load, self._matmul, self._row_loop,
        ]  # fmt: skip
        for _ in range(self.random.randint(6, 16)):
            self.random.choice(makers)()
        for tile in self.tiles[-3:] + self.conditions[-1:]:
            self.outputs.append((Array(tile.type, tile.shape), tile.name))
        # Several programs see different n; those that write what others read stay alone.
        self.programs = 1 if self.writes else self.random.choice([1, 1, 3])

    # ---- The text

    def source(self, outputs=None):
        """The kernel. `outputs` replaces what is stored; statements that nothing stored depends on are then left out."""
        chosen = self.outputs if outputs is None else outputs
        statements = self.statements if outputs is None else self._needed(expression for _, expression in outputs)
        parameters = [f"in{i}" for i in range(len(self.inputs))] + [f"out{i}" for i in range(len(chosen))] + ["n"]
        lines = [line for statement, _ in statements for line in statement]
        for index, (array, expression) in enumerate(chosen):
            base = f"out{index}" if self.programs == 1 else f"out{index} + tl.program_id(0) * {math.prod(array.shape)}"
            places = f"{base} + {offsets_text(array.shape)}" if array.shape else base
            lines.append(f"tl.store({places}, {expression})")
        if self.programs > 1:
            lines.insert(0, "n += tl.program_id(0)")
        body = "\n".join("    " + line for line in lines)
        return f"""import triton
import triton.language as tl


@triton.jit
def combine(a, b, C: tl.constexpr):
    if C:
        return a
    return b


@triton.jit
def kernel({", ".join(parameters)}):
{body}
"""

    def _needed(self, expressions):
        wanted = {name for expression in expressions for name in re.findall(r"\bv\d+\b", expression)}
        kept = []
        for lines, names in reversed(self.statements):
            if wanted & set(names):
                kept.append((lines, names))
                wanted |= {name for line in lines for name in re.findall(r"\bv\d+\b", line)}
        return kept[::-1]

    def everything(self):
        """Every value the program makes, as outputs: to find where engines part."""
        return [(Array(tile.type, tile.shape), tile.name) for tile in self.made]

    # ---- Choices

    def _name(self):
        self.count += 1
        return f"v{self.count}"

    def _emit(self, expression, type, shape, lines=()):
        name = self._name()
        return self._bind(name, [f"{name} = {expression}", *lines], type, shape)

    def _bind(self, name, lines, type, shape):
        self.statements.append((lines, [name]))
        tile = Tile(name, type, tuple(shape))
        (self.conditions if type == "int1" else self.tiles).append(tile)
        self.made.append(tile)
        return tile

    def _extent(self):
        if self.odd:
            return self.random.choice([1, 2, 3, 5, 7, 12, 17, 20])
        return 2 ** self.random.randint(0, 5)

    def _shape(self):
        shape = tuple(self._extent() for _ in range(self.random.choice([1, 1, 2, 2, 3])))
        while math.prod(shape) > LARGEST:
            shape = shape[1:]
        return shape

    def _any(self, test=lambda tile: True):
        found = [tile for tile in self.tiles if test(tile)]
        return self.random.choice(found) if found else None

    def _partner(self, tile, test=lambda other: True):
        """A tile that broadcasts with another."""
        def fits(other):
            if len(other.shape) != len(tile.shape) and other.shape and tile.shape:
                return False
            if other.shape and not all(a == b or 1 in (a, b) for a, b in zip(other.shape, tile.shape)):
                return False
            return math.prod(self._joint(tile, other)) <= LARGEST and test(other)
        return self._any(fits)

    @staticmethod
    def _joint(*tiles):
        rank = max(len(tile.shape) for tile in tiles)
        full = [tile.shape for tile in tiles if len(tile.shape) == rank]
        return tuple(max(shape[axis] for shape in full) for axis in range(rank))

    def _same_kind(self, tile):
        return (lambda other: other.is_integer) if tile.is_integer else (lambda other: other.is_float)

    # ---- Statements

    def _load(self):
        type = self.random.choice([*INTEGERS, *FLOATS, *FLOATS, *FP8])
        shape = self._shape()
        array = f"in{len(self.inputs)}"
        places = offsets_text(shape)
        self.inputs.append(Array(type, shape))
        choice = self.random.random()
        if choice < 0.4:
            self._emit(f"tl.load({array} + {places})", type, shape)
        elif choice < 0.7:
            limit = self.random.choice(["n", str(math.prod(shape) // 2), "n * 3"])
            other = self.random.choice(["", ", other=1"])
            self._emit(f"tl.load({array} + {places}, mask=({places}) < {limit}{other})", type, shape)
        elif choice < 0.85:  # an indirect access
            size = math.prod(shape)
            self._emit(f"tl.load({array} + (({places}) * 7 + n) % {size})", type, shape)
        else:  # backwards
            self._emit(f"tl.load({array} + ({math.prod(shape) - 1} - ({places})))", type, shape)

    def _strided_load(self):
        """Rows and columns far apart, transposed, every other element, wrapped around: of an array larger than the tile."""
        type = self.random.choice([*INTEGERS, *FLOATS, *FP8])
        rows, columns = self._extent(), self._extent()
        array = f"in{len(self.inputs)}"
        r, c = f"tl.arange(0, {rows})[:, None]", f"tl.arange(0, {columns})[None, :]"
        self.inputs.append(Array(type, (rows * 2 + 8, columns * 2 + 8)))
        width = columns * 2 + 8
        places = self.random.choice([
            f"{r} * {width} + {c}", f"{r} + {c} * {rows * 2 + 8}", f"{r} * {2 * width} + {c} * 2", f"({r} + n) % {rows} * {width} + {c}",
            f"{r} * {width} + ({c} + n) % {columns}", f"(({rows - 1} - {r}) * {width} + {c}).to(tl.int64)", f"{r} // 2 * {width} + {c} // 3",
        ])  # fmt: skip
        mask = self.random.choice(["", f", mask=({r} < n) & ({c} < {columns - 1})", f", mask={c} < n + 2, other=2", f", mask=({r} < n) | ({c} > 1)"])
        self._emit(f"tl.load({array} + {places}{mask})", type, (rows, columns))

    def _matmul(self):
        """A loop over blocks of K with pointers that move on and a tail under a mask; small integers, so that it is exact."""
        rows, columns, block = self._extent(), self._extent(), self._extent()
        length = self.random.randint(1, 3 * block)
        type = self.random.choice(["float32", "float16", "bfloat16"])
        a, b = f"in{len(self.inputs)}", f"in{len(self.inputs) + 1}"
        self.inputs += [Array("int8", (rows, length)), Array("int8", (length, columns))]
        name = self._name()
        turned = self.random.random() < 0.3
        b_places = f"tl.arange(0, {block})[:, None] * {1 if turned else columns} + tl.arange(0, {columns})[None, :] * {length if turned else 1}"
        lines = [
            f"a{name} = {a} + tl.arange(0, {rows})[:, None] * {length} + tl.arange(0, {block})[None, :]",
            f"b{name} = {b} + {b_places}",
            f"{name} = tl.zeros(({rows}, {columns}), tl.float32)",
            f"for k in range(0, {length}, {block}):",
            f"    left = tl.load(a{name}, mask=tl.arange(0, {block})[None, :] < {length} - k, other=0)",
            f"    right = tl.load(b{name}, mask=tl.arange(0, {block})[:, None] < {length} - k, other=0)",
            f"    {name} = tl.dot((left & 3).to(tl.{type}), (right & 7).to(tl.{type}), {name})",
            f"    a{name} += {block}",
            f"    b{name} += {block if turned else block * columns}",
        ]
        self._bind(name, lines, "float32", (rows, columns))

    def _row_loop(self):
        """Blocks of a row, added up as they come."""
        block = self._extent() * 2
        length = self.random.randint(1, 4 * block)
        type = self.random.choice(list(INTEGERS))
        array = f"in{len(self.inputs)}"
        self.inputs.append(Array(type, (length,)))
        name = self._name()
        total = "int32" if type in SIGNED else "uint32"
        total = type if INTEGERS[type] == 64 else total
        lines = [
            f"{name} = tl.zeros(({block},), tl.{total})",
            f"for start in range(0, {length}, {block}):",
            f"    at = start + tl.arange(0, {block})",
            f"    {name} += tl.load({array} + at, mask=at < {length}, other=0).to(tl.{total})",
        ]
        self._bind(name, lines, total, (block,))

    def _binary(self):
        a = self._any()
        b = self._partner(a, self._same_kind(a)) or a
        shape = self._joint(a, b)
        if a.is_integer:
            self._integer_binary(a, b, shape)
        else:
            self._float_binary(a, b, shape)

    def _result(self, expression, a, b, shape, kinds):
        """With equal types the operation keeps them (when asked to), otherwise what comes out is converted."""
        if a.type == b.type and self.random.random() < 0.6:
            self._emit(expression, a.type, shape)
        else:
            type = self.random.choice(list(kinds))
            self._emit(f"({expression}).to(tl.{type})", type, shape)

    def _integer_binary(self, a, b, shape):
        operator = self.random.choice(["+", "-", "*", "&", "|", "^", "minimum", "maximum", "<<", ">>", "//", "%"])
        if operator in ("minimum", "maximum"):
            self._result(f"tl.{operator}({a.name}, {b.name})", a, b, shape, INTEGERS)
        elif operator in ("<<", ">>"):
            self._emit(f"{a.name} {operator} {self.random.randrange(INTEGERS[a.type])}", a.type, a.shape)
        elif operator in ("//", "%"):
            self._emit(f"{a.name} {operator} {self.random.choice([1, 2, 3, 7, 10, 64])}", a.type, a.shape)
            if (a.type in SIGNED) == (b.type in SIGNED):
                self._result(f"{a.name} {operator} (({b.name} & 15) + 1)", a, b, shape, INTEGERS)
        else:
            self._result(f"{a.name} {operator} {b.name}", a, b, shape, INTEGERS)

    def _float_binary(self, a, b, shape):
        operator = self.random.choice(["+", "-", "*", "/", "minimum", "maximum", "fma"])
        narrow = a.type in FP8 or b.type in FP8
        if narrow and operator == "fma":
            operator = "*"
        if operator in ("minimum", "maximum"):
            nan = self.random.choice(["", ", propagate_nan=tl.PropagateNan.ALL"])
            self._result(f"tl.{operator}({a.name}, {b.name}{nan}) + 0.0", a, b, shape, {**FLOATS, **FP8})
        elif operator == "/":
            type = self.random.choice(list(FLOATS))
            self._emit(f"({a.name} / {b.name}).to(tl.{type})", type, shape)
        elif operator == "fma":
            self._emit(f"tl.fma({a.name}.to(tl.float32), {b.name}.to(tl.float32), 0.5)", "float32", shape)
        else:
            self._result(f"{a.name} {operator} {b.name}", a, b, shape, {**FLOATS, **FP8})

    def _unary(self):
        a = self._any(lambda tile: tile.type not in FP8)
        if a is None:
            return
        if a.is_integer:
            expression = self.random.choice(["-{0}", "~{0}", "{0} + 1", "3 - {0}", "{0} * 5"] + ["tl.abs({0})"] * (a.type in SIGNED))
        else:
            expression = self.random.choice(["-{0}", "tl.abs({0})", "{0} * 0.5", "1.0 - {0}", "{0} + 2"])
        self._emit(expression.format(a.name), a.type, a.shape)

    def _cast(self):
        a = self._any()
        if a.is_integer:
            type = self.random.choice([*INTEGERS, *FLOATS])
            expression = f"{a.name}.to(tl.{type})"
            same_width = [t for t, bits in {**INTEGERS, **FLOATS}.items() if bits == INTEGERS[a.type] and t in INTEGERS]
            if self.random.random() < 0.3:
                type = self.random.choice(same_width)
                expression = f"{a.name}.to(tl.{type}, bitcast=True)"
        elif self.random.random() < 0.4 and a.type not in FP8:
            type = self.random.choice(list(INTEGERS))
            low = 0 if type in UNSIGNED else -100
            expression = f"tl.minimum(tl.maximum({a.name}, {low}), 100).to(tl.{type})"
        else:
            type = self.random.choice([*FLOATS, *FP8])
            expression = f"{a.name}.to(tl.{type})"
            if {**FLOATS, **FP8}[type] < {**FLOATS, **FP8}[a.type] and self.random.random() < 0.3:
                expression = f'{a.name}.to(tl.{type}, fp_downcast_rounding="rtz")'
        self._emit(expression, type, a.shape)

    def _compare(self):
        a = self._any()
        b = self._partner(a, self._same_kind(a)) or a
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        made = self._emit(f"{a.name} {operator} {b.name}", "int1", self._joint(a, b))
        others = [c for c in self.conditions if c.shape == made.shape]
        if self.random.random() < 0.4:
            self._emit(f"{made.name} {self.random.choice('&|^')} {self.random.choice(others).name}", "int1", made.shape)

    def _where(self):
        if not self.conditions or self.random.random() < 0.3:
            self._compare()
        condition = self.random.choice(self.conditions)
        a = self._any(lambda tile: tile.shape == condition.shape)
        if a is None:
            return
        b = self._any(lambda tile: tile.shape == a.shape and tile.type == a.type)
        self._emit(f"tl.where({condition.name}, {a.name}, {b.name})", a.type, a.shape)

    def _reduce(self):
        a = self._any(lambda tile: tile.shape and tile.type not in FP8)
        if a is None:
            return
        axis = self.random.randrange(len(a.shape))
        keep = self.random.random() < 0.4
        shape = a.shape[:axis] + ((1,) if keep else ()) + a.shape[axis + 1:]
        extra = ", keep_dims=True" if keep else ""
        small = (INTEGERS.get(a.type) or FLOATS.get(a.type)) < 32
        if a.is_integer:
            operation = self.random.choice(["sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce_or"])
            if operation in ("argmax", "argmin"):
                type = "int32"
            elif operation in ("xor_sum", "reduce_or"):
                type = a.type
            elif operation == "sum":
                type = ("int32" if a.type in SIGNED else "uint32") if small else a.type
            else:
                type = "int32" if small else a.type
            self._emit(f"tl.{operation}({a.name}, axis={axis}{extra})", type, shape)
        else:
            operation = self.random.choice(["max", "min", "argmax"])
            if operation == "argmax":
                self._emit(f"tl.argmax({a.name}, axis={axis}{extra})", "int32", shape)
            else:
                self._emit(f"tl.{operation}({a.name}, axis={axis}{extra}) + 0.0", "float32" if small else a.type, shape)

    def _scan(self):
        a = self._any(lambda tile: tile.shape and tile.is_integer)
        if a is None:
            return
        axis = self.random.randrange(len(a.shape))
        operation = self.random.choice(["cumsum", "cumprod"])
        small = INTEGERS[a.type] < 32
        type = ("int32" if a.type in SIGNED else "uint32") if small else a.type
        self._emit(f"tl.{operation}({a.name}, {axis}, reverse={self.random.random() < 0.3})", type, a.shape)

    def _reshape(self):
        a = self._any(lambda tile: tile.shape)
        if a is None:
            return
        first = self.random.choice([f for f in range(1, a.size + 1) if a.size % f == 0])
        shape = self.random.choice([(a.size,), (first, a.size // first), (a.size // first, 1, first)])
        self._emit(f"tl.reshape({a.name}, {shape})", a.type, shape)

    def _permute(self):
        a = self._any(lambda tile: len(tile.shape) > 1)
        if a is None:
            return
        order = list(range(len(a.shape)))
        self.random.shuffle(order)
        self._emit(f"tl.permute({a.name}, {tuple(order)})", a.type, tuple(a.shape[axis] for axis in order))

    def _expand(self):
        a = self._any(lambda tile: len(tile.shape) == 1 and tile.size <= 64)
        if a is None:
            return
        extent = self._extent()
        if self.random.random() < 0.5:
            self._emit(f"tl.broadcast_to({a.name}[:, None], ({a.size}, {extent}))", a.type, (a.size, extent))
        else:
            self._emit(f"{a.name}[None, :]", a.type, (1, a.size))

    def _join(self):
        a = self._any(lambda tile: tile.shape and tile.size * 2 <= LARGEST)
        if a is None:
            return
        b = self._any(lambda tile: tile.shape == a.shape and tile.type == a.type)
        joined = self._emit(f"tl.join({a.name}, {b.name})", a.type, (*a.shape, 2))
        if self.random.random() < 0.5:
            name, other = self._name(), self._name()
            self.statements.append(([f"{name}, {other} = tl.split({joined.name})"], [name, other]))
            for part in (name, other):
                self.tiles.append(Tile(part, a.type, a.shape))
                self.made.append(self.tiles[-1])
        elif self.random.random() < 0.5:
            self._emit(f"tl.interleave({a.name}, {b.name})", a.type, (*a.shape[:-1], 2 * a.shape[-1]))

    def _cat(self):
        a = self._any(lambda tile: len(tile.shape) == 1 and tile.size * 2 <= LARGEST)
        if a is None:
            return
        b = self._any(lambda tile: tile.type == a.type and tile.shape == a.shape)
        self._emit(f"tl.cat({a.name}, {b.name})", a.type, (a.shape[0] * 2,))

    def _gather(self):
        a = self._any(lambda tile: len(tile.shape) == 1)
        index = self._any(lambda tile: len(tile.shape) == 1 and tile.is_integer)
        if a is None or index is None:
            return
        self._emit(f"tl.gather({a.name}, ({index.name} & 127).to(tl.int32) % {a.size}, 0)", a.type, index.shape)

    def _slice(self):
        a = self._any(lambda tile: tile.shape and tile.shape[-1] > 2)
        if a is None:
            return
        start = self.random.randrange(a.shape[-1] - 1)
        stop = self.random.randint(start + 1, a.shape[-1])
        index = ", ".join([":"] * (len(a.shape) - 1) + [f"{start}:{stop}"])
        self._emit(f"{a.name}[{index}]", a.type, (*a.shape[:-1], stop - start))

    def _sort(self):
        a = self._any(lambda tile: tile.shape and tile.shape[-1] <= 64 and tile.type not in FP8)
        if a is None:
            return
        direction = f", descending={self.random.random() < 0.5}"
        if a.is_integer:
            self._emit(f"tl.sort({a.name}{direction})", a.type, a.shape)
        else:
            clean = f"tl.where({a.name} == {a.name}, {a.name} + 0.0, 0.0)"
            self._emit(f"tl.sort({clean}{direction})", a.type, a.shape)

    def _loop(self):
        a = self._any(lambda tile: tile.type not in FP8)
        b = self._any(lambda tile: tile.shape == a.shape and tile.type == a.type) if a else None
        if a is None:
            return
        name = self._name()
        step = f"{name} * 3 + {b.name} + i" if a.is_integer else f"{name} * 0.5 + {b.name}"
        body = [f"    {name} = ({step}).to({name}.dtype)"]
        if self.random.random() < 0.4:
            body += ["    if i > 1:", f"        {self.random.choice(['break', f'{name} = {a.name}'])}"]
        if self.random.random() < 0.3:
            body = ["    if i == 1:", "        continue"] + body
        head = self.random.choice(["range(n)", "range(0, n, 2)", "tl.static_range(3)" if len(body) == 1 else "range(3)", "range(n, 0, -1)"])
        self._bind(name, [f"{name} = {a.name}", f"for i in {head}:", *body], a.type, a.shape)

    def _while(self):
        a = self._any(lambda tile: tile.is_integer and tile.size <= 256)
        if a is None:
            return
        name = self._name()
        lines = [f"{name} = {a.name}", f"t{name} = n", f"while t{name} > 0:", f"    {name} = {name} ^ ({name} >> 1) ^ 5",
                 f"    t{name} -= 2"]  # fmt: skip
        self._bind(name, lines, a.type, a.shape)

    def _branch(self):
        a = self._any()
        b = self._any(lambda tile: tile.shape == a.shape and tile.type == a.type)
        name = self._name()
        scalars = [tile for tile in self.tiles if not tile.shape and tile.is_integer]
        test = f"{self.random.choice(scalars).name} > 0" if scalars and self.random.random() < 0.5 else f"n > {self.random.randint(0, 3)}"
        lines = [f"if {test}:", f"    {name} = {a.name}", "else:", f"    {name} = {b.name}"]
        self._bind(name, lines, a.type, a.shape)

    def _dot(self):
        """Products of small integers: exact in every type, whatever the order."""
        a = self._any(lambda tile: len(tile.shape) == 2 and tile.is_integer and tile.size <= 512)
        if a is None:
            return
        type, result = self.random.choice([("float32", "float32"), ("float16", "float32"), ("bfloat16", "float32"), ("float64", "float64")])
        left = f"({a.name} & 3).to(tl.{type})"
        right = f"tl.trans({left})"
        self._emit(f"tl.dot({left}, {right})", result, (a.shape[0], a.shape[0]))

    def _count(self):
        """A float sum that is exact: of zeros and ones."""
        a = self._any(lambda tile: tile.shape)
        if a is None:
            return
        axis = self.random.randrange(len(a.shape))
        type = self.random.choice(list(FLOATS))
        limit = "0.5" if a.is_float else "1"
        self._emit(f"tl.sum(({a.name} > {limit}).to(tl.{type}), axis={axis})", type, a.shape[:axis] + a.shape[axis + 1:])

    def _extreme_with_place(self):
        a = self._any(lambda tile: tile.shape and tile.type not in FP8)
        if a is None:
            return
        axis = self.random.randrange(len(a.shape))
        shape = a.shape[:axis] + a.shape[axis + 1:]
        clean = a.name if a.is_integer else f"({a.name} + 0.0)"
        value, place = self._name(), self._name()
        self.statements.append(([f"{value}, {place} = tl.{self.random.choice(['max', 'min'])}({clean}, axis={axis}, return_indices=True)"], [value, place]))
        for name, type in ((value, a.type), (place, "int32")):
            self.tiles.append(Tile(name, type, shape))
            self.made.append(self.tiles[-1])

    def _masked_store(self):
        """Written, read back under another mask, within one program: an array that is input and output."""
        a = self._any(lambda tile: tile.shape and tile.size > 1)
        if a is None:
            return
        array = f"in{len(self.inputs)}"
        self.inputs.append(Array(a.type, a.shape))
        self.writes = True
        places = offsets_text(a.shape)
        name = self._name()
        lines = [f"tl.store({array} + {places}, {a.name}, mask=({places}) % 3 != n % 3)", "tl.debug_barrier()",
                 f"{name} = tl.load({array} + ({a.size - 1} - ({places})))"]  # fmt: skip
        self._bind(name, lines, a.type, a.shape)

    def _atomic(self):
        a = self._any(lambda tile: tile.type in ("int32", "uint32", "int64", "uint64") and tile.shape)
        if a is None:
            return
        array = f"in{len(self.inputs)}"
        self.inputs.append(Array(a.type, (4,)))
        self.writes = True
        places = offsets_text(a.shape)
        name = self._name()
        operation = self.random.choice(["add", "max", "min", "and", "or", "xor"])
        lines = [f"tl.atomic_{operation}({array} + ({places}) % 4, {a.name}, mask=({places}) > n)", "tl.debug_barrier()",
                 f"{name} = tl.load({array} + tl.arange(0, 4))"]  # fmt: skip
        self._bind(name, lines, a.type, (4,))

    def _nested(self):
        a = self._any(lambda tile: tile.is_integer and tile.size <= 256)
        if a is None:
            return
        name = self._name()
        lines = [f"{name} = {a.name}", "for i in range(3):", "    for j in range(i, n):", "        if i + j > 4:", "            break",
                 f"        {name} = ({name} * 3 + i - j).to({name}.dtype)", f"    {name} = {name} ^ ({name} >> 2)"]  # fmt: skip
        self._bind(name, lines, a.type, a.shape)

    def _flip(self):
        a = self._any(lambda tile: tile.shape)
        if a is not None:
            self._emit(f"tl.flip({a.name}, {self.random.randrange(len(a.shape))})", a.type, a.shape)

    def _scalar(self):
        """A scalar made of a tile, used as an offset."""
        a = self._any(lambda tile: tile.is_integer and tile.shape)
        if a is None:
            return
        place = f"(tl.sum({a.name}.to(tl.int32)) & 7)" if len(a.shape) == 1 else "n"
        array = f"in{len(self.inputs)}"
        self.inputs.append(Array("float32", (64,)))
        self._emit(f"tl.load({array} + {place} + tl.arange(0, 32) * 2 % 50)", "float32", (32,))

    def _helper(self):
        a = self._any()
        b = self._any(lambda tile: tile.shape == a.shape and tile.type == a.type)
        self._emit(f"combine({a.name}, {b.name}, {self.random.random() < 0.5})", a.type, a.shape)

    def _math(self):
        a = self._any(lambda tile: tile.type in ("float32", "float64"))
        if a is None:
            return
        function = self.random.choice(["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "sigmoid", "floor", "ceil"])
        exact = function in ("sqrt", "floor", "ceil")
        tolerance = 0.0 if exact else {"float32": 4e-7, "float64": 1e-15}[a.type] * 4
        self.outputs.append((Array(a.type, a.shape, tolerance), f"tl.{function}({a.name})"))
