"""Statements that work element by element: operators, casts, comparisons, choices, functions of single elements, scalars."""

from .element_types import EXACT, FLOATS, FP8, INTEGERS, SIGNED, UNSIGNED, WIDTHS, is_float, is_integer, promoted
from .index_expressions import LITERAL, convert

EXACT_TARGETS = ["float32", "float16", "bfloat16", "float64", "float8e4nv", "float8e5"]


def partner(p, d, a, type_name, bound=None):
    """A second operand: of the first one's shape, of a shape that broadcasts to it, or a scalar."""
    shape = a.shape
    way = d.below(6)
    if way == 4 and len(shape) > 1:
        axis = d.below(len(shape))
        shape = tuple(1 if other == axis else extent for other, extent in enumerate(shape))
    elif way == 5:
        shape = ()
    return p.operand(d, type_name, shape, bound)


def integer_binary(p, d):
    a = p.any(d, lambda v: is_integer(v.type))
    same = d.chance(65)
    b = partner(p, d, a, a.type if same else d.one_of(list(INTEGERS)))
    operator = d.one_of(["+", "-", "*", "&", "|", "^", "minimum", "maximum", "<<", ">>", "//", "%", "shift by a number", "divide by a number", "divide by a number of the launch"])
    x, y = (a, b) if d.chance(50) or operator in ("<<", ">>") else (b, a)
    type_name = promoted(x.type, y.type)
    if operator in ("//", "%", "<<", ">>") and (x.type in SIGNED) != (y.type in SIGNED):
        operator = "^"
    if operator in ("minimum", "maximum"):
        expression = f"tl.{operator}({x.text}, {y.text})"
    elif operator in ("//", "%") and d.chance(40):  # small divisors, and none
        expression = f"{x.text} {operator} ({y.text} & {d.one_of([7, 1, 15])})"
    elif operator == "shift by a number":
        count = d.one_of([1, 3, 0, 7, 8, WIDTHS[a.type] - 1, WIDTHS[a.type], WIDTHS[a.type] + 9, 31, 32])
        expression, type_name = f"{a.text} {d.one_of(['<<', '>>'])} {min(count, 127)}", a.type
    elif operator == "divide by a number":
        divisor = d.one_of([2, 3, 8, 7, 10, 16, 64, 100, 1, 127] + [-1, -2, -7] * (a.type in SIGNED))
        expression, type_name = f"{a.text} {d.one_of(['//', '%'])} {divisor if divisor > 0 else f'({divisor})'}", a.type
    elif operator == "divide by a number of the launch":  # some of them have reciprocals that are too small
        name = f"size{len(p.scalars)}"
        p.scalars[name] = d.one_of([49, 41, 3, 7, 10, 47, 55, 61, 82, 97, 98, 100])
        expression, type_name = f"{a.text} {d.one_of(['//', '%'])} {name}.to(tl.{a.type})", a.type
    else:
        expression = f"{x.text} {operator} {y.text}"
    if d.chance(20):
        type_name = d.one_of(list(INTEGERS))
        expression = f"({expression}).to(tl.{type_name})"
    p.bind(d, expression, type_name, a.shape)


def division_by_launch(p, d):
    """By a number that the launch gives: of its multiples and their neighbors, where a quotient is rounded least; some have reciprocals that
    are too small, and some are zero."""
    type_name = d.one_of(["int8", "int32", "uint8", "int16", "int64", "uint32", "uint16"])
    shape = () if d.chance(20) else p.shape(d)
    a = p.operand(d, type_name, shape)
    name = f"size{len(p.scalars)}"
    if d.chance(30):
        p.scalars[name] = d.one_of([16, 8, 32, 17])
        divisor = f"({name} & 7).to(tl.{type_name})"
        dividend = a.text
    else:
        p.scalars[name] = d.one_of([49, 41, 98, 103, 47, 107, 55, 61, 82, 97, 3, 7])
        divisor = f"{name}.to(tl.{type_name})"
        dividend = f"(({a.text} & {d.one_of([3, 7, 1])}) * {divisor}{d.one_of(['', '', ' - 1', ' + 1'])})"
    p.bind(d, f"{dividend} {d.one_of(['//', '%'])} {divisor}", type_name, shape)


def integer_unary(p, d):
    a = p.any(d, lambda v: is_integer(v.type))
    forms = ["{0} + 1", "-{0}", "~{0}", "3 - {0}", "{0} * 5", "{0} & 15", "{0} ^ 85"] + ["tl.abs({0})"] * (a.type in SIGNED)
    if WIDTHS[a.type] >= 32:
        forms.append("tl.umulhi({0}, {0})")
    p.bind(d, d.one_of(forms).format(a.text), a.type, a.shape)


def exact_float_binary(p, d):
    """Sums and products of whole numbers: the same bits fused or not."""
    a = p.any(d, lambda v: is_float(v.type) and v.bound is not None)
    b = partner(p, d, a, d.one_of([a.type, a.type, "float32"]), 16)
    if b.bound is None:
        return
    operator = d.one_of(["+", "-", "*", "maximum", "minimum"])
    bound = a.bound * b.bound if operator == "*" else a.bound + b.bound
    type_name = promoted(a.type, b.type)
    x, y = (a, b) if d.chance(50) else (b, a)
    expression = f"tl.{operator}({x.text}, {y.text}) + 0.0" if operator in ("maximum", "minimum") else f"{x.text} {operator} {y.text}"
    if bound > EXACT[type_name]:
        type_name = "float64"
        x, y = f"{x.text}.to(tl.float64)", f"{y.text}.to(tl.float64)"
        expression = f"tl.{operator}({x}, {y}) + 0.0" if operator in ("maximum", "minimum") else f"{x} {operator} {y}"
    if bound < 1 << 50:
        p.bind(d, expression, type_name, a.shape, bound)


def wild_float_binary(p, d):
    """What IEEE 754 rounds once, without a fused operation in sight."""
    a = p.any(d, lambda v: is_float(v.type))
    b = partner(p, d, a, d.one_of([a.type, a.type, *FLOATS]))
    operator = d.one_of(["maximum", "minimum", "clamp", "+", "-", "*", "/", "fma", "abs", "neg"])
    if operator in ("+", "-", "*", "/", "fma") and p.fusion:
        operator = "maximum"
    type_name = promoted(a.type, b.type)
    nan = d.one_of(["", ", propagate_nan=tl.PropagateNan.ALL"])
    if operator in ("maximum", "minimum"):
        expression = f"tl.{operator}({a.text}, {b.text}{nan}) + 0.0"
    elif operator == "clamp":
        wide = a.text if a.type in ("float32", "float64") else f"{a.text}.to(tl.float32)"
        expression, type_name = f"tl.clamp({wide}, -1.5, 2.5{nan}) + 0.0", a.type if a.type in ("float32", "float64") else "float32"
    elif operator == "fma":
        expression, type_name = f"tl.fma({a.text}.to(tl.float32), {b.text}.to(tl.float32), 0.5)", "float32"
    elif operator == "/":
        type_name = d.one_of(list(FLOATS))
        expression = f"({a.text} / ({b.text} + 0.0)).to(tl.{type_name})"
    elif operator in ("abs", "neg"):
        wide = a.text if a.type not in FP8 else f"{a.text}.to(tl.float16)"
        expression, type_name = f"tl.abs({wide})" if operator == "abs" else f"-{wide}", a.type if a.type not in FP8 else "float16"
    else:
        expression = f"{a.text} {operator} {b.text}"
    p.bind(d, expression, type_name, a.shape)


def cast(p, d):
    a = p.any(d)
    type_name = d.one_of([*INTEGERS, *FLOATS, *FP8, "int1"])
    way = d.below(5)
    if way == 3 and is_integer(a.type):
        same = [t for t in INTEGERS if WIDTHS[t] == WIDTHS[a.type]]
        type_name = d.one_of(same)
        p.bind(d, f"{a.text}.to(tl.{type_name}, bitcast=True)", type_name, a.shape)
    elif way == 4 and is_float(a.type) and a.type not in FP8:
        narrower = [t for t in (*FLOATS, *FP8) if WIDTHS[t] < WIDTHS[a.type]]
        if narrower:
            type_name = d.one_of(narrower)
            p.bind(d, f'{a.text}.to(tl.{type_name}, fp_downcast_rounding="rtz")', type_name, a.shape)
    elif way == 2 and is_float(a.type):  # the bits of what is not NaN
        bits = "int" + str(WIDTHS[a.type])
        p.bind(d, f"tl.where({a.text} == {a.text}, ({a.text} + 0.0).to(tl.{bits}, bitcast=True), 0)", bits, a.shape)
    else:
        text, bound, known = p.cast(d, a, type_name, EXACT[type_name] if is_float(type_name) and d.chance(50) else None)
        p.bind(d, text, type_name, a.shape, bound, known)


def narrowed(p, d):
    """A float in a smaller format: rounded once, from whichever format it was in."""
    wide = d.one_of(["float64", "float32", "float64", "float16", "bfloat16"])
    type_name = d.one_of([name for name in (*FLOATS, *FP8) if WIDTHS[name] < WIDTHS[wide]])
    shape = p.shape(d)
    a = p.find(d, lambda v: v.type == wide and v.bound is None) if d.chance(40) else None
    a = a or p.load(d, wide, shape)
    p.bind(d, f"{a.text}.to(tl.{type_name})", type_name, a.shape)


def compare(p, d):
    a = p.any(d, lambda v: v.type != "int1")
    type_name = a.type if d.chance(60) or is_float(a.type) else d.one_of(list(INTEGERS))
    b = partner(p, d, a, type_name)
    expression = f"{a.text} {d.one_of(['<', '<=', '>', '>=', '==', '!='])} {b.text}"
    if d.chance(30):
        other = p.operand(d, "int1", a.shape)
        expression = f"({expression}) {d.one_of(['&', '|', '^'])} {other.text}"
    p.bind(d, expression, "int1", a.shape)


def choose(p, d):
    a = p.any(d)
    b = partner(p, d, a, a.type, a.bound)
    if d.chance(50):
        condition = p.index(d, a.shape).condition().text
    else:
        condition = p.operand(d, "int1", a.shape).text
    bound = max(a.bound, b.bound) if a.bound is not None and b.bound is not None else None
    p.bind(d, f"tl.where({condition}, {a.text}, {b.text})", a.type, a.shape, bound)


def index_value(p, d):
    """An expression over the lanes as a value of its own, and as the bounds check of another."""
    shape = p.shape(d)
    maker = p.index(d, shape)
    index = maker.expression(d.between(1, 4))
    if d.chance(25):
        index = convert(index, "int64")
    if d.chance(20):
        condition = maker.condition(2)
        text = condition.text if condition.shape == shape else f"tl.broadcast_to({condition.text}, {shape})"
        p.bind(d, text, "int1", shape)
        return
    if index.shape == shape:
        p.bind(d, index.text, index.type, shape)
    elif index.type != LITERAL:
        p.bind(d, f"tl.broadcast_to({index.text}, {shape})", index.type, shape)


def scalar_arithmetic(p, d):
    """Numbers without axes: of the launch, of the program's place, of a tile."""
    maker = p.index(d, ())
    index = maker.tree(3)
    if index.type == LITERAL:
        index = convert(maker.zero(), "int64")
    way = d.below(6)
    if way == 4:
        p.bind(d, "f0 * 2.0", "float32", (), 100)
    elif way == 5:
        p.bind(d, d.one_of(["tl.cdiv(trips, 3) + n0", "tl.num_programs(0) + trips", "b0.to(tl.int32) + trips"]).replace("n0", "trips"), "int32", ())
    elif way == 3:
        a = p.any(d, lambda v: is_integer(v.type) and v.shape)
        p.bind(d, f"tl.sum({a.text}.to(tl.int32)) + ({index.text}).to(tl.int32)", "int32", ())
    else:
        p.bind(d, index.text, index.type, ())


def elementary(p, d):
    """Elementary functions: compared with a tolerance, and so stored at once and used by nothing."""
    a = p.operand(d, d.one_of(["float32", "float64"]), p.shape(d), 64)
    function = d.one_of(["sqrt", "floor", "ceil", "exp", "exp2", "log", "sin", "cos", "rsqrt", "erf", "sigmoid"])
    tolerance = {"float32": 4e-6, "float64": 1e-14}[a.type] if function not in ("sqrt", "floor", "ceil") else 0.0
    value = p.bind(d, f"tl.{function}({a.text} * 0.25)", a.type, a.shape)
    value.used = True
    p.scopes[-1].values.remove(value)
    if p.indent == 1:
        p.store_output(value, tolerance)


def constant(p, d):
    shape = p.shape(d)
    type_name = d.one_of(["int32", "float32", "int8", "uint8", "int64", "uint32", "float16", "bfloat16", "float64"])
    number = d.one_of([0, 1, 3, 100, 7])
    form = d.below(3)
    bound = max(number, 1) if is_float(type_name) else None
    if form == 0:
        p.bind(d, f"tl.full({shape}, {number}, tl.{type_name})", type_name, shape, bound)
    elif form == 1:
        p.bind(d, f"tl.zeros({shape}, tl.{type_name})", type_name, shape, bound)
    else:
        a = p.operand(d, type_name, (), 100 if bound else None)
        p.bind(d, f"tl.full({shape}, {a.text}, tl.{type_name})", type_name, shape, a.bound if bound else None)


def mapped(p, d):
    """A function of single elements that branches and loops."""
    a = p.operand(d, d.one_of(["int32", "int64", "uint32", "int16"]), p.shape(d, largest=512))
    kind = d.below(4)
    if kind == 3:  # two tensors in, two out
        b = p.operand(d, a.type, a.shape)
        p.helper("def map_two(x, y):\n    if x > y:\n        return x - y, y\n    return y, x ^ y\n")
        first, second = p.name(), p.name()
        p.emit(f"{first}, {second} = tl.map_elementwise(map_two, {a.text}, {b.text})")
        for name in (first, second):
            p.declare(d, name, a.type, a.shape)
        return
    name = f"map_{kind}"
    body = ["    if x > 7:\n        return x - 3\n    return x ^ 21\n",
            "    y = x\n    for i in range(3):\n        if y % 2 == 0:\n            y = y // 2\n        else:\n            y = y * 3 + 1\n    return y\n",
            "    y = x\n    while y > 9:\n        y = y // 3\n    return y\n"][kind]  # fmt: skip
    if kind and a.type in UNSIGNED:
        return
    p.helper(f"def {name}(x):\n{body}")
    p.bind(d, f"tl.map_elementwise({name}, {a.text}).to(tl.{a.type})", a.type, a.shape)


MAKERS = [
    (6, integer_binary), (2, division_by_launch), (2, integer_unary), (3, exact_float_binary), (3, wild_float_binary), (4, cast), (2, narrowed), (3, compare), (3, choose), (7, index_value),
    (2, scalar_arithmetic), (1, elementary), (2, constant), (1, mapped),
]  # fmt: skip
