"""softmax, cross entropy and the fused linear cross entropy against torch in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as nk
from comparison import assert_near, compare

F = torch.nn.functional
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
names = lambda dtype: str(dtype).removeprefix("torch.")  # noqa: E731
PAIRS = [(nk.softmax, torch.softmax), (nk.log_softmax, torch.log_softmax)]


def logits(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64) * 3


def targets(rows, columns, ignored=None):
    target = torch.randint(0, columns, rows, generator=torch.Generator().manual_seed(7))
    if ignored is not None and target.numel() > 1:
        target.view(-1)[::3] = ignored
    return target


def check_softmax(x, dtype=torch.float32, **options):
    for ours, theirs in PAIRS:
        compare(ours, lambda x: theirs(x, -1), [x], dtype, **options)


def short_steps(monkeypatch):
    """Rows are walked in steps of 16."""
    from nacre.kernels import _blocks

    monkeypatch.setattr(_blocks, "_LONGEST_ROW", {True: 16, False: 16})
    monkeypatch.setattr(_blocks, "_STEP", {True: 16, False: 16})


def test_softmax_on_every_engine(engine):
    check_softmax(logits(3, 37), device=engine.device)


def test_softmax_of_long_rows_on_every_engine(engine, monkeypatch):
    short_steps(monkeypatch)
    check_softmax(logits(3, 37), device=engine.device)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3, 781), (1000, 8), (33,), (2, 20000)], ids=str)
def test_softmax_shapes(shape):
    check_softmax(logits(*shape), terms=64)


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_softmax_dtypes(dtype):
    check_softmax(logits(4, 100), dtype, working=names(dtype))  # the gradient is computed from the rounded result


def test_softmax_along_other_axes_and_strides():
    x = logits(3, 40, 5)
    for ours, theirs in PAIRS:
        compare(lambda x: ours(x, 1), lambda x: theirs(x, 1), [x])
        compare(lambda x: ours(x[:, ::2, 1:], axis=0), lambda x: theirs(x[:, ::2, 1:], 0), [x])
        compare(lambda x: ours(x.transpose(1, 2)[:, ::2]), lambda x: theirs(x.transpose(1, 2)[:, ::2], -1), [x])
        assert_near(ours(x.numpy(), 1), theirs(x, 1).numpy())


def test_softmax_of_values_that_are_not_numbers():
    x = logits(6, 50).float()
    x[1, 3], x[2, 4], x[3, 5] = float("nan"), float("inf"), -float("inf")
    x[4] = -float("inf")
    x[5, :49] = -float("inf")
    for ours, theirs in PAIRS:
        assert_near(ours(x), theirs(x.double(), -1).numpy())


def test_softmax_of_long_rows_that_are_not_numbers(monkeypatch):
    short_steps(monkeypatch)
    test_softmax_of_values_that_are_not_numbers()


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)], ids=str)
def test_softmax_of_nothing(shape):
    x = torch.zeros(shape, requires_grad=True)
    nk.softmax(x).sum().backward()
    assert x.grad.shape == x.shape


def test_softmax_in_torch():
    x = logits(3, 7).requires_grad_()
    for ours, theirs in PAIRS:
        assert torch.autograd.gradcheck(ours, [x])
        compiled = torch.compile(lambda x: ours(x * 2, axis=0), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(x), theirs(x * 2, 0))
    torch.library.opcheck(torch.ops.nacre.softmax.default, (x, True))
    with pytest.raises(TypeError, match="x has elements of type int64"):
        nk.softmax(torch.arange(3))


# ---- cross entropy


def entropy_of_torch(x, target, ignore_index=-100, label_smoothing=0.0, z_loss=0.0, reduction="mean"):
    flat, aim = x.reshape(-1, x.shape[-1]), target.reshape(-1).long()
    losses = F.cross_entropy(flat, aim, ignore_index=ignore_index, label_smoothing=label_smoothing, reduction="none")
    losses = losses + z_loss * torch.logsumexp(flat, -1).square() * (aim != ignore_index)
    return {"mean": losses.sum() / (aim != ignore_index).sum(), "sum": losses.sum(), "none": losses.reshape(target.shape)}[reduction]


def check_entropy(x, target, dtype=torch.float32, device="cpu", terms=16, **options):
    target = target.to(device)
    compare(lambda x: nk.cross_entropy(x, target, **options), lambda x: entropy_of_torch(x, target.cpu(), **options), [x], dtype, device, terms=terms)


OPTIONS = [{}, {"ignore_index": 2}, {"label_smoothing": 0.2, "reduction": "sum"}, {"z_loss": 0.01, "label_smoothing": 0.1, "reduction": "none"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_cross_entropy_on_every_engine(engine, options):
    check_entropy(logits(5, 21), targets((5,), 21, options.get("ignore_index")), device=engine.device, **options)


def test_cross_entropy_of_long_rows_on_every_engine(engine, monkeypatch):
    short_steps(monkeypatch)
    check_entropy(logits(5, 41), targets((5,), 41), device=engine.device, **OPTIONS[3])


@pytest.mark.parametrize("shape", [(1, 1), (4, 6, 781), (600, 10), (20000,), (3, 33000)], ids=str)
def test_cross_entropy_shapes(shape):
    check_entropy(logits(*shape), targets(shape[:-1], shape[-1], 0), ignore_index=0 if len(shape) > 1 and shape[-1] > 1 else -100, terms=64)
    check_entropy(logits(*shape), targets(shape[:-1], shape[-1]).int(), terms=64, **OPTIONS[3])


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_cross_entropy_dtypes(dtype):
    for options in OPTIONS[1::2]:
        check_entropy(logits(7, 100), targets((7,), 100, 2), dtype, **options)


def test_cross_entropy_of_parts_of_arrays():
    x, target = logits(6, 9, 40), targets((6, 9), 20)
    compare(lambda x: nk.cross_entropy(x[::2, :, 5:25], target[::2]), lambda x: entropy_of_torch(x[::2, :, 5:25], target[::2]), [x])
    loss = nk.cross_entropy(x[..., :20].numpy(), target.numpy(), label_smoothing=0.1)
    assert_near(np.asarray(loss), entropy_of_torch(x[..., :20], target, label_smoothing=0.1).numpy())


def test_cross_entropy_of_what_is_out_of_bounds():
    x, target = logits(4, 9).float(), torch.tensor([0, 9, -1, 8])
    losses = nk.cross_entropy(x, target, reduction="none")
    assert losses.isnan().tolist() == [False, True, True, False]
    x[0, 3], x[3, 2] = float("nan"), float("inf")
    losses = nk.cross_entropy(x, torch.tensor([0, 1, 2, 3]), reduction="none")
    assert_near(losses, entropy_of_torch(x.double(), torch.tensor([0, 1, 2, 3]), reduction="none").numpy())
    assert nk.cross_entropy(x, torch.full((4,), -100)).isnan() and nk.cross_entropy(x, torch.full((4,), -100), reduction="sum") == 0


def test_cross_entropy_of_nothing():
    x = torch.zeros(0, 5, requires_grad=True)
    nk.cross_entropy(x, torch.zeros(0, dtype=torch.int64), reduction="sum").backward()
    assert x.grad.shape == x.shape


def test_cross_entropy_in_torch():
    x, target = logits(4, 7).requires_grad_(), targets((4,), 7, 2)
    for options in OPTIONS:
        assert torch.autograd.gradcheck(lambda x: nk.cross_entropy(x, target, **options), [x])
        compiled = torch.compile(lambda x, target: nk.cross_entropy(x * 2, target, **options), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(x, target), entropy_of_torch(x * 2, target, **options))
    torch.library.opcheck(torch.ops.nacre.cross_entropy_rows.default, (x, target, 2, 0.1, 0.1))


@pytest.mark.parametrize("call, text", [
    (lambda x, t: nk.cross_entropy(x, t[:2]), r"target has shape \(2,\); \(3,\) is expected, one target for each row of x"),
    (lambda x, t: nk.cross_entropy(x, t.float()), "target has elements of type float32"),
    (lambda x, t: nk.cross_entropy(x, t, label_smoothing=1.5), "label_smoothing is 1.5; it must be at least 0 and at most 1"),
    (lambda x, t: nk.cross_entropy(x, t, z_loss=-1.0), "z_loss is -1.0; it must be at least 0"),
    (lambda x, t: nk.cross_entropy(x, t, reduction="max"), "reduction is 'max'; it must be mean, sum or none"),
    (lambda x, t: nk.cross_entropy(x[:, :0], t), "rows without logits"),
])  # fmt: skip
def test_errors_of_cross_entropy(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(torch.ones(3, 4), torch.zeros(3, dtype=torch.int64))


# ---- the fused linear cross entropy


# The gradient of x is a sum over the classes, whose roundings grow as the root of their number.
def check_linear(rows, width, classes, dtype=torch.float32, device="cpu", bias=True, working=None, ignored=None, terms=64, **options):
    generator = torch.Generator().manual_seed(width)
    x, w, b = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((*rows, width), (classes, width), (classes,)))
    target = targets(rows, classes, ignored).to(device)
    options |= {} if ignored is None else {"ignore_index": ignored}
    compare(lambda x, w, b: nk.linear_cross_entropy(x, w, target, b, **options), lambda x, w, b: entropy_of_torch(F.linear(x, w, b), target.cpu(), **options),
            [x, w / width**0.5, b if bias else None], dtype, device, terms=max(terms, round(classes**0.5)), working=working)  # fmt: skip


def test_linear_on_every_engine(engine, monkeypatch):
    from nacre.kernels import linear_losses

    monkeypatch.setattr(linear_losses, "_LOGITS", 100)  # several chunks
    check_linear((37,), 6, 10, device=engine.device, ignored=2, z_loss=0.1)


@pytest.mark.parametrize("rows, width, classes", [((1,), 1, 1), ((3, 5), 20, 33), ((70,), 8, 100_000), ((200,), 64, 50)])
def test_linear_shapes(rows, width, classes):
    check_linear(rows, width, classes)
    check_linear(rows, width, classes, bias=False, label_smoothing=0.1, reduction="sum")


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_linear_dtypes(dtype):
    check_linear((40,), 16, 30, dtype, working=names(dtype), ignored=3)  # logits and their gradients have the type of x


def test_linear_elsewhere():
    x, w, target = logits(6, 9), logits(5, 9), targets((6,), 5)
    assert_near(np.asarray(nk.linear_cross_entropy(x.numpy(), w.numpy(), target.numpy())), entropy_of_torch(x @ w.T, target).numpy())
    x, w, b = x.requires_grad_(), w.requires_grad_(), torch.zeros(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w, b: nk.linear_cross_entropy(x, w, target, b, z_loss=0.1), [x, w, b])
    torch.library.opcheck(torch.ops.nacre.linear_cross_entropy.default, (x, w, target, b, -100, 0.0, 0.0, True, True, True, True))
    ours, expected = ([a.detach().float().requires_grad_() for a in (x, w)] for _ in range(2))
    torch.compile(lambda x, w: nk.linear_cross_entropy(x * 2, w, target), fullgraph=True, backend="aot_eager")(*ours).backward()
    entropy_of_torch(expected[0] * 2 @ expected[1].T, target).backward()
    for a, c in zip(ours, expected):
        torch.testing.assert_close(a.grad, c.grad)
    assert not nk.linear_cross_entropy(x.detach(), w.detach(), target).requires_grad
    with pytest.raises(ValueError, match=r"weight has shape \(5, 9\); \(any, 8\) is expected"):
        nk.linear_cross_entropy(x[:, :8], w, target)
    with pytest.raises(ValueError, match="reduction is 'none'; it must be mean or sum"):
        nk.linear_cross_entropy(x, w, target, reduction="none")


def test_linear_keeps_no_logits(monkeypatch):
    """The largest array is a chunk of logits, or as large as the arguments."""
    from nacre.kernels import linear_losses

    largest = []
    empty = linear_losses.empty
    monkeypatch.setattr(linear_losses, "empty", lambda like, shape, dtype=None: largest.append(int(np.prod(shape))) or empty(like, shape, dtype))
    monkeypatch.setattr(linear_losses, "_LOGITS", 2000)
    nk.linear_cross_entropy(logits(500, 4).numpy(), logits(100, 4).numpy(), targets((500,), 100).numpy())
    assert max(largest) <= 2000 < 500 * 100
