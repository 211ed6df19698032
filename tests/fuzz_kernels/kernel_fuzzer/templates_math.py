"""Kernels as people write them, with elementary functions: softmax, norms, activations, losses, optimizers.

Their sums may be added up in any order, so results are compared with a tolerance far above rounding and far below a mistake;
inputs are small, so that nothing is lost to cancellation.
"""

from .templates_dense import cdiv, lanes, set_grid, size_near, whole
from .twists import twisted

TOLERANCE = 2e-4  # of values about 1: hundreds of roundings of float32


def real(p, d, count):
    """An array of small multiples of 1/8, and how it is read: `{0} * 0.125`."""
    return whole(p, d, d.one_of(["float32", "float16", "bfloat16"]), count, 8)


def read(p, d, array, places, mask, other="0.0"):
    """A load of such numbers as float32."""
    text = f"tl.load({array.name} + {places}, mask={mask}, other={other})" if mask else f"tl.load({array.name} + {places})"
    return f"{text}.to(tl.float32) * 0.125"


def softmax(p, d):
    """Several rows a program, whole or in two passes over blocks; along either axis."""
    rows, block_rows, columns = d.one_of([3, 8, 1, 5]), d.one_of([4, 2, 1, 8]), d.one_of([16, 5, 33, 64, 7, 100])
    block = columns if d.chance(60) else cdiv(columns, 16) * 16
    x, out = real(p, d, rows * columns), p.output("float32", rows * columns, TOLERANCE)
    set_grid(p, cdiv(rows, block_rows))
    size = p.number(d, columns)
    p.emit(f"r = {lanes(p, d, f'tl.program_id(0) * {block_rows}', block_rows)}")
    p.emit(f"c = tl.arange(0, {block})")
    p.emit(f"inside = (r[:, None] < {p.number(d, rows)}) & (c[None, :] < {size})")
    p.emit(f"x = {read(p, d, x, f'r[:, None] * {size} + c[None, :]', 'inside')}")
    p.emit("x = tl.where(c[None, :] < %s, x, float('-inf'))" % size)
    value = twisted_real(p, d, "x", (block_rows, block))
    if d.chance(30):
        p.emit(f"y = tl.trans(tl.softmax(tl.trans({value}), 0))" if d.chance(50) else f"y = tl.softmax({value}, 1)")
    else:
        p.emit(f"e = tl.{d.one_of(['exp', 'exp2'])}({value} - tl.max({value}, 1, keep_dims=True))")
        p.emit(d.one_of(["y = e / tl.sum(e, 1, keep_dims=True)", "y = e / tl.sum(e, 1)[:, None]"]))
    p.emit(f"tl.store({out.name} + r[:, None] * {size} + c[None, :], {twisted_real(p, d, 'y', (block_rows, block))}, mask=inside)")


def twisted_real(p, d, text, shape):
    """Mutations that move numbers without changing them (a zero in place of minus infinity would divide by zero)."""
    if not d.chance(50):
        return text
    p.tolerance = TOLERANCE * 16
    text = twisted(p, d, text, "float32", shape)
    p.tolerance = 0.0
    return text


def layer_norm(p, d):
    """Mean and variance in one pass or two, a row in blocks or whole; the weights' gradient over rows."""
    rows, block = d.one_of([3, 1, 4]), d.one_of([16, 64, 20, 100])
    columns = size_near(d, block)
    x, w = real(p, d, rows * columns), real(p, d, columns)
    out, mean, inverse = p.output("float32", rows * columns, TOLERANCE), p.output("float32", rows, TOLERANCE), p.output("float32", rows, TOLERANCE)
    set_grid(p, rows)
    size = p.number(d, columns)
    p.emit("row = tl.program_id(0)")
    p.emit(f"total = tl.zeros(({block},), tl.float32)")
    p.emit(f"squares = tl.zeros(({block},), tl.float32)")
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = {lanes(p, d, 'start', block)}")
    p.emit(f"x = {read(p, d, x, f'row * {size} + at', f'at < {size}')}")
    value = twisted_real(p, d, "x", (block,))
    p.emit(f"total += {value}")
    p.emit(f"squares += {value} * {value}")
    p.indent -= 1
    p.emit(f"mean = tl.sum(total, 0) / {columns}")
    p.emit(f"variance = tl.sum(squares, 0) / {columns} - mean * mean")
    p.emit(d.one_of(["inverse = 1 / tl.sqrt(variance + 0.5)", "inverse = tl.rsqrt(variance + 0.5)"]))
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = start + tl.arange(0, {block})")
    p.emit(f"x = {read(p, d, x, f'row * {size} + at', f'at < {size}')}")
    p.emit(f"w = {read(p, d, w, 'at', f'at < {size}')}")
    p.emit("y = (x - mean) * inverse * w")
    p.emit(f"tl.store({out.name} + row * {size} + at, {twisted_real(p, d, 'y', (block,))}, mask=at < {size})")
    p.indent -= 1
    p.emit(f"tl.store({mean.name} + row, mean)")
    p.emit(f"tl.store({inverse.name} + row, inverse)")


def activated(p, d):
    """A product with bias and an activation, and a gate from a second product."""
    m, n, k = d.one_of([16, 5, 1, 8]), d.one_of([16, 8, 7]), d.one_of([16, 8, 4, 33])
    x, w, gate, bias = real(p, d, m * k), real(p, d, k * n), real(p, d, k * n), real(p, d, n)
    out = p.output("float32", m * n, TOLERANCE * 8)
    set_grid(p, 1)
    p.emit(f"r, c, along = tl.arange(0, {m}), tl.arange(0, {n}), tl.arange(0, {k})")
    p.emit(f"x = {read(p, d, x, f'r[:, None] * {k} + along[None, :]', '')}")
    p.emit(f"w = {read(p, d, w, f'along[:, None] * {n} + c[None, :]', '')}")
    left, right = twisted_real(p, d, "x", (m, k)), twisted_real(p, d, "w", (k, n))
    p.emit(f"bias = {read(p, d, bias, 'c', '')}")
    p.emit(f'h = tl.dot({left}, {right}, input_precision="ieee") * 0.25 + bias[None, :]')
    p.emit("h = " + d.one_of(["tl.where(h > 0, h, tl.exp(h) - 1)", "h * tl.sigmoid(h)", "0.5 * h * (1 + tl.erf(h * 0.70710678))", "tl.maximum(h, 0.0)",
                              "h / (1 + tl.exp(-h))", "tl.sin(h) + tl.cos(h)"]))  # fmt: skip
    if d.chance(50):
        p.emit(f"g = {read(p, d, gate, f'along[:, None] * {n} + c[None, :]', '')}")
        p.emit(f'h = h * tl.dot({left}, g, input_precision="ieee") * 0.125')
    p.emit(f"tl.store({out.name} + r[:, None] * {n} + c[None, :], {twisted_real(p, d, 'h', (m, n))})")


def flash(p, d):
    """Attention with exponentials, over sequences whose ends are loaded."""
    bq, bk, width = d.one_of([16, 8, 5]), d.one_of([16, 8, 4]), d.one_of([16, 8, 20])
    sequences, longest = d.one_of([1, 2]), size_near(d, bk)
    q, k, v = (real(p, d, sequences * longest * width) for _ in range(3))
    ends = p.input(d, "int32", sequences, ("range", 1, longest, d.fresh_key()))
    out, log = p.output("float32", sequences * longest * width, TOLERANCE), p.output("float32", sequences * longest, TOLERANCE)
    set_grid(p, cdiv(longest, bq), sequences)
    p.emit(f"length = tl.load({ends.name} + tl.program_id(1))")
    p.emit(f"base = tl.program_id(1) * {longest}")
    p.emit(f"if tl.program_id(0) * {bq} >= length:")
    p.emit("    return")
    p.emit(f"rows = {lanes(p, d, f'tl.program_id(0) * {bq}', bq)}")
    p.emit(f"inner = tl.arange(0, {width})")
    p.emit(f"q = {read(p, d, q, f'(base + rows[:, None]) * {width} + inner[None, :]', 'rows[:, None] < length')}")
    p.emit(f"most = tl.full(({bq},), float('-inf'), tl.float32)")
    p.emit(f"sums = tl.zeros(({bq},), tl.float32)")
    p.emit(f"total = tl.zeros(({bq}, {width}), tl.float32)")
    causal = d.chance(50)
    p.emit(f"for start in range(0, {'min(length, (tl.program_id(0) + 1) * %d)' % bq if causal else 'length'}, {bk}):")
    p.indent += 1
    p.emit(f"columns = start + tl.arange(0, {bk})")
    p.emit(f"k = {read(p, d, k, f'(base + columns[None, :]) * {width} + inner[:, None]', 'columns[None, :] < length')}")
    p.emit('score = tl.dot(q, k, input_precision="ieee") * 0.25')
    p.emit(f"score = tl.where((columns[None, :] < length){' & (rows[:, None] >= columns[None, :])' if causal else ''}, score, float('-inf'))")
    p.emit("higher = tl.maximum(most, tl.max(score, 1))")
    p.emit("scale = tl.exp2(most - higher)")
    p.emit("weights = tl.exp2(score - higher[:, None])")
    p.emit("sums = sums * scale + tl.sum(weights, 1)")
    p.emit(f"v = {read(p, d, v, f'(base + columns[:, None]) * {width} + inner[None, :]', 'columns[:, None] < length')}")
    value = twisted_real(p, d, "v", (bk, width))
    p.emit(f'total = tl.dot(weights, {value}, total * scale[:, None], input_precision="ieee")')
    p.emit("most = higher")
    p.indent -= 1
    p.emit("total = total / sums[:, None]")
    p.emit(f"tl.store({out.name} + (base + rows[:, None]) * {width} + inner[None, :], total, mask=rows[:, None] < length)")
    p.emit(f"tl.store({log.name} + base + rows, most + tl.log2(sums), mask=rows < length)")


def loss(p, d):
    """Cross entropy over a row in blocks with a running maximum, the label's score gathered by its number."""
    rows, block = d.one_of([3, 1, 4]), d.one_of([16, 8, 33])
    columns = size_near(d, block, 3)
    x = real(p, d, rows * columns)
    labels = p.input(d, d.one_of(["int64", "int32"]), rows, ("range", -1, columns - 1, d.fresh_key()))
    out, gradient = p.output("float32", rows, TOLERANCE), p.output("float32", rows * columns, TOLERANCE)
    set_grid(p, rows)
    size = p.number(d, columns)
    p.emit("row = tl.program_id(0)")
    p.emit(f"label = tl.load({labels.name} + row)")
    p.emit("most = float('-inf')")
    p.emit("sums = 0.0")
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = {lanes(p, d, 'start', block)}")
    p.emit(f"x = tl.where(at < {size}, {read(p, d, x, f'row * {size} + at', f'at < {size}')}, float('-inf'))")
    p.emit("higher = tl.maximum(most, tl.max(x, 0))")
    p.emit("sums = sums * tl.exp(most - higher) + tl.sum(tl.exp(x - higher), 0)")
    p.emit("most = higher")
    p.indent -= 1
    p.emit("log = most + tl.log(sums)")
    p.emit("if label < 0:")
    p.emit(f"    tl.store({out.name} + row, 0.0)")
    p.emit("else:")
    p.emit(f"    tl.store({out.name} + row, log - {read(p, d, x, f'row * {size} + label', '')})")
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = start + tl.arange(0, {block})")
    p.emit(f"x = {read(p, d, x, f'row * {size} + at', f'at < {size}')}")
    p.emit("g = tl.exp(x - log) - tl.where(at == label, 1.0, 0.0)")
    p.emit(f"tl.store({gradient.name} + row * {size} + at, {twisted_real(p, d, 'g', (block,))}, mask=at < {size})")
    p.indent -= 1


def moments(p, d):
    """Count, mean and squared distance of parts put together by a function of three pairs; over any axis."""
    shape = (d.one_of([4, 1, 5]), d.one_of([16, 8, 33, 64]))
    axis = d.below(2)
    x = real(p, d, shape[0] * shape[1])
    count = shape[1 - axis]
    means, spread = p.output("float32", count, TOLERANCE), p.output("float32", count, TOLERANCE * 16)
    set_grid(p, 1)
    p.helper("def together(n, m, s, k, l, t):\n    all = n + k\n    away = l - m\n"
             "    return all, m + away * (k / all), s + t + away * away * (n * k / all)\n")  # fmt: skip
    p.emit(f"x = {read(p, d, x, f'tl.arange(0, {shape[0]})[:, None] * {shape[1]} + tl.arange(0, {shape[1]})[None, :]', '')}")
    value = twisted_real(p, d, "x", shape)
    p.emit(f"ones = tl.full({shape}, 1.0, tl.float32)")
    p.emit(f"n, m, s = tl.reduce((ones, {value}, tl.zeros({shape}, tl.float32)), {axis}, together)")
    p.emit(f"tl.store({means.name} + tl.arange(0, {count}), m)")
    p.emit(f"tl.store({spread.name} + tl.arange(0, {count}), s)")


def optimizer(p, d):
    """Weights and two moments updated in place, several at a time."""
    size, block = d.one_of([20, 64, 100, 7]), d.one_of([16, 32, 64, 5])
    set_grid(p, cdiv(size, block))
    w, m, v = (p.output("float32", size, TOLERANCE, ("exact", 2, d.fresh_key())) for _ in range(3))
    g = real(p, d, size)
    p.emit(f"at = {lanes(p, d, f'tl.program_id(0) * {block}', block)}")
    p.emit(f"inside = at < {p.number(d, size)}")
    p.emit(f"g = {read(p, d, g, 'at', 'inside')}")
    p.emit(f"m = tl.load({m.name} + at, mask=inside) * 0.9 + g * 0.1")
    p.emit(f"v = tl.abs(tl.load({v.name} + at, mask=inside)) * 0.99 + g * g * 0.01")
    p.emit(f"w = tl.load({w.name} + at, mask=inside)")
    p.emit(f"w = w * (1 - f0 * 0.01) - 0.1 * {twisted_real(p, d, 'm', (block,))} / (tl.sqrt(v) + 0.5)")
    for array, name in ((w, "w"), (m, "m"), (v, "v")):
        p.emit(f"tl.store({array.name} + at, {name}, mask=inside)")


TEMPLATES = [(2, softmax), (2, layer_norm), (2, activated), (2, flash), (1, loss), (1, moments), (1, optimizer)]
