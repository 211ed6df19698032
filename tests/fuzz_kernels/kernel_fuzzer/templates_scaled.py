"""Loops around products of block-scaled formats, and products with tiles of 256 x 256. Numbers and scales are such that every sum is
exact: halves, and powers of two near 1."""

from .element_types import WIDTHS
from .templates_dense import set_grid, whole
from .templates_products import Blocks, Loop, summed

FORMATS = {"e2m1": "uint8", "e4m3": "float8e4nv", "e5m2": "float8e5", "bf16": "bfloat16", "fp16": "float16"}
SIDES = [32, 64, 16, 128, 48, 256]


class Scaled:
    """One side of a product: blocks in a format, packed along k or not, with a scale for each 32 values along k or none."""

    def __init__(self, p, d, side, extent, depth, count):
        self.p, self.d, self.side, self.extent, self.depth = p, d, side, extent, depth
        self.format = d.one_of(list(FORMATS))
        self.along_k = self.format != "e2m1" or d.chance(70)
        shape = [extent, depth] if side == "lhs" else [depth, extent]
        k_axis = 1 if side == "lhs" else 0
        if self.format == "e2m1":
            shape[k_axis if self.along_k else 1 - k_axis] //= 2
            self.array = p.input(d, "uint8", count * shape[0] * shape[1], ("range", 0, 255, d.fresh_key()))
        else:
            self.array = whole(p, d, FORMATS[self.format], count * shape[0] * shape[1], 1)
        self.shape, self.turned = tuple(shape), d.chance(30)
        self.groups, self.scales = depth // 32, None
        if d.chance(80):
            self.scales = p.input(d, "uint8", count * extent * self.groups, ("range", 126, 128, d.fresh_key()))
        self.described = d.chance(40) and self.stored()[1] * WIDTHS[FORMATS[self.format]] >= 128

    def stored(self):
        return self.shape[::-1] if self.turned else self.shape

    def at(self, number):
        """Loads block `number`: the texts of the values and of their scales."""
        p, (high, wide) = self.p, self.stored()
        value, scale = p.name(self.side), "None"
        if self.described:
            place = f"{self.array.name} + ({number}) * {high * wide}, [{high}, {wide}], [{wide}, 1], [{high}, {wide}]"
            p.emit(f"{value} = tl.make_tensor_descriptor({place}).load([0, 0])")
        else:
            p.emit(f"{value} = tl.load({self.array.name}{p.offsets((high, wide))} + ({number}) * {high * wide})")
        if self.turned:
            p.emit(f"{value} = tl.trans({value})")
        if self.scales:
            scale = p.name(self.side + "_scale")
            size = self.extent * self.groups
            p.emit(f"{scale} = tl.load({self.scales.name}{p.offsets((self.extent, self.groups))} + ({number}) * {size})")
        return f'{value}, {scale}, "{self.format}"'


def scaled(p, d):
    """Scaled products, block after block."""
    m, n, k, trips = d.one_of(SIDES), d.one_of(SIDES), d.one_of([32, 64, 128]), d.one_of([2, 3, 1, 0, 4])
    while (m + n) * k > 8192:  # in fp32, which some formats need, both sides and what is read ahead fit every GPU
        m, n, k = (m, n, k // 2) if k > 32 else (m // 2, n, k) if m > n else (m, n // 2, k)
    set_grid(p, d.one_of([1, 1, 2]))
    left, right = Scaled(p, d, "lhs", m, k, max(trips, 1)), Scaled(p, d, "rhs", n, k, max(trips, 1))
    p.emit(f"total = tl.zeros(({m}, {n}), tl.float32)")
    p.emit(f"for i in tl.range({p.number(d, trips)}, num_stages={d.one_of([3, 1, 2, 4])}):")
    p.indent += 1
    packed = f"lhs_k_pack={left.along_k}, rhs_k_pack={right.along_k}"
    operands = f"{left.at('i')}, {right.at('i')}"
    p.emit(d.one_of([f"total = tl.dot_scaled({operands}, total, {packed})", f"total += tl.dot_scaled({operands}, {packed})"]))
    p.indent -= 1
    out = p.output("float32", m * n * p.programs)
    p.emit(f"tl.store({p.own(out, m * n)}{p.offsets((m, n))}, total)")


class LargeLoop(Loop):
    """Results of 256 x 256."""

    def __init__(self, p, d, count):
        self.p, self.d = p, d
        self.type = d.one_of(["float16", "bfloat16", "int8", "float8e4nv"])
        self.result, (self.m, self.n), self.k = summed(self.type), d.one_of([(256, 256), (256, 128), (128, 256)]), d.one_of([32, 16])
        set_grid(p, 1)
        self.a = Blocks(p, d, "a", self.type, self.m, self.k, count)
        self.b = Blocks(p, d, "b", self.type, self.k, self.n, count)


def large(p, d):
    """One large result, as kernels for large matrices have it."""
    trips = d.one_of([2, 1, 3])
    loop = LargeLoop(p, d, trips)

    def body():
        loop.head(p.number(d, trips))
        p.indent += 1
        loop.multiply("i")
        loop.advance()
        p.indent -= 1

    loop.run(body, outer=0)


TEMPLATES = [(1, scaled), (1, large)]
