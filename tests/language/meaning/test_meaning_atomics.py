"""Meaning, "Atomics": what they return and which types they take."""

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, refused

WIDE = ["int32", "int64", "uint32", "uint64", "float32", "float64"]


@triton.jit
def old_value_kernel(memory_ptr, out_ptr, OPERATION: tl.constexpr):
    offsets = tl.arange(0, 4)
    value = (offsets + 6).to(memory_ptr.dtype.element_ty)
    if OPERATION == "add":
        old = tl.atomic_add(memory_ptr + offsets, value)
    elif OPERATION == "max":
        old = tl.atomic_max(memory_ptr + offsets, value)
    elif OPERATION == "min":
        old = tl.atomic_min(memory_ptr + offsets, value)
    elif OPERATION == "xchg":
        old = tl.atomic_xchg(memory_ptr + offsets, value)
    elif OPERATION == "and":
        old = tl.atomic_and(memory_ptr + offsets, value)
    elif OPERATION == "or":
        old = tl.atomic_or(memory_ptr + offsets, value)
    elif OPERATION == "xor":
        old = tl.atomic_xor(memory_ptr + offsets, value)
    elif OPERATION == "cas":
        old = tl.atomic_cas(memory_ptr + offsets, offsets.to(memory_ptr.dtype.element_ty) + 7, value)
    tl.static_assert(old.dtype == memory_ptr.dtype.element_ty)
    tl.store(out_ptr + offsets, old)


FUNCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum, "xchg": lambda old, new: new}
BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@pytest.mark.parametrize("operation", [*FUNCTIONS, *BITS])
@pytest.mark.parametrize("name", WIDE)
def test_the_old_value_comes_back(engine, name, operation):
    """Each returns what memory held before, in the element's type; the bit operations are for integers."""
    if operation in BITS and name.startswith("float"):
        pytest.skip("bits of integers alone")
    start, value = np.array([7, 2, 9, 4]), np.arange(4) + 6
    memory, out = engine.array(start, name), engine.empty(4, name)
    old_value_kernel[(1,)](memory, out, OPERATION=operation)
    np.testing.assert_array_equal(engine.numpy(out), start)
    np.testing.assert_array_equal(engine.numpy(memory), {**FUNCTIONS, **BITS}[operation](start, value))


@pytest.mark.parametrize("name", ["int16", "uint16", *WIDE])
@pytest.mark.ours("the interpreter of Triton has no 16-bit cas")
def test_compare_and_swap(engine, name):
    """cas returns the old value too, and takes 16, 32 and 64 bits."""
    memory, out = engine.array(np.array([7, 2, 9, 4]), name), engine.empty(4, name)
    old_value_kernel[(1,)](memory, out, OPERATION="cas")
    np.testing.assert_array_equal(engine.numpy(out), [7, 2, 9, 4])
    np.testing.assert_array_equal(engine.numpy(memory), [6, 2, 8, 4])


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("operation", ["add", "max", "xchg", "cas"])
@pytest.mark.parametrize("name", ["int1", "int8", "uint8"])
def test_bytes_are_refused(engine, name, operation):
    """8 bits are too few for any of them."""
    refused(engine, old_value_kernel, engine.zeros(4, name), engine.zeros(4, name), OPERATION=operation, words=["atomic", name])


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("operation", ["add", "max", "min", "xchg", "or"])
@pytest.mark.parametrize("name", ["int16", "uint16"])
def test_16_bit_integers_are_refused(engine, name, operation):
    """32 and 64 bits only, but for cas."""
    refused(engine, old_value_kernel, engine.zeros(4, name), engine.zeros(4, name), OPERATION=operation, words=["atomic", name])


@pytest.mark.ours("the interpreter of Triton has no bf16")
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bit_floats_add(engine, name):
    """fp16 and bf16 can be added, and the old value comes back."""
    memory, out = engine.array(np.array([7, 2, 9, 4]), name), engine.empty(4, name)
    old_value_kernel[(1,)](memory, out, OPERATION="add")
    np.testing.assert_array_equal(engine.numpy(out), [7, 2, 9, 4])
    np.testing.assert_array_equal(engine.numpy(memory), [13, 9, 17, 13])


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("operation", ["max", "min", "xchg"])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bit_floats_do_nothing_else(engine, name, operation):
    """Every other operation on them is an error."""
    refused(engine, old_value_kernel, engine.zeros(4, name), engine.zeros(4, name), OPERATION=operation, words="atomic")


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("operation", list(BITS))
def test_bits_of_floats(engine, operation):
    """and, or, xor of floats are errors."""
    refused(engine, old_value_kernel, engine.zeros(4, "float32"), engine.zeros(4, "float32"), OPERATION=operation, words=["atomic", "fp32"])


@triton.jit
def masked_kernel(memory_ptr, chosen_ptr, out_ptr, SIZE: tl.constexpr, DATA: tl.constexpr):
    offsets = tl.arange(0, SIZE)
    tl.store(out_ptr + offsets, tl.sort(offsets + 1, descending=True))  # memory in use before holds something
    mask = tl.load(chosen_ptr + offsets) > 0 if DATA else offsets < 3
    old = tl.atomic_add(memory_ptr + offsets, 5, mask=mask)
    tl.store(out_ptr + offsets, old)


@pytest.mark.parametrize("size", [4, 64, 256])
@pytest.mark.parametrize("data", [True, False])
def test_zero_comes_back_under_a_mask(engine, size, data):
    """A masked atomic_add gives the old value where its mask is true and 0 elsewhere, also where memory was in use before."""
    chosen = np.arange(size) % 3 == 0 if data else np.arange(size) < 3
    memory = engine.array(np.arange(size, dtype=np.int32) + 7)
    out = engine.zeros(size, "int32")
    masked_kernel[(1,)](memory, engine.array(chosen.astype(np.int32)), out, SIZE=size, DATA=data)
    np.testing.assert_array_equal(engine.numpy(out), np.where(chosen, np.arange(size) + 7, 0))
    np.testing.assert_array_equal(engine.numpy(memory), np.arange(size) + 7 + 5 * chosen)


@triton.jit
def converting_kernel(memory_ptr, out_ptr):
    old = tl.atomic_add(memory_ptr + tl.arange(0, 4), 2)
    tl.static_assert(old.dtype == tl.float32)
    old = tl.atomic_add(memory_ptr + tl.arange(0, 4), tl.arange(0, 4))
    tl.store(out_ptr + tl.arange(0, 4), old)


def test_others_cast_and_broadcast_their_value(engine):
    """atomic_add of an integer to an fp32 tile converts, of a number broadcasts."""
    memory = engine.zeros(4, "float32")
    np.testing.assert_array_equal(computed(engine, converting_kernel, 4, "float32", memory), np.full(4, 2))
    np.testing.assert_array_equal(engine.numpy(memory), np.arange(4) + 2)


@triton.jit
def cas_of_two_types_kernel(memory_ptr):
    tl.atomic_cas(memory_ptr, tl.full((), 1, tl.int64), tl.full((), 2, tl.int32))


@triton.jit
def cas_of_floats_kernel(memory_ptr):
    one = 1.0
    tl.atomic_cas(memory_ptr, one, one)


@triton.jit
def cas_of_two_shapes_kernel(memory_ptr):
    zero = 0
    tl.atomic_cas(memory_ptr + tl.arange(0, 4), zero, tl.arange(0, 4))


@pytest.mark.ours("the interpreter of Triton lets these through")
@pytest.mark.parametrize("kernel", [cas_of_two_types_kernel, cas_of_floats_kernel, cas_of_two_shapes_kernel], ids=lambda kernel: kernel.__name__)
def test_cas_neither_casts_nor_broadcasts(engine, kernel):
    """Its three arguments agree in type and shape."""
    refused(engine, kernel, engine.zeros(4, "int32"), words=["atomic_cas", "like the memory"])


@triton.jit
def cas_of_numbers_kernel(memory_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 4), tl.atomic_cas(memory_ptr + tl.arange(0, 4), 2, 9))


@pytest.mark.ours("numbers are int32 scalars in Triton's")
@pytest.mark.parametrize("name", ["int32", "int64", "uint64"])
def test_cas_of_numbers(engine, name):
    """A number, which has no type or shape of its own, is made in the memory's."""
    memory = engine.array(np.array([1, 2, 3, 2]), name)
    np.testing.assert_array_equal(computed(engine, cas_of_numbers_kernel, 4, name, memory), [1, 2, 3, 2])
    np.testing.assert_array_equal(engine.numpy(memory), [1, 9, 3, 9])
