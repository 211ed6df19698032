"""Products of matrices: of any extents and types, in batches, with operands that are transposed, converted, computed, loaded at
wrapped or masked places, with and without accumulators, one after the other. All numbers are small and whole: sums are exact."""

from .element_types import EXACT
from .index_expressions import combine

OPERANDS = ["float32", "float16", "bfloat16", "int8", "float64", "float8e5", "float8e4nv"]
RESULTS = {"int8": "int32", "float64": "float64"}
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 31, 32, 33, 48]


def extent(p, d, largest=64):
    fitting = [e for e in p.extents if e <= largest]
    return d.one_of(fitting * 3 + EXTENTS)


def loaded(p, d, type_name, shape, bound):
    """An operand read at places that wrap around or under a mask, both along any axis."""
    maker = p.index(d, shape)
    rows, columns = maker.lanes(len(shape) - 2), maker.lanes(len(shape) - 1)
    if d.chance(60):
        divisor = d.one_of([3, 8, 16, 20, 7, 32])
        which = d.below(7)
        if which == 0:
            columns = combine("%", columns, maker.literal(divisor), maker.outer)
        elif which == 1:
            rows = combine("%", rows, maker.literal(divisor), maker.outer)
        elif which == 2:
            columns = combine("%", combine("+", rows, columns, maker.outer), maker.literal(divisor), maker.outer)
        else:  # rows in groups, as pixels are in rows of an image; some begin below zero, where remainders are negative
            divisor = d.one_of([16, 20, 28, 8, 32])
            rows = combine("-", rows, maker.given(d.one_of([3, 1, 8, 5])), maker.outer) if which >= 5 else rows
            apart = combine("*", combine("//", rows, maker.literal(divisor), maker.outer), maker.given(divisor + d.one_of([2, 0, 8])), maker.outer)
            rows = combine("+", apart, combine("%", rows, maker.literal(divisor), maker.outer), maker.outer)
    if d.chance(40):  # in memory the other way round
        columns = combine("*", columns, maker.literal(rows.high - rows.low + 1), maker.outer)
        place = combine("+", rows, columns, maker.outer)
        stride = rows.high - rows.low + 1
    else:
        stride = columns.high + 1
        place = combine("+", combine("*", rows, maker.literal(stride), maker.outer), columns, maker.outer)
    if len(shape) == 3:
        batch = combine("*", maker.lanes(0), maker.literal(place.high - place.low + 1), maker.outer)
        place = combine("+", batch, place, maker.outer)
    if d.chance(30):  # terms of the address that are below zero
        place = combine("-", place, maker.given(stride), maker.outer)
    mask, text = None, ""
    if d.chance(50):
        mask = maker.condition()
        text = f", mask={mask.text}" + (", other=1" if d.chance(40) else "")
    used = maker.used_values(place, mask)
    kind = ("range", -bound, bound, d.fresh_key()) if type_name == "int8" else ("exact", bound, d.fresh_key())
    first = min(int(used.min()), 0) if used.size else 0
    array = p.input(d, type_name, int(used.max()) - first + 1 if used.size else 0, kind)
    base = array.name if first == 0 else f"({array.name} + {-first})"
    return p.bind(d, f"tl.load({base} + {place.text}{text})", type_name, shape, None if type_name == "int8" else max(bound, 1))


def operand(p, d, type_name, shape, bound):
    """(text, bound) of a matrix of this type."""
    way = d.below(6)
    if way == 5:
        source = d.one_of(["int32", "float32", "int8"])
        value = p.operand(d, source, shape, bound if source == "float32" else None)
        text, made, _ = p.cast(d, value, type_name, None if type_name == "int8" else bound, (-bound, bound) if type_name == "int8" else None)
        return text, bound if made is None else made
    turned = way in (2, 4)
    asked = (*shape[:-2], shape[-1], shape[-2]) if turned else shape
    if way in (3, 4):
        value = loaded(p, d, type_name, asked, bound)
    else:
        value = p.operand(d, type_name, asked, None if type_name == "int8" else bound, (-bound, bound) if type_name == "int8" else None)
    value.used = True
    text = value.text
    if turned:
        text = f"tl.trans({text}, {(0, 2, 1)})" if len(shape) == 3 else f"tl.trans({text})"
    if d.chance(20) and type_name not in ("float8e5", "float8e4nv"):
        text = f"({text} * 1)" if type_name == "int8" else f"({text} * -1.0)"
    return text, bound if value.bound is None else value.bound


def dot(p, d):
    type_name = d.one_of(OPERANDS)
    result = RESULTS.get(type_name, "float32")
    m, n, k = (extent(p, d, d.one_of([64, 64, 64, 200])) for _ in range(3))
    while m * n > 4096 or m * k > 8192 or k * n > 8192:
        m, n, k = -(-m // 2), -(-n // 2), -(-k // 2)
    batch = (d.one_of([1, 2, 3, 4]),) if d.chance(20) else ()
    if batch:
        m, n, k = min(m, 20), min(n, 20), min(k, 20)
    bound = 3 if type_name.startswith("float8") else d.one_of([3, 7])
    a, left = operand(p, d, type_name, (*batch, m, k), bound)
    b, right = operand(p, d, type_name, (*batch, k, n), bound)
    total = left * right * k
    shape = (*batch, m, n)
    extra = ""
    accumulator = d.below(4)
    if accumulator == 2:
        c = p.operand(d, result, shape, None if result == "int32" else 1000)
        extra, total = f", {c.text}", total + 1000
    elif accumulator == 3:
        extra, total = f", acc=tl.full({shape}, 5, tl.{result})", total + 5
    elif type_name in ("float16", "float8e5", "float8e4nv") and total <= EXACT["float16"] and d.chance(30):
        extra, result = ", out_dtype=tl.float16", "float16"
    if type_name == "float32":
        extra += ', input_precision="ieee"'
    text = f"tl.dot({a}, {b}{extra})"
    if accumulator == 1 and result != "float16":
        c = p.operand(d, result, (*batch, *d.one_of([(m, n), (1, n), (m, 1)])), None if result == "int32" else 100)
        text, total = f"{text} + {c.text}", total + 100
    p.bind(d, text, result, shape, None if result == "int32" else total)


def matmul_loop(p, d):
    """Blocks along K with carried pointers or recomputed ones, bounds checked, wrapped rows."""
    type_name = d.one_of(["float32", "float16", "bfloat16", "int8"])
    result = RESULTS.get(type_name, "float32")
    m, n, block = extent(p, d, 32), extent(p, d, 32), d.one_of([4, 8, 16, 32, 5, 1])
    length = d.between(1, 3 * block)
    rows = d.one_of([m, max(1, m - 3), m + 5])
    kind = (lambda: ("range", -5, 5, d.fresh_key())) if type_name == "int8" else (lambda: ("exact", 3, d.fresh_key()))
    a = p.input(d, type_name, rows * length, kind())
    b = p.input(d, type_name, length * n, kind())
    name, start = p.name(), p.name("k")
    turned = d.chance(30)
    wrap = f" % {rows}" if rows < m or d.chance(50) else ""
    carried = d.chance(60)
    lanes_m, lanes_n, lanes_k = f"(tl.arange(0, {m}){wrap})[:, None]", f"tl.arange(0, {n})[None, :]", f"tl.arange(0, {block})"
    a_place = f"{a.name} + {lanes_m} * {length} + {lanes_k}[None, :]"
    b_place = f"{b.name} + {lanes_k}[:, None] * {1 if turned else n} + {lanes_n} * {length if turned else 1}"
    b_step = 1 if turned else n
    if carried:
        p.emit(f"a{name} = {a_place}")
        p.emit(f"b{name} = {b_place}")
    p.emit(f"{name} = tl.zeros(({m}, {n}), tl.{result})")
    p.emit(f"for {start} in range(0, {length}, {block}):")
    p.indent += 1
    left, right = (f"a{name}", f"b{name}") if carried else (f"{a_place} + {start}", f"{b_place} + {start} * {b_step}")
    p.emit(f"left{name} = tl.load({left}, mask={lanes_k}[None, :] < {length} - {start}, other=0)")
    p.emit(f"right{name} = tl.load({right}, mask={lanes_k}[:, None] < {length} - {start}, other=0)")
    product = f"tl.dot(left{name}, right{name}"
    p.emit(d.one_of([f"{name} = {product}, {name})", f"{name} += {product})", f"{name} = {name} + {product})"]))
    if carried:
        p.emit(f"a{name} += {block}")
        p.emit(f"b{name} += {block * b_step}")
    p.indent -= 1
    p.declare(d, name, result, (m, n), None if result == "int32" else 9 * length)


def dot_after_store(p, d):
    """An operand that changes in memory between two products."""
    m, n, k = (extent(p, d, 48) for _ in range(3))
    type_name = d.one_of(["float32", "float16", "bfloat16"])
    a = p.operand(d, type_name, (m, k), 3)
    b = p.input(d, type_name, k * n * p.programs, ("exact", 3, d.fresh_key()))
    pointer, name, product = p.name("at"), p.name(), p.name()
    p.emit(f"{pointer} = {p.own(b, k * n)}{p.offsets((k, n))}")
    p.emit(f"{name} = tl.load({pointer})")
    first = f'{product} = tl.dot({a.text}, {name}, input_precision="ieee")'
    late = d.chance(50)  # loaded before the store, multiplied after it, and for nothing else
    changed = p.operand(d, type_name, (k, n), 3)
    p.emit(f"tl.store({pointer}, {changed.text})" if late else first)
    p.emit(first if late else f"tl.store({pointer}, {changed.text})")
    if d.chance(50):
        p.emit("tl.debug_barrier()")
    p.emit(f'{product} += tl.dot({a.text}, tl.load({pointer}), input_precision="ieee")')
    p.emit("tl.debug_barrier()")
    if not late:
        p.declare(d, name, type_name, (k, n), 3)
    p.declare(d, product, "float32", (m, n), 18 * k)


MAKERS = [(4, dot), (2, matmul_loop), (1, dot_after_store)]
