"""Accesses out of bounds under debug=True: every engine tells the array, the element, the lanes and the program, before they happen.

An access that is allowed is never reported, whatever way its pointer came about.
"""

import re

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.ours("Triton does not check bounds")


def refused(engine, message, launch):
    with pytest.raises(IndexError, match=message) as raised:
        launch()
    error = raised.value
    assert type(error).__name__ == "OutOfBoundsError"
    assert error.filename == __file__ and error.line > 0
    return error


@triton.jit
def bounds_kernel(x_ptr, out_ptr, n, COUNT: tl.constexpr, HOW: tl.constexpr):
    offsets = tl.program_id(0) * COUNT + tl.arange(0, COUNT)
    mask = offsets < n
    if HOW == "load":
        x = tl.load(x_ptr + offsets)
    else:
        x = tl.load(x_ptr + offsets, mask=mask)
    if HOW == "store":
        tl.store(out_ptr + offsets, x)
    elif HOW == "atomic":
        tl.atomic_add(out_ptr + offsets, x)
    elif HOW == "late":
        tl.store(out_ptr + offsets, x, mask=offsets < n + 3)
    else:
        tl.store(out_ptr + offsets, x, mask=mask)


@pytest.mark.parametrize("how, line, array", [
    ("load", "x = tl.load(x_ptr + offsets)", "x_ptr"), ("store", "tl.store(out_ptr + offsets, x)", "out_ptr"),
    ("atomic", "tl.atomic_add(out_ptr + offsets, x)", "out_ptr"),
])  # fmt: skip
def test_the_message(engine, how, line, array):
    x, out = engine.array(np.arange(100, dtype="float32")), engine.array(np.zeros(100, "float32"))
    bounds_kernel[(2,)](x, out, 100, COUNT=64, HOW="masked", debug=True)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(100))
    message = rf"program \(1, 0, 0\): {how} of fp32 out of bounds: element 100 of '{array}' \(valid: 0 to 99\); 28 of 64 lanes, first \(36\), \(37\), \(38\), \(39\)$"
    error = refused(engine, re.compile(message, re.MULTILINE), lambda: bounds_kernel[(2,)](x, out, 100, COUNT=64, HOW=how, debug=True))
    assert error.program == (1, 0, 0) and f"    {line}\n" in str(error)
    assert "hint: a mask (boundary_check, with a block pointer) keeps lanes out of memory that is not the array's" in str(error)


def test_a_mask_that_lets_too_much_through(engine):
    x, out = engine.array(np.ones(100, "float32")), engine.array(np.zeros(100, "float32"))
    error = refused(engine, r"store of fp32 out of bounds: element 100 of 'out_ptr' \(valid: 0 to 99\); 3 of 64 lanes, first \(36\), \(37\), \(38\)",
                    lambda: bounds_kernel[(2,)](x, out, 100, COUNT=64, HOW="late", debug=True))  # fmt: skip
    assert "hint: the mask lets these lanes through" in str(error)


def test_nothing_is_written_by_what_is_refused(engine):
    memory = np.zeros(128, "float32")
    whole = engine.array(memory)
    part = whole[:64].clone() if hasattr(whole, "clone") else whole[:64].copy()
    x = engine.array(np.ones(128, "float32"))
    refused(engine, "'out_ptr'", lambda: bounds_kernel[(1,)](x, part, 128, COUNT=128, HOW="store", debug=True))
    assert not engine.numpy(part).any()


@triton.jit
def scalar_kernel(x_ptr, offset):
    tl.store(x_ptr + 1, tl.load(x_ptr + offset))


def test_single_elements(engine):
    x = engine.array(np.arange(8, dtype="int16"))
    scalar_kernel[(1,)](x, 7, debug=True)
    assert engine.numpy(x)[1] == 7
    for offset, element in [(8, 8), (-1, -1), (1 << 40, 1 << 40)]:
        message = f"program (0, 0, 0): load of int16 out of bounds: element {element} of 'x_ptr' (valid: 0 to 7)"
        error = refused(engine, re.escape(message), lambda offset=offset: scalar_kernel[(1,)](x, offset, debug=True))
        assert error.message.endswith(message)


def test_views_reach_all_of_their_memory(engine):
    x = engine.array(np.arange(8, dtype="int16"))
    scalar_kernel[(1,)](x[4:], -4, debug=True)
    scalar_kernel[(1,)](x[:2], 7, debug=True)
    refused(engine, r"element -5 of 'x_ptr' \(valid: -4 to 3\)", lambda: scalar_kernel[(1,)](x[4:], -5, debug=True))


@triton.jit
def loop_kernel(x_ptr, y_ptr, out_ptr, rounds, CHOICE: tl.constexpr):
    lanes = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    pointers = x_ptr + lanes
    total = tl.zeros((4, 8), tl.float32)
    for i in range(rounds):
        total += tl.load(pointers)
        pointers += 32
    if CHOICE:
        source = x_ptr
        if tl.program_id(0) == 1:
            source = y_ptr
        total += tl.load(source + lanes)
    tl.store(out_ptr + lanes, total)


def test_pointers_that_loops_and_branches_carry(engine):
    x, y, out = (engine.array(np.ones(size, "float32")) for size in (64, 32, 32))
    for choice in (False, True):
        loop_kernel[(2,)](x, y, out, 2, CHOICE=choice, debug=True)
        np.testing.assert_array_equal(engine.numpy(out), np.full(32, 2 + choice, "float32"))
        refused(engine, r"element 64 of 'x_ptr' \(valid: 0 to 63\); 32 of 32 lanes, first \(0, 0\), \(0, 1\)",
                lambda choice=choice: loop_kernel[(2,)](x, y, out, 3, CHOICE=choice, debug=True))  # fmt: skip


@triton.jit
def distance_kernel(x_ptr, y_ptr, out_ptr):
    distance = (y_ptr.to(tl.int64) - x_ptr.to(tl.int64)) // 4
    tl.store(out_ptr, tl.load((x_ptr.to(tl.int64) + distance * 4).to(tl.pointer_type(tl.float32))))


def test_a_pointer_made_of_numbers_may_point_anywhere(engine):
    x, y, out = engine.array(np.zeros(4, "float32")), engine.array(np.ones(4, "float32")), engine.array(np.zeros(4, "float32"))
    distance_kernel[(1,)](x, y, out, debug=True)
    assert engine.numpy(out)[0] == 1


@triton.jit
def table_kernel(addresses_ptr, out_ptr, COUNT: tl.constexpr):
    for i in range(COUNT):
        pointer = tl.load(addresses_ptr + i).to(tl.pointer_type(tl.float32))
        tl.store(out_ptr + i, tl.load(pointer))


def test_pointers_read_from_memory(engine):
    arrays = [engine.array(np.full(4, i, "float32")) for i in range(3)]
    addresses = [array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data for array in arrays]
    out = engine.array(np.zeros(3, "float32"))
    table_kernel[(1,)](engine.array(np.array(addresses, "int64")), out, COUNT=3, debug=True)
    np.testing.assert_array_equal(engine.numpy(out), [0, 1, 2])
    refused(engine, r"element 3 of '(addresses_ptr|out_ptr)'", lambda: table_kernel[(1,)](
        engine.array(np.array(addresses, "int64")), out, COUNT=4, debug=True))  # fmt: skip


@triton.jit
def pair_kernel(pair, optional, factor, empty_ptr, n, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    value = tl.load(pair[0] + offsets) * factor
    value += tl.load(empty_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(pair[1] + offsets, value)


def test_tuples_empty_arrays_and_nothing(engine):
    x, out, empty = engine.array(np.ones(16, "float32")), engine.array(np.zeros(16, "float32")), engine.array(np.zeros(0, "float32"))
    pair_kernel[(1,)]((x, out), None, 3, empty, 0, COUNT=16, debug=True)
    np.testing.assert_array_equal(engine.numpy(out), np.full(16, 3, "float32"))
    refused(engine, r"'pair\[0\]' \(valid: 0 to 15\); 16 of 32 lanes", lambda: pair_kernel[(1,)]((x, out), None, 3, empty, 0, COUNT=32, debug=True))
    refused(engine, r"of 'empty_ptr' \(it has none\); 2 of 16", lambda: pair_kernel[(1,)]((x, out), None, 3, empty, 2, COUNT=16, debug=True))


@triton.jit
def block_kernel(x_ptr, out_ptr, CHECK: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, (6, 6), (6, 1), (4, 4), (4, 4), (1, 0))
    value = tl.load(block, boundary_check=(0, 1), padding_option="zero") if CHECK else tl.load(block)
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], value)


def test_block_pointers(engine):
    x, out = engine.array(np.ones((6, 6), "float32")), engine.array(np.zeros((4, 4), "float32"))
    block_kernel[(1,)](x, out, CHECK=True, debug=True)
    assert engine.numpy(out).sum() == 4
    refused(engine, r"'x_ptr' \(valid: 0 to 35\); .* of 16 lanes", lambda: block_kernel[(1,)](x, out, CHECK=False, debug=True))


@triton.jit
def descriptor_kernel(descriptor, out):
    out.store([0, 0], descriptor.load([4, 4]))


def test_tensor_descriptors(engine):
    if not hasattr(engine.array(np.zeros(1, "float32")), "stride"):
        pytest.skip("descriptors need PyTorch's tensors")
    x, out = engine.array(np.ones((6, 8), "float32")), engine.array(np.zeros((4, 4), "float32"))
    descriptor_kernel[(1,)](TensorDescriptor.from_tensor(x, [4, 4]), TensorDescriptor.from_tensor(out, [4, 4]), debug=True)
    assert engine.numpy(out).sum() == 8
    wrong = TensorDescriptor(x, [100, 8], [8, 1], [4, 4])
    refused(engine, r"of 'descriptor' \(valid: 0 to 47\); 8 of 16 lanes, first \(2, 0\)",
            lambda: descriptor_kernel[(1,)](wrong, TensorDescriptor.from_tensor(out, [4, 4]), debug=True))  # fmt: skip


@triton.jit
def waiting_kernel(flag_ptr, count):
    tl.atomic_add(flag_ptr, 1)
    while tl.atomic_add(flag_ptr, 0) < count:
        pass


def test_programs_that_wait(engine):
    waiting_kernel[(4,)](engine.array(np.zeros(1, "int32")), 4, debug=True)


@triton.jit
def library_kernel(x_ptr, out_ptr, COUNT: tl.constexpr):
    offsets = tl.arange(0, COUNT)
    tl.store(out_ptr, tl.sum(tl.softmax(tl.load(x_ptr + offsets))))


def test_the_place_is_the_kernels_own(engine):
    x, out = engine.array(np.ones(16, "float32")), engine.array(np.zeros(1, "float32"))
    library_kernel[(1,)](x, out, COUNT=16, debug=True)
    error = refused(engine, "'x_ptr'", lambda: library_kernel[(1,)](x, out, COUNT=32, debug=True))
    assert "tl.sum(tl.softmax(tl.load(x_ptr + offsets)))" in str(error)


def test_read_only_arrays(engine):
    x, constant = np.ones(64, "float32"), np.frombuffer(bytes(256), "float32")
    bounds_kernel[(1,)](constant, x, 64, COUNT=64, HOW="masked", debug=True)
    with pytest.raises((IndexError, ValueError), match="read-only array"):
        bounds_kernel[(1,)](x, constant, 64, COUNT=64, HOW="masked", debug=True)
