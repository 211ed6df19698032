"""Loops around products of matrices, as a compiler that reads ahead sees them: what is loaded early must be what was there, no more
may be loaded than the loop would, and what is under way must have ended when its place is used again.

Operands come through pointers, block pointers and descriptors, the host's and the kernel's; tiles are as large as matrix
instructions are; numbers are small and whole, so that every sum is exact.
"""

from .element_types import FP8, WIDTHS
from .templates_dense import set_grid, whole
from .twists import twisted

TYPES = ["float16", "float16", "bfloat16", "float32", "int8", "float8e4nv"]
SIDES = [64, 16, 128, 32, 64, 48, 24, 80, 192, 256]
DEPTHS = [32, 16, 64, 24, 48]
TRIPS = [3, 2, 1, 4, 0, 6]


def summed(type_name):
    return "int32" if type_name == "int8" else "float32"


def sizes(d):
    m, n, k = d.one_of(SIDES), d.one_of(SIDES), d.one_of(DEPTHS)
    while m * n > 16384 or m * n * k > 1 << 19:
        m, n = (m // 2, n) if m > n else (m, n // 2)
    return m, n, k


class Blocks:
    """The blocks [rows, columns] of an array, one below the other: `at(number)` loads one; `after` is what each iteration ends with."""

    def __init__(self, p, d, name, type_name, rows, columns, count):
        self.p, self.d, self.name, self.type, self.shape = p, d, name, type_name, (rows, columns)
        self.turned = d.chance(35)  # in memory the other way round
        self.stored = (columns, rows) if self.turned else (rows, columns)
        high, wide = self.stored
        count = max(count, 1)
        self.array = whole(p, d, type_name, count * rows * columns, 1)
        self.size, self.height, self.before, self.after = rows * columns, count * high, [], []
        ways = ["pointer", "carried", "masked", "block"]
        if wide * WIDTHS[type_name] >= 128:  # less than 16 bytes are no block of a descriptor
            ways += ["descriptor", "made"]
        if wide * WIDTHS[type_name] % 128 == 0:  # the rows of a host's descriptor begin at multiples of 16 bytes
            ways.append("host")
        self.way = d.one_of(ways)
        place = f"{self.array.name}{p.offsets(self.stored)}"
        if self.way == "carried":
            self.before.append(f"{name}_at = {place}")
            self.after.append(f"{name}_at += {self.size}")
        elif self.way == "block":
            extents = f"({p.number(d, self.height)}, {wide}), ({wide}, 1), (0, 0), ({high}, {wide}), (1, 0)"
            self.before.append(f"{name}_at = tl.make_block_ptr({self.array.name}, {extents})")
            self.after.append(f"{name}_at = tl.advance({name}_at, ({high}, 0))")
            self.check = d.one_of(["", ", boundary_check=(0, 1)", ", boundary_check=(0,)"])
        elif self.way == "descriptor":
            extents = f"[{p.number(d, self.height)}, {wide}], [{p.number(d, wide)}, 1], [{high}, {wide}]"
            self.before.append(f"{name}_at = tl.make_tensor_descriptor({self.array.name}, {extents})")
        elif self.way == "host":
            self.array.described = ((self.height, wide), (wide, 1), (high, wide))
        elif self.way == "masked":
            rows_there = p.number(d, self.height - d.one_of([0, 3]))
            self.mask = f"mask=(ROW + tl.arange(0, {high})[:, None]) < {rows_there}, other={'1.0' if type_name in FP8 else '1'}"
        self.place = place

    def text(self, number):
        high, wide = self.stored
        row = f"({number}) * {high}"
        shown = {"pointer": f"tl.load({self.place} + ({number}) * {self.size})", "carried": f"tl.load({self.name}_at)",
                 "descriptor": f"{self.name}_at.load([{row}, 0])", "host": f"{self.array.name}.load([{row}, 0])",
                 "made": f"tl.make_tensor_descriptor({self.array.name} + ({number}) * {self.size}, [{high}, {wide}], [{wide}, 1], [{high}, {wide}]).load([0, 0])"}  # fmt: skip
        if self.way == "masked":
            return f"tl.load({self.place} + ({number}) * {self.size}, {self.mask.replace('ROW', row)})"
        return f"tl.load({self.name}_at{self.check})" if self.way == "block" else shown[self.way]

    def at(self, number):
        value = self.p.name(self.name)
        self.p.emit(f"{value} = {self.text(number)}")
        if self.turned:
            self.p.emit(f"{value} = tl.trans({value})")
        return twisted(self.p, self.d, value, self.type, self.shape)


class Loop:
    """Two operands, a total, a loop over their blocks, within another loop or not. A template says what the body is."""

    def __init__(self, p, d, count, grid=True):
        self.p, self.d = p, d
        self.type = d.one_of(TYPES)
        self.m, self.n, self.k = sizes(d)
        if d.chance(40):  # what the largest matrix instructions take, and nothing in their way
            self.type = d.one_of(["float16", "bfloat16", "float16", "float8e4nv"])
            self.m, self.n, self.k = d.one_of([64, 128]), d.one_of([64, 128, 32]), d.one_of([32, 64, 16])
            p.warps, p.mutations = d.one_of([4, 8]), [0]
        self.result = summed(self.type)
        set_grid(p, d.one_of([1, 1, 2]) if grid else 1)
        right = d.one_of(["float8e4nv", "float8e5"]) if self.type in FP8 else self.type
        self.a = Blocks(p, d, "a", self.type, self.m, self.k, count)
        self.b = Blocks(p, d, "b", right, self.k, self.n, count)

    def emit(self, *lines):
        for line in lines:
            self.p.emit(line)

    def zero(self):
        self.emit(f"total = tl.zeros(({self.m}, {self.n}), tl.{self.result})")

    def head(self, *bounds):
        """The loop's first line, with hints or without."""
        d, bounds = self.d, ", ".join(str(bound) for bound in bounds)
        hint = d.one_of(["", "", "", f"num_stages={d.one_of([2, 1, 3, 4, 5])}", "flatten=True", "loop_unroll_factor=2", "warp_specialize=True"])
        self.emit(f"for i in tl.range({bounds}, {hint}):" if hint else f"for i in range({bounds}):")

    def multiply(self, number):
        left, right = self.a.at(number), self.b.at(number)
        product = f"tl.dot({left}, {right}"
        self.emit(self.d.one_of([f"total = {product}, total)", f"total += {product})", f"total = total * -1 + {product})"]))
        return left, right

    def advance(self):
        self.emit(*self.a.after, *self.b.after)

    def store(self, slots=1, slot="0"):
        size = self.m * self.n
        out = self.p.output(self.result, size * slots * self.p.programs)
        shape, value = ((self.n, self.m), "tl.trans(total)") if self.d.chance(25) else ((self.m, self.n), "total")
        self.emit(f"tl.store({self.p.own(out, size * slots)}{self.p.offsets(shape)} + {slot} * {size}, {value})")

    def run(self, body, outer=None):
        p, d = self.p, self.d
        outer = d.one_of([0, 0, 2, 3]) if outer is None else outer
        self.zero()
        if outer:
            self.emit(f"for o in range({p.number(d, outer)}):")
            p.indent += 1
            fresh = d.chance(35)
            if fresh:
                self.zero()
        self.emit(*self.a.before, *self.b.before)
        body()
        if outer:
            if fresh or d.chance(25):  # otherwise nothing stands between the loop and its next time
                self.store(outer, "o")
            p.indent -= 1
        self.store()


def streamed(p, d):
    """Block after block: with bounds that are loaded or near the end of their type, steps known at run time, by while."""
    trips, form = d.one_of(TRIPS), d.below(5)
    loop = Loop(p, d, max(trips, 3) if form == 4 else trips)

    def body():
        number, last = "i", []
        if form == 1:
            loop.emit("j = 0", f"while j < {p.number(d, trips)}:")
            number, last = "j", ["j += 1"]
        elif form == 2:
            top, step = d.one_of([(1 << 31) - 1, (1 << 31) + 5, (1 << 63) - 1]), d.one_of([1, 7])
            low, high = p.number(d, top - trips * step), p.number(d, top)
            loop.head(*((high, low, -step) if d.chance(30) else (low, high, step)))
            number = f"(({high} - i) // {step}).to(tl.int32)" if f", -{step}" in p.lines[-1] else f"((i - {low}) // {step}).to(tl.int32)"
        elif form == 3:
            step = d.one_of([1, 2, 16])
            bound = p.input(d, "int32", 1, ("range", trips * step, trips * step, d.fresh_key()))
            p.scalars["stride"] = step
            loop.emit(f"end = tl.load({bound.name})")
            loop.head(0, "end", "stride")
            number = "i // stride"
        elif form == 4:  # as long as the outer loop says
            loop.head(d.one_of(["o", "o + 1", "o % 2", f"{trips} - o"]))
        else:
            loop.head(p.number(d, trips))
        p.indent += 1
        loop.multiply(number)
        loop.advance()
        loop.emit(*last)
        p.indent -= 1

    loop.run(body, outer=d.one_of([3, 2]) if form == 4 else None)


def again_at_once(p, d):
    """A loop that runs again as soon as it has ended: nothing stands between what its last iterations read and the next time's first loads."""
    p.mutations, p.warps = [0], d.one_of([4, 8, 2])
    trips = d.one_of([2, 1, 3, 4, 5])
    loop = Loop(p, d, trips)
    loop.zero()
    loop.emit(f"for o in range({p.number(d, d.one_of([2, 3]))}):")
    p.indent += 1
    loop.emit(*loop.a.before, *loop.b.before)
    loop.head(p.number(d, trips))
    p.indent += 1
    left, right = loop.a.at("i"), loop.b.at("i")
    loop.emit(f"total = tl.dot({left}, {right}, total)")
    loop.advance()
    p.indent -= 2
    loop.store()


def left_early(p, d):
    """By break, where the arrays end; or iterations, or their loads, are skipped."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips)

    def body():
        form = d.below(4) if trips else 3
        loop.head(p.number(d, trips if form == 2 else d.one_of([1 << 20, trips + 1, (1 << 31) - 1])))
        p.indent += 1
        if form == 0:
            loop.multiply("i")
            loop.advance()
            loop.emit(f"if i + 1 >= {p.number(d, trips)}:", "    break", "total += 1")
        elif form == 1:
            left = loop.a.at("i")
            loop.emit(f"if i == {p.number(d, trips)} - 1:", "    break")
            loop.emit(f"total = tl.dot({left}, {loop.b.at('i')}, total)")
            loop.advance()
        elif form == 2:
            loop.emit(f"if i % 2 == {d.below(2)}:", "    continue")
            loop.multiply("i")
            loop.advance()
        else:
            loop.emit(f"if i >= {p.number(d, trips)}:", "    break")
            loop.multiply("i")
            loop.advance()
        p.indent -= 1

    loop.run(body)


def sometimes(p, d):
    """Only some iterations load: for the others there is nothing in memory."""
    trips = d.one_of(TRIPS)
    there = min(d.one_of([1, 2, trips]), trips)
    loop = Loop(p, d, there)

    def body():
        loop.head(p.number(d, trips))
        p.indent += 1
        loop.emit(f"if i < {p.number(d, there)}:")
        p.indent += 1
        loop.multiply("i")
        loop.advance()
        p.indent -= 1
        if d.chance(40):
            loop.emit("else:", "    total = total * 2")
        p.indent -= 1

    loop.run(body)


def blocks_carried(p, d):
    """An iteration multiplies what the one before loaded, or the last blocks are needed behind the loop."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips + 1)
    behind = d.chance(50)

    def body():
        left, right = loop.a.at("0"), loop.b.at("0")
        loop.emit(f"la = {left}", f"lb = {right}")
        loop.advance()
        loop.head(1, p.number(d, trips + 1))
        p.indent += 1
        if behind:
            loop.emit("total = tl.dot(la, lb, total)")
            left, right = loop.a.at("i"), loop.b.at("i")
        else:
            left, right = loop.multiply("i")
        loop.emit(f"la = {left}", f"lb = {right}")
        loop.advance()
        p.indent -= 1
        loop.emit("total = tl.dot(la, lb, total)")

    loop.run(body)


def looked_up(p, d):
    """Which block comes next is in memory."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips)
    table = p.input(d, d.one_of(["int32", "int64"]), trips + 1, ("range", 0, max(trips - 1, 0), d.fresh_key()))

    def body():
        loop.emit(f"j = tl.load({table.name}).to(tl.int32)")
        loop.head(p.number(d, trips))
        p.indent += 1
        loop.multiply("j")
        loop.emit(f"j = tl.load({table.name} + {d.one_of(['i', 'j', 'i + 1'])}).to(tl.int32)")
        p.indent -= 1

    loop.run(body)


def filled(p, d):
    """The kernel itself writes what the loop then loads, maybe through another name: in a round of its own, or an iteration
    what later ones load."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips + 2, grid=False)
    a, size = loop.a, loop.a.size
    into = p.second_name(a.array) if a.way == "host" or d.chance(50) else a.array
    numbers = lambda seed: f"((tl.arange(0, {size}) * 5 + {seed}) % 3 - 1).to(tl.float32).to(tl.{loop.type})"  # noqa: E731
    meanwhile = d.chance(50)

    def body():
        if not meanwhile:
            loop.emit(f"for j in range({p.number(d, trips)}):", f"    tl.store({into.name} + j * {size} + tl.arange(0, {size}), {numbers('j')})")
            loop.emit("tl.debug_barrier()")
        loop.head(p.number(d, trips))
        p.indent += 1
        loop.multiply("i")
        if meanwhile:
            loop.emit("tl.debug_barrier()")
            store = f"tl.store({into.name} + (i + {d.one_of([1, 2])}) * {size} + tl.arange(0, {size}), {numbers('i')})"
            loop.emit(*d.one_of([[store], [f"if {d.one_of(['i > 0', 'b0'])}:", "    " + store]]))
            loop.emit("tl.debug_barrier()")
        loop.advance()
        p.indent -= 1
        loop.emit("tl.debug_barrier()")

    loop.run(body)


def weighted(p, d):
    """Attention's data flow: scores, what was largest so far, weights, values; scores or values are loaded first."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips)
    m, k, width = loop.m, loop.k, d.one_of([16, 32, 64])
    q = whole(p, d, loop.type, m * width, 1)
    keys, values = Blocks(p, d, "keys", loop.type, width, k, trips), loop.b
    one = "1" if loop.type == "int8" else "1.0"

    def body():
        loop.emit(*keys.before, f"q = tl.load({q.name}{p.offsets((m, width))})")
        loop.emit(f"most = tl.full(({m},), -100, tl.{loop.result})", f"sums = tl.zeros(({m},), tl.{loop.result})")
        loop.head(p.number(d, trips))
        p.indent += 1
        v = values.at("i") if d.chance(40) else None
        loop.emit(f"s = tl.dot(q, {keys.at('i')})")
        if d.chance(50):
            loop.emit(f"s = tl.where(i * {k} + tl.arange(0, {k})[None, :] <= tl.arange(0, {m})[:, None], s, -50)")
        loop.emit("higher = tl.maximum(most, tl.max(s, 1))")
        loop.emit(f"scale = tl.where(most == higher, {one}, -{one}).to(tl.{loop.result})")
        loop.emit(f"w = tl.where(s == higher[:, None], {one} + {one}, {one})")
        loop.emit(f"sums = sums * scale + tl.sum(w, 1).to(tl.{loop.result})", "total = total * scale[:, None]")
        product = f"tl.dot(w.to(tl.{loop.type}), {v or values.at('i')}"
        loop.emit(d.one_of([f"total = {product}, total)", f"total += {product})"]), "most = higher")
        loop.emit(*keys.after, *values.after)
        p.indent -= 1
        loop.emit("total += sums[:, None]")

    loop.run(body)


def operands_shared(p, d):
    """Several products of an iteration: of one block with two others, or with itself, its sums too."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips)
    other = Blocks(p, d, "c", loop.b.type, loop.k, loop.n, trips)
    form = d.below(3)

    def body():
        loop.emit(*other.before)
        if form == 1:
            loop.emit(f"second = tl.zeros(({loop.m}, {loop.n}), tl.{loop.result})")
        elif form == 2:
            loop.emit(f"second = tl.zeros(({loop.m}, {loop.m}), tl.{loop.result})")
        loop.head(p.number(d, trips))
        p.indent += 1
        left, _ = loop.multiply("i")
        third = other.at("i")
        if form == 0:
            loop.emit(f"total = tl.dot({left}, {third}, total)")
        elif form == 1:
            loop.emit(f"second = tl.dot({left}, {third}, second)")
        else:
            loop.emit(f"second = tl.dot({left}, tl.trans({left}), second)")
        if d.chance(40):
            loop.emit(f"total += tl.sum({left}.to(tl.{loop.result}), 1)[:, None]")
        loop.advance()
        loop.emit(*other.after)
        p.indent -= 1
        if form == 1:
            loop.emit("total = total * 2 - second")
        elif form == 2:
            loop.emit("total += tl.sum(second, 1)[:, None]")

    loop.run(body)


def sums_loaded(p, d):
    """What a product is added to comes from memory in every iteration, as its operands do."""
    trips = d.one_of(TRIPS)
    loop = Loop(p, d, trips)
    first = Blocks(p, d, "c", loop.result, loop.m, loop.n, trips)

    def body():
        loop.emit(*first.before)
        loop.head(p.number(d, trips))
        p.indent += 1
        left, right, start = loop.a.at("i"), loop.b.at("i"), first.at("i")
        loop.emit(d.one_of([f"total += tl.dot({left}, {right}, {start})", f"total += tl.dot({left}, {right}) + {start}",
                            f"total = tl.dot({left}, {right}, total) - {start}"]))  # fmt: skip
        loop.advance()
        loop.emit(*first.after)
        p.indent -= 1

    loop.run(body)


def masked_chain(p, d):
    """A product, masked to a constant, is an operand of the next one, whose sum begins with that constant."""
    type_name = d.one_of(["float16", "bfloat16", "float16", "float16", "float32", "int8"])
    result = summed(type_name)
    m, width, k, n = d.one_of([64, 64, 128, 64, 48]), d.one_of([16, 64, 32]), d.one_of([64, 64, 128, 32]), d.one_of([64, 16, 32, 128])
    p.warps = d.one_of([4, p.warps])  # those of the largest matrix instructions
    set_grid(p, d.one_of([1, 1, 2]))
    q, keys, values = whole(p, d, type_name, m * width, 1), whole(p, d, type_name, width * k, 1), whole(p, d, type_name, k * n, 1)
    constant = d.one_of(["0", "0", "0", "0", "1", "-2"])
    p.emit(f"r, c = tl.arange(0, {m})[:, None], tl.arange(0, {k})[None, :]")
    p.emit(f"total = tl.full(({m}, {n}), {constant}, tl.{result})")
    again = d.chance(25)
    if again:
        p.emit(f"for i in range({p.number(d, d.one_of([1, 2, 3]))}):")
        p.indent += 1
    p.emit(f"s = tl.dot(tl.load({q.name}{p.offsets((m, width))}), tl.load({keys.name}{p.offsets((width, k))}))")
    bound = d.one_of([k // 2, 8, k - 1, 1, 0])
    condition = d.one_of(["r >= c", "r >= c", f"r + {bound} > c", f"c < {bound}", f"r < {m // 2}", "r // 16 >= c // 16", f"(r >= c) & (c < {p.number(d, bound)})", "r == c"])
    p.emit(f"s = tl.where({condition}, s, {constant})")
    weights = twisted(p, d, "s", result, (m, k))
    product = f"tl.dot({weights}.to(tl.{type_name}), tl.load({values.name}{p.offsets((k, n))})"
    p.emit(d.one_of([f"total = {product}, total)", f"total += {product})", f"total = {product}, tl.full(({m}, {n}), {constant}, tl.{result}))"]))
    if again:
        p.indent -= 1
    size = m * n
    out = p.output(result, size * p.programs)
    p.emit(f"tl.store({p.own(out, size)}{p.offsets((m, n))}, total)")


TEMPLATES = [(6, masked_chain), (2, streamed), (3, again_at_once), (2, left_early), (1, sometimes), (2, blocks_carried), (1, looked_up), (2, filled), (3, weighted), (2, operands_shared), (1, sums_loaded)]
