"""Mutations of a value in the middle of a kernel: its type, shape and bound stay, what the compiler sees does not.

Most leave the value as it is (there and back again), some change it within its bound; all are drawn rarely, so that most of a
kernel stays what its author would have written.
"""

from .element_types import FP8, is_float, is_integer


def twisted(p, d, text, type_name, shape, bound=None):
    """The name of the value after some mutations, mostly none."""
    for _ in range(d.one_of(p.mutations)):
        change = d.one_of(CHANGES)(p, d, text, type_name, tuple(shape))
        if change is not None:
            name = p.name("x")
            p.emit(f"{name} = {change}")
            text = name
    return text


def zero_added(p, d, text, type_name, shape):
    return f"{text} + {'0.0' if is_float(type_name) else '0'}" if type_name not in FP8 and type_name != "int1" else None


def turned_twice(p, d, text, type_name, shape):
    if len(shape) == 2:
        return f"tl.trans(tl.trans({text}))"
    return f"tl.permute(tl.permute({text}, (2, 0, 1)), (1, 2, 0))" if len(shape) == 3 else None


def flattened(p, d, text, type_name, shape):
    return f"tl.reshape(tl.ravel({text}), {shape})" if shape else None


def flipped_twice(p, d, text, type_name, shape):
    axis = d.below(max(len(shape), 1))
    return f"tl.flip(tl.flip({text}, {axis}), {axis})" if shape else None


def partly_zero(p, d, text, type_name, shape):
    if not shape or type_name in FP8:
        return None
    condition = p.index(d, shape).condition()
    if type_name == "int1":
        return f"{text} & ({condition.text})"
    return f"tl.where({condition.text}, {text}, {'0.0' if is_float(type_name) else '0'})"


def cast_and_back(p, d, text, type_name, shape):
    if type_name == "int1":
        return f"{text}.to(tl.int32) != 0"
    wide = "float64" if is_float(type_name) else "int64"
    return f"{text}.to(tl.{wide}).to(tl.{type_name})"


def joined_and_split(p, d, text, type_name, shape):
    if not shape or len(shape) > 2:
        return None
    first, second = p.name("x"), p.name("x")
    p.emit(f"{first}, {second} = tl.split(tl.join({text}, {text}))")
    return d.one_of([first, second])


def through_function(p, d, text, type_name, shape):
    p.helper("def same_or_same(x, n):\n    if n > 2:\n        return x\n    y = x\n    return y\n")
    return f"same_or_same({text}, {d.one_of(['trips', 'n0'])})"


def through_branch(p, d, text, type_name, shape):
    name = p.name("x")
    p.emit(f"if {d.one_of(['n0 > 3', 'b0', 'trips > 1'])}:")
    p.emit(f"    {name} = {text}")
    p.emit("else:")
    p.emit(f"    {name} = {turned_twice(p, d, text, type_name, shape) or text}")
    return name


def through_loop(p, d, text, type_name, shape):
    """Carried and turned over in every round."""
    if not shape:
        return None
    name, counter = p.name("x"), p.name("i")
    p.emit(f"{name} = {text}")
    p.emit(f"for {counter} in range({d.one_of(['trips', '2', '1'])}):")
    moved = f"tl.trans({name})" if len(shape) == 2 and shape[0] == shape[1] else f"tl.flip({name}, {d.below(len(shape))})"
    p.emit(f"    {name} = {moved}")
    return name


def through_memory(p, d, text, type_name, shape):
    size = 1
    for extent in shape:
        size *= extent
    array = p.output(type_name, size * p.programs, p.tolerance)
    base = p.name("at")
    p.emit("tl.debug_barrier()")
    p.emit(f"{base} = {p.own(array, size)}{p.offsets(shape)}")
    p.emit(f"tl.store({base}, {text})")
    if d.chance(50):
        p.emit("tl.debug_barrier()")
    name = p.name("x")
    p.emit(f"{name} = tl.load({base})")
    p.emit("tl.debug_barrier()")
    return name


def reduced_from_one(p, d, text, type_name, shape):
    if not is_integer(type_name) or not shape or len(shape) > 2:
        return None
    index = ", ".join(["None"] + [":"] * len(shape))
    return f"tl.{d.one_of(['sum', 'max'])}({text}[{index}], 0).to(tl.{type_name})"


def cut_and_joined(p, d, text, type_name, shape):
    if not shape or shape[0] < 2:
        return None
    at = 1 + d.below(shape[0] - 1)
    rest = "".join([", :"] * (len(shape) - 1))
    return f"tl.cat({text}[0:{at}{rest}], {text}[{at}:{shape[0]}{rest}], dim=0)"


def picked_backwards(p, d, text, type_name, shape):
    if not shape or len(shape) > 2:
        return None
    lanes = f"({shape[0] - 1} - tl.arange(0, {shape[0]}))"
    if len(shape) == 2:
        lanes = f"tl.broadcast_to({lanes}[:, None], {shape})"
    return f"tl.gather({text}, {lanes}, 0)"


CHANGES = [zero_added, turned_twice, flattened, flipped_twice, partly_zero, cast_and_back, joined_and_split, through_function, through_branch,
           through_loop, through_memory, reduced_from_one, cut_and_joined, picked_backwards]  # fmt: skip
