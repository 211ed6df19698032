"""Kernels of the kind that people learn the language with, traced by the calls of triton_viz 1.1.1: a constant added, outer sums, long
reductions, an attention of scalars, a convolution, products of matrices and of packed integers. Each is right, none leaves its arrays, and
one that does is told."""

import pytest

torch = pytest.importorskip("torch")
import triton
import triton.language as tl
import triton_viz
from triton_viz.interpreter import record_builder


@triton.jit
def add_ten(x_ptr, z_ptr, N0, B0: tl.constexpr):
    at = tl.arange(0, B0)
    tl.store(z_ptr + at, tl.load(x_ptr + at) + 10.0)


@triton.jit
def add_ten_in_blocks(x_ptr, z_ptr, N0, B0: tl.constexpr):
    at = tl.program_id(0) * B0 + tl.arange(0, B0)
    tl.store(z_ptr + at, tl.load(x_ptr + at, at < N0) + 10.0, at < N0)


@triton.jit
def outer_sum(x_ptr, y_ptr, z_ptr, N0, N1, B0: tl.constexpr, B1: tl.constexpr):
    i = tl.program_id(0) * B0 + tl.arange(0, B0)
    j = tl.program_id(1) * B1 + tl.arange(0, B1)
    total = tl.load(x_ptr + i, i < N0)[None, :] + tl.load(y_ptr + j, j < N1)[:, None]
    tl.store(z_ptr + j[:, None] * N0 + i[None, :], total, (j[:, None] < N1) & (i[None, :] < N0))


@triton.jit
def outer_relu(x_ptr, y_ptr, z_ptr, N0, N1, B0: tl.constexpr, B1: tl.constexpr):
    i = tl.program_id(0) * B0 + tl.arange(0, B0)
    j = tl.program_id(1) * B1 + tl.arange(0, B1)
    product = tl.load(x_ptr + i, i < N0)[None, :] * tl.load(y_ptr + j, j < N1)[:, None]
    tl.store(z_ptr + j[:, None] * N0 + i[None, :], tl.where(product > 0, product, 0.0), (j[:, None] < N1) & (i[None, :] < N0))


@triton.jit
def outer_relu_backward(x_ptr, y_ptr, dz_ptr, dx_ptr, N0, N1, B0: tl.constexpr, B1: tl.constexpr):
    i = tl.program_id(0) * B0 + tl.arange(0, B0)
    j = tl.program_id(1) * B1 + tl.arange(0, B1)
    at, inside = j[:, None] * N0 + i[None, :], (j[:, None] < N1) & (i[None, :] < N0)
    x, y = tl.load(x_ptr + at, inside), tl.load(y_ptr + j, j < N1)[:, None]
    tl.store(dx_ptr + at, tl.where(x * y > 0, y * tl.load(dz_ptr + at, inside), 0.0), inside)


@triton.jit
def long_sum(x_ptr, z_ptr, N0, T, B0: tl.constexpr, B1: tl.constexpr):
    row = tl.program_id(0) * B0 + tl.arange(0, B0)
    total = tl.zeros((B0,), tl.float32)
    for first in range(0, T, B1):
        column = first + tl.arange(0, B1)
        inside = (row[:, None] < N0) & (column[None, :] < T)
        total += tl.sum(tl.load(x_ptr + row[:, None] * T + column[None, :], inside, 0.0), axis=1)
    tl.store(z_ptr + row, total, row < N0)


@triton.jit
def power(value):
    return tl.exp2(1.44269504 * value)


@triton.jit
def long_softmax(x_ptr, z_ptr, N0, T, B0: tl.constexpr, B1: tl.constexpr):
    row = tl.program_id(0) * B0 + tl.arange(0, B0)
    most, total = tl.full((B0,), -float("inf"), tl.float32), tl.zeros((B0,), tl.float32)
    for first in range(0, T, B1):
        column = first + tl.arange(0, B1)
        x = tl.load(x_ptr + row[:, None] * T + column[None, :], (row[:, None] < N0) & (column[None, :] < T), -float("inf"))
        higher = tl.maximum(most, tl.max(x, axis=1))
        total = total * power(most - higher) + tl.sum(power(x - higher[:, None]), axis=1)
        most = higher
    for first in range(0, T, B1):
        column = first + tl.arange(0, B1)
        at, inside = row[:, None] * T + column[None, :], (row[:, None] < N0) & (column[None, :] < T)
        tl.store(z_ptr + at, power(tl.load(x_ptr + at, inside) - most[:, None]) / total[:, None], inside)


@triton.jit
def scalar_attention(q_ptr, k_ptr, v_ptr, z_ptr, N0, T, B0: tl.constexpr, B1: tl.constexpr):
    i = tl.program_id(0) * B0 + tl.arange(0, B0)
    q = tl.load(q_ptr + i, i < N0, 0.0)
    most, total, out = tl.full((B0,), -float("inf"), tl.float32), tl.zeros((B0,), tl.float32), tl.zeros((B0,), tl.float32)
    for first in range(0, T, B1):
        j = first + tl.arange(0, B1)
        k, v = tl.load(k_ptr + j, j < T, 0.0), tl.load(v_ptr + j, j < T, 0.0)
        score = tl.where(j[None, :] < T, q[:, None] * k[None, :], -float("inf"))
        higher = tl.maximum(most, tl.max(score, axis=1))
        weight, fade = tl.exp(score - higher[:, None]), tl.exp(most - higher)
        total = total * fade + tl.sum(weight, axis=1)
        out = out * fade + tl.sum(weight * v[None, :], axis=1)
        most = higher
    tl.store(z_ptr + i, out / total, i < N0)


@triton.jit
def convolution(x_ptr, k_ptr, z_ptr, N0, H, W, KH: tl.constexpr, KW: tl.constexpr, B0: tl.constexpr):
    image = tl.program_id(0)
    a, b = tl.arange(0, KH)[:, None], tl.arange(0, KW)[None, :]
    filter = tl.load(k_ptr + a * KW + b)
    for y in range(0, H):
        for x in range(0, W):
            inside = (y + a < H) & (x + b < W)
            window = tl.load(x_ptr + image * H * W + (y + a) * W + x + b, inside, 0.0)
            tl.store(z_ptr + image * H * W + y * W + x, tl.sum(window * filter))


@triton.jit
def batched_product(x_ptr, y_ptr, z_ptr, N0, N1, N2, MID, B0: tl.constexpr, B1: tl.constexpr, B_MID: tl.constexpr):
    i, j, batch = tl.program_id(0) * B0 + tl.arange(0, B0), tl.program_id(1) * B1 + tl.arange(0, B1), tl.program_id(2)
    total = tl.zeros((B0, B1), tl.float32)
    for first in range(0, MID, B_MID):
        m = first + tl.arange(0, B_MID)
        left = tl.load(x_ptr + batch * N0 * MID + i[:, None] * MID + m[None, :], (i[:, None] < N0) & (m[None, :] < MID), 0.0)
        right = tl.load(y_ptr + batch * MID * N1 + m[:, None] * N1 + j[None, :], (m[:, None] < MID) & (j[None, :] < N1), 0.0)
        total += tl.dot(left, right)
    tl.store(z_ptr + batch * N0 * N1 + i[:, None] * N1 + j[None, :], total, (i[:, None] < N0) & (j[None, :] < N1))


@triton.jit
def product_of_batches(x_ptr, y_ptr, z_ptr, N0, N1, N2, MID, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr, B_MID: tl.constexpr):
    """The same with the batch as an axis of the tiles."""
    i = tl.program_id(0) * B0 + tl.arange(0, B0)[None, :, None]
    j = tl.program_id(1) * B1 + tl.arange(0, B1)[None, None, :]
    batch = tl.program_id(2) * B2 + tl.arange(0, B2)[:, None, None]
    total = tl.zeros((B2, B0, B1), tl.float32)
    for first in range(0, MID, B_MID):
        across, down = first + tl.arange(0, B_MID)[None, None, :], first + tl.arange(0, B_MID)[None, :, None]
        left = tl.load(x_ptr + batch * N0 * MID + i * MID + across, (batch < N2) & (i < N0) & (across < MID), 0.0)
        right = tl.load(y_ptr + batch * MID * N1 + down * N1 + j, (batch < N2) & (down < MID) & (j < N1), 0.0)
        total += tl.dot(left, right)
    tl.store(z_ptr + batch * N0 * N1 + i * N1 + j, total, (batch < N2) & (i < N0) & (j < N1))


@triton.jit
def packed_product(scale_ptr, offset_ptr, weight_ptr, activation_ptr, z_ptr, N0, N1, MID, B0: tl.constexpr, B1: tl.constexpr, GROUP: tl.constexpr):
    """Weights of four bits, eight in a number; a scale and an offset for each group of them."""
    i, j, m = tl.program_id(0) * B0 + tl.arange(0, B0), tl.program_id(1) * B1 + tl.arange(0, B1), tl.arange(0, 64)
    inside = (i[:, None] < N0) & (m[None, :] < MID)
    packed = tl.load(weight_ptr + i[:, None] * (MID // 8) + m[None, :] // 8, inside, 0)
    weight = (packed >> (m[None, :] % 8 * 4)) & 15
    group = i[:, None] * (MID // GROUP) + m[None, :] // GROUP
    offsets = tl.load(offset_ptr + i, i < N0, 0)[:, None]
    offset = (offsets >> (m[None, :] // GROUP * 4)) & 15
    left = tl.load(scale_ptr + group, inside, 0.0) * (weight - offset).to(tl.float32)
    right = tl.load(activation_ptr + m[:, None] * N1 + j[None, :], (m[:, None] < MID) & (j[None, :] < N1), 0.0)
    tl.store(z_ptr + i[:, None] * N1 + j[None, :], tl.dot(left, right, input_precision="ieee"), (i[:, None] < N0) & (j[None, :] < N1))


def rand(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(len(shape) + sum(shape))) - 0.5


def nibbles(packed, count):
    return torch.stack([(packed >> (4 * i)) & 15 for i in range(count)], -1).reshape(packed.shape[0], -1)


def cases():
    """name -> (kernel, grid, arguments, constants, what the last argument is to be)"""
    x, y = rand(100), rand(90)
    yield "constant", add_ten, (1,), (rand(32), torch.zeros(32), 32), {"B0": 32}, rand(32) + 10
    yield "constant in blocks", add_ten_in_blocks, (7,), (rand(200), torch.zeros(200), 200), {"B0": 32}, rand(200) + 10
    yield "outer sum", outer_sum, (1, 1), (rand(32), rand(32), torch.zeros(32, 32), 32, 32), {"B0": 32, "B1": 32}, rand(32)[None] + rand(32)[:, None]
    yield "outer sum in blocks", outer_sum, (4, 3), (x, y, torch.zeros(90, 100), 100, 90), {"B0": 32, "B1": 32}, x[None] + y[:, None]
    yield "outer relu", outer_relu, (4, 3), (x, y, torch.zeros(90, 100), 100, 90), {"B0": 32, "B1": 32}, torch.relu(x[None] * y[:, None])
    m, dz = rand(90, 100), rand(90, 100).flip(0)
    expected = torch.where(m * y[:, None] > 0, y[:, None] * dz, 0)
    yield "relu backward", outer_relu_backward, (4, 3), (m, y, dz, torch.zeros(90, 100), 100, 90), {"B0": 32, "B1": 32}, expected
    rows = rand(4, 200)
    yield "long sum", long_sum, (4,), (rows, torch.zeros(4), 4, 200), {"B0": 1, "B1": 32}, rows.sum(1)
    yield "long softmax", long_softmax, (4,), (rows, torch.zeros(4, 200), 4, 200), {"B0": 1, "B1": 32}, rows.softmax(1)
    q, k, v = rand(200), rand(200).flip(0), rand(200).roll(7)
    attention = (v[None] * (q[:, None] * k[None]).softmax(1)).sum(1)
    yield "attention", scalar_attention, (7,), (q, k, v, torch.zeros(200), 200, 200), {"B0": 32, "B1": 32}, attention
    images, filter = rand(4, 8, 8), rand(4, 4)
    wide = torch.nn.functional.pad(images, (0, 3, 0, 3))[:, None]
    constants = {"KH": 4, "KW": 4, "B0": 1}
    yield "convolution", convolution, (4,), (images, filter, torch.zeros(4, 8, 8), 4, 8, 8), constants, torch.nn.functional.conv2d(wide, filter[None, None])[:, 0]
    a, b = rand(4, 32, 32), rand(4, 32, 32).flip(1)
    constants = {"B0": 16, "B1": 16, "B_MID": 16}
    yield "product", batched_product, (2, 2, 4), (a, b, torch.zeros(4, 32, 32), 32, 32, 4, 32), constants, a @ b
    constants = {"B0": 16, "B1": 16, "B2": 2, "B_MID": 16}
    yield "product of batches", product_of_batches, (2, 2, 2), (a, b, torch.zeros(4, 32, 32), 32, 32, 4, 32), constants, a @ b
    scale, activation = rand(32, 8), rand(64, 32)
    dice = torch.Generator().manual_seed(7)
    offset, weight = (torch.randint(-(2**31), 2**31, shape, dtype=torch.int64, generator=dice).to(torch.int32) for shape in ((32,), (32, 8)))
    full = (nibbles(weight, 8) - nibbles(offset[:, None], 8).repeat_interleave(8, 1)).float() * scale.repeat_interleave(8, 1)
    constants = {"B0": 16, "B1": 16, "GROUP": 8}
    for name, kind in (("packed product", torch.int32), ("packed product of int64", torch.int64)):  # the published test draws the latter
        inputs = scale, offset.to(kind), weight.to(kind), activation
        yield name, packed_product, (2, 2), (*inputs, torch.zeros(32, 32), 32, 32, 64), constants, full @ activation


CASES = {case[0]: case[1:] for case in cases()}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record_builder.reset()
    yield tmp_path
    record_builder.reset()


@pytest.mark.parametrize("name", CASES)
def test_a_puzzle(name, folder):
    kernel, grid, arguments, constants, expected = CASES[name]
    triton_viz.trace(kernel)[grid](*arguments, **constants)
    result = [argument for argument in arguments if isinstance(argument, torch.Tensor)][-1]
    torch.testing.assert_close(result, expected, rtol=1e-3, atol=1e-3)
    assert not triton_viz.launch()
    page = (folder / "triton_viz.html").read_text()
    assert kernel.__name__ in page and len(page) < 5_000_000
    (launched,) = record_builder.launches
    kinds = [type(record).__name__ for record in launched.records]
    count = grid[0] * (grid[1] if len(grid) > 1 else 1) * (grid[2] if len(grid) > 2 else 1)
    assert kinds.count("Grid") == count and "Load" in kinds and "Store" in kinds
    assert ("Dot" in kinds) == (kernel in (batched_product, product_of_batches, packed_product))
    assert ("ReduceSum" in kinds) == (kernel in (long_sum, long_softmax, scalar_attention, convolution))


def test_a_mask_that_is_forgotten_is_told():
    x, z = rand(200), torch.zeros(200)

    @triton.jit
    def without_mask(x_ptr, z_ptr, N0, B0: tl.constexpr):
        at = tl.program_id(0) * B0 + tl.arange(0, B0)
        tl.store(z_ptr + at, tl.load(x_ptr + at, at < N0) + 10.0)

    triton_viz.trace(without_mask)[(7,)](x, z, 200, B0=32)
    invalid = triton_viz.launch()
    assert list(invalid) == [(6, 0, 0)] and "'z_ptr'" in invalid[6, 0, 0][0]


def test_a_lambda_is_run_by_python():
    """Some of these kernels come with one: the interpreter runs what cannot be compiled, and is recorded as well."""

    @triton.jit
    def powers(x_ptr, z_ptr, N0, B0: tl.constexpr):
        power = lambda value: tl.exp2(1.44269504 * value)  # noqa: E731
        at = tl.program_id(0) * B0 + tl.arange(0, B0)
        tl.store(z_ptr + at, power(tl.load(x_ptr + at, at < N0)), at < N0)

    x, z = rand(50), torch.zeros(50)
    triton_viz.trace(powers)[(2,)](x, z, 50, B0=32)
    torch.testing.assert_close(z, x.exp(), rtol=1e-3, atol=1e-3)
    assert not triton_viz.launch()
    (launched,) = record_builder.launches
    assert [type(record).__name__ for record in launched.records] == ["Grid", "Load", "Store"] * 2
    assert launched.records[4].offsets == [4 * at for at in range(32, 50)]
    record_builder.reset()
    triton_viz.trace(powers)[(3,)](x[:40], z[:40], 50, B0=32)  # in the interpreter, too, only the program that leaves its array ends
    invalid = triton_viz.launch()
    assert list(invalid) == [(1, 0, 0)] and "'x_ptr'" in invalid[1, 0, 0][0]


def test_records_of_products_and_reductions():
    kernel, grid, arguments, constants, _ = CASES["product"]
    triton_viz.trace(kernel)[grid](*arguments, **constants)
    (launched,) = record_builder.launches
    first = launched.records[: [type(record).__name__ for record in launched.records].index("Grid", 1)]
    assert [type(record).__name__ for record in first] == ["Grid", "Load", "Load", "Dot", "Load", "Load", "Dot", "Store"]
    dot = first[3]
    assert (dot.input_shape, dot.other_shape, dot.output_shape) == ((16, 16), (16, 16), (16, 16))
    left, right = torch.tensor(dot.input_data).reshape(16, 16), torch.tensor(dot.other_data).reshape(16, 16)
    torch.testing.assert_close(left, arguments[0][0, :16, :16], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(torch.tensor(dot.data).reshape(16, 16), left @ right, rtol=1e-3, atol=1e-3)
    record_builder.reset()
    kernel, grid, arguments, constants, _ = CASES["long sum"]
    triton_viz.trace(kernel)[grid](*arguments, **constants)
    sums = [record for record in record_builder.launches[0].records if type(record).__name__ == "ReduceSum"]
    assert len(sums) == 4 * 7
    assert all((one.input_shape, one.index, one.keep_dims, one.output_shape) == ((1, 32), 1, False, (1,)) for one in sums)
