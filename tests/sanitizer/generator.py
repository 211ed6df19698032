"""Random kernels with one bug each, and their twins without.

A template draws sizes, types and forms from a seed and makes a Case: the text of a kernel whose wrong line ends in `# BUG`, a function that launches
it, the sanitizer that has to find the bug and the argument that it is about. With `planted` false the same draws make the clean twin, which differs
in that one place."""

import random
import textwrap
from dataclasses import dataclass
from typing import Callable

import numpy as np
import torch

FLOATS = ("float32", "float16", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
TEMPLATES = []
ALL, CHECKED = ("cpu", "interpreter", "simulator"), ("cpu", "interpreter")


@dataclass
class Case:
    name: str
    kind: str  # of the sanitizer
    text: str
    launch: Callable  # of the kernel
    argument: str | None = None  # None: of arithmetic, or any of several
    engines: tuple = ALL


def template(function):
    TEMPLATES.append(function)
    return function


def make(seed, planted):
    """The case of a seed."""
    draw = random.Random(seed)
    function = TEMPLATES[seed % len(TEMPLATES)]
    name = f"{function.__name__}_{seed}_{'planted' if planted else 'clean'}"
    case = function(name, draw, planted)
    case.name = name
    case.text = textwrap.dedent(case.text)
    return case


def array(shape, dtype, fill=1, numpy=False):
    return np.full(shape, fill, dtype) if numpy else torch.full(shape if isinstance(shape, tuple) else (shape,), fill, dtype=getattr(torch, dtype))


def power(draw, low, high):
    return 1 << draw.randint(low, high)


# Bounds ------------------------------------------------------------------------------------------------------------------------


@template
def mask_of_a_copy(name, draw, planted):
    dtype, block, blocks, numpy = draw.choice(FLOATS + INTEGERS), power(draw, 2, 8), draw.randint(1, 4), draw.random() < 0.4
    n = max(1, block * blocks - draw.randint(1, block - 1))
    on_load = draw.random() < 0.5
    wrong = draw.choice(["i <= n", "i - 1 < n", "i < n + 1", "(i < n) | (i == n)", "i * 2 < n * 2 + 1"])
    masks = [wrong if planted and on_load else "i < n", wrong if planted and not on_load else "i < n"]
    text = f"""
        @triton.jit
        def {name}(src, dst, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(src + i, mask={masks[0]}, other=0){'  # BUG' if on_load else ''}
            tl.store(dst + i, x, mask={masks[1]}){'' if on_load else '  # BUG'}
    """

    def launch(kernel):
        kernel[(blocks,)](array(n, dtype, numpy=numpy), array(n, dtype, 0, numpy), n, BLOCK=block)

    return Case(name, "asan", text, launch, "src" if on_load else "dst")


@template
def one_before_or_after(name, draw, planted):
    dtype, block, blocks = draw.choice(FLOATS + INTEGERS), power(draw, 0, 7), draw.randint(1, 5)
    shift = draw.choice([-1, 1, -block, block, block * blocks, -3])
    is_view, on_store, loops = draw.random() < 0.5, draw.random() < 0.5, draw.random() < 0.5
    off = f"{shift}" if planted else "0"
    load = f"tl.load(src + i{'' if on_store else ' + SHIFT'})"
    store = f"tl.store(dst + i{' + SHIFT' if on_store else ''}, x)"
    body = [f"x = {load}{'' if on_store else '  # BUG'}", f"{store}{'  # BUG' if on_store else ''}"]
    if loops:
        lines = ["for b in range(blocks):", "    i = b * BLOCK + tl.arange(0, BLOCK)", *("    " + line for line in body)]
    else:
        lines = ["i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", *body]
    text = f"@triton.jit\ndef {name}(src, dst, blocks, BLOCK: tl.constexpr, SHIFT: tl.constexpr):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"

    def launch(kernel):
        n = block * blocks
        whole = array(4 * n + 16, dtype)
        src = whole[n + 5 : 2 * n + 5] if is_view else array(n, dtype)
        kernel[(1 if loops else blocks,)](src, array(n, dtype, 0), blocks, BLOCK=block, SHIFT=int(off))

    return Case(name, "asan", text, launch, "dst" if on_store else "src")


@template
def padding_of_a_view(name, draw, planted):
    dtype, rows, columns = draw.choice(FLOATS), power(draw, 1, 4), power(draw, 2, 5)
    padding, numpy, transposed = draw.randint(1, 9), draw.random() < 0.4, draw.random() < 0.4
    width = columns - draw.randint(0, columns - 1)
    limit = "width + 1" if planted else "width"
    if width == columns:
        width -= 1
    axes = ("c[:, None]", "r[None, :]") if transposed else ("r[:, None]", "c[None, :]")
    column, row = (axes[0], axes[1]) if transposed else (axes[1], axes[0])
    on_store = draw.random() < 0.5
    lines = [f"x = tl.load(src + {row} * stride + {column}, mask={column} < {'width' if on_store else limit}, other=0)", f"tl.store(dst + {row} * stride + {column}, x, mask={column} < {limit if on_store else 'width'})"]
    lines[1 if on_store else 0] += "  # BUG"
    text = f"""
        @triton.jit
        def {name}(src, dst, stride, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
            r = tl.arange(0, ROWS)
            c = tl.arange(0, COLUMNS)
            {lines[0]}
            {lines[1]}
    """

    def launch(kernel):
        stride = columns + padding
        src, dst = (array((rows + 1, stride), dtype, 1, numpy)[:rows, :width] for _ in range(2))
        kernel[(1,)](src, dst, stride, width, ROWS=rows, COLUMNS=columns)

    return Case(name, "asan", text, launch, "dst" if on_store else "src")


@template
def swapped_strides(name, draw, planted):
    dtype, rows, columns = draw.choice(FLOATS + INTEGERS), power(draw, 1, 3), power(draw, 4, 6)
    by_pointer_steps = draw.random() < 0.5
    a, b = ("stride_n", "stride_m") if planted else ("stride_m", "stride_n")
    if by_pointer_steps:
        load = f"""p = src + r[:, None] * {a}
            x = tl.load(p + c[None, :] * {b})  # BUG"""
    else:
        load = f"x = tl.load(src + (r[:, None] * {a} + c[None, :] * {b}))  # BUG"
    text = f"""
        @triton.jit
        def {name}(src, dst, stride_m, stride_n, M: tl.constexpr, N: tl.constexpr):
            r = tl.arange(0, M)
            c = tl.arange(0, N)
            {load}
            tl.store(dst + r[:, None] * N + c[None, :], x)
    """

    def launch(kernel):
        src = array((rows, columns), dtype)
        kernel[(1,)](src, array((rows, columns), dtype, 0), columns, 1, M=rows, N=columns)

    return Case(name, "asan", text, launch, "src")


@template
def offset_that_wraps(name, draw, planted):
    """The sum wraps to a negative number, which the mask lets through."""
    block, dtype = power(draw, 3, 7), draw.choice(FLOATS)
    text = f"""
        @triton.jit
        def {name}(src, dst, first, n, BLOCK: tl.constexpr):
            i = first + tl.arange(0, BLOCK)
            x = tl.load(src + i, mask=i < n, other=0)  # BUG
            tl.store(dst + tl.arange(0, BLOCK), x)
    """

    def launch(kernel):
        first = 2**31 - block // 2 if planted else 1
        kernel[(1,)](array(block + 1, dtype), array(block, dtype, 0), first, block + 1, BLOCK=block)

    return Case(name, "asan", text, launch, "src")


@template
def made_descriptor(name, draw, planted):
    dtype, block, columns = draw.choice(["float32", "float16", "int32"]), power(draw, 2, 4), power(draw, 3, 5)
    rows = block * draw.randint(1, 3) - draw.randint(1, block - 1)
    on_store = draw.random() < 0.5
    extents = [("rows + 1" if planted and not on_store else "rows"), ("rows + 1" if planted and on_store else "rows")]
    text = f"""
        @triton.jit
        def {name}(src, dst, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
            a = tl.make_tensor_descriptor(src, shape=[{extents[0]}, COLUMNS], strides=[COLUMNS, 1], block_shape=[BLOCK, COLUMNS])
            b = tl.make_tensor_descriptor(dst, shape=[{extents[1]}, COLUMNS], strides=[COLUMNS, 1], block_shape=[BLOCK, COLUMNS])
            row = tl.program_id(0) * BLOCK
            x = a.load([row, 0]){'' if on_store else '  # BUG'}
            b.store([row, 0], x){'  # BUG' if on_store else ''}
    """

    def launch(kernel):
        kernel[((rows + block) // block,)](array((rows, columns), dtype), array((rows, columns), dtype, 0), rows, COLUMNS=columns, BLOCK=block)

    return Case(name, "asan", text, launch, "dst" if on_store else "src", engines=CHECKED)


@template
def block_pointer(name, draw, planted):
    dtype, block, blocks, columns = draw.choice(FLOATS), power(draw, 2, 4), draw.randint(1, 3), power(draw, 2, 5)
    rows = block * blocks - draw.randint(1, block - 1)
    wrong = draw.choice(["check", "shape", "offset"])
    check = ", boundary_check=(1,)" if planted and wrong == "check" else ", boundary_check=(0, 1)"
    shape = "rows + 1" if planted and wrong == "shape" else "rows"
    offset = "row - 1" if planted and wrong == "offset" else "row"
    if wrong == "offset":
        check = ""
        rows = block * blocks
    advance = draw.random() < 0.5
    pointer = "tl.make_block_ptr(src, (S, COLUMNS), (COLUMNS, 1), (O, 0), (BLOCK, COLUMNS), (1, 0))".replace("S,", f"{shape},", 1)
    if advance:
        made = f"p = tl.advance({pointer.replace('O,', '0,', 1)}, ({offset}, 0))"
    else:
        made = f"p = {pointer.replace('O,', offset + ',', 1)}"
    other = ', padding_option="zero"' if check else ""
    text = f"""
        @triton.jit
        def {name}(src, dst, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
            row = tl.program_id(0) * BLOCK
            {made}
            x = tl.load(p{check}{other})  # BUG
            i = (row + tl.arange(0, BLOCK))[:, None]
            tl.store(dst + i * COLUMNS + tl.arange(0, COLUMNS)[None, :], x, mask=i < rows)
    """

    def launch(kernel):
        kernel[(blocks,)](array((rows, columns), dtype), array((rows, columns), dtype, 0), rows, COLUMNS=columns, BLOCK=block)

    return Case(name, "asan", text, launch, "src", engines=CHECKED)


@template
def index_from_memory(name, draw, planted):
    block, _, n = power(draw, 2, 6), draw.choice(FLOATS), draw.randint(3, 50)
    beyond, at = draw.choice([0, None, 17, 1 << 20]), draw.randint(0, block - 1)
    kind, index_type = draw.choice(["load", "store", "add", "max", "xchg", "cas"]), draw.choice(["int32", "int64"])
    if kind == "cas":
        access = "tl.atomic_cas(table + k, 0, 5)"
    else:
        access = {"load": "tl.load(table + k)", "store": "tl.store(table + k, i)"}.get(kind, f"tl.atomic_{kind}(table + k, i)")
    text = f"""
        @triton.jit
        def {name}(table, index, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            k = tl.load(index + i)
            {'x = ' if kind == 'load' else ''}{access}  # BUG
            {'tl.store(out + i, x)' if kind == 'load' else ''}
    """

    if kind == "store":  # which of two lanes stays is not defined
        n = max(n, block)

    def launch(kernel):
        index = torch.arange(block, dtype=getattr(torch, index_type)) % n
        if planted:
            index[at] = -1 if beyond is None else n + beyond
        kernel[(1,)](array(n, "int32"), index, array(block, "int32"), BLOCK=block)

    return Case(name, "asan", text, launch, "table")


@template
def scalars_and_branches(name, draw, planted):
    n, grid = draw.randint(2, 40), draw.randint(2, 6)
    at = draw.choice([-1, n, n + 5]) if planted else draw.randint(0, n - 1)
    where = draw.randint(0, grid - 1)
    form = draw.choice(["if", "while", "helper", "ifelse"])
    helper = f"""
        @triton.jit
        def {name}_helper(p, at):
            return tl.load(p + at)  # BUG
    """
    body = {
        "if": "x = 0.0\n            if tl.program_id(0) == where:\n                x += tl.load(src + at)  # BUG",
        "while": "x = 0.0\n            k = 0\n            while k < 1:\n                x += tl.load(src + at)  # BUG\n                k += 1",
        "helper": f"x = {name}_helper(src, at)",
        "ifelse": "if at == 0:\n                x = tl.load(src)\n            else:\n                x = tl.load(src + at)  # BUG",
    }[form]
    text = textwrap.dedent(helper if form == "helper" else "") + textwrap.dedent(f"""
        @triton.jit
        def {name}(src, dst, at, where):
            {body}
            tl.store(dst + tl.program_id(0), x)
    """)

    def launch(kernel):
        kernel[(grid,)](array(n, "float32"), array(grid, "float32", 0), at, where)

    # For GPUs LLVM makes one load of those in both branches: its line may be that of either.
    return Case(name, "asan", text, launch, "src", engines=CHECKED if form == "ifelse" else ALL)


@template
def view_with_steps(name, draw, planted):
    """What lies between its elements is not its own."""
    n, step, wrong, numpy = power(draw, 2, 5), draw.randint(2, 4), draw.choice([1, -1]), draw.random() < 0.5
    text = f"""
        @triton.jit
        def {name}(src, dst, step, N: tl.constexpr):
            i = tl.arange(0, N)
            x = tl.load(src + i * step)  # BUG
            tl.store(dst + i, x)
    """

    def launch(kernel):
        view = array(n * step + 3, "float32", numpy=numpy)[: n * step : step]
        kernel[(1,)](view, array(n, "float32", 0), step + wrong if planted else step, N=n)

    return Case(name, "asan", text, launch, "src")


@template
def three_axes(name, draw, planted):
    shape = [draw.randint(1, 4), draw.randint(1, 4), draw.randint(2, 9)]
    axis = draw.randint(0, 2)
    grid = list(shape[:2])
    if planted and axis < 2:
        grid[axis] += 1
    last = f"k < {'N + 1' if planted and axis == 2 else 'N'}"
    text = f"""
        @triton.jit
        def {name}(src, dst, M, N, BLOCK: tl.constexpr):
            k = tl.arange(0, BLOCK)
            x = tl.load(src + (tl.program_id(0) * M + tl.program_id(1)) * N + k, mask={last}, other=0.0)  # BUG
            tl.store(dst, 1.0, mask=tl.sum(x) < 0)
    """

    def launch(kernel):
        m = shape[1] + (1 if planted and axis == 1 else 0)
        kernel[tuple(grid)](array(tuple(shape), "float32"), array(1, "float32"), m, shape[2], BLOCK=16)

    return Case(name, "asan", text, launch, "src")


@template
def tuple_of_arrays(name, draw, planted):
    block, which, dtype = power(draw, 2, 6), draw.randint(0, 2), draw.choice(FLOATS)
    sizes = [block - 1 if planted and i == which else block for i in range(3)]
    lines = [f"x = tl.load(all[0] + i){'  # BUG' if which == 0 else ''}", f"y = tl.load(all[1] + i){'  # BUG' if which == 1 else ''}",
             f"tl.store(all[2] + i, x + y){'  # BUG' if which == 2 else ''}"]
    text = f"@triton.jit\ndef {name}(all, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n" + "".join(f"    {line}\n" for line in lines)

    def launch(kernel):
        kernel[(1,)](tuple(array(size, dtype) for size in sizes), BLOCK=block)

    return Case(name, "asan", text, launch, f"all[{which}]")


@template
def host_descriptor(name, draw, planted):
    block, blocks, columns = power(draw, 2, 4), draw.randint(1, 3), power(draw, 2, 5)
    rows = block * blocks - draw.randint(0, block - 1)
    text = f"""
        @triton.jit
        def {name}(src, dst, rows, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
            row = tl.program_id(0) * BLOCK
            x = src.load([row, 0])
            i = (row + tl.arange(0, BLOCK))[:, None]
            tl.store(dst + i * COLUMNS + tl.arange(0, COLUMNS)[None, :], x, mask=i < rows{' + 1' if planted else ''})  # BUG
    """

    def launch(kernel):
        from triton.tools.tensor_descriptor import TensorDescriptor

        src = TensorDescriptor.from_tensor(array((rows, columns), "float32"), [block, columns])
        kernel[(blocks + 1,)](src, array((rows, columns), "float32", 0), rows, BLOCK=block, COLUMNS=columns)

    return Case(name, "asan", text, launch, "dst", engines=CHECKED)


@template
def empty_array(name, draw, planted):
    """An array without elements has none that may be touched."""
    n, dtype, numpy = draw.randint(1, 40), draw.choice(FLOATS), draw.random() < 0.5
    mask = draw.choice(["i < n", "i <= n - 1"])
    text = f"""
        @triton.jit
        def {name}(src, dst, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            x = tl.load(src + i, mask={mask}, other=0)  # BUG
            tl.store(dst + i, x)
    """

    def launch(kernel):
        kernel[(1,)](array((n, 3), dtype, 1, numpy)[n:], array(64, dtype, numpy=numpy), 1 if planted else 0, BLOCK=64)

    return Case(name, "asan", text, launch, "src")


# Races -------------------------------------------------------------------------------------------------------------------------


@template
def two_programs_at_a_distance(name, draw, planted):
    grid, block, dtype = draw.randint(3, 60), power(draw, 0, 6), draw.choice(FLOATS + INTEGERS)
    wrong = f"pid % {grid - 1}" if draw.random() < 0.5 else f"tl.minimum(pid, {grid - 2})"
    text = f"""
        @triton.jit
        def {name}(dst, BLOCK: tl.constexpr):
            pid = tl.program_id(0)
            tl.store(dst + ({wrong if planted else 'pid'}) * BLOCK + tl.arange(0, BLOCK), pid)  # BUG
    """

    def launch(kernel):
        kernel[(grid,)](array(grid * block, dtype), BLOCK=block)

    return Case(name, "tsan", text, launch, "dst")


@template
def neighbour_in_place(name, draw, planted):
    """The element after the own block: read after write or write after read, as it comes."""
    grid, block, dtype, reach = draw.randint(2, 9), power(draw, 2, 6), draw.choice(FLOATS), draw.choice([1, -1])
    text = f"""
        @triton.jit
        def {name}(src, dst, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(src + i + {reach}, mask=(i + {reach} < n) & (i + {reach} >= 0), other=0)  # BUG
            tl.store(dst + i, x)  # BUG
    """

    def launch(kernel):
        n = grid * block
        data = array(n, dtype)
        kernel[(grid,)](data, data if planted else array(n, dtype), n, BLOCK=block)

    return Case(name, "tsan", text, launch)


@template
def overlap_through_a_loop(name, draw, planted):
    grid, block, steps = draw.randint(2, 6), power(draw, 1, 5), draw.randint(2, 5)
    forwards = draw.random() < 0.5
    stride = f"steps * BLOCK{' - 1' if planted else ''}"
    k = "k" if forwards else "(steps - 1 - k)"
    text = f"""
        @triton.jit
        def {name}(dst, steps, BLOCK: tl.constexpr):
            for k in range(steps):
                tl.store(dst + tl.program_id(0) * ({stride}) + {k} * BLOCK + tl.arange(0, BLOCK), tl.program_id(0))  # BUG
    """

    def launch(kernel):
        kernel[(grid,)](array(grid * steps * block, "float32"), steps, BLOCK=block)

    return Case(name, "tsan", text, launch, "dst")


@template
def aliased_arguments(name, draw, planted):
    grid, block = draw.randint(2, 6), power(draw, 2, 6)
    overlap = draw.randint(1, block)
    text = f"""
        @triton.jit
        def {name}(src, dst, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(src + i)  # BUG
            tl.store(dst + i, x + 1)  # BUG
    """

    def launch(kernel):
        n = grid * block
        whole = array(3 * n, "float32")
        shift = overlap if planted else n
        kernel[(grid,)](whole[:n], whole[shift : shift + n], BLOCK=block)

    return Case(name, "tsan", text, launch)


@template
def plain_beside_atomic(name, draw, planted):
    grid, operation = draw.randint(2, 9), draw.choice(["add", "max", "min", "or", "xchg"])
    plain = draw.choice(["tl.store(total, 1)", "x = tl.load(total)\n            tl.store(own + pid, x)"])
    fine = "tl.atomic_add(total, 1)" if plain.startswith("tl.store") else "x = tl.atomic_add(total, 0)\n            tl.store(own + pid, x)"
    first, *rest = (plain if planted else fine).split("\n")
    text = f"""
        @triton.jit
        def {name}(total, own):
            pid = tl.program_id(0)
            tl.atomic_{operation}(total, pid)  # BUG
            {first}  # BUG
            {''.join(rest).strip()}
    """

    def launch(kernel):
        kernel[(grid,)](array(1, "int32"), array(grid, "int32"))

    return Case(name, "tsan", text, launch, "total")


@template
def lock(name, draw, planted):
    grid = draw.randint(2, 5)
    wrong = draw.choice(["take", "give", "both"])
    take = ', sem="relaxed"' if planted and wrong in ("take", "both") else draw.choice(["", ', sem="acquire"', ', sem="acq_rel"'])
    give = ', sem="relaxed"' if planted and wrong in ("give", "both") else draw.choice(["", ', sem="release"', ', sem="acq_rel"'])
    text = f"""
        @triton.jit
        def {name}(lock, data):
            while tl.atomic_cas(lock, 0, 1{take}) == 1:
                pass
            x = tl.load(data)  # BUG
            tl.store(data, x + 1)  # BUG
            tl.atomic_xchg(lock, 0{give})
    """

    def launch(kernel):
        kernel[(grid,)](array(1, "int32", 0), array(1, "int32", 0))

    return Case(name, "tsan", text, launch, "data", engines=CHECKED)


@template
def last_one_sums(name, draw, planted):
    """Partial results and a ticket: whoever draws the last ticket reads them all."""
    grid = power(draw, 1, 4)
    sem = ', sem="relaxed"' if planted else draw.choice(["", ', sem="acq_rel"'])
    text = f"""
        @triton.jit
        def {name}(part, ticket, out, GRID: tl.constexpr):
            pid = tl.program_id(0)
            tl.store(part + pid, pid + 1)  # BUG
            if tl.atomic_add(ticket, 1{sem}) == GRID - 1:
                x = tl.load(part + tl.arange(0, GRID))  # BUG
                tl.store(out, tl.sum(x))
    """

    def launch(kernel):
        kernel[(grid,)](array(grid, "int32", 0), array(1, "int32", 0), array(1, "int32", 0), GRID=grid)

    return Case(name, "tsan", text, launch, "part", engines=CHECKED)


@template
def columns_and_rows(name, draw, planted):
    """Every program owns a column; planted: one also writes a row."""
    n, which = power(draw, 1, 5), draw.random()
    row = f"""if tl.program_id(0) == {int(which * n)}:
                tl.store(dst + {int(which * n)} * N + i, 2.0)  # BUG""" if planted else ""
    text = f"""
        @triton.jit
        def {name}(dst, N: tl.constexpr):
            i = tl.arange(0, N)
            tl.store(dst + i * N + tl.program_id(0), 1.0)  # BUG
            {row}
    """

    def launch(kernel):
        kernel[(n,)](array((n, n), "float32"), N=n)

    return Case(name, "tsan", text, launch, "dst")


@template
def second_axis_of_the_grid(name, draw, planted):
    grid = (draw.randint(1, 4), draw.randint(2, 4), draw.randint(1, 3))
    used = "tl.program_id(0) + G0 * (tl.program_id(1) + G1 * tl.program_id(2))" if not planted else "tl.program_id(0) + G0 * tl.program_id(2)"
    text = f"""
        @triton.jit
        def {name}(dst, G0, G1):
            tl.store(dst + {used}, tl.program_id(1))  # BUG
    """

    def launch(kernel):
        kernel[grid](array(grid[0] * grid[1] * grid[2], "int16"), grid[0], grid[1])

    return Case(name, "tsan", text, launch, "dst")
