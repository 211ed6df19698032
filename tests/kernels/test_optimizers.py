"""Steps of optimizers against those of torch.optim in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as nk
from comparison import assert_near

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
names = lambda dtype: str(dtype).removeprefix("torch.")  # noqa: E731
SHAPES = [(3, 7), (1,), (5000,), (), (0, 4), (2, 3, 4)]
ADAMW = {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
SGD = [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}, {"lr": 0.1, "momentum": 0.9, "nesterov": True},
       {"lr": 0.1, "momentum": 0.5, "dampening": 0.3}]  # fmt: skip


def random(shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def steps_of_torch(make, parameters, gradients):
    """The parameters after a step for each list of gradients."""
    parameters = [p.clone().requires_grad_() for p in parameters]
    optimizer = make(parameters)
    for step in gradients:
        for parameter, gradient in zip(parameters, step):
            parameter.grad = gradient
        optimizer.step()
    return [p.detach() for p in parameters]


def setting(shapes, dtype, steps=3):
    parameters = [p.to(dtype) for p in random(shapes, 0)]
    gradients = [[g.to(dtype) for g in random(shapes, seed)] for seed in range(1, steps + 1)]
    return parameters, gradients


def exact(arrays):
    return [a.double() for a in arrays]


def check_adamw(dtype=torch.float32, device="cpu", shapes=SHAPES, kind=None):
    parameters, gradients = setting(shapes, dtype)
    expected = steps_of_torch(lambda p: torch.optim.AdamW(p, **ADAMW), exact(parameters), [exact(step) for step in gradients])
    parameters = [p.to(device) for p in parameters]
    first, second = ([torch.zeros_like(p, dtype=kind) for p in parameters] for _ in range(2))
    for number, step in enumerate(gradients, 1):
        nk.adamw(parameters, [g.to(device) for g in step], first, second, step=number, **ADAMW)
    for found, wanted in zip(parameters, expected):
        assert_near(found, wanted.numpy(), working=names(dtype))


def check_sgd(dtype=torch.float32, device="cpu", shapes=SHAPES):
    for options in SGD:
        parameters, gradients = setting(shapes, dtype)
        expected = steps_of_torch(lambda p: torch.optim.SGD(p, **options), exact(parameters), [exact(step) for step in gradients])
        parameters = [p.to(device) for p in parameters]
        buffers = [torch.full_like(p, float("nan")) for p in parameters]
        for number, step in enumerate(gradients):
            nk.sgd(parameters, [g.to(device) for g in step], buffers, first=number == 0, **options)
        for found, wanted in zip(parameters, expected):
            assert_near(found, wanted.numpy(), working=names(dtype))


def test_on_every_engine(engine):
    check_adamw(device=engine.device, shapes=[(3, 7), (1,), (0,)])
    check_sgd(device=engine.device, shapes=[(3, 7), (1,), (0,)])


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_dtypes(dtype):
    check_adamw(dtype, kind=torch.float32 if dtype.itemsize == 2 else None)
    check_sgd(dtype)


def test_gradients_that_are_absent_or_strided():
    parameters, [gradients] = setting([(4, 6), (3,)], torch.float32, 1)
    spread = torch.stack((gradients[0], gradients[0]), -1)[..., 0]
    both = [p.clone() for p in parameters]
    nk.adamw(parameters, [spread, None], *([torch.zeros_like(p) for p in parameters] for _ in range(2)), step=1)
    nk.adamw(both[:1], gradients[:1], *([torch.zeros_like(p) for p in both[:1]] for _ in range(2)), step=1)
    assert torch.equal(parameters[0], both[0]) and torch.equal(parameters[1], both[1])
    nk.sgd([], [], lr=0.1)


def test_numpy():
    parameters, gradients = setting([(3, 5)], torch.float64)
    expected = steps_of_torch(lambda p: torch.optim.AdamW(p, **ADAMW), parameters, gradients)
    parameters = [p.clone().numpy() for p in parameters]
    first, second = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    for number, step in enumerate(gradients, 1):
        nk.adamw(parameters, [g.numpy() for g in step], first, second, step=number, **ADAMW)
    assert_near(parameters[0], expected[0].numpy())


def test_values_that_are_not_numbers():
    parameter, gradient = torch.ones(3), torch.tensor([float("nan"), float("inf"), 1.0])
    nk.sgd([parameter], [gradient], lr=0.5)
    assert parameter[0].isnan() and parameter[1] == -float("inf") and parameter[2] == 0.5


def test_in_torch():
    parameters, gradients = setting([(3, 5), (4,)], torch.float32)
    moments = [[torch.zeros_like(p) for p in parameters] for _ in range(2)]
    torch.library.opcheck(torch.ops.nacre.adamw.default, (parameters, gradients[0], *moments, 1, 1e-3, 0.9, 0.99, 1e-8, 0.01))
    torch.library.opcheck(torch.ops.nacre.sgd.default, (parameters, gradients[0], moments[0], 1e-3, 0.9, 0.0, 0.0, False, True))
    moments = [[torch.zeros_like(p) for p in parameters] for _ in range(2)]
    eager, eager_moments = [p.clone() for p in parameters], [[m.clone() for m in part] for part in moments]
    compiled = torch.compile(lambda p, g, m, s, step: nk.adamw(p, g, m, s, step=step, **ADAMW), fullgraph=True, backend="aot_eager")
    for number, step in enumerate(gradients, 1):
        compiled(parameters, step, *moments, number)
        nk.adamw(eager, step, *eager_moments, step=number, **ADAMW)
    for a, b in zip(parameters, eager):
        torch.testing.assert_close(a, b)
    parameter = torch.ones(3, requires_grad=True)
    product = (parameter * parameter).sum()
    nk.sgd([parameter], [torch.ones(3)], lr=0.1)
    assert parameter.is_leaf and parameter.requires_grad
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("call, text", [
    (lambda p, g: nk.sgd(p, g * 2, lr=0.1), "gradients has 2 tensors and parameters has 1: one for each"),
    (lambda p, g: nk.sgd(p, [g[0][0]], lr=0.1), r"gradients\[0\] has shape \(2,\); \(3, 2\) is expected, the shape of parameters\[0\]"),
    (lambda p, g: nk.sgd([p[0].t()], [g[0].t()], lr=0.1), r"parameters\[0\] is written in place and must be contiguous"),
    (lambda p, g: nk.sgd(p, g, lr=-1.0), "lr is -1.0; it must be at least 0"),
    (lambda p, g: nk.sgd(p, g, lr=0.1, momentum=0.9), "buffers has 0 tensors and parameters has 1"),
    (lambda p, g: nk.sgd(p, g, g, lr=0.1, momentum=0.9, dampening=0.1, nesterov=True), "nesterov needs a momentum and no dampening"),
    (lambda p, g: nk.adamw(p, g, g, g, step=0), "step is 0; it must be at least 1"),
    (lambda p, g: nk.adamw(p, g, g, g, step=1, betas=(0.9, 1.0)), r"betas\[1\] is 1.0; it must be at least 0 and below 1"),
])  # fmt: skip
def test_errors_name_the_argument(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call([torch.ones(3, 2)], [torch.ones(3, 2)])
