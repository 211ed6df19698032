"""Kernels as people write them, whose addresses come from data: gathers, scatters, sorts, scans, sparse rows, lists, stencils."""

from .templates_dense import cdiv, lanes, set_grid, size_near, whole
from .twists import twisted


def expert_matmul(p, d):
    """Tokens sorted by expert: their numbers are loaded, those beyond the last are padding, each block has its expert's weights."""
    tokens, copies, experts = d.one_of([6, 16, 5, 9]), d.one_of([1, 2]), d.one_of([2, 1, 3])
    bt, bn, k = d.one_of([4, 16, 8]), d.one_of([8, 16, 4]), d.one_of([8, 16, 5])
    n = size_near(d, bn)
    blocks = d.one_of([2, 1, 3])
    type_name = d.one_of(["float32", "float16", "bfloat16"])
    x, w = whole(p, d, type_name, tokens * k), whole(p, d, type_name, experts * k * n)
    ids = p.input(d, "int32", blocks * bt, ("range", 0, tokens * copies + 2, d.fresh_key()))
    expert = p.input(d, d.one_of(["int32", "int64"]), blocks, ("range", 0, experts - 1, d.fresh_key()))
    out = p.output("float32", blocks * bt * n)
    set_grid(p, blocks, cdiv(n, bn))
    p.emit(f"slots = {lanes(p, d, f'tl.program_id(0) * {bt}', bt)}")
    p.emit(f"token = tl.load({ids.name} + slots)")
    p.emit(f"real = token < {p.number(d, tokens * copies)}")
    p.emit(f"expert = tl.load({expert.name} + tl.program_id(0))")
    p.emit(f"columns = {lanes(p, d, f'tl.program_id(1) * {bn}', bn)}")
    p.emit(f"along = tl.arange(0, {k})")
    p.emit(f"x = tl.load({x.name} + (token // {copies})[:, None] * {k} + along[None, :], mask=real[:, None], other=0)")
    p.emit(f"w = tl.load({w.name} + expert * {k * n} + along[:, None] * {p.number(d, n)} + columns[None, :], mask=columns[None, :] < {n}, other=0)")
    left, right = twisted(p, d, "x", type_name, (bt, k)), twisted(p, d, "w", type_name, (k, bn))
    p.emit(f'total = tl.dot({left}, {right}, input_precision="ieee")')
    total = twisted(p, d, "total", "float32", (bt, bn))
    p.emit(f"tl.store({out.name} + slots[:, None] * {n} + columns[None, :], {total}, mask=real[:, None] & (columns[None, :] < {n}))")


def sparse_rows(p, d):
    """A sparse matrix by rows times a vector: where a row begins and ends is loaded, and the loop runs over that."""
    rows, columns, block = d.one_of([3, 5, 8]), d.one_of([16, 7, 33]), d.one_of([4, 1, 8, 32, 64, 128])
    most = d.one_of([12, 5, 30, 100])
    entries = rows * most
    begins = p.input(d, "int32", rows, ("range", 0, entries // 2, d.fresh_key()))
    counts = p.input(d, "int32", rows, ("range", 0, most, d.fresh_key()))
    where, values = p.input(d, d.one_of(["int32", "int64", "uint8"]), entries, ("range", 0, columns - 1, d.fresh_key())), p.input(d, "int32", entries)
    x, out = p.input(d, "int32", columns), p.output("int32", rows)
    set_grid(p, rows)
    p.emit(f"begin = tl.load({begins.name} + tl.program_id(0))")
    p.emit(f"end = min(begin + tl.load({counts.name} + tl.program_id(0)), {p.number(d, entries)})")
    p.emit(f"total = tl.zeros(({block},), tl.int32)")
    p.emit(f"for start in range(begin, end, {block}):")
    p.indent += 1
    p.emit(f"at = {lanes(p, d, 'start', block)}")
    p.emit(f"column = tl.load({where.name} + at, mask=at < end, other=0)")
    p.emit(f"value = tl.load({values.name} + at, mask=at < end, other=0)")
    value = twisted(p, d, "value", "int32", (block,))
    p.emit(f"total += {value} * tl.load({x.name} + column, mask=at < end, other=0)")
    if d.chance(30):
        p.emit("if tl.sum(total) == 77:")
        p.emit("    break")
    p.indent -= 1
    p.emit(f"tl.store({out.name} + tl.program_id(0), tl.sum({twisted(p, d, 'total', 'int32', (block,))}))")


def compaction(p, d):
    """What passes a test is moved to the front: a running count gives the places."""
    size = d.one_of([16, 64, 33, 100, 256])
    type_name = d.one_of(["int32", "int16", "uint8", "int64"])
    x, out, count = p.input(d, type_name, size), p.output(type_name, size * 2), p.output("int32", 2)
    set_grid(p, d.one_of([1, 2]))
    p.emit(f"at = tl.arange(0, {size})")
    p.emit(f"x = tl.load({x.name} + at)")
    p.emit(f"keep = {d.one_of(['(x & 1) == 0', 'x > 3', '(x % 3 == 0) & (at > 2)', 'x != x[0]'])}")
    keep = twisted(p, d, "keep", "int1", (size,))
    p.emit(f"place = tl.cumsum({keep}.to(tl.int32), 0) - 1")
    place = twisted(p, d, "place", "int32", (size,))
    if place != "place":  # a mutation may have made two places one
        p.emit(f"tl.store({out.name} + tl.program_id(0) * {size} + at, {place}.to(tl.{type_name}))")
    else:
        p.emit(f"tl.store({out.name} + tl.program_id(0) * {size} + place, x, mask={keep})")
    p.emit(f"tl.store({count.name} + tl.program_id(0), tl.sum({keep}.to(tl.int32)))")


def counted_sort(p, d):
    """Counts of each key, where each key begins, and every element moved there: a step of a radix sort."""
    size, bits = d.one_of([16, 32, 64, 20]), d.one_of([2, 1, 3])
    bins = 1 << bits
    x, out, starts = p.input(d, "int32", size), p.output("int32", size), p.output("int32", bins)
    set_grid(p, 1)
    shift = p.number(d, d.one_of([0, 1, 4]))
    p.emit(f"at = tl.arange(0, {size})")
    p.emit(f"x = tl.load({x.name} + at)")
    p.emit(f"key = (x >> {shift}) & {bins - 1}")
    p.emit(f"counts = tl.histogram(key, {bins})")
    p.emit("begin = tl.cumsum(counts, 0) - counts")
    p.emit(f"tl.store({starts.name} + tl.arange(0, {bins}), {twisted(p, d, 'begin', 'int32', (bins,))})")
    p.emit(f"same = (key[:, None] == tl.arange(0, {bins})[None, :]).to(tl.int32)")
    p.emit("rank = tl.sum(tl.cumsum(same, 0) * same, 1) - 1")
    p.emit("place = tl.gather(begin, key, 0) + rank")
    p.emit(f"tl.store({out.name} + place, x)")
    if d.chance(50):
        p.emit("tl.debug_barrier()")
        p.emit(f"again = tl.load({out.name} + {size - 1} - at)")
        p.declare(d, "again", "int32", (size,))
    sorted_out = p.output("int32", size)
    p.emit(f"tl.store({sorted_out.name} + at, tl.sort({twisted(p, d, 'x', 'int32', (size,))}))")


def blocked_scan(p, d):
    """h = a * h + x along a row, block after block: the last state is carried from one block to the next."""
    block, rows = d.one_of([8, 16, 5, 32]), d.one_of([1, 3, 4])
    length = size_near(d, block, 3)
    type_name = d.one_of(["int32", "int64", "uint32"])
    a, x, out = p.input(d, type_name, rows * length), p.input(d, type_name, rows * length), p.output(type_name, rows * length)
    set_grid(p, 1)
    p.helper("def compose_linear(a, b, c, d):\n    return a * c, b * c + d\n")
    size = p.number(d, length)
    p.emit(f"rows = tl.arange(0, {rows})")
    p.emit(f"state = tl.zeros(({rows},), tl.{type_name})")
    p.emit(f"for start in range(0, {size}, {block}):")
    p.indent += 1
    p.emit(f"at = {lanes(p, d, 'start', block)}")
    p.emit(f"where = rows[:, None] * {size} + at[None, :]")
    p.emit(f"a = tl.load({a.name} + where, mask=at[None, :] < {size}, other=1)")
    p.emit(f"x = tl.load({x.name} + where, mask=at[None, :] < {size}, other=0)")
    left, right = twisted(p, d, "a", type_name, (rows, block)), twisted(p, d, "x", type_name, (rows, block))
    p.emit(f"scale, local = tl.associative_scan(({left}, {right}), 1, compose_linear)")
    p.emit("h = scale * state[:, None] + local")
    h = twisted(p, d, "h", type_name, (rows, block))
    p.emit(f"tl.store({out.name} + where, {h}, mask=at[None, :] < {size})")
    last = f"tl.sum(tl.where(tl.arange(0, {block})[None, :] == {block - 1}, {h}, 0), 1).to(tl.{type_name})"
    p.emit(f"state = {d.one_of([last, f'{h}[:, {block - 1}]'])}")
    p.indent -= 1
    p.declare(d, "state", type_name, (rows,))


def chased(p, d):
    """A list in memory, followed link by link; several lists side by side, lane by lane."""
    size, lists = d.one_of([8, 16, 33]), d.one_of([1, 4, 8, 5])
    link, value = p.input(d, "int32", size, ("range", 0, size - 1, d.fresh_key())), p.input(d, "int32", size)
    out = p.output("int32", lists)
    set_grid(p, 1)
    steps = p.number(d, d.one_of([3, 1, 6]))
    if d.chance(40):
        p.emit("at = 0")
        p.emit("total = 0")
        p.emit("taken = 0")
        p.emit(f"while taken < {steps}:")
        p.emit(f"    total = total * 3 + tl.load({value.name} + at)")
        p.emit(f"    at = tl.load({link.name} + at)")
        p.emit("    taken += 1")
        p.emit(f"tl.store({out.name}, total)")
        return
    p.emit(f"at = tl.arange(0, {lists}) % {size}")
    p.emit(f"total = tl.zeros(({lists},), tl.int32)")
    p.emit(f"for i in range({steps}):")
    p.indent += 1
    p.emit(f"total = total * 3 + tl.load({value.name} + at)")
    p.emit(f"at = tl.load({link.name} + at)")
    if d.chance(40):
        p.emit("if tl.max(at, 0) == 0:")
        p.emit("    break")
    p.indent -= 1
    p.emit(f"tl.store({out.name} + tl.arange(0, {lists}), {twisted(p, d, 'total', 'int32', (lists,))})")


def stencil(p, d):
    """A grid of cells, each from its neighbours, around the edges or with masks, several rounds between two buffers."""
    high, wide = d.one_of([4, 8, 5, 16]), d.one_of([8, 4, 7, 16])
    type_name = d.one_of(["int32", "int8", "uint8", "int16"])
    first, second = p.input(d, type_name, high * wide), p.input(d, type_name, high * wide)
    set_grid(p, 1)
    wrap = d.chance(60)
    p.emit(f"r, c = tl.arange(0, {high})[:, None], tl.arange(0, {wide})[None, :]")
    p.emit(f"a, b = {first.name}, {second.name}")
    p.emit(f"for round in range({p.number(d, d.one_of([2, 1, 3]))}):")
    p.indent += 1
    p.emit(f"total = tl.zeros(({high}, {wide}), tl.{type_name})")
    p.emit("for dr in tl.static_range(-1, 2):")
    p.indent += 1
    p.emit("for dc in tl.static_range(-1, 2):")
    p.indent += 1
    h, w = p.number(d, high), p.number(d, wide)
    if wrap:
        p.emit(f"total += tl.load(a + (r + dr + {h}) % {h} * {wide} + (c + dc + {w}) % {w})")
    else:
        p.emit(f"inside = (r + dr >= 0) & (r + dr < {h}) & (c + dc >= 0) & (c + dc < {w})")
        p.emit(f"total += tl.load(a + (r + dr) * {wide} + c + dc, mask=inside, other={d.one_of([0, 1])})")
    p.indent -= 2
    total = twisted(p, d, "total", type_name, (high, wide))
    p.emit(f"tl.store(b + r * {wide} + c, {total})")
    p.emit("tl.debug_barrier()")
    p.emit("a, b = b, a")
    p.indent -= 1


def window(p, d):
    """Every output from the last few inputs of a sequence, with state of what came before: a causal convolution."""
    length, width, block = d.one_of([20, 8, 33]), d.one_of([4, 3, 2]), d.one_of([8, 16, 5])
    channels = d.one_of([4, 8, 1])
    x, w, before = p.input(d, "int32", channels * length), p.input(d, "int32", channels * width), p.input(d, "int32", channels * width)
    out = p.output("int32", channels * length)
    set_grid(p, cdiv(length, block))
    p.emit(f"c = tl.arange(0, {channels})[:, None]")
    p.emit(f"t = ({lanes(p, d, f'tl.program_id(0) * {block}', block)})[None, :]")
    p.emit(f"total = tl.zeros(({channels}, {block}), tl.int32)")
    p.emit(f"for j in {d.one_of([f'range({width})', f'tl.static_range({width})', f'tl.range({width})'])}:")
    p.indent += 1
    p.emit(f"at = t + (j - {width - 1})")
    size = p.number(d, length)
    p.emit(f"now = tl.load({x.name} + c * {size} + at, mask=(at >= 0) & (at < {size}), other=0)")
    p.emit(f"old = tl.load({before.name} + c * {width} + at + {width}, mask=(at < 0) & (t >= 0), other=0)")
    value = twisted(p, d, "now", "int32", (channels, block))
    p.emit(f"total += ({value} + old) * tl.load({w.name} + c * {width} + j)")
    p.indent -= 1
    p.emit(f"tl.store({out.name} + c * {size} + t, {twisted(p, d, 'total', 'int32', (channels, block))}, mask=t < {size})")


def rotated_pairs(p, d):
    """Even and odd elements, or two halves, turned together."""
    rows, half = d.one_of([4, 1, 5]), d.one_of([8, 4, 16])
    x, cos, sin = p.input(d, "int32", rows * 2 * half), p.input(d, "int32", rows * half), p.input(d, "int32", rows * half)
    out = p.output("int32", rows * 2 * half)
    set_grid(p, d.one_of([1, 2]))
    p.emit(f"r, h = tl.arange(0, {rows})[:, None], tl.arange(0, {half})[None, :]")
    p.emit(f"cos, sin = tl.load({cos.name} + r * {half} + h), tl.load({sin.name} + r * {half} + h)")
    if d.chance(50):
        p.emit(f"x = tl.load({x.name} + r * {2 * half} + tl.arange(0, {2 * half})[None, :])")
        p.emit(f"a, b = tl.split(tl.reshape({twisted(p, d, 'x', 'int32', (rows, 2 * half))}, ({rows}, {half}, 2)))")
        p.emit("y = tl.interleave(a * cos - b * sin, b * cos + a * sin)")
        y = twisted(p, d, "y", "int32", (rows, 2 * half))
        p.emit("if tl.program_id(0) == 0:")
        p.emit(f"    tl.store({out.name} + r * {2 * half} + tl.arange(0, {2 * half})[None, :], {y})")
    else:
        p.emit(f"a = tl.load({x.name} + r * {2 * half} + h)")
        p.emit(f"b = tl.load({x.name} + r * {2 * half} + h + {half})")
        a, b = twisted(p, d, "a", "int32", (rows, half)), twisted(p, d, "b", "int32", (rows, half))
        p.emit("if tl.program_id(0) == 0:")
        p.emit(f"    tl.store({out.name} + r * {2 * half} + h, {a} * cos - {b} * sin)")
        p.emit(f"    tl.store({out.name} + r * {2 * half} + h + {half}, {b} * cos + {a} * sin)")


def scattered_rows(p, d):
    """Rows of a table by number, and their gradients added back where they came from."""
    entries, width, tokens, block = d.one_of([5, 16, 3]), d.one_of([8, 5, 16]), d.one_of([4, 9, 16]), d.one_of([4, 8, 16])
    type_name = d.one_of(["float32", "int32", "float16"])
    table = whole(p, d, type_name, entries * width)
    ids = p.input(d, d.one_of(["int64", "int32"]), tokens, ("range", -1, entries - 1, d.fresh_key()))
    out = p.output(type_name, tokens * width)
    gradient = p.output("int32", entries * width, contents=("range", 0, 0, 1))
    set_grid(p, cdiv(tokens, block))
    p.emit(f"token = {lanes(p, d, f'tl.program_id(0) * {block}', block)}")
    p.emit(f"id = tl.load({ids.name} + token, mask=token < {p.number(d, tokens)}, other=-1)")
    p.emit(f"c = tl.arange(0, {width})")
    p.emit(f"row = tl.load({table.name} + id[:, None] * {width} + c[None, :], mask=id[:, None] >= 0, other=0)")
    row = twisted(p, d, "row", type_name, (block, width))
    p.emit(f"tl.store({out.name} + token[:, None] * {width} + c[None, :], {row}, mask=token[:, None] < {tokens})")
    p.emit(f"tl.atomic_add({gradient.name} + id[:, None] * {width} + c[None, :], {row}.to(tl.int32), mask=id[:, None] >= 0)")


def dropped(p, d):
    """Random numbers by their place: the same bits everywhere."""
    size = d.one_of([16, 64, 33, 100])
    x, out, bits = p.input(d, "int32", size * 2), p.output("int32", size * 2), p.output("uint32", size * 2)
    set_grid(p, 2)
    p.emit(f"at = {lanes(p, d, f'tl.program_id(0) * {size}', size)}")
    p.emit(f"random = tl.randint({p.number(d, d.one_of([7, 123456, 0]))}, at.to(tl.int32))")
    p.emit("keep = (random >> 3) % 4 != 0")
    p.emit(f"x = tl.load({x.name} + at, mask={twisted(p, d, 'keep', 'int1', (size,))}, other=0)")
    p.emit(f"tl.store({out.name} + at, {twisted(p, d, 'x', 'int32', (size,))})")
    p.emit(f"tl.store({bits.name} + at, random)")


def butterflies(p, d):
    """A transform by halves: in every step pairs at a distance meet, split off by a reshape."""
    steps = d.one_of([3, 2, 4, 5])
    size, rows = 1 << steps, d.one_of([1, 3, 4])
    x, out = p.input(d, "int32", rows * size), p.output("int32", rows * size)
    set_grid(p, 1)
    p.emit(f"at = tl.arange(0, {rows})[:, None] * {size} + tl.arange(0, {size})[None, :]")
    p.emit(f"x = tl.load({x.name} + at)")
    for step in range(steps):
        distance = 1 << step
        shape = (rows * size // (2 * distance), 2, distance)
        p.emit(f"y = tl.permute(tl.reshape(x, {shape}), (0, 2, 1))")
        p.emit("a, b = tl.split(y)")
        p.emit(f"x = tl.reshape(tl.permute(tl.join(a + b, (a - b) * {step + 1}), (0, 2, 1)), ({rows}, {size}))")
        if d.chance(30):
            p.emit(f"x = {twisted(p, d, 'x', 'int32', (rows, size))}")
    p.emit(f"tl.store({out.name} + at, x)")


TEMPLATES = [(2, expert_matmul), (2, sparse_rows), (1, compaction), (1, counted_sort), (2, blocked_scan), (1, chased), (2, stencil), (2, window),
             (1, rotated_pairs), (1, scattered_rows), (1, dropped), (1, butterflies)]  # fmt: skip
