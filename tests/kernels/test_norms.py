"""Norms over rows against torch in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as nk
from comparison import assert_near, compare

F = torch.nn.functional
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
names = lambda dtype: str(dtype).removeprefix("torch.")  # noqa: E731


def tensors(*shape, weight=True, bias=True, residual=False):
    generator = torch.Generator().manual_seed(sum(shape))
    x = torch.randn(shape, generator=generator, dtype=torch.float64) * 2 + 0.5
    columns = shape[-1:]
    w = torch.rand(columns, generator=generator, dtype=torch.float64) + 0.5 if weight else None
    b = torch.randn(columns, generator=generator, dtype=torch.float64) if bias else None
    return [x, w, b] + ([torch.randn(shape, generator=generator, dtype=torch.float64)] if residual else [])


def layer_norm(x, w=None, b=None):
    return nk.layer_norm(x, w, b)


def layer_norm_torch(x, w=None, b=None):
    return F.layer_norm(x, x.shape[-1:], w, b)


def rms_norm_torch(x, w=None, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], w, eps)


@pytest.mark.parametrize("shape", [(3, 20), (2, 3, 33)], ids=str)
def test_on_every_engine(engine, shape):
    x, w, b, r = tensors(*shape, residual=True)
    compare(layer_norm, layer_norm_torch, [x, w, b], device=engine.device)
    compare(lambda x, w, r: nk.rms_norm(x, w, residual=r), lambda x, w, r: (rms_norm_torch(x + r, w), x + r), [x, w, r], device=engine.device)


def test_long_rows_on_every_engine(engine, monkeypatch):
    """Rows that are walked in steps."""
    from nacre.kernels import _blocks

    monkeypatch.setattr(_blocks, "_LONGEST_ROW", {True: 16, False: 16})
    monkeypatch.setattr(_blocks, "_STEP", {True: 16, False: 16})
    x, w, b, r = tensors(3, 41, residual=True)
    compare(layer_norm, layer_norm_torch, [x, w, b], device=engine.device)
    compare(lambda x, w, r: nk.rms_norm(x, w, residual=r), lambda x, w, r: (rms_norm_torch(x + r, w), x + r), [x, w, r], device=engine.device)
    compare(lambda x, w, b, r: nk.layer_norm(x, w, b, residual=r), lambda x, w, b, r: (layer_norm_torch(x + r, w, b), x + r), [x, w, b, r],
            device=engine.device)  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 781), (600, 64), (2, 3, 1000), (129,), (3, 17000)], ids=str)
def test_shapes(shape):
    x, w, b = tensors(*shape)
    compare(layer_norm, layer_norm_torch, [x, w, b], terms=64)
    compare(nk.rms_norm, rms_norm_torch, [x, w], terms=64)


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_dtypes(dtype):
    x, w, b, r = tensors(9, 300, residual=True)
    compare(layer_norm, layer_norm_torch, [x, w, b], dtype)
    compare(nk.rms_norm, rms_norm_torch, [x, w], dtype)
    compare(lambda x: nk.layer_norm(x), lambda x: layer_norm_torch(x), [x], dtype)
    compare(lambda x, b: nk.layer_norm(x, None, b), lambda x, b: layer_norm_torch(x, None, b), [x, b], dtype)
    x, r = (x.to(dtype).double(), r.to(dtype).double())
    summed = (x.to(dtype) + r.to(dtype)).double()  # what is normalized is the sum as the type has it
    y, s = nk.layer_norm(x.to(dtype), w.to(dtype), b.to(dtype), residual=r.to(dtype))
    assert_near(s, summed.numpy(), 0)
    assert_near(y, layer_norm_torch(summed, w.to(dtype).double(), b.to(dtype).double()).numpy())


def test_weights_of_another_type():
    x, w, b = tensors(4, 50)
    y = nk.layer_norm(x.bfloat16(), w.float(), b.double())
    assert y.dtype == torch.bfloat16
    assert_near(y, layer_norm_torch(x.bfloat16().double(), w.float().double(), b).numpy())


def test_rows_that_are_not_contiguous():
    x, w, b = tensors(6, 8, 40)
    compare(lambda x, w, b: nk.layer_norm(x[:, ::2, 3:33], w[:30], b[:30]), lambda x, w, b: layer_norm_torch(x[:, ::2, 3:33], w[:30], b[:30]), [x, w, b])
    compare(lambda x, w: nk.rms_norm(x.transpose(1, 2), w[:8]), lambda x, w: rms_norm_torch(x.transpose(1, 2), w[:8]), [x, w])
    x = x.float().requires_grad_()
    nk.rms_norm(x).sum().backward()  # the gradient of sum() has strides of 0
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("shape", [(0, 8), (3, 0, 8), (4, 0)], ids=str)
def test_nothing(shape):
    x = torch.zeros(shape, requires_grad=True)
    w = torch.ones(shape[-1], requires_grad=True)
    y = nk.layer_norm(x, w)
    assert y.shape == x.shape
    y.sum().backward()
    assert x.grad.shape == x.shape and (w.grad == 0).all()


def test_values_that_are_not_numbers():
    x = tensors(4, 100)[0].float()
    x[1, 5], x[2, 7], x[3, 8] = float("nan"), float("inf"), -float("inf")
    for ours, theirs in ((nk.layer_norm, layer_norm_torch), (nk.rms_norm, rms_norm_torch)):
        assert_near(ours(x), theirs(x.double()).numpy())


def test_numpy():
    x, w, b, r = (a.numpy() for a in tensors(5, 70, residual=True))
    for kind in (np.float32, np.float64, np.float16):
        ours = nk.layer_norm(x.astype(kind), w.astype(kind), b.astype(kind))
        theirs = layer_norm_torch(*(torch.from_numpy(a.astype(kind)).double() for a in (x, w, b)))
        assert isinstance(ours, np.ndarray) and ours.dtype == kind
        assert_near(ours, theirs.numpy())
    y, s = nk.rms_norm(x[:, ::2], w[::2], residual=r[:, ::2])
    assert_near(s, (x + r)[:, ::2], 1)
    assert_near(y, rms_norm_torch(torch.from_numpy(x + r)[:, ::2], torch.from_numpy(w)[::2]).numpy())


def test_gradients_are_those_of_differences():
    x, w, b, r = tensors(3, 11, residual=True)
    inputs = [a.requires_grad_() for a in (x, w, b, r)]
    assert torch.autograd.gradcheck(lambda x, w, b, r: nk.layer_norm(x, w, b, residual=r), inputs)
    assert torch.autograd.gradcheck(lambda x, w, r: nk.rms_norm(x, w, residual=r), [x, w, r])
    assert torch.autograd.gradcheck(lambda x, r: nk.rms_norm(x, residual=r)[1], [x, r])


def test_torch_knows_the_operators():
    x, w, b, r = (a.float().requires_grad_() for a in tensors(3, 11, residual=True))
    torch.library.opcheck(torch.ops.nacre.row_norm.default, (x, r, w, b, 1e-5, True))
    torch.library.opcheck(torch.ops.nacre.row_norm.default, (x, None, w, None, 1e-5, False))
    torch.library.opcheck(torch.ops.nacre.row_norm_gradient.default,
                          (x.detach(), x.detach(), w.detach(), torch.rand(3), torch.rand(3), None, "float32", True, True, True))  # fmt: skip


def test_in_a_compiled_function():
    x, w, b, r = (a.float() for a in tensors(6, 30, residual=True))

    def block(x, w, b, r):
        y, s = nk.rms_norm(x * 2, w, residual=r)
        return nk.layer_norm(y, w, b) + s

    compiled = torch.compile(block, fullgraph=True, backend="aot_eager", dynamic=True)
    found, expected = [a.clone().requires_grad_() for a in (x, w, b, r)], [a.clone().requires_grad_() for a in (x, w, b, r)]
    compiled(*found).square().sum().backward()
    block(*expected).square().sum().backward()
    for a, c in zip(found, expected):
        torch.testing.assert_close(a.grad, c.grad)


@pytest.mark.parametrize("call, text", [
    (lambda: nk.layer_norm(torch.ones(3, 4), torch.ones(3)), r"weight has shape \(3,\); \(4,\) is expected, as rows of x have 4"),
    (lambda: nk.layer_norm(torch.ones(3, 4), None, torch.ones(4, dtype=torch.int32)), "bias has elements of type int32"),
    (lambda: nk.rms_norm(torch.ones(3, 4, dtype=torch.int32)), "x has elements of type int32"),
    (lambda: nk.rms_norm(torch.tensor(1.0)), "x has shape"),
    (lambda: nk.rms_norm(torch.ones(3, 4), residual=torch.ones(4)), "residual has shape"),
    (lambda: nk.rms_norm(torch.ones(3, 4), residual=torch.ones(3, 4).double()), "residual has elements of type float64 and x of float32"),
    (lambda: nk.rms_norm(np.ones((3, 4)), torch.ones(4)), "weight is a torch tensor on cpu and x is a NumPy array"),
])  # fmt: skip
def test_errors_name_the_argument(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call()


def test_a_gradient_of_the_gradient_is_refused():
    x = torch.randn(3, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(nk.rms_norm(x).square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="no gradient of row_norm_gradient"):
        gradient.sum().backward()


# ---- a quantized result


def check_quantized(x, w, r, dtype, device="cpu"):
    limit = {"int8": 127, "float8_e4m3fn": 448, "float8_e5m2": 57344}[dtype]
    x, w = x.float().to(device), w.float().to(device)
    r = None if r is None else r.float().to(device)
    q, steps, *summed = nk.rms_norm_quantized(x, w, residual=r, dtype=dtype)
    assert q.dtype == getattr(torch, dtype) and steps.shape == x.shape[:-1]
    if r is not None:
        x = x + r
        assert torch.equal(summed[0], x)
    expected = rms_norm_torch(x.double(), w.double()).cpu()
    largest = expected.abs().amax(-1)
    assert_near(steps, (largest / limit).numpy())
    scaled = expected * (limit / largest)[..., None]
    # What is quantized is within a rounding of float32 of `scaled`, which decides between neighbours where that is about halfway.
    step = 1 if dtype == "int8" else (2.0 ** (scaled.abs().log2().floor() - (3 if dtype == "float8_e4m3fn" else 2))).clamp(min=2.0**-9)
    assert ((q.cpu().double() - scaled).abs() <= 0.5001 * step).all()
    assert q.cpu().double().abs().amax() == limit


@pytest.mark.parametrize("dtype", ["int8", "float8_e4m3fn", "float8_e5m2"])
def test_quantized_on_every_engine(engine, dtype):
    x, w, _, r = tensors(3, 40, residual=True)
    check_quantized(x, w, None, dtype, engine.device)
    check_quantized(x, w, r, dtype, engine.device)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5, 781), (2, 17000)], ids=str)
def test_quantized_shapes(shape):
    x, w, _, r = tensors(*shape, residual=True)
    check_quantized(x, w, r, "int8")


def test_quantized_numpy_zeros_and_errors():
    x = np.zeros((2, 10), np.float32)
    x[1] = np.linspace(-1, 1, 10)
    q, steps = nk.rms_norm_quantized(x)
    assert (q[0] == 0).all() and steps[0] == 1 and q.dtype == np.int8 and q[1, 0] == -127
    with pytest.raises(TypeError, match="which NumPy has not"):
        nk.rms_norm_quantized(x, dtype="float8_e5m2")
    with pytest.raises(TypeError, match="dtype is 'int4'; rows are quantized to int8"):
        nk.rms_norm_quantized(x, dtype="int4")
    torch.library.opcheck(torch.ops.nacre.rms_norm_quantized.default, (torch.randn(3, 5), None, None, 1e-6, "int8"))


# ---- groups of channels


def images(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    x = torch.randn(shape, generator=generator, dtype=torch.float64) + 1
    return [x, torch.rand(shape[1], generator=generator, dtype=torch.float64) + 0.5, torch.randn(shape[1], generator=generator, dtype=torch.float64)]


def check_groups(groups, tensors, dtype=torch.float32, **options):
    compare(lambda x, w=None, b=None: nk.group_norm(x, groups, w, b), lambda x, w=None, b=None: F.group_norm(x, groups, w, b), tensors, dtype, **options)


def test_groups_on_every_engine(engine):
    check_groups(2, images(2, 6, 3, 5), device=engine.device)


@pytest.mark.parametrize("shape, groups", [((1, 1, 1, 5), 1), ((3, 8, 7, 9), 4), ((2, 32, 5), 32), ((4, 30), 3), ((2, 4, 70, 70), 2), ((1, 6, 3, 2, 5), 1)])
def test_groups_shapes(shape, groups):
    check_groups(groups, images(*shape), terms=64)
    check_groups(groups, images(*shape)[:1], terms=64)


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_groups_dtypes(dtype):
    check_groups(2, images(3, 8, 5, 7), dtype)


def test_groups_of_images_in_other_orders():
    x, w, b = images(2, 8, 6, 10)
    check_groups(4, [x.to(memory_format=torch.channels_last), w, b])
    compare(lambda x: nk.group_norm(x[:, ::2, :, 1:], 2), lambda x: F.group_norm(x[:, ::2, :, 1:], 2), [x])
    assert_near(nk.group_norm(x.numpy(), 4, w.numpy(), b.numpy()), F.group_norm(x, 4, w, b).numpy())


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0)], ids=str)
def test_groups_of_nothing(shape):
    x, w = torch.zeros(shape, requires_grad=True), torch.ones(4, requires_grad=True)
    nk.group_norm(x, 2, w).sum().backward()
    assert x.grad.shape == x.shape and (w.grad == 0).all()


def test_groups_in_torch():
    x, w, b = (a.requires_grad_() for a in images(2, 4, 3))
    assert torch.autograd.gradcheck(lambda x, w, b: nk.group_norm(x, 2, w, b), [x, w, b])
    torch.library.opcheck(torch.ops.nacre.group_norm.default, (x, 2, w, b, 1e-5))
    compiled = torch.compile(lambda x, w, b: nk.group_norm(x * 2, 2, w, b), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, w, b), nk.group_norm(x * 2, 2, w, b))
    with pytest.raises(ValueError, match="groups is 3; it must divide the 4 channels"):
        nk.group_norm(x, 3)
