"""Tensor descriptors, made in the kernel and on the host: every access checks the bounds."""

import numpy as np
import pytest
import triton
import triton.language as tl
from scalar_types import sample
from triton.tools.tensor_descriptor import TensorDescriptor


def block_of(x, offsets, block, fill=0):
    result = np.full(block, fill, x.dtype)
    for index in np.ndindex(*block):
        place = tuple(o + i for o, i in zip(offsets, index, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            result[index] = x[place]
    return result


@triton.jit
def device_kernel(x_ptr, out_ptr, M, N, row, column, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [BM, BN], [BN, 1], [BM, BN])
    out.store([0, 0], x.load([row, column]))


@triton.jit
def host_kernel(x, out, row, column):
    out.store([0, 0], x.load([row, column]))


OFFSETS = [(0, 0), (3, 5), (-3, -7), (14, 30), (40, 4)]


@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int8", "int64", "float8e5"])
def test_load_and_store(engine, rng, name, offsets):
    x = sample(rng, name, (16, 32))
    out = engine.empty((8, 16), name)
    device_kernel[(1,)](engine.array(x, name), out, 16, 32, *offsets, BM=8, BN=16)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, offsets, (8, 16)))


@pytest.mark.parametrize("offsets", OFFSETS)
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int8"])
def test_of_the_host(engine, rng, name, offsets):
    x = sample(rng, name, (16, 32))
    source, out = engine.array(x, name), engine.empty((8, 16), name)
    describe = lambda array, shape: TensorDescriptor(array, shape, [shape[1], 1], [8, 16])  # noqa: E731
    host_kernel[(1,)](describe(source, [16, 32]), describe(out, [8, 16]), *offsets)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, offsets, (8, 16)))


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("where", ["device", "host"])
def test_padding(engine, rng, where, padding):
    @triton.jit
    def device(x_ptr, out_ptr, N, PADDING: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [4, N], [N, 1], [4, 16], padding_option=PADDING)
        tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], x.load([0, 0]))

    @triton.jit
    def host(x, out_ptr):
        tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], x.load([0, 0]))

    x, out = sample(rng, "float32", (4, 12)), engine.empty((4, 16), "float32")
    if where == "device":
        device[(1,)](engine.array(x), out, 12, padding)
    else:
        host[(1,)](TensorDescriptor(engine.array(x), [4, 12], [12, 1], [4, 16], padding), out)
    fill = 0 if padding == "zero" else np.nan
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, (0, 0), (4, 16), fill))


def test_from_tensor_and_one_kernel_for_every_shape(engine, rng):
    torch = pytest.importorskip("torch")

    @triton.jit
    def kernel(x, out, rows, columns):
        out.store([rows, columns], x.load([rows, columns]) * 2)

    for shape in ((3, 40), (8, 16), (5, 20)):
        x = torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(engine.device)
        out = torch.zeros_like(x)
        for row in range(0, shape[0], 8):
            for column in range(0, shape[1], 16):
                kernel[(1,)](TensorDescriptor.from_tensor(x, [8, 16]), TensorDescriptor.from_tensor(out, [8, 16]), row, column)
        np.testing.assert_array_equal(out.cpu().numpy(), 2 * x.cpu().numpy())


def test_attributes(engine):
    @triton.jit
    def kernel(x, y_ptr, out_ptr, N):
        y = tl.make_tensor_descriptor(y_ptr, [N, 2 * N], [2 * N, 1], [4, 16])
        tl.static_assert(x.dtype == tl.float32 and y.dtype == tl.float16)
        tl.static_assert(x.block_shape[0] == 8 and x.block_shape[1] == 16 and y.block_shape[0] == 4)
        tl.static_assert(isinstance(x, tl.tensor_descriptor))
        tl.store(out_ptr, x.shape[0])
        tl.store(out_ptr + 1, x.shape[1])
        tl.store(out_ptr + 2, x.strides[0].to(tl.int32))
        tl.store(out_ptr + 3, y.shape[1])

    x, y, out = engine.zeros((10, 24), "float32"), engine.zeros((6, 12), "float16"), engine.empty(4, "int32")
    kernel[(1,)](TensorDescriptor(x, [10, 24], [24, 1], [8, 16]), y, out, 6)
    np.testing.assert_array_equal(engine.numpy(out), [10, 24, 24, 12])


@pytest.mark.parametrize("offsets", [(0, 0), (8, 32), (-8, -16), (56, 112)])
@pytest.mark.parametrize("block", [(16, 16), (8, 128), (4, 512), (512, 16), (1, 64)])
def test_blocks_of_several_copies(engine, rng, block, offsets):
    """Rows longer than a swizzle, extents longer than a box, fewer rows than a pattern."""
    x = sample(rng, "float16", (72, 144))
    source, out = engine.array(x, "float16"), engine.empty(block, "float16")
    describe = lambda array, shape: TensorDescriptor(array, list(shape), [shape[1], 1], list(block))  # noqa: E731

    @triton.jit
    def kernel(x, out, ROW: tl.constexpr, COLUMN: tl.constexpr):
        out.store([0, 0], x.load([ROW, COLUMN]))

    kernel[(1,)](describe(source, x.shape), describe(out, block), *offsets)
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, offsets, block))


@pytest.mark.parametrize("shape, block", [((1000,), (256,)), ((1000,), (1024,)), ((6, 10, 48), (2, 8, 32)), ((3, 4, 5, 16), (1, 2, 4, 16))])
def test_other_ranks(engine, rng, shape, block):
    x = sample(rng, "float32", shape)
    strides = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
    block_strides = [int(np.prod(block[i + 1 :], dtype=np.int64)) for i in range(len(block))]

    @triton.jit
    def kernel(x, out, RANK: tl.constexpr):
        if RANK == 1:
            out.store([0], x.load([16]))
        elif RANK == 3:
            out.store([0, 0, 0], x.load([1, 4, 16]))
        else:
            out.store([0, 0, 0, 0], x.load([1, 2, 3, 0]))

    offsets = {1: (16,), 3: (1, 4, 16), 4: (1, 2, 3, 0)}[len(shape)]
    out = engine.empty(block, "float32")
    kernel[(1,)](TensorDescriptor(engine.array(x), list(shape), strides, list(block)), TensorDescriptor(out, list(block), block_strides, list(block)), len(shape))
    np.testing.assert_array_equal(engine.numpy(out), block_of(x, offsets, block))


@pytest.mark.parametrize("kind", ["store", "add"])
@pytest.mark.parametrize("name", ["float32", "float16", "int32"])
@pytest.mark.parametrize("row, column", [(-3, 0), (0, -8), (-5, -24), (-16, 0), (0, -64), (2, 56), (-(2**31), 0), (3, 8)])
def test_stores_before_the_array(engine, rng, kind, name, row, column):
    """What lies outside is not stored, wherever the block begins."""
    x, block = sample(rng, name, (20, 64), -9, 9), sample(rng, name, (16, 64), -9, 9)
    memory, source = engine.array(x, name), engine.array(block, name)

    @triton.jit
    def kernel(x_ptr, block_ptr, row, column, ADDS: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [20, 64], [64, 1], [16, 64])
        block = tl.load(block_ptr + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :])
        if ADDS:
            x.atomic_add([row, column], block)
        else:
            x.store([row, column], block)

    kernel[(1,)](memory, source, row, column, kind == "add")
    expected = np.array(x)
    for r in range(16):
        for c in range(64):
            if 0 <= row + r < 20 and 0 <= column + c < 64:
                expected[row + r, column + c] = block[r, c] + (expected[row + r, column + c] if kind == "add" else 0)
    np.testing.assert_allclose(engine.numpy(memory), expected, rtol=2e-3)


@pytest.mark.parametrize("shape", [(0, 64), (16, 0), (-3, 64)])
def test_an_array_with_nothing_in_it(engine, shape):
    """Everything lies outside: reads give the padding, nothing is written."""
    x, y, out = engine.array(np.ones((16, 64), np.float32)), engine.array(np.ones((16, 64), np.float32)), engine.empty((8, 32), "float32")

    @triton.jit
    def kernel(x_ptr, y_ptr, out_ptr, M, N):
        x = tl.make_tensor_descriptor(x_ptr, [M, N], [64, 1], [8, 32])
        y = tl.make_tensor_descriptor(y_ptr, [M, N], [64, 1], [8, 32])
        out = tl.make_tensor_descriptor(out_ptr, [8, 32], [32, 1], [8, 32])
        block = x.load([0, 0])
        out.store([0, 0], block)
        y.store([0, 0], block + 5)

    kernel[(1,)](x, y, out, *shape)
    np.testing.assert_array_equal(engine.numpy(out), np.zeros((8, 32)))
    np.testing.assert_array_equal(engine.numpy(y), np.ones((16, 64)))


def test_accesses_keep_their_order(engine, rng):
    """Blocks and pointers to the same memory in one program: each sees what was written before."""
    x = sample(rng, "float32", (32, 32))
    memory, out = engine.array(x), engine.empty((32, 32), "float32")

    @triton.jit
    def kernel(memory_ptr, out_ptr, N, count):
        memory = tl.make_tensor_descriptor(memory_ptr, [N, N], [N, 1], [32, 32])
        out = tl.make_tensor_descriptor(out_ptr, [N, N], [N, 1], [32, 32])
        places = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
        for _ in range(count):
            tl.store(memory_ptr + places, tl.trans(memory.load([0, 0])) + 1)
            memory.store([0, 0], tl.trans(tl.load(memory_ptr + places)) * 2)
            memory.store([0, 0], memory.load([0, 0]) + 3)
        out.store([0, 0], memory.load([0, 0]))

    kernel[(1,)](memory, out, 32, 3)
    expected = x
    for _ in range(3):
        expected = (expected + 1) * 2 + 3
    np.testing.assert_array_equal(engine.numpy(out), expected)
    np.testing.assert_array_equal(engine.numpy(memory), expected)


@pytest.mark.parametrize("meeting", ["barrier", "loop"])
def test_blocks_are_loaded_behind_stores_and_a_meeting_of_the_threads(engine, meeting):
    """Copies by the hardware go past the threads: that these have met is not enough for them to see what was stored."""
    memory, out = engine.zeros((64, 32), "float32"), engine.empty((32, 32), "float32")

    @triton.jit
    def kernel(memory_ptr, out_ptr, count, MEETING: tl.constexpr):
        memory = tl.make_tensor_descriptor(memory_ptr, [64, 32], [32, 1], [32, 32])
        total = tl.zeros((32, 32), tl.float32)
        for i in range(count):
            tl.store(memory_ptr + tl.arange(0, 2048), (tl.arange(0, 2048) % 5 + i).to(tl.float32))
            tl.debug_barrier()
            if MEETING == "loop":
                for j in range(2):
                    total += memory.load([j * 32, 0])
            else:
                total += memory.load([32, 0])
            tl.debug_barrier()
        tl.store(out_ptr + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :], total)

    kernel[(1,)](memory, out, 2, meeting)
    expected = np.zeros((32, 32))
    for i in range(2):
        blocks = (np.arange(2048) % 5 + i).reshape(2, 32, 32)
        expected += blocks.sum(0) if meeting == "loop" else blocks[1]
    np.testing.assert_array_equal(engine.numpy(out), expected)


@triton.jit
def matmul_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load_tensor_descriptor(a, [row, k])
        y = tl.load_tensor_descriptor(b, [column, k])
        total = tl.dot(x, y.T, total, input_precision="ieee")
    tl.store_tensor_descriptor(c, [row, column], total)


@pytest.mark.parametrize("shape", [(64, 64, 32), (50, 36, 44)])
def test_matmul(engine, rng, shape):
    M, N, K = shape
    a, b = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((N, K)).astype(np.float32)
    c = engine.empty((M, N), "float32")
    describe = lambda array, extents, block: TensorDescriptor(array, list(extents), [extents[1], 1], block)  # noqa: E731
    matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        describe(engine.array(a), (M, K), [32, 16]), describe(engine.array(b), (N, K), [32, 16]),
        describe(c, (M, N), [32, 32]), K, BM=32, BN=32, BK=16,
    )  # fmt: skip
    np.testing.assert_allclose(engine.numpy(c), a @ b.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("op", ["add", "min", "max", "and", "or", "xor"])
def test_atomics(engine, rng, op):
    @triton.jit
    def kernel(x_ptr, value_ptr, N, OP: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [4, N], [N, 1], [4, 8])
        value = tl.load(value_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
        if OP == "add":
            x.atomic_add([0, 2], value)
        elif OP == "min":
            x.atomic_min([0, 2], value)
        elif OP == "max":
            x.atomic_max([0, 2], value)
        elif OP == "and":
            x.atomic_and([0, 2], value)
        elif OP == "or":
            x.atomic_or([0, 2], value)
        else:
            x.atomic_xor([0, 2], value)

    x, value = rng.integers(0, 100, (4, 6), dtype=np.int32), rng.integers(0, 100, (4, 8), dtype=np.int32)
    memory = engine.array(x)
    kernel[(1,)](memory, engine.array(value), 6, op)
    apply = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    expected = x.copy()
    expected[:, 2:] = apply(x[:, 2:], value[:, :4])
    np.testing.assert_array_equal(engine.numpy(memory), expected)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_the_smallest_and_largest_of_narrow_floats(engine, rng, name, op):
    @triton.jit
    def kernel(x_ptr, value_ptr, N, OP: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [4, N], [N, 1], [4, 16])
        value = tl.load(value_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])
        if OP == "min":
            x.atomic_min([0, 4], value)
        else:
            x.atomic_max([0, 4], value)

    @triton.jit
    def of_the_host(x, value_ptr, N, OP: tl.constexpr):
        value = tl.load(value_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])
        if OP == "min":
            x.atomic_min([0, 8], value)
        else:
            x.atomic_max([0, 8], value)

    x, value = rng.integers(-100, 100, (4, 12)) / 4, rng.integers(-100, 100, (4, 16)) / 4
    choose = {"min": np.minimum, "max": np.maximum}[op]
    memory = engine.array(x, name)
    kernel[(1,)](memory, engine.array(value, name), 12, op)  # a stride that hardware's copies do not take
    expected = x.copy()
    expected[:, 4:] = choose(x[:, 4:], value[:, :8])
    np.testing.assert_array_equal(engine.numpy(memory), expected)

    x = rng.integers(-100, 100, (4, 16)) / 4
    memory = engine.array(x, name)
    of_the_host[(1,)](TensorDescriptor(memory, [4, 16], [16, 1], [4, 16]), engine.array(value, name), 16, op)
    expected = x.copy()
    expected[:, 8:] = choose(x[:, 8:], value[:, :8])
    np.testing.assert_array_equal(engine.numpy(memory), expected)


def test_pointers_to_narrow_floats_have_no_smallest(engine):
    @triton.jit
    def kernel(x_ptr):
        tl.atomic_min(x_ptr + tl.arange(0, 16), 1.0)

    with pytest.raises(triton.TritonError, match="cannot be accessed this way; it must be a type of 32 or 64 bits"):
        kernel[(1,)](engine.zeros(16, "float16"))


def test_gather_and_scatter_rows(engine, rng):
    @triton.jit
    def kernel(x_ptr, rows_ptr, out_ptr, back_ptr, M, N, column):
        x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, 16])
        back = tl.make_tensor_descriptor(back_ptr, [M, N], [N, 1], [1, 16])
        rows = tl.load(rows_ptr + tl.arange(0, 8))
        block = x.gather(rows, column)
        tl.store(out_ptr + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], block)
        back.scatter(block, rows, column)

    x = sample(rng, "float32", (10, 20))
    rows = np.array([3, 9, 0, 12, 1, -1, 5, 7], np.int32)
    out, back = engine.empty((8, 16), "float32"), engine.zeros((10, 20), "float32")
    kernel[(1,)](engine.array(x), engine.array(rows), out, back, 10, 20, 8)
    expected, scattered = np.zeros((8, 16), np.float32), np.zeros((10, 20), np.float32)
    for i, row in enumerate(rows):
        if 0 <= row < 10:
            expected[i, :12] = x[row, 8:]
            scattered[row, 8:] = x[row, 8:]
    np.testing.assert_array_equal(engine.numpy(out), expected)
    np.testing.assert_array_equal(engine.numpy(back), scattered)


@triton.jit
def doubled(descriptor, row):
    return descriptor.load([row, 0]) * 2


def test_helpers_loops_and_tuples_carry_them(engine):
    @triton.jit
    def kernel(pair, out_ptr, count):
        total = tl.zeros((1, 8), tl.float32)
        current = pair[0]
        for row in range(count):
            total += doubled(current, row)
            current = pair[1]
        tl.store(out_ptr + tl.arange(0, 8)[None, :], total)

    x, y = np.arange(32, dtype=np.float32).reshape(4, 8), np.ones((4, 8), np.float32)
    out = engine.empty(8, "float32")
    pair = tuple(TensorDescriptor(engine.array(array), [4, 8], [8, 1], [1, 8]) for array in (x, y))
    kernel[(1,)](pair, out, 3)
    np.testing.assert_array_equal(engine.numpy(out), 2 * (x[0] + 2))


def test_a_wrong_host_descriptor(engine):
    x = engine.zeros((4, 8), "float32")
    with pytest.raises((ValueError, AssertionError)):
        TensorDescriptor(x, [4, 8], [1, 4], [4, 8])


@pytest.mark.parametrize("arguments, text", [
    (([4, 8], [8, 1], [4]), "rank mismatch: shape, strides and block_shape have 2, 2 and 1 entries"),
    (([], [], []), "rank must not be zero"),
    (([1] * 6, [4] * 5 + [1], [4] * 6), "rank cannot be more than 5: found 6 axes"),
    (([4, 7], [7, 1], [4, 8]), "strides must be 16-byte aligned: that of axis 0 is 7 elements of 4 bytes"),
    (([0, 8], [8, 1], [4, 8]), "shape must be positive: entry 0 is 0"),
    (([4, 8], [8, 2], [4, 8]), "Last dimension must be contiguous: its stride is 2"),
    (([4, 8], [8, 1], [4, 0]), "block_shape must be positive: entry 1 is 0"),
    (([4, 8], [8, 1], [4, 8], "one"), "Illegal value for padding: 'one'"),
])  # fmt: skip
@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_what_a_host_descriptor_refuses(engine, arguments, text, kind):
    with pytest.raises(kind, match=text):
        TensorDescriptor(engine.zeros((4, 8), "float32"), *arguments)


def test_a_host_descriptor_begins_where_hardware_can_copy(engine):
    x = engine.zeros(64, "float32")
    with pytest.raises(ValueError, match="base must be 16-byte aligned: it is 4 bytes past"):
        TensorDescriptor(x[1:], [4, 8], [8, 1], [4, 8])


def test_a_host_descriptor_of_integers_has_no_nan(engine):
    with pytest.raises(ValueError, match="only supported for floating point tensors"):
        TensorDescriptor(engine.zeros((4, 8), "int32"), [4, 8], [8, 1], [4, 8], padding="nan")
    with pytest.raises(ValueError, match="only supported for float32 tensors"):
        TensorDescriptor(engine.zeros((4, 8), "float16"), [4, 8], [8, 1], [4, 8], round_f32_to_tf32=True)


@pytest.mark.parametrize("name, wide, bytes", [("float16", 4, "4 * 2 = 8"), ("float32", 2, "2 * 4 = 8"), ("int8", 8, "8 * 1 = 8")])
@pytest.mark.parametrize("where", ["host", "kernel"])
def test_blocks_of_less_than_16_bytes(engine, name, wide, bytes, where):
    @triton.jit
    def of_the_kernel(x_ptr, wide: tl.constexpr):
        x = tl.make_tensor_descriptor(x_ptr, [4, 16], [16, 1], [4, wide])
        x.store([0, 0], x.load([0, 0]))

    x = engine.zeros((4, 16), name)
    with pytest.raises(triton.TritonError, match="at least 16 bytes in the last dimension, but got " + bytes.replace("*", ".")):
        if where == "host":
            block = TensorDescriptor(x, [4, 16], [16, 1], [4, wide])
            host_kernel[(1,)](block, block, 0, 0)
        else:
            of_the_kernel[(1,)](x, wide)


def test_a_block_shape_that_is_changed_for_a_launch(engine):
    x = engine.zeros((4, 16), "float32")
    block = TensorDescriptor(x, [4, 16], [16, 1], [1, 1])  # to be chosen later
    block.block_shape = [4, 4, 1]
    with pytest.raises(ValueError, match="as many entries: found 2, 2 and 3"):
        host_kernel[(1,)](block, block, 0, 0)
    block.block_shape = [4, 8]
    host_kernel[(1,)](block, block, 0, 0)
