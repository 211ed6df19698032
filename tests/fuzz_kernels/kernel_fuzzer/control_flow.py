"""Statements that hold others: loops of every kind with carried tiles, branches, functions with several returns, recurrences."""

from .element_types import EXACT, INTEGERS, is_float, is_integer
from .program import Loop, Scope, Value

DEEPEST = 2  # loops and branches within one another


def counted(p, d):
    """(head, values): what a `for` counts over, and the numbers it gives (or more than those)."""
    trips, step = p.scalars["trips"], p.scalars["step"]
    kind = d.below(10)
    if kind == 8:  # next to where the counter wraps around
        start, stride = (1 << 31) - d.one_of([5, 3, 9]), d.one_of([1, 3, 4])
        stop = (1 << 31) - 1
        return f"range({p.number(d, start)}, {p.number(d, stop)}, {stride})", list(range(start, stop, stride))
    if kind == 9:  # a bound from memory
        name = p.name()
        array = p.input(d, "int32", 1, ("range", 0, 3, d.fresh_key()))
        p.emit(f"{name} = tl.load({array.name})")
        return f"range({name})", [0, 1, 2]
    if kind == 0:
        return "range(trips)", list(range(trips))
    if kind == 1:
        stop = d.one_of([3, 1, 2, 5])
        return f"range({stop})", list(range(stop))
    if kind == 2:
        return "range(0, 7, step)", list(range(0, 7, step)) if step > 0 else []
    if kind == 3:
        return "range(trips + 2, 0, -1)", list(range(trips + 2, 0, -1))
    if kind == 4:
        return "range(trips, trips + 3)", list(range(trips, trips + 3))
    if kind == 5:
        return "tl.range(1, 6, 2)", [1, 3, 5]
    if kind == 6:
        return "tl.static_range(3)", [0, 1, 2]
    if not p.loops or p.loops[-1].type != "int32":
        return "tl.range(0, trips, num_stages=2)", list(range(trips))
    return f"range({p.loops[-1].counter}, 4)", list(range(min(p.loops[-1].values), 4))


def carried_value(p, d):
    """What a loop carries: a copy of a value under a name of its own."""
    shape = () if d.chance(12) else p.shape(d, largest=1024)
    kind = d.one_of(["int32", "int32", "float32", "int64", "int8", "uint16", "uint32", "float16", "float64", "bfloat16", "uint8", "int1"])
    bound = min(64, EXACT[kind] // 2) if is_float(kind) else None
    start = p.operand(d, kind, shape, bound)
    name = p.name()
    p.emit(f"{name} = {start.text}")
    return Value(name, kind, shape, d.fresh_key(), bound + 32 if bound else None)


def elsewhere(d, c, matrix=None):
    """A text that reads a carried tile at other places than its own."""
    forms = []
    if matrix is not None and (matrix.type != c.type or not c.shape or matrix.shape[0] != c.shape[0]):
        matrix = None
    if c.shape:
        axis = d.below(len(c.shape))
        forms += [f"tl.flip({c.text}, {axis})"]
        if is_integer(c.type):
            forms += [f"tl.cumsum({c.text}, {axis}).to(tl.{c.type})", f"{c.text} - tl.max({c.text}, {axis}, keep_dims=True).to(tl.{c.type})",
                      f"{c.text} ^ tl.sum({c.text}, {axis}, keep_dims=True).to(tl.{c.type})"]  # fmt: skip
        if len(c.shape) == 2 and c.shape[0] == c.shape[1]:
            forms = [f"tl.trans({c.text})"] * 3 + forms
        if len(c.shape) >= 2:
            forms.append(f"tl.reshape(tl.permute({c.text}, {tuple(reversed(range(len(c.shape))))}), {c.shape})")
        if matrix is not None and len(c.shape) == 1:
            forms = [f"tl.sum({matrix.text} * {c.text}[None, :], 1).to(tl.{c.type})",
                     f"tl.sum({matrix.text} * {c.text}[:, None], 0).to(tl.{c.type})"] + forms  # fmt: skip
        if matrix is not None and len(c.shape) == 2 and c.shape[0] == c.shape[1] and is_integer(c.type):
            forms = [f"tl.dot({c.text}.to(tl.int8), {matrix.text}.to(tl.int8)).to(tl.{c.type})",
                     f"tl.dot({matrix.text}.to(tl.int8), {c.text}.to(tl.int8)).to(tl.{c.type})"] + forms  # fmt: skip
    return d.one_of(forms) if forms else c.text


def update(p, d, c, matrix):
    """The next value of what is carried: made of itself, of the loop's counter, of what the body made."""
    fresh = [value for value in p.scopes[-1].values if not value.used and value is not c]
    text = c.text
    if d.chance(60):
        text = elsewhere(d, c, matrix)
    if is_float(c.type):
        if d.chance(50):
            text = f"({text}) + 1.0"
        for value in fresh[:1]:
            if p.reshaped(None, value.shape, c.shape) is not None:
                value.used = True
                made, bound, _ = p.cast(d, value, c.type, c.bound - 32)
                other = p.reshaped(d, value.shape, c.shape, made)
                text = f"tl.where({p.index(d, c.shape).condition().text}, {text}, {other})"
        p.emit(f"{c.text} = tl.minimum({text}, {float(c.bound - 32)})" if "+ 1.0" in text and d.chance(30) else f"{c.text} = {text}")
        return
    if c.type == "int1":
        condition = p.index(d, c.shape).condition()
        p.emit(f"{c.text} = ({text}) {d.one_of(['^', '&', '|'])} ({condition.text})")
        return
    counter = p.loops[-1].counter if p.loops and p.loops[-1].type == "int32" else "3"
    text = d.one_of([f"({text}) * 3 + 1", f"({text}) + 1", text, f"(({text}) + {counter})"])
    for value in fresh[:2]:
        if p.reshaped(None, value.shape, c.shape) is not None:
            value.used = True
            made, _, _ = p.cast(d, value, c.type)
            text = f"({text}) ^ {p.reshaped(d, value.shape, c.shape, made)}"
    p.emit(f"{c.text} = ({text}).to(tl.{c.type})")


def body(p, d, carried, low=0, high=3, extra=()):
    """The statements within, in a scope of their own."""
    p.scopes.append(Scope(list(carried)))
    p.indent += 1
    for line in extra:
        p.emit(line)
    if len(p.scopes) <= DEEPEST + 1:
        for gene in d.bodies(low, high):
            p.statement(gene)


def close(p):
    p.scopes.pop()
    p.indent -= 1


def finish(p, d, carried):
    for c in carried:
        value = p.declare(d, c.text, c.type, c.shape, c.bound)
        value.key = c.key


def jump(p, d, counter, carried):
    """A test that leaves the loop or the round early."""
    word = d.one_of(["break", "continue"])
    test = d.one_of([f"{counter} > 1", f"{counter} == n0", f"{counter} % 2 == 1", "n1 > 5"])
    whole = [c for c in carried if is_integer(c.type)]
    if whole and d.chance(40):
        test = f"tl.max({whole[0].text}.to(tl.int32)) > 100" if whole[0].shape else f"{whole[0].text} > 20"
    return [f"if {test}:", f"    {word}"]


def matrix_for(p, d, carried):
    """Something to multiply a carried tile by, made before the loop."""
    c = carried[0]
    if not is_integer(c.type) or not d.chance(50) or not c.shape or len(c.shape) > 2 or c.shape[0] > 64:
        return None
    return p.operand(d, c.type, (c.shape[0], c.shape[0]))


def for_loop(p, d):
    if len(p.scopes) > DEEPEST:
        return
    carried = [carried_value(p, d) for _ in range(d.between(1, 2))]
    matrix = matrix_for(p, d, carried)
    head, values = counted(p, d)
    counter = p.name("i")
    jumps = jump(p, d, counter, carried) if d.chance(40) and "static" not in head else []
    loop = Loop(counter, "int32", values or [0], "static" in head)
    if not jumps and d.chance(30):
        start, stride = d.one_of([0, 5, (1 << 31) - 2, -3]), d.one_of([1, 8, 3, -1])
        loop.offset, loop.offsets = p.name("offset"), [start + stride * turn for turn in range(len(loop.values))]
        p.emit(f"{loop.offset} = {start}")
    p.emit(f"for {counter} in {head}:")
    p.loops.append(loop)
    late = d.chance(50)
    with p.reached(bool(values)):
        body(p, d, carried, extra=[] if late else jumps)
        for c in carried:
            update(p, d, c, matrix)
    if late:
        for line in jumps:
            p.emit(line)
    if loop.offset:
        p.emit(f"{loop.offset} += {stride}")
    if len(carried) == 2 and carried[0].type == carried[1].type and carried[0].shape == carried[1].shape:
        p.emit(f"{carried[0].text}, {carried[1].text} = {carried[1].text}, {carried[0].text}")
    close(p)
    p.loops.pop()
    finish(p, d, carried)


def while_loop(p, d):
    if len(p.scopes) > DEEPEST:
        return
    carried = [carried_value(p, d)]
    matrix = matrix_for(p, d, carried)
    counter = p.name("t")
    start = d.one_of([2, 1, 3, 5])
    p.emit(f"{counter} = {start}")
    by_value = d.chance(30) and is_integer(carried[0].type) and not carried[0].shape
    p.emit(f"while ({counter} > 0){f' & ({carried[0].text} != 7)' if by_value else ''}:")
    p.loops.append(Loop(counter, "int32", list(range(1, start + 1))))
    body(p, d, carried)
    update(p, d, carried[0], matrix)
    p.emit(f"{counter} -= 1")
    if d.chance(30):
        for line in jump(p, d, counter, carried):
            p.emit(line)
    close(p)
    p.loops.pop()
    finish(p, d, carried)


def halving(p, d):
    """A loop whose rounds depend on what it computes."""
    a = p.operand(d, d.one_of(["int32", "int64", "uint8", "uint16"]), p.shape(d, largest=1024), range=(0, 100))
    name = p.name()
    p.emit(f"{name} = {a.text}")
    limit = d.one_of([3, 0, 20])
    p.emit(f"while tl.max({name}.to(tl.int32)) > {limit}:")
    step = d.one_of([f"{name} // 2", f"{name} >> 1", f"tl.where({name} > {limit}, tl.flip({name}, 0) // 2, {name} // 2)"])
    p.emit(f"    {name} = {step}")
    p.declare(d, name, a.type, a.shape, None, (0, 100))


def branch(p, d):
    """One name bound in both arms."""
    if len(p.scopes) > DEEPEST:
        return
    a = p.any(d)
    scalar = p.find(d, lambda v: is_integer(v.type) and not v.shape)
    test = d.one_of(["n0 > 3", "trips > 1", "n1 < n2", "tl.program_id(0) == 0", "b0", "f0 > 1.5"])
    if scalar is not None and d.chance(60):
        test = f"{scalar.text} > 3"
    name = p.name()
    holds = p.holds(test)
    p.emit(f"if {test}:")
    with p.reached(holds):
        body(p, d, [], 0, 2)
        b = p.operand(d, a.type, a.shape, a.bound)
    p.emit(f"{name} = {b.text}")
    close(p)
    p.emit("else:")
    p.scopes.append(Scope())
    p.indent += 1
    with p.reached(None if holds is None else not holds):
        c = p.operand(d, a.type, a.shape, a.bound)
    p.emit(f"{name} = {c.text}")
    close(p)
    bounds = [value.bound for value in (b, c)]
    p.declare(d, name, a.type, a.shape, None if None in bounds else max(bounds))


def helper_call(p, d):
    """A function with several returns, of a run-time or a constexpr condition, in a branch or a loop."""
    a = p.any(d)
    b = p.operand(d, a.type, a.shape, a.bound)
    kind = d.below(4)
    if kind == 0:
        p.helper("def first_or_second(x, y, n):\n    if n > 2:\n        return x\n    return y\n")
        text = f"first_or_second({a.text}, {b.text}, {d.one_of(['trips', 'n0', 'n1'])})"
    elif kind == 1:
        body_text = "    if C > 4:\n        return x\n    elif C == 4:\n        return y\n    else:\n        return tl.where(x == y, x, y)\n"
        p.helper(f"def chosen(x, y, C: tl.constexpr = 4):\n{body_text}")
        text = d.one_of([f"chosen({a.text}, {b.text}, C0)", f"chosen({a.text}, y={b.text})", f"chosen({a.text}, {b.text}, C=7)"])
    elif kind == 2:
        p.helper("def in_turn(x, y, n):\n    for i in range(n):\n        if i == 1:\n            return y\n        x, y = y, x\n    return x\n")
        text = f"in_turn({a.text}, {b.text}, trips)"
    else:
        text = f"{a.text} if {d.one_of(['n0 > 3', 'C0 > 4', 'trips == 2'])} else {b.text}"
    bound = None if a.bound is None or b.bound is None else max(a.bound, b.bound)
    p.bind(d, text, a.type, a.shape, bound)


def early_return(p, d):
    """The rest of the program does not run, for some programs of the grid."""
    if p.indent == 1:
        p.emit(f"if {d.one_of(['n0 == 77', 'tl.program_id(0) == 1', 'n1 > (1 << 30)', 'trips == 4'])}:")
        p.emit("    return")


def float_recurrence(p, d):
    """h = dot(h * 0.5, W) + X and its like: the carried tile is an operand, converted or scaled, of its own next value."""
    kind = d.below(5)
    size = d.one_of([4, 8, 16, 5, 7, 12, 32])
    rows = d.one_of([size, size, 3, 8])
    small = d.one_of(["float32", "float16", "bfloat16"])
    trips, bound = 0, 3
    wide = EXACT["float32"] // 16
    name, counter = p.name(), p.name("i")
    weights = p.operand(d, "float32" if kind in (0, 3) else small, (size, size), 1)
    added = p.operand(d, "float32", (rows, size) if kind != 4 else (size, rows), 2)
    start = p.operand(d, "float32", (rows, size) if kind != 4 else (size, rows), 2)
    most = d.one_of([2, 3, 1])
    while trips < most and bound * size + 2 < wide and (kind in (0, 3) or bound <= EXACT[small]):
        bound, trips = bound * size + 2, trips + 1
    p.emit(f"{name} = {start.text}")
    p.emit(f"for {counter} in range({p.number(d, trips)}):")
    update_text = [
        f'tl.dot({name} * 0.5, {weights.text}, input_precision="ieee") + {added.text}',
        f"tl.dot({name}.to(tl.{small}), {weights.text}, {added.text})",
        f"tl.dot({name}.to(tl.{small}), {weights.text}) + {added.text}",
        f"tl.sum({weights.text}[None, :, :] * {name}[:, None, :], 2) + {added.text}",
        f"tl.dot({weights.text}, {name}.to(tl.{small}), {added.text})",
    ][kind]
    p.emit(f"    {name} = {update_text}")
    # Halves of whole numbers are exact too, but no whole numbers: such a result is only stored.
    p.declare(d, name, "float32", (rows, size) if kind != 4 else (size, rows), None if kind == 0 else bound)


def ragged_sum(p, d):
    """A sum over rows of different lengths: beyond a row's end the mask leaves nothing, or what the load names; factors may be infinite."""
    type_name = d.one_of(["float32", "int32", "float32", "float64"])
    lanes, rows, trips = d.one_of([8, 16, 64, 20, 128]), d.one_of([4, 1, 3, 8]), d.one_of([3, 2, 4, 1])
    lengths = p.input(d, "int32", rows, ("range", 0, lanes * trips, d.fresh_key()))
    size = lanes * trips
    x = p.input(d, type_name, rows * size, ("range", -5, 5, d.fresh_key()) if type_name == "int32" else ("exact", 5, d.fresh_key()))
    total, counter, at, end = p.name(), p.name("i"), p.name("at"), p.name("end")
    p.emit(f"{end} = tl.load({lengths.name} + tl.arange(0, {rows}))[:, None]")
    p.emit(f"{total} = tl.full(({rows}, {lanes}), {d.one_of(['0', '1', '-3'])}, tl.{type_name})")
    factor = d.one_of(["", "", " * 2", " * -1"])
    if is_float(type_name) and d.chance(60):
        factor = p.name()
        some = d.one_of([f"(tl.arange(0, {lanes}) % 3 == 0)[None, :]", f"{end} > {size // 2}", "b0"])
        p.emit(f"{factor} = tl.where({some}, float('inf'), 2.0).to(tl.{type_name})")
        factor = f" * {factor}"
    other = d.one_of(["", ", other=0", ", other=1", ", other=2"])
    p.emit(f"for {counter} in range({p.number(d, trips)}):")
    p.emit(f"    {at} = {counter} * {lanes} + tl.arange(0, {lanes})[None, :]")
    p.emit(f"    {total} += tl.load({x.name} + tl.arange(0, {rows})[:, None] * {size} + {at}, mask={at} < {end}{other}){factor}")
    p.declare(d, total, type_name, (rows, lanes))


def attention(p, d):
    """Scores, their running maximum and sum, and a rescaled accumulator, over blocks of keys; in whole numbers and halves."""
    queries, keys, width = d.one_of([4, 16, 8, 5, 1]), d.one_of([4, 16, 8, 7]), d.one_of([8, 16, 4, 3, 20])
    blocks = d.one_of([2, 1, 3])
    small = d.one_of(["float32", "float16", "bfloat16"])
    length = max(1, keys * blocks - d.one_of([0, 1, 3]))
    q = p.operand(d, small, (queries, width), 2)
    k, v = (p.input(d, small, length * width, ("exact", 1, d.fresh_key())) for _ in range(2))
    most, total, sum_name, start, score = (p.name(prefix) for prefix in ("m", "v", "l", "k", "s"))
    p.emit(f"{most} = tl.full(({queries},), -1000.0, tl.float32)")
    p.emit(f"{sum_name} = tl.zeros(({queries},), tl.float32)")
    p.emit(f"{total} = tl.zeros(({queries}, {width}), tl.float32)")
    p.emit(f"for {start} in range(0, {p.number(d, length)}, {keys}):")
    p.indent += 1
    lanes = f"({start} + tl.arange(0, {keys}))"
    places = f"{lanes}[:, None] * {width} + tl.arange(0, {width})[None, :]"
    mask = f"{lanes}[:, None] < {length}"
    p.emit(f"keys{score} = tl.load({k.name} + {places}, mask={mask}, other=0)")
    p.emit(f'{score} = tl.dot({q.text}, tl.trans(keys{score}), input_precision="ieee")')
    p.emit(f"{score} = tl.where({lanes}[None, :] < {length}, {score}, -500.0)")
    p.emit(f"new{most} = tl.maximum({most}, tl.max({score}, 1))")
    p.emit(f"old{most} = tl.where({most} == new{most}, 1.0, 0.5)")
    p.emit(f"part{score} = tl.where({score} == new{most}[:, None], 2.0, 1.0)")
    p.emit(f"{sum_name} = {sum_name} * old{most} + tl.sum(part{score}, 1)")
    p.emit(f"{total} = {total} * old{most}[:, None]")
    p.emit(f"values{score} = tl.load({v.name} + {places}, mask={mask}, other=0)")
    p.emit(f"{total} = tl.dot(part{score}.to(tl.{small}), values{score}, {total})")
    p.emit(f"{most} = new{most}")
    p.indent -= 1
    p.declare(d, total, "float32", (queries, width))
    p.declare(d, sum_name, "float32", (queries,))
    p.declare(d, most, "float32", (queries,), 1000)


def rotation(p, d):
    """Carried tiles that change places, one of them read elsewhere."""
    shape = p.shape(d, largest=1024)
    type_name = d.one_of(["int32", "int64", "uint8", "int16", *INTEGERS])
    values = [p.operand(d, type_name, shape) for _ in range(d.one_of([2, 3]))]
    names = [p.name() for _ in values]
    for name, value in zip(names, values):
        p.emit(f"{name} = {value.text}")
    counter = p.name("i")
    p.emit(f"for {counter} in range({d.one_of(['trips', '3', '2'])}):")
    last = Value(names[-1], type_name, shape, 0)
    turned = [*names[1:], f"({names[0]} + {elsewhere(d, last)}).to(tl.{type_name})"]
    if d.chance(30):  # the same as a tuple
        state = p.name("state")
        p.lines.insert(len(p.lines) - 1, "    " * p.indent + f"{state} = ({', '.join(names)})")
        p.emit(f"    {', '.join(names)} = {state}")
        p.emit(f"    {state} = ({', '.join(turned)})")
        p.emit(f"{', '.join(names)} = {state}")
    else:
        p.emit(f"    {', '.join(names)} = {', '.join(turned)}")
    for name in names:
        p.declare(d, name, type_name, shape)


MAKERS = [
    (6, for_loop), (2, while_loop), (1, halving), (3, branch), (2, helper_call), (1, early_return), (3, float_recurrence), (2, rotation), (2, attention), (3, ragged_sum),
]  # fmt: skip
