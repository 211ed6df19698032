"""Kernels as people write them, with dense arrays: products of matrices in their many forms, attention, norms, convolutions.

Sizes, types, strides, masks, idioms and mutations are drawn; numbers are small and whole, so that every sum is exact.
"""

from .element_types import INTEGERS
from .twists import twisted

BLOCKS = [16, 4, 8, 32, 5, 1, 12, 2]


def cdiv(a, b):
    return -(-a // b)


def whole(p, d, type_name, count, bound=3):
    """An array of small whole numbers."""
    if type_name in INTEGERS:
        return p.input(d, type_name, count, ("range", 0 if type_name.startswith("u") else -bound, bound, d.fresh_key()))
    return p.input(d, type_name, count, ("exact", bound, d.fresh_key()))


def set_grid(p, *grid):
    p.grid = tuple(grid)
    p.programs = 1
    for extent in grid:
        p.programs *= extent
    p.place = "tl.program_id(0)" if len(grid) == 1 else f"(tl.program_id(0) * {grid[1]} + tl.program_id(1))"


def lanes(p, d, start, extent):
    """`start + arange` in one of the ways it is written."""
    base = f"tl.arange(0, {extent})"
    return d.one_of([f"{start} + {base}", f"{base} + {start}", f"tl.max_contiguous({start} + {base}, 1)", f"({start} + {base}).to(tl.int64)",
                     f"{start} + tl.ravel({base})", f"tl.where({base} >= 0, {start} + {base}, 0)"])  # fmt: skip


def size_near(d, block, times=2):
    return max(1, d.one_of([block, block * times, block + 1, block * times - 1, block - 1, d.between(1, block * times)]))


def matmul(p, d):
    """C = A @ B over a grid of tiles: grouped or not, persistent or not, split along K or not, bounds by masks or by remainders."""
    type_name = d.one_of(["float32", "float16", "bfloat16", "int8"])
    result = "int32" if type_name == "int8" else "float32"
    bm, bn, bk = (d.one_of(BLOCKS) for _ in range(3))
    m, n, k = size_near(d, bm), size_near(d, bn), size_near(d, bk, 3)
    tiles_m, tiles_n = cdiv(m, bm), cdiv(n, bn)
    tiles = tiles_m * tiles_n
    split = d.one_of([1, 1, 1, 2, 3])
    persistent = split == 1 and d.chance(30)
    set_grid(p, *((min(tiles, 2),) if persistent else (tiles, split) if split > 1 else (tiles,)))
    a, b = whole(p, d, type_name, m * k), whole(p, d, type_name, k * n)
    c = p.output(result, m * n, contents=("range", 0, 0, 1) if result == "int32" else ("exact", 0, 1)) if split > 1 else p.output(result, m * n)
    turned_a, turned_b = d.chance(30), d.chance(30)
    am, ak = (p.number(d, s) for s in ((1, m) if turned_a else (k, 1)))
    bk_stride, bn_stride = (p.number(d, s) for s in ((1, k) if turned_b else (n, 1)))
    size_m, size_n, size_k = p.number(d, m), p.number(d, n), p.number(d, k)
    group = d.one_of([1, 2, 3])
    tile = p.name("tile")
    if persistent:
        p.emit(f"for {tile} in range(tl.program_id(0), {tiles}, tl.num_programs(0)):")
        p.indent += 1
    else:
        p.emit(f"{tile} = tl.program_id(0)")
    if group == 1:
        p.emit(f"pm = {tile} // {tiles_n}")
        p.emit(f"pn = {tile} % {tiles_n}")
    else:
        p.emit(f"first = {tile} // ({group} * {tiles_n}) * {group}")
        p.emit(f"height = {d.one_of(['min', 'tl.minimum'])}({tiles_m} - first, {group})")
        p.emit(f"pm = first + ({tile} % ({group} * {tiles_n})) % height")
        p.emit(f"pn = ({tile} % ({group} * {tiles_n})) // height")
    wrap_m, wrap_n = d.chance(50), d.chance(50)
    p.emit(f"rows = ({lanes(p, d, f'pm * {bm}', bm)}){f' % {size_m}' if wrap_m else ''}")
    p.emit(f"columns = ({lanes(p, d, f'pn * {bn}', bn)}){f' % {size_n}' if wrap_n else ''}")
    p.emit(f"along = {'tl.program_id(1) * %d + ' % bk if split > 1 else ''}tl.arange(0, {bk})")
    a_at = f"{a.name} + rows[:, None] * {am} + along[None, :] * {ak}"
    b_at = f"{b.name} + along[:, None] * {bk_stride} + columns[None, :] * {bn_stride}"
    carried = d.chance(60)
    if carried:
        p.emit(f"a_at = {a_at}")
        p.emit(f"b_at = {b_at}")
    p.emit(f"total = tl.zeros(({bm}, {bn}), tl.{result})")
    step = bk * split
    p.emit(f"for k in range(0, {size_k}, {step}):")
    p.indent += 1
    whole_blocks = k % step == 0 and d.chance(60)
    mask_a = [f"rows[:, None] < {size_m}"] * (not wrap_m) + [f"along[None, :] < {size_k} - k"] * (not whole_blocks)
    mask_b = [f"columns[None, :] < {size_n}"] * (not wrap_n) + [f"along[:, None] < {size_k} - k"] * (not whole_blocks)
    masked = lambda parts: ", mask=" + " & ".join(f"({part})" for part in parts) + d.one_of(["", ", other=0"]) if parts else ""  # noqa: E731
    a_text, b_text = ("a_at", "b_at") if carried else (f"{a_at} + k * {ak}", f"{b_at} + k * {bk_stride}")
    p.emit(f"left = tl.load({a_text}{masked(mask_a)})")
    p.emit(f"right = tl.load({b_text}{masked(mask_b)})")
    left, right = twisted(p, d, "left", type_name, (bm, bk)), twisted(p, d, "right", type_name, (bk, bn))
    product = f'tl.dot({left}, {right}, input_precision="ieee"' if type_name == "float32" else f"tl.dot({left}, {right}"
    p.emit(d.one_of([f"total = {product}, acc=total)", f"total += {product})"]))
    if carried:
        p.emit(f"a_at += {step} * {ak}")
        p.emit(f"b_at += {step} * {bk_stride}")
    p.indent -= 1
    total = twisted(p, d, "total", result, (bm, bn))
    p.emit(f"rows_out = pm * {bm} + tl.arange(0, {bm})")
    p.emit(f"columns_out = pn * {bn} + tl.arange(0, {bn})")
    if d.chance(40) and split == 1:
        bias = whole(p, d, result, n)
        p.emit(f"bias = tl.load({bias.name} + columns_out, mask=columns_out < {size_n}, other=0)")
        total = f"({total} + bias[None, :])"
    if d.chance(30) and split == 1:
        total = d.one_of([f"tl.where({total} > 0, {total}, 0)", f"tl.maximum({total}, -5)", f"({total} * 2)"])
    at = f"{c.name} + rows_out[:, None] * {size_n} + columns_out[None, :]"
    inside = f"(rows_out[:, None] < {size_m}) & (columns_out[None, :] < {size_n})"
    p.emit(f"tl.{'atomic_add' if split > 1 else 'store'}({at}, {total}, mask={inside})")
    if persistent:
        p.indent -= 1


def block_matmul(p, d):
    """The same with block pointers or descriptors, in batches."""
    type_name = d.one_of(["float32", "float16", "bfloat16"])
    bm, bn, bk = d.one_of([16, 8, 32]), d.one_of([16, 8, 32]), d.one_of([16, 8, 32])
    m, n, k = size_near(d, bm), cdiv(size_near(d, bn), 8) * 8, cdiv(size_near(d, bk, 3), 8) * 8
    batch = d.one_of([1, 2])
    set_grid(p, cdiv(m, bm) * cdiv(n, bn), batch)
    a, b = whole(p, d, type_name, batch * m * k), whole(p, d, type_name, batch * k * n)
    c = p.output("float32", batch * m * n)
    descriptors = d.chance(50)
    p.emit(f"pm = tl.program_id(0) // {cdiv(n, bn)}")
    p.emit(f"pn = tl.program_id(0) % {cdiv(n, bn)}")
    p.emit("which = tl.program_id(1)")
    size_m, size_n, size_k = p.number(d, m), p.number(d, n), p.number(d, k)
    views = [("a", a, m * k, size_m, size_k, bm, bk, f"pm * {bm}", "0"), ("b", b, k * n, size_k, size_n, bk, bn, "0", f"pn * {bn}"),
             ("c", c, m * n, size_m, size_n, bm, bn, f"pm * {bm}", f"pn * {bn}")]  # fmt: skip
    for name, array, size, rows, columns, high, wide, row, column in views:
        base = f"{array.name} + which * {size}"
        if descriptors:
            p.emit(f"{name} = tl.make_tensor_descriptor({base}, [{rows}, {columns}], [{columns}, 1], [{high}, {wide}])")
        else:
            p.emit(f"{name} = tl.make_block_ptr({base}, ({rows}, {columns}), ({columns}, 1), ({row}, {column}), ({high}, {wide}), (1, 0))")
    p.emit(f"total = tl.zeros(({bm}, {bn}), tl.float32)")
    p.emit(f"for k in range(0, {size_k}, {bk}):")
    p.indent += 1
    if descriptors:
        p.emit(f"left = a.load([pm * {bm}, k])")
        p.emit(f"right = b.load([k, pn * {bn}])")
    else:
        p.emit("left = tl.load(a, boundary_check=(0, 1))")
        p.emit('right = tl.load(b, boundary_check=(0, 1), padding_option="zero")')
        p.emit(f"a = tl.advance(a, (0, {bk}))")
        p.emit(f"b = tl.advance(b, ({bk}, 0))")
    left, right = twisted(p, d, "left", type_name, (bm, bk)), twisted(p, d, "right", type_name, (bk, bn))
    p.emit(f'total = tl.dot({left}, {right}, total, input_precision="ieee")')
    p.indent -= 1
    total = twisted(p, d, "total", "float32", (bm, bn))
    p.emit(f"c.store([pm * {bm}, pn * {bn}], {total})" if descriptors else f"tl.store(c, {total}, boundary_check=(0, 1))")


def attention(p, d):
    """Blocks of queries against all keys: causal or not, a window, grouped heads; weights are 2 where the score is the running
    maximum and 1 elsewhere, old sums are halved when it rises: exact, and with attention's data flow."""
    type_name = d.one_of(["float32", "float16", "bfloat16"])
    bq, bk, width = d.one_of([16, 4, 8, 5]), d.one_of([16, 4, 8, 7]), d.one_of([16, 8, 4, 20, 3])
    queries, keys = size_near(d, bq), size_near(d, bk, 3)
    heads, shared = d.one_of([1, 2]), d.one_of([1, 2])
    set_grid(p, cdiv(queries, bq), heads)
    q = whole(p, d, type_name, heads * queries * width, 1)
    k, v = whole(p, d, type_name, heads * keys * width, 1), whole(p, d, type_name, heads * keys * width, 2)
    o, l = p.output("float32", heads * queries * width), p.output("float32", heads * queries)
    size_q, size_k = p.number(d, queries), p.number(d, keys)
    p.emit(f"head = tl.program_id(1) // {shared} * {shared}" if heads > 1 and shared > 1 else "head = tl.program_id(1)")
    p.emit(f"rows = {lanes(p, d, f'tl.program_id(0) * {bq}', bq)}")
    p.emit(f"inner = tl.arange(0, {width})")
    q_at = f"tl.program_id(1) * {queries * width} + rows[:, None] * {width} + inner[None, :]"
    p.emit(f"q = tl.load({q.name} + {q_at}, mask=rows[:, None] < {size_q}, other=0)")
    query = twisted(p, d, "q", type_name, (bq, width))
    p.emit(f"most = tl.full(({bq},), -1000.0, tl.float32)")
    p.emit(f"sums = tl.zeros(({bq},), tl.float32)")
    p.emit(f"total = tl.zeros(({bq}, {width}), tl.float32)")
    causal = d.chance(50)
    stop = f"min({size_k}, (tl.program_id(0) + 1) * {bq})" if causal and d.chance(60) else size_k
    p.emit(f"for start in range(0, {stop}, {bk}):")
    p.indent += 1
    p.emit(f"columns = {lanes(p, d, 'start', bk)}")
    by_rows = f"head * {keys * width} + columns[:, None] * {width} + inner[None, :], mask=columns[:, None] < {size_k}, other=0"
    if d.chance(50):
        by_columns = f"head * {keys * width} + columns[None, :] * {width} + inner[:, None], mask=columns[None, :] < {size_k}, other=0"
        p.emit(f"keys = tl.load({k.name} + {by_columns})")
        key = twisted(p, d, "keys", type_name, (width, bk))
    else:
        p.emit(f"keys = tl.load({k.name} + {by_rows})")
        key = f"tl.trans({twisted(p, d, 'keys', type_name, (bk, width))})"
    p.emit(f'score = tl.dot({query}, {key}, input_precision="ieee")')
    inside = [f"columns[None, :] < {size_k}"] + ["rows[:, None] >= columns[None, :]"] * causal
    if d.chance(30):
        inside.append(f"rows[:, None] - columns[None, :] < {d.one_of([8, 3])}")
    p.emit(f"score = tl.where({' & '.join(f'({part})' for part in inside)}, score, -500.0)")
    score = twisted(p, d, "score", "float32", (bq, bk))
    p.emit(f"higher = tl.maximum(most, tl.max({score}, 1))")
    p.emit("scale = tl.where(most == higher, 1.0, 0.5)")
    p.emit(f"weights = tl.where({score} == higher[:, None], 2.0, 1.0)")
    p.emit("sums = sums * scale + tl.sum(weights, 1)")
    p.emit("total = total * scale[:, None]")
    p.emit(f"values = tl.load({v.name} + {by_rows})")
    weights = twisted(p, d, "weights", "float32", (bq, bk))
    p.emit(f'total = tl.dot({weights}.to(tl.{type_name}), values, total, input_precision="ieee")')
    p.emit("most = higher")
    p.indent -= 1
    total = twisted(p, d, "total", "float32", (bq, width))
    p.emit(f"tl.store({o.name} + {q_at}, {total}, mask=rows[:, None] < {size_q})")
    p.emit(f"tl.store({l.name} + tl.program_id(1) * {queries} + rows, sums, mask=rows < {size_q})")


def norm(p, d):
    """A row at a time, in blocks or whole: sums, extremes, what is left after them, gradients of weights added up by atomics."""
    rows, block = d.one_of([3, 1, 4, 7]), d.one_of([16, 8, 64, 20, 100])
    columns = size_near(d, block, 3)
    type_name = d.one_of(["int32", "int16", "int8", "int64"])
    x, w = p.input(d, type_name, rows * columns), whole(p, d, "int32", columns)
    y, dw = p.output("int32", rows * columns), p.output("int32", columns, contents=("range", 0, 0, 1))
    set_grid(p, rows)
    size = p.number(d, columns)
    p.emit(f"base = {x.name} + tl.program_id(0) * {size}")
    p.emit(f"total = tl.zeros(({block},), tl.int32)")
    p.emit("largest = -2147483648")
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = {lanes(p, d, 'start', block)}")
    p.emit(f"x = tl.load(base + at, mask=at < {size}, other=0).to(tl.int32)")
    value = twisted(p, d, "x", "int32", (block,))
    p.emit(f"total += tl.where(at < {size}, {value}, 0)")
    p.emit(f"largest = tl.maximum(largest, tl.max(tl.where(at < {size}, {value}, -2147483648), 0))")
    p.indent -= 1
    p.emit(f"mean = tl.sum({twisted(p, d, 'total', 'int32', (block,))}, 0) // {size}")
    backwards = d.chance(30)
    p.emit(f"for start in range({(cdiv(columns, block) - 1) * block}, -1, -{block}):" if backwards else f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = start + tl.arange(0, {block})")
    p.emit(f"x = tl.load(base + at, mask=at < {size}).to(tl.int32)")
    p.emit(f"w = tl.load({w.name} + at, mask=at < {size})")
    p.emit("y = (x - mean) * w ^ largest")
    value = twisted(p, d, "y", "int32", (block,))
    p.emit(f"tl.store({y.name} + tl.program_id(0) * {size} + at, {value}, mask=at < {size})")
    p.emit(f"tl.atomic_add({dw.name} + at, {value}, mask=at < {size})")
    p.indent -= 1


def convolution(p, d):
    """An image convolution as a product of matrices: rows and columns of pixels by // and %, padding by masks."""
    channels, filters = d.one_of([3, 4, 1, 8]), d.one_of([4, 16, 5])
    high, wide, kernel = d.one_of([5, 8, 4, 7]), d.one_of([5, 8, 6, 9, 16, 28]), d.one_of([3, 1, 2])
    images = d.one_of([1, 2, 3])
    stride, padding = d.one_of([1, 2]), d.one_of([0, 1])
    out_high, out_wide = (high + 2 * padding - kernel) // stride + 1, (wide + 2 * padding - kernel) // stride + 1
    in_image, depth = out_high * out_wide, channels * kernel * kernel
    pixels = images * in_image
    bp, bd = d.one_of([16, 8, 32, 7, 64]), d.one_of([16, 8, 4, 32])
    type_name = d.one_of(["float32", "float16"])
    image, weight = whole(p, d, type_name, images * channels * high * wide), whole(p, d, type_name, filters * depth)
    out = p.output("float32", pixels * filters)
    set_grid(p, cdiv(pixels, bp))
    p.emit(f"pixel = {lanes(p, d, f'tl.program_id(0) * {bp}', bp)}")
    w_text = p.number(d, out_wide)
    p.emit(f"image = pixel // {p.number(d, in_image)}")
    p.emit(f"row = pixel // {w_text} % {p.number(d, out_high)} * {stride} - {padding}")
    p.emit(f"column = pixel % {w_text} * {stride} - {padding}")
    p.emit(f"filters = tl.arange(0, {filters})")
    p.emit(f"total = tl.zeros(({bp}, {filters}), tl.float32)")
    p.emit(f"for k in range(0, {p.number(d, depth)}, {bd}):")
    p.indent += 1
    p.emit(f"at = k + tl.arange(0, {bd})")
    p.emit(f"channel = at // {kernel * kernel}")
    p.emit(f"y = row[:, None] + (at // {kernel} % {kernel})[None, :]")
    p.emit(f"x = column[:, None] + (at % {kernel})[None, :]")
    inside = f"(y >= 0) & (y < {high}) & (x >= 0) & (x < {p.number(d, wide)}) & (at < {depth})[None, :] & (pixel < {pixels})[:, None]"
    base = f"{image.name} + (image * {channels * high * wide})[:, None] + channel[None, :] * {high * wide} + y * {wide} + x"
    nested = f"{image.name} + ((image[:, None] * {channels} + channel[None, :]) * {high} + y) * {wide} + x"
    p.emit(f"patch = tl.load({d.one_of([base, nested])}, mask={inside}, other=0)")
    p.emit(f"weight = tl.load({weight.name} + filters[None, :] * {depth} + at[:, None], mask=at[:, None] < {depth}, other=0)")
    patch = twisted(p, d, "patch", type_name, (bp, bd))
    p.emit(f'total = tl.dot({patch}, weight, total, input_precision="ieee")')
    p.indent -= 1
    total = twisted(p, d, "total", "float32", (bp, filters))
    by_filters = f"pixel[:, None] * {filters} + filters[None, :]"
    by_pixels = f"(image * {filters * in_image} + pixel % {in_image})[:, None] + filters[None, :] * {in_image}"
    p.emit(f"tl.store({out.name} + {d.one_of([by_filters, by_pixels])}, {total}, mask=pixel[:, None] < {pixels})")


def planes(p, d):
    """Blocks of a matrix, element by element, over a grid whose axes stand in any order: with masks or whole, also in place."""
    rows, columns = d.one_of([4, 8, 2, 16, 3]), d.one_of([16, 64, 128, 32, 8, 20])
    type_name = d.one_of(["int32", "uint8", "int16", "int64"])
    is_whole = d.chance(40)
    high, wide = (rows * d.one_of([1, 2, 3]), columns * d.one_of([1, 2, 3, 5])) if is_whole else (size_near(d, rows, 3), size_near(d, columns, 4))
    pitch = wide + d.one_of([0, 0, 3, 16])
    sources = [p.input(d, type_name, high * pitch) for _ in range(d.one_of([1, 2, 3]))]
    out = p.output(type_name, high * pitch)
    down, along = cdiv(high, rows), cdiv(wide, columns)
    order = d.one_of(["yx", "xy", "one"])
    set_grid(p, *{"yx": (down, along), "xy": (along, down), "one": (down * along,)}[order])
    row, column = {"yx": ("tl.program_id(0)", "tl.program_id(1)"), "xy": ("tl.program_id(1)", "tl.program_id(0)"),
                   "one": (f"tl.program_id(0) // {along}", f"tl.program_id(0) % {along}")}[order]  # fmt: skip
    p.emit(f"row = {lanes(p, d, f'{row} * {rows}', rows)}")
    p.emit(f"column = {lanes(p, d, f'{column} * {columns}', columns)}")
    p.emit(f"at = row[:, None] * {p.number(d, pitch)} + column[None, :]")
    mask = "" if is_whole else f", mask=(row[:, None] < {p.number(d, high)}) & (column[None, :] < {p.number(d, wide)})"
    for index, source in enumerate(sources):
        p.emit(f"part{index} = tl.load({source.name} + at{mask})")
    p.emit(f"value = {' ^ '.join(f'part{index} * {index + 2}' for index in range(len(sources)))}")
    if d.chance(30):
        p.emit("value += row[:, None].to(value.dtype)")
    p.emit(f"tl.store({out.name} + at, value.to(tl.{type_name}){mask})")


def channels_last(p, d):
    """Images or weights from channels first to channels last or back, as torch.compile writes it: rows of all images, taken apart by // and %, each row
    short or long; with masks of rows, of columns, of both or of none; read once or twice, also in place of a third array."""
    rows, columns = d.one_of([16, 64, 32, 4, 8]), d.one_of([16, 32, 64, 4, 8])
    channels, images = d.one_of([16, 32, 12, 28, 64, 5, 1]), d.one_of([2, 1, 3])
    high, wide = channels * images, d.one_of([9, 16, columns, 3, 2 * columns, columns + 5, 1])
    type_name = d.one_of(["int32", "float32", "int16", "uint8", "int64"])
    x, out = whole(p, d, type_name, high * wide), p.output(type_name, high * wide)
    down, along = cdiv(high, rows), cdiv(wide, columns)
    is_x_first = d.chance(70)
    set_grid(p, *((along, down) if is_x_first else (down, along)))
    row, column = ("tl.program_id(1)", "tl.program_id(0)") if is_x_first else ("tl.program_id(0)", "tl.program_id(1)")
    p.emit(f"y = ({lanes(p, d, f'{row} * {rows}', rows)})[:, None]")
    p.emit(f"x = ({lanes(p, d, f'{column} * {columns}', columns)})[None, :]")
    many = p.number(d, channels)
    p.emit(f"first = x + {wide} * y")
    p.emit(f"last = y % {many} + {many} * x + {wide * channels} * (y // {many})")
    masks = [f"(y < {p.number(d, high)})"] if high % rows or d.chance(50) else []
    masks += [f"(x < {p.number(d, wide)})"] if wide % columns or d.chance(30) else []
    mask = f", mask={d.one_of([' & '.join(masks), ' & '.join(reversed(masks))])}" if masks else ""
    source, target = d.one_of([("first", "last"), ("first", "last"), ("last", "first")])
    other = d.one_of(["", ", other=0"]) if mask else ""
    p.emit(f"value = tl.load({x.name} + {source}{mask}{other})")
    value = d.one_of(["value", "value", "value * 2", "value + value"])
    if d.chance(20):
        more = p.output(type_name, high * wide)
        p.emit(f"tl.store({more.name} + {d.one_of(['first', 'last'])}, value{mask})")
    p.emit(f"tl.store({out.name} + {target}, ({value}).to(tl.{type_name}){mask})")


def running_sums(p, d):
    """Rows one after the other, with sums of each and sums over all of them: what a row gives is stored before it is summed, or after, also in place."""
    block, rows = d.one_of([16, 64, 20, 128]), d.one_of([3, 1, 5])
    columns = d.one_of([block, block, max(1, block - 3)])
    type_name = d.one_of(["int32", "int64"])
    x, g = p.input(d, type_name, 2 * rows * columns), p.input(d, type_name, 2 * rows * columns)
    mean = p.input(d, type_name, 2 * rows)
    y, sums = p.output(type_name, 2 * rows * columns), p.output(type_name, 4 * columns)
    set_grid(p, 2)
    size = p.number(d, columns)
    p.emit(f"at = tl.arange(0, {block})")
    p.emit(f"inside = at < {size}")
    for name in ("first", "second"):
        p.emit(f"{name} = tl.zeros(({block},), tl.{type_name})")
    p.emit(f"for i in range({p.number(d, rows)}):")
    p.indent += 1
    p.emit(f"row = tl.program_id(0) * {rows} + i")
    p.emit(f"x = tl.load({x.name} + row * {size} + at, mask=inside, other=0)")
    p.emit(f"g = tl.load({g.name} + row * {size} + at, mask=inside, other=0)")
    p.emit(f"m = tl.load({mean.name} + row)")
    p.emit("normal = tl.where(inside, x - m, 0)")
    p.emit("total = tl.sum(normal * g, 0)")
    if d.chance(40):
        p.emit("total += tl.max(g, 0)")
    target = d.one_of([y.name, y.name, x.name, g.name])
    stored = f"tl.store({target} + row * {size} + at, {d.one_of(['normal * total', 'g - normal * total', 'x + total'])}, mask=inside)"
    added = ["first += g * normal", f"second += {d.one_of(['g', 'x', 'normal'])}"]
    statements = d.one_of([[stored, *added], [*added, stored], [added[0], stored, added[1]]])
    for statement in statements:
        p.emit(statement)
    p.indent -= 1
    for index, name in enumerate(("first", "second")):
        p.emit(f"tl.store({sums.name} + (tl.program_id(0) * 2 + {index}) * {size} + at, {name}, mask=inside)")


def dequantized(p, d):
    """Weights of four bits, packed, with a scale and a zero a group, unpacked by shifts or by join, times activations."""
    m, n, k = d.one_of([4, 1, 16, 5]), d.one_of([8, 16, 4]), d.one_of([32, 16, 64])
    group = d.one_of([8, 16])
    x, packed = whole(p, d, "float32", m * k, 2), p.input(d, "uint8", k // 2 * n)
    scale, zero = whole(p, d, "float32", k // group * n, 2), p.input(d, "uint8", k // group * n, ("range", 0, 15, d.fresh_key()))
    out = p.output("float32", m * n)
    set_grid(p, 1)
    p.emit(f"half, column = tl.arange(0, {k // 2}), tl.arange(0, {n})")
    p.emit(f"packed = tl.load({packed.name} + half[:, None] * {n} + column[None, :])")
    if d.chance(50):
        p.emit("both = tl.join(packed & 15, packed >> 4)")
        p.emit(f"codes = tl.reshape(tl.permute(both, (0, 2, 1)), ({k}, {n}))")
    else:
        p.emit(f"along = tl.arange(0, {k})")
        p.emit(f"bytes = tl.load({packed.name} + (along // 2)[:, None] * {n} + column[None, :])")
        p.emit("codes = (bytes >> ((along % 2) * 4)[:, None].to(tl.uint8)) & 15")
    codes = twisted(p, d, "codes", "uint8", (k, n))
    p.emit(f"groups = tl.arange(0, {k}) // {group}")
    p.emit(f"zero = tl.load({zero.name} + groups[:, None] * {n} + column[None, :])")
    p.emit(f"scale = tl.load({scale.name} + groups[:, None] * {n} + column[None, :])")
    p.emit(f"weight = ({codes}.to(tl.int32) - zero.to(tl.int32)).to(tl.float32) * scale")
    weight = twisted(p, d, "weight", "float32", (k, n))
    p.emit(f"x = tl.load({x.name} + tl.arange(0, {m})[:, None] * {k} + tl.arange(0, {k})[None, :])")
    p.emit(f'tl.store({out.name} + tl.arange(0, {m})[:, None] * {n} + column[None, :], tl.dot(x, {weight}, input_precision="ieee"))')


TEMPLATES = [(4, matmul), (2, block_matmul), (3, attention), (2, norm), (3, convolution), (2, dequantized), (2, planes), (2, running_sums), (3, channels_last)]
