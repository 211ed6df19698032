"""Activations and dropout against torch in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as nk
from comparison import assert_near, compare

F = torch.nn.functional
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
names = lambda dtype: str(dtype).removeprefix("torch.")  # noqa: E731

SINGLE = {
    "gelu": (nk.gelu, F.gelu),
    "gelu tanh": (lambda x: nk.gelu(x, "tanh"), lambda x: F.gelu(x, approximate="tanh")),
    "silu": (nk.silu, F.silu),
}
GATED = {
    "swiglu": (nk.swiglu, lambda g, u: F.silu(g) * u),
    "geglu": (nk.geglu, lambda g, u: F.gelu(g) * u),
    "geglu tanh": (lambda g, u: nk.geglu(g, u, approximate="tanh"), lambda g, u: F.gelu(g, approximate="tanh") * u),
}
FUNCTIONS = {"gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "relu": F.relu, "none": lambda x: x}
BIASED = {name: (lambda x, b, name=name: nk.bias_activation(x, b, name), lambda x, b, f=f: f(x + b)) for name, f in FUNCTIONS.items()}


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + seed), dtype=torch.float64) * 2


def check(shape, dtype=torch.float32, single=SINGLE, gated=GATED, biased=BIASED, **options):
    x, y = random(*shape), random(*shape, seed=1)
    for name in single:
        compare(*SINGLE[name], [x], dtype, **options)
    for name in gated:
        compare(*GATED[name], [x, y], dtype, **options)
    for name in biased:
        compare(*BIASED[name], [x, random(shape[-1], seed=2)], dtype, **options)


def test_on_every_engine(engine):
    check((3, 21), device=engine.device)


@pytest.mark.parametrize("shape", [(1, 1), (7,), (2, 3, 781), (9000,), (300, 40)], ids=str)
def test_shapes(shape):
    check(shape, single=["gelu"], gated=["swiglu"], biased=["relu"])


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_dtypes(dtype):
    check((5, 300), dtype, single=["gelu tanh"], gated=["geglu"], biased=["silu"])


@pytest.mark.parametrize("columns", [40, 600])
def test_parts_of_arrays(columns):
    x, b = random(4, 6, columns), random(columns // 2, seed=3)
    ours, theirs = GATED["swiglu"]
    compare(lambda x: ours(*x.chunk(2, -1)), lambda x: theirs(*x.chunk(2, -1)), [x])
    ours, theirs = SINGLE["silu"]
    compare(lambda x: ours(x[:, ::2, 3:]), lambda x: theirs(x[:, ::2, 3:]), [x])
    compare(lambda x: ours(x.transpose(0, 2)), lambda x: theirs(x.transpose(0, 2)), [x])
    ours, theirs = BIASED["gelu"]
    compare(lambda x, b: ours(x.chunk(2, -1)[1], b), lambda x, b: theirs(x.chunk(2, -1)[1], b), [x, b])


def test_large_values_and_what_is_no_number():
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 1e4, -1e4, 100.0, -100.0, -20.0, 20.0, 0.0])
    for name, (ours, theirs) in SINGLE.items():
        finite = torch.isfinite(x)
        assert_near(ours(x)[finite], theirs(x[finite].double()).numpy(), name=name)
        assert ours(x)[0].isnan() and ours(x)[1] == float("inf")
        at = x[finite].clone().requires_grad_()
        exact = at.detach().double().requires_grad_()
        ours(at).sum().backward()
        theirs(exact).sum().backward()
        assert_near(at.grad, exact.grad.numpy(), name=name)


def test_nothing():
    for shape in ((0,), (0, 5), (5, 0)):
        x, b = torch.zeros(shape, requires_grad=True), torch.zeros(shape[-1], requires_grad=True)
        (nk.silu(x) + nk.swiglu(x, x) + nk.bias_activation(x, b) + nk.dropout(x)).sum().backward()
        assert x.grad.shape == x.shape and (b.grad == 0).all()


def test_scalars_and_numpy():
    assert nk.silu(torch.tensor(1.0)).shape == ()
    x, y = random(5, 33).numpy(), random(5, 33, seed=1).numpy()
    for kind in (np.float32, np.float64, np.float16):
        a, b = x.astype(kind), y.astype(kind)
        found = nk.swiglu(a, b)
        assert isinstance(found, np.ndarray) and found.dtype == kind
        assert_near(found, GATED["swiglu"][1](torch.from_numpy(a).double(), torch.from_numpy(b).double()).numpy())
        assert_near(nk.bias_activation(a[:, ::2], b[0, ::2]), F.gelu(torch.from_numpy(a[:, ::2] * 1.0).double() + torch.from_numpy(b[0, ::2] * 1.0).double()).numpy())


def test_in_torch():
    x, y, b = random(3, 5).requires_grad_(), random(3, 5, seed=1).requires_grad_(), random(5).requires_grad_()
    for ours, _ in SINGLE.values():
        assert torch.autograd.gradcheck(ours, [x])
    for ours, _ in GATED.values():
        assert torch.autograd.gradcheck(ours, [x, y])
    for ours, _ in BIASED.values():
        assert torch.autograd.gradcheck(ours, [x, b])
    torch.library.opcheck(torch.ops.nacre.activation.default, (x, y, "silu"))
    torch.library.opcheck(torch.ops.nacre.biased_activation.default, (x, b, "gelu"))

    def layer(x, y, b):
        return nk.bias_activation(nk.swiglu(x, y), b, "silu") + nk.gelu(x)

    torch.testing.assert_close(torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=True)(x, y, b), layer(x, y, b))


@pytest.mark.parametrize("call, text", [
    (lambda x: nk.gelu(x, "erf"), "approximate is 'erf'; it must be none or tanh"),
    (lambda x: nk.swiglu(x, x[:2]), r"up has shape \(2, 4\); \(3, 4\) is expected, the shape of gate"),
    (lambda x: nk.swiglu(x, x.half()), "up has elements of type float16 and gate of float32"),
    (lambda x: nk.bias_activation(x, x), r"bias has shape \(3, 4\); \(4,\) is expected"),
    (lambda x: nk.bias_activation(x, x[0], "elu"), "activation is 'elu'; it must be gelu, gelu_tanh, silu, relu or none"),
    (lambda x: nk.silu(x.int()), "x has elements of type int32"),
    (lambda x: nk.dropout(x, 1.5), "p is 1.5; it must be at least 0 and at most 1"),
    (lambda x: nk.dropout(x, seed=torch.zeros(2, dtype=torch.int64)), r"seed has shape \(2,\)"),
])  # fmt: skip
def test_errors_name_the_argument(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(torch.ones(3, 4))


# ---- dropout


def test_dropout_is_the_same_on_every_engine(engine):
    x = torch.arange(1.0, 3001.0)
    expected = nk.dropout(x.numpy(), 0.25, seed=12345)
    found = nk.dropout(x.to(engine.device), 0.25, seed=12345).cpu().numpy()
    assert (found == expected).all()
    kept = found != 0
    assert_near(found[kept], x.double().numpy()[kept] / 0.75)
    # Philox 4x32 of ten rounds with the seed as its key: the words of place 0 of the stream belong to elements 0, 256, 512 and 768.
    assert kept[[0, 256, 512, 768]].tolist() == [word >= 0.25 * 2**32 for word in philox(12345, 0)]


def philox(seed, counter):
    words, key = [counter, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        low, high = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [(high >> 32) ^ words[1] ^ key[0], high & 0xFFFFFFFF, (low >> 32) ^ words[3] ^ key[1], low & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_dropout_keeps_the_right_part(p):
    x = torch.ones(200_000)
    kept = (nk.dropout(x, p, seed=3) != 0).double().mean().item()
    assert abs(kept - (1 - p)) <= 6 * (p * (1 - p) / x.numel()) ** 0.5  # six standard deviations
    if 0 < p < 1:
        assert (nk.dropout(x, p, seed=3) != nk.dropout(x, p, seed=4)).any()


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_dropout_gradients_have_the_same_mask(dtype):
    x = random(40, 70).to(dtype).requires_grad_()
    y = nk.dropout(x.transpose(0, 1), 0.4)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert_near(y, x.detach().double().t().numpy() * gradient.double().t().ne(0).numpy() / 0.6)
    assert_near(gradient.t(), y.detach().ne(0).double().numpy() / 0.6)


def test_dropout_in_torch():
    x = random(3, 700).float()
    torch.manual_seed(1)
    first = nk.dropout(x)
    torch.manual_seed(1)
    assert torch.equal(nk.dropout(x), first) and not torch.equal(nk.dropout(x), first)
    assert nk.dropout(x, training=False) is x
    seed = torch.tensor([5])
    assert torch.equal(nk.dropout(x, seed=seed), nk.dropout(x, seed=5))
    torch.library.opcheck(torch.ops.nacre.dropout.default, (x.clone().requires_grad_(), seed, 0.3))
    compiled = torch.compile(lambda x: nk.dropout(x * 2, 0.3), fullgraph=True, backend="aot_eager")
    assert 0.2 < (compiled(x) == 0).double().mean() < 0.4 and not torch.equal(compiled(x), compiled(x))
    assert torch.autograd.gradcheck(lambda x: nk.dropout(x, 0.3, seed=7), [random(20).requires_grad_()])
