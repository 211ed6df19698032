"""More templates of generator.py: reads of what nobody wrote, and arithmetic."""

import numpy as np
import torch
from generator import CHECKED, Case, array, power, template

# Reads of what nobody wrote ----------------------------------------------------------------------------------------------------

EMPTY = {
    "empty": lambda n, dtype: torch.empty(n, dtype=dtype),
    "empty_like": lambda n, dtype: torch.empty_like(torch.ones(n, dtype=dtype)),
    "new_empty": lambda n, dtype: torch.ones(1, dtype=dtype).new_empty(n),
    "empty_strided": lambda n, dtype: torch.empty_strided((n,), (1,), dtype=dtype),
    "numpy": lambda n, dtype: np.empty(n, str(dtype).removeprefix("torch.")),
    "numpy_like": lambda n, dtype: np.empty_like(np.ones(n, str(dtype).removeprefix("torch."))),
}


@template
def part_that_the_host_left(name, draw, planted):
    block, maker, dtype = power(draw, 4, 7), draw.choice(list(EMPTY)), draw.choice([torch.float32, torch.float64, torch.int32, torch.int64])
    grid = draw.randint(1, 4)
    n = block * grid
    hole = draw.randint(0, n // 2 - 1) * 2
    text = f"""
        @triton.jit
        def {name}(src, dst, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(src + i)  # BUG
            tl.store(dst + i, x)
    """

    def launch(kernel):
        src = EMPTY[maker](n, dtype)
        src[:hole] = 1
        src[hole + 2 if planted else hole :] = 2  # by eights: groups of eight bytes are told apart
        kernel[(grid,)](src, array(n, str(dtype).removeprefix("torch.")), BLOCK=block)

    return Case(name, "msan", text, launch, "src", engines=CHECKED)


@template
def part_that_a_kernel_left(name, draw, planted):
    block, maker, dtype = power(draw, 3, 7), draw.choice(list(EMPTY)), draw.choice([torch.float16, torch.float32, torch.int8, torch.int64])
    n = block - draw.randint(0, block - 1)
    text = f"""
        @triton.jit
        def {name}_fill(dst, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(dst + i, i, mask=i < n)


        @triton.jit
        def {name}(src, dst, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            x = tl.load(src + i, mask=i < n, other=0)  # BUG
            tl.store(dst + i, x)
    """

    def launch(kernel, fill):
        src = EMPTY[maker](block, dtype)
        fill[(1,)](src, n - 1 if planted else n, BLOCK=block)
        kernel[(1,)](src, array(block, str(dtype).removeprefix("torch.")), n, BLOCK=block)

    return Case(name, "msan", text, launch, "src", engines=CHECKED)


@template
def sum_into_empty_memory(name, draw, planted):
    block, maker = power(draw, 0, 6), draw.choice(list(EMPTY))
    access = draw.choice(["tl.atomic_add(dst + i, 1)", "tl.store(dst + i, tl.load(dst + i) + 1)", "tl.atomic_max(dst + i, 1)"])
    text = f"""
        @triton.jit
        def {name}(dst, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            {'tl.store(dst + i, 0)' if not planted else ''}
            {access}  # BUG
    """

    def launch(kernel):
        kernel[(2,)](EMPTY[maker](2 * block, torch.int32), BLOCK=block)

    return Case(name, "msan", text, launch, "dst", engines=CHECKED)


# Arithmetic --------------------------------------------------------------------------------------------------------------------

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


@template
def sums_and_products(name, draw, planted):
    dtype, sign, block = draw.choice(list(BITS)), draw.choice("+-*"), power(draw, 0, 6)
    bits, at, scalar = BITS[dtype], draw.randint(0, block - 1), draw.random() < 0.3
    most, least = 2 ** (bits - 1) - 1, -(2 ** (bits - 1))
    if sign == "*":
        pairs = [(most, 2), (least, -1), (1 << (bits // 2), 1 << (bits // 2)), (most, most), (least, least)]
        fine = [(most, 1), (least, 1), (1 << (bits // 2 - 1), 1 << (bits // 2 - 1)), (most, -1), (0, least)]
    elif sign == "+":
        pairs, fine = [(most, 1), (least, -1), (most, most), (least, least)], [(most, 0), (least, 0), (most, least), (most - 1, 1)]
    else:
        pairs, fine = [(least, 1), (most, -1), (0, least), (-2, most)], [(least, 0), (most, 1), (-1, least), (-1, most)]
    left, right = draw.choice(pairs if planted else fine)
    operand = "tl.load(b)" if scalar else "tl.load(b + i)"
    text = f"""
        @triton.jit
        def {name}(a, b, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            x = tl.load(a + i)
            y = {operand}
            z = x {sign} y  # BUG
            tl.store(out + i, z)
    """

    def launch(kernel):
        a, b = array(block, dtype, 0), array(block, dtype, right if scalar else 0)
        a[at], b[0 if scalar else at] = left, right
        if scalar:
            a[:] = left
        kernel[(1,)](a, b, array(block, dtype, 0), BLOCK=block)

    return Case(name, "ub", text, launch, engines=CHECKED)


@template
def sums_of_numbers(name, draw, planted):
    """Offsets of a launch: numbers, program ids and counters of loops."""
    form, block = draw.choice(["pid", "arange", "loop", "rows", "row_stride", "branch"]), power(draw, 1, 6)
    lines, number = {
        "pid": (["x = (pid + 1) * n + i  # BUG"], 2**30 if planted else 2**29),
        "arange": (["x = n + i  # BUG"], 2**31 - block + planted),
        "loop": (["x = i * 0", f"for k in range({4 if planted else 3}):", "    x += n  # BUG"], 2**29),
        "rows": (["y = i[:, None] * n + i[None, :]  # BUG", "x = tl.max(y, 1)"], (2**31 - block) // (block - 1) + planted),
        "row_stride": (["x = i + tl.load(p) * n  # BUG"], 2**16 if planted else 2**15),
        "branch": (["x = i * 0", "if tl.load(p) > 0:", f"    x = x + {int(planted)}", "x = x + n  # BUG"], 2**31 - 1),
    }[form]
    text = f"@triton.jit\ndef {name}(out, p, n, BLOCK: tl.constexpr):\n    pid = tl.program_id(0)\n    i = tl.arange(0, BLOCK)\n"
    text += "".join(f"    {line}\n" for line in (*lines, "tl.store(out + pid * BLOCK + i, x)"))

    def launch(kernel):
        kernel[(2 if form == "pid" else 1,)](array(2 * block, "int32"), array(1, "int32", 2**15), number, BLOCK=block)

    return Case(name, "ub", text, launch, engines=CHECKED)


@template
def shifts(name, draw, planted):
    dtype, sign, block = draw.choice([*BITS, "uint8"]), draw.choice(["<<", ">>"]), power(draw, 0, 6)
    bits, at = BITS.get(dtype, 8), draw.randint(0, block - 1)
    amounts = ([bits, bits + 1, 100] + ([-1, -bits] if dtype != "uint8" else [])) if planted else [0, 1, bits - 1]
    amount = draw.choice(amounts)
    text = f"""
        @triton.jit
        def {name}(a, b, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            z = tl.load(a + i) {sign} tl.load(b + i)  # BUG
            tl.store(out + i, z)
    """

    def launch(kernel):
        b = array(block, dtype, 0)
        b[at] = amount
        kernel[(1,)](array(block, dtype), b, array(block, dtype, 0), BLOCK=block)

    return Case(name, "ub", text, launch, engines=CHECKED)


@template
def divisions(name, draw, planted):
    dtype, sign, block = draw.choice([*BITS, "uint8"]), draw.choice(["//", "%"]), power(draw, 0, 6)
    at, is_scalar = draw.randint(0, block - 1), draw.random() < 0.3
    least = 0 if dtype == "uint8" else -(2 ** (BITS[dtype] - 1))
    wrong = [(7, 0), (0, 0)] + ([(least, -1)] if least else [])
    fine = [(7, 2), (0, 1)] + ([(least, 1), (least + 1, -1)] if least else [])
    left, right = draw.choice(wrong if planted else fine)
    text = f"""
        @triton.jit
        def {name}(a, b, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            z = tl.load(a + i) {sign} tl.load({'b' if is_scalar else 'b + i'})  # BUG
            tl.store(out + i, z)
    """

    def launch(kernel):
        a, b = array(block, dtype, left if is_scalar else 1), array(block, dtype, right if is_scalar else 1)
        a[at], b[at] = left, right
        kernel[(1,)](a, b, array(block, dtype, 0), BLOCK=block)

    return Case(name, "ub", text, launch, engines=CHECKED)


@template
def negation_of_the_least(name, draw, planted):
    dtype, block = draw.choice(list(BITS)), power(draw, 0, 5)
    form = draw.choice(["-x", "0 - x"])
    least = -(2 ** (BITS[dtype] - 1))
    text = f"""
        @triton.jit
        def {name}(a, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            x = tl.load(a + i)
            z = {form}  # BUG
            tl.store(out + i, z)
    """

    def launch(kernel):
        kernel[(1,)](array(block, dtype, least if planted else least + 1), array(block, dtype, 0), BLOCK=block)

    return Case(name, "ub", text, launch, engines=CHECKED)
