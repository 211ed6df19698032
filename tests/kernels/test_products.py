"""nacre.kernels.matmul against float64: epilogues, batches, strides, thin and long shapes, gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near, compare  # noqa: E402
from nacre.kernels.products import ACTIVATIONS  # noqa: E402

FUNCTIONS = {
    None: lambda x: x,
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def theirs(a, b, bias=None, residual=None, activation=None, scale=1.0):
    out = scale * (a @ b)
    out = FUNCTIONS[activation](out if bias is None else out + bias)
    return out if residual is None else out + residual


def check(tensors, dtype=torch.float32, device="cpu", terms=64, gradients=True, **options):
    working = {torch.float16: "float16", torch.bfloat16: "bfloat16"}.get(dtype)  # gradients pass through tensors of that type
    compare(lambda *x: kernels.matmul(*x, **options), lambda *x: theirs(*x, **options), tensors, dtype, device, terms, working, gradients)


@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
def test_activations(activation):
    check([random(7, 53), random(53, 20), random(20), random(7, 20, seed=1)], activation=activation, scale=0.5)


@pytest.mark.parametrize("shapes", [((2, 3, 5, 70), (70, 9)), ((2, 1, 5, 70), (3, 70, 9)), ((5, 70), (3, 70, 9))], ids=str)
def test_leading_axes(shapes):
    check([random(*shapes[0]), random(*shapes[1], seed=1)])


@pytest.mark.parametrize("rows, inner, columns", [(1, 1, 1), (3, 1300, 90), (130, 129, 131), (17, 2100, 20)])
@pytest.mark.parametrize("is_turned", [False, True])
def test_shapes_and_strides(rows, inner, columns, is_turned):
    a, b, bias = random(rows, inner), random(inner, columns, seed=1), random(columns, seed=2)
    if is_turned:
        a, b = a.T.contiguous().T, b.T.contiguous().T
    assert_near(kernels.matmul(a, b, bias, activation="tanh"), theirs(a.double(), b.double(), bias.double(), activation="tanh"), terms=256)
    assert_near(kernels.matmul(a[:, ::2], b[::2]), a[:, ::2].double() @ b[::2].double(), terms=256)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_types(dtype):
    check([random(20, 30), random(30, 24), random(24)], dtype, activation="silu")
    check([random(2, 30), random(24, 30).T], dtype, gradients=False)


def test_nothing_to_do():
    assert kernels.matmul(random(0, 3), random(3, 4)).shape == (0, 4)
    out = kernels.matmul(random(3, 0), random(0, 4), torch.ones(4))
    assert bool((out == 1).all())


def test_nan_stays_in_its_row():
    a = random(9, 20)
    a[4, 3] = float("nan")
    out = kernels.matmul(a, random(20, 33), activation="relu")
    assert bool(out[4].isnan().all()) and int(out.isnan().sum()) == 33


def test_gradients_by_differences():
    tensors = [x.double().requires_grad_() for x in (random(4, 5), random(5, 3), random(3), random(4, 3))]
    assert torch.autograd.gradcheck(lambda *x: kernels.matmul(*x, activation="gelu", scale=0.5), tensors)
    assert torch.autograd.gradgradcheck(lambda a, b: kernels.matmul(a, b), tensors[:2])


def test_numpy():
    a, b = random(9, 20).numpy(), random(20, 7).numpy()
    out = kernels.matmul(a[None], np.stack([b, b])[:, ::-1], activation="gelu")
    assert isinstance(out, np.ndarray)
    expected = theirs(torch.from_numpy(a).double(), torch.from_numpy(b[::-1].copy()).double(), activation="gelu")
    assert_near(out, expected.expand(2, 9, 7), terms=64)


def test_compiled_in_one_graph():
    x, w = random(6, 20).requires_grad_(), random(9, 20).requires_grad_()
    compiled = torch.compile(lambda x, w: kernels.matmul(x * 2, w.T, activation="silu").sin(), fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(x, w).sum(), (x, w))
    wanted = torch.autograd.grad(kernels.matmul(x * 2, w.T, activation="silu").sin().sum(), (x, w))
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))


def test_torch_checks_the_operator():
    tensors = [x.requires_grad_() for x in (random(2, 4, 5), random(2, 5, 3), random(3), random(2, 4, 3))]
    torch.library.opcheck(torch.ops.nacre.product.default, (*tensors, "gelu", 0.5, True))


@pytest.mark.parametrize("call, text", [
    (lambda: kernels.matmul(random(3, 4), random(5, 6)), "a has 4 columns and b has 5 rows"),
    (lambda: kernels.matmul(random(3, 4), random(4)), r"b has shape \(4,\); at least 2 axes"),
    (lambda: kernels.matmul(random(2, 3, 4), random(3, 4, 5)), r"the leading axes of a, \(2,\), and of b, \(3,\), do not broadcast"),
    (lambda: kernels.matmul(random(3, 4), random(4, 5), random(4)), r"bias has shape \(4,\); \(5,\) is expected"),
    (lambda: kernels.matmul(random(3, 4), random(4, 5), residual=random(5)), r"residual has shape \(5,\); \(3, 5\)"),
    (lambda: kernels.matmul(random(3, 4), random(4, 5).half()), "b has elements of type float16 and a of float32"),
    (lambda: kernels.matmul(random(3, 4), random(4, 5), activation="elu"), "activation is 'elu'; 'relu', "),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call()


def test_engines(engine):
    check([random(9, 40), random(40, 19), random(19), random(9, 19)], device=engine.device, activation="gelu")
    check([random(2, 20), random(20, 33)], torch.bfloat16, engine.device, gradients=False)
