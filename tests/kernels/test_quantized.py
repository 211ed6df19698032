"""Weights of 4 and 8 bits: the formats byte by byte, packing, products, gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near  # noqa: E402


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def unpacked(weight, scales, zeros, format):
    """The weights in float64, by the words of the formats' descriptions, one group at a time."""
    weight = np.asarray(weight)
    rows = []
    for number, row in enumerate(weight):
        values = []
        if format in ("q4_0", "q8_0"):
            for block in row.reshape(-1, 18 if format == "q4_0" else 34):
                scale, stored = float(block[:2].view(np.float16)[0]), block[2:]
                elements = [*(stored & 15), *(stored >> 4)] if format == "q4_0" else stored.view(np.int8)
                values += [(float(element) - (8 if format == "q4_0" else 0)) * scale for element in elements]
        else:
            groups = scales.shape[1]
            for group, stored in enumerate(row.reshape(groups, -1)):
                elements = [*(stored & 15), *(stored >> 4)] if format == "int4" else stored
                zero = (8.0 if format == "int4" else 0.0) if zeros is None else float(zeros[number, group])
                values += [(float(element) - zero) * float(scales[number, group]) for element in elements]
        rows.append(values)
    return torch.tensor(rows, dtype=torch.float64)


FORMS = [("int8", 32, True), ("int8", 96, False), ("int4", 32, True), ("int4", 64, False), ("q8_0", 32, True), ("q4_0", 32, True)]


@pytest.mark.parametrize("format, group, symmetric", FORMS)
def test_packing_keeps_what_the_bits_can(format, group, symmetric):
    weight = random(5, 192)
    weight[2, :group] = 0
    packed = kernels.quantize(weight, format=format, group=group, symmetric=symmetric)
    exact = unpacked(*packed, format)
    assert_near(kernels.dequantize(*packed, format=format), exact, terms=4)
    groups = weight.double().reshape(5, -1, group)
    span = groups.abs().amax(2) if symmetric else groups.amax(2).clamp(min=0) - groups.amin(2).clamp(max=0)
    step = span / {"int8": 127 if symmetric else 255, "q8_0": 127, "int4": 7 if symmetric else 15, "q4_0": 8}[format]
    # The largest element of the other sign may lie one step behind the range of q4_0.
    error = (exact.reshape(5, -1, group) - groups).abs().amax(2)
    assert bool((error <= step * (1.01 if format == "q4_0" else 0.51) + 1e-3 * span + 1e-12).all())


@pytest.mark.parametrize("format, group, symmetric", FORMS)
def test_products_and_gradients(format, group, symmetric):
    packed = kernels.quantize(random(37, 192), format=format, group=group, symmetric=symmetric)
    exact = unpacked(*packed, format)
    for rows in (1, 3, 21):
        x = random(rows, 192).requires_grad_()
        y = kernels.quantized_matmul(x, *packed, format=format)
        assert_near(y, x.double() @ exact.T, terms=128)
        upstream = random(rows, 37, seed=3)
        assert_near(torch.autograd.grad(y, x, upstream)[0], upstream.double() @ exact, terms=64)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_types(dtype):
    packed = kernels.quantize(random(20, 64), format="q4_0")
    for rows in (2, 9):
        x = random(2, rows, 64).to(dtype)
        working = {torch.float16: "float16", torch.bfloat16: "bfloat16"}.get(dtype)
        assert_near(kernels.quantized_matmul(x, *packed, format="q4_0"), x.double() @ unpacked(*packed, "q4_0").T, terms=64, working=working)
    assert kernels.dequantize(*packed, format="q4_0", dtype="bfloat16").dtype == torch.bfloat16


def gptq(elements, zeros):
    """The arrays of GPTQ from elements (K, N) and zero points (groups, N) of 0 to 15."""
    qweight = sum(elements[number::8].astype(np.int64) << 4 * number for number in range(8)).astype(np.uint32).view(np.int32)
    qzeros = sum((zeros[:, number::8].astype(np.int64) - 1 & 15) << 4 * number for number in range(8)).astype(np.uint32).view(np.int32)
    return qweight, qzeros


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_arrays_of_gptq(is_ordered, kind):
    generator = np.random.default_rng(0)
    elements, zeros = generator.integers(0, 16, (64, 24)), generator.integers(1, 17, (4, 24))
    scales = generator.random((4, 24), dtype=np.float32)
    of_row = np.arange(64) // 16 if is_ordered else generator.permutation(np.arange(64) % 4)
    weight = (elements - zeros[of_row]) * scales[of_row].astype(np.float64)
    arrays = [*gptq(elements, zeros), scales, None if is_ordered else of_row.astype(np.int32)]
    x = generator.random((3, 64), dtype=np.float32)
    if kind == "torch":
        arrays, x = [None if array is None else torch.from_numpy(array) for array in arrays], torch.from_numpy(x)
    *packed, order = kernels.from_gptq(*arrays)
    assert (order is None) == is_ordered
    y = kernels.quantized_matmul(x if order is None else x[..., order], *packed, format="int4")
    assert_near(y, torch.from_numpy(np.asarray(x) @ weight), terms=64)


def test_numpy_and_empty_batches():
    packed = kernels.quantize(random(6, 64).numpy(), format="int8", group=32)
    assert all(isinstance(part, np.ndarray) for part in packed[:2]) and packed[2] is None
    x = random(2, 5, 64).numpy()
    y = kernels.quantized_matmul(x, *packed, format="int8")
    assert isinstance(y, np.ndarray) and y.shape == (2, 5, 6)
    assert_near(y, torch.from_numpy(x).double() @ unpacked(*packed, "int8").T, terms=64)
    assert kernels.quantized_matmul(x[:0], *packed, format="int8").shape == (0, 5, 6)


def test_compiled_in_one_graph():
    packed = kernels.quantize(random(20, 64), format="q8_0")
    x = random(3, 64).requires_grad_()
    compiled = torch.compile(lambda x: kernels.quantized_matmul(x * 2, packed[0], format="q8_0").sin(), fullgraph=True, backend="aot_eager")
    wanted = kernels.quantized_matmul(x * 2, packed[0], format="q8_0").sin()
    assert torch.equal(compiled(x), wanted)
    assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in (compiled(x), wanted)))


@pytest.mark.parametrize("call, text", [
    (lambda w: kernels.quantize(w, format="q5_0"), "format is 'q5_0'; 'int8', "),
    (lambda w: kernels.quantize(w, format="int4", group=48), "weight has 64 columns, which is no multiple of the group of 48"),
    (lambda w: kernels.quantized_matmul(w, w.byte(), format="q4_0"), "rows of 64 bytes, which is no multiple of the 18 bytes"),
    (lambda w: kernels.quantized_matmul(w, w.char(), format="int8"), "int8 needs scales"),
    (lambda w: kernels.quantized_matmul(w, w.byte(), format="int8"), "weight has elements of type uint8; int8 are supported"),
    (lambda w: kernels.quantized_matmul(w[:, :32], w.char(), torch.ones(6, 2), format="int8"), "as weight has K = 64"),
    (lambda w: kernels.quantized_matmul(w, w.char(), torch.ones(6, 3), format="int8"), "scales has 3 columns for K = 64"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call(random(6, 64))


@pytest.mark.parametrize("format", ["q4_0", "int8"])
def test_engines(engine, format):
    packed = kernels.quantize(random(19, 64), format=format, group=32)
    exact = unpacked(*packed, format)
    packed = [None if part is None else part.to(engine.device) for part in packed]
    for rows in (1, 6):
        x = random(rows, 64).to(engine.device).requires_grad_()
        y = kernels.quantized_matmul(x, *packed, format=format)
        assert_near(y, x.detach().cpu().double() @ exact.T, terms=64)
    assert_near(torch.autograd.grad(y.sum(), x)[0], exact.sum(0).expand(6, 64), terms=64)
