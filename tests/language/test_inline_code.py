"""map_elementwise on plain functions, and inline assembly."""

import platform

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def distance(a, b):
    return tl.abs(a - b)


@triton.jit
def quotient_and_remainder(a, b):
    return a // b, a % b


@triton.jit
def map_kernel(x_ptr, y_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.map_elementwise(distance, x, y))
    q, r = tl.map_elementwise(quotient_and_remainder, x, y)
    tl.store(out_ptr + COUNT + offsets, q)
    tl.store(out_ptr + 2 * COUNT + offsets, r)


@pytest.mark.ours("Triton's interpreter has no map_elementwise")
def test_map_elementwise(engine, rng):
    x, y = rng.integers(0, 1000, 32, dtype=np.int32), rng.integers(1, 50, 32, dtype=np.int32)
    out = engine.empty((3, 32), "int32")
    map_kernel[(1,)](engine.array(x), engine.array(y), out, COUNT=32)
    np.testing.assert_array_equal(engine.numpy(out), np.stack([np.abs(x - y), x // y, x % y]))


@triton.jit
def assembly_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("leal 3($1), $0", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + offsets, y)


x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the assembly is x86's")
assembly = pytest.mark.ours("assembly of this machine's processor")


@assembly
@x86
def test_assembly_of_the_target(engine):
    x = np.arange(32, dtype=np.int32)
    out = engine.empty(32, "int32")
    assembly_kernel[(1,)](engine.array(x), out, COUNT=32)
    np.testing.assert_array_equal(engine.numpy(out), x + 3)


@triton.jit
def packed_kernel(x_ptr, out_ptr, COUNT: tl.constexpr, PACK: tl.constexpr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [x], x.dtype, is_pure=True, pack=PACK))


def run_packed(engine, x, pack, asm, constraints):
    out = engine.empty(len(x), x.dtype.name)
    packed_kernel[(1,)](engine.array(x), out, len(x), pack, asm, constraints)
    return engine.numpy(out)


@assembly
@x86
def test_letters_that_the_target_does_not_have(engine):
    with pytest.raises(triton.CompilationError, match="`w` in `constraints` is no kind of register or operand of x86"):
        run_packed(engine, np.arange(4, dtype=np.int32), 1, "movl $1, $0", "=w,r")


@assembly
@x86
@pytest.mark.parametrize("count", [1, 4, 30, 64])
@pytest.mark.parametrize("name, pack", [("int8", 4), ("int8", 2), ("int8", 1), ("int16", 2), ("uint8", 3)])
def test_small_elements_share_registers_of_32_bits(engine, rng, name, pack, count):
    """Each register is complemented as a whole: what was packed comes back at its own place."""
    x = rng.integers(np.iinfo(name).min, np.iinfo(name).max + 1, count).astype(name)
    np.testing.assert_array_equal(run_packed(engine, x, pack, "movl $1, $0\nnotl $0", "=&r,r"), ~x)


@assembly
@x86
def test_the_first_element_of_a_pack_is_in_the_lowest_bits(engine):
    x = np.arange(1, 13, dtype=np.uint8)
    found = run_packed(engine, x, 4, "movl $1, $0\nbswapl $0", "=&r,r")
    np.testing.assert_array_equal(found, x.reshape(3, 4)[:, ::-1].ravel())


@assembly
@x86
def test_larger_elements_take_a_register_each(engine, rng):
    """Neighbours are exchanged; an odd one out is its own neighbour."""
    x = rng.integers(-100, 100, 31, dtype=np.int64)
    found = run_packed(engine, x, 2, "movq $3, $0\nmovq $2, $1", "=&r,=&r,r,r")
    expected = np.append(x[:30].reshape(15, 2)[:, ::-1].ravel(), x[30])
    np.testing.assert_array_equal(found, expected)


@triton.jit
def two_results_kernel(a_ptr, b_ptr, sum_ptr, product_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    a, b = tl.load(a_ptr + offsets), tl.load(b_ptr + offsets)
    total, product = tl.inline_asm_elementwise(
        """
        movss $4, $0
        addss $6, $0
        movss $5, $1
        addss $7, $1
        movl $8, $2
        imull $9, $2
        movl $8, $3
        """,
        "=&x, =&x, =&r, =&r, x, x, x, x, r, r, ~{flags}",
        [a, b, tl.arange(0, COUNT)], dtype=(tl.float32, tl.int32), is_pure=True, pack=2)  # fmt: skip
    tl.store(sum_ptr + offsets, total)
    tl.store(product_ptr + offsets, product)


@assembly
@x86
def test_several_results_of_several_types(engine, rng):
    a, b = rng.standard_normal((2, 16)).astype(np.float32)
    total, product = engine.empty(16, "float32"), engine.empty(16, "int32")
    two_results_kernel[(1,)](engine.array(a), engine.array(b), total, product, COUNT=16)
    pairs = np.arange(16).reshape(8, 2)
    np.testing.assert_array_equal(engine.numpy(total), a + b)
    np.testing.assert_array_equal(engine.numpy(product), np.stack([pairs[:, 0] * pairs[:, 1], pairs[:, 0]], axis=1).ravel())


@assembly
@x86
def test_half_floats_and_shapes(engine, rng):
    @triton.jit
    def kernel(x_ptr, out_ptr, scalar_ptr):
        offsets = tl.arange(0, 4)[:, None] * 6 + tl.arange(0, 6)[None, :]
        x = tl.load(x_ptr + offsets)
        flipped = tl.inline_asm_elementwise("movl $1, $0\nxorl $$0x80008000, $0", "=&r,r,~{flags}", [x], tl.float16, True, 2)
        tl.store(out_ptr + offsets, flipped)
        tl.store(scalar_ptr, tl.inline_asm_elementwise("movl $2, $0\nmovl $3, $1", "=&r,=&r,r,r", [41], tl.int32, True, 2) + 1)

    x = rng.standard_normal((4, 6)).astype(np.float16)
    out, scalar = engine.empty((4, 6), "float16"), engine.empty(1, "int32")
    kernel[(1,)](engine.array(x), out, scalar)
    np.testing.assert_array_equal(engine.numpy(out), -x)
    assert engine.numpy(scalar)[0] == 42


@assembly
@x86
@pytest.mark.parametrize("asm, constraints, pack, message", [
    ("movl $1, $0", "=r,r,", 1, "is malformed"),
    ("movl $1, $0", "r,=r", 1, "`constraints`"),
    ("movl $1, $0", "", 1, "`constraints` is empty"),
    ("movl $1, $0", "=r", 1, "has 0 inputs, but `args` takes 1 register"),
    ("movl $1, $0", "=r,r", 4, "has 1 output, but `dtype` takes 4 registers with a pack of 4"),
    ("movl $1, $0", "=w,r", 1, "`w` in `constraints` is no kind of register"),
    ("movl $1, $0", "={eax,r", 1, "`constraints`"),
    ("movl $2, $0", "=r,r", 1, r"uses \$2, but there are 2 operands"),
    ("movl $$1, $x", "=r,r", 1, r"a \$ in `asm` is followed by no operand's number"),
    ("movl ${1:k, $0", "=r,r", 1, "lacks its closing brace"),
    ("movl $1, $0", "=r,r", 0, "`pack` must be from 1 to 64"),
    ("shuffle $1, $0", "=r,r", 1, "cannot be assembled: .*shuffle"),
    ("movl $1, $0", "=r,{nothing}", 1, "cannot be assembled: .*constraint"),
])  # fmt: skip
def test_malformed_assembly_is_an_error_at_its_line(engine, asm, constraints, pack, message):
    with pytest.raises(Exception, match=message) as failure:
        run_packed(engine, np.arange(8, dtype=np.int32), pack, asm, constraints)
    assert "inline_asm_elementwise(ASM" in str(failure.value) and "^" in str(failure.value)
