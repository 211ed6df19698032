"""Mixtures of experts: routing, sorting, movement of rows, ragged products; against float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near, compare  # noqa: E402


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def mixture(logits, x, weight, k=2, normalize=True):
    weights, chosen = kernels.route(logits, k, normalize=normalize)
    order, places, offsets = kernels.sort_by_expert(chosen, weight.shape[0])
    return kernels.collect(kernels.grouped_matmul(kernels.dispatch(x, order, places), weight, offsets), places, weights, order)


def reference(logits, x, weight, k=2, normalize=True):
    weights, chosen = logits.softmax(-1).topk(k, -1)
    if normalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return (torch.einsum("ts,tksn->tkn", x, weight[chosen]) * weights[..., None]).sum(1)


@pytest.mark.parametrize("tokens, experts, k, normalize", [(37, 5, 2, True), (150, 3, 1, False), (20, 9, 4, False), (1, 2, 2, True)])
def test_mixtures(tokens, experts, k, normalize):
    tensors = [random(tokens, experts), random(tokens, 40), random(experts, 40, 24)]
    compare(lambda *x: mixture(*x, k, normalize), lambda *x: reference(*x, k, normalize), tensors, terms=64)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_types(dtype):
    working = {torch.bfloat16: "bfloat16"}.get(dtype)
    compare(mixture, reference, [random(19, 5), random(19, 40), random(5, 40, 24)], dtype, terms=64, working=working)


def test_gradients_by_differences():
    tensors = [x.double().requires_grad_() for x in (random(6, 4), random(6, 5), random(4, 5, 3))]
    assert torch.autograd.gradcheck(mixture, tensors)


def test_equal_logits_and_nan():
    nan, low = float("nan"), float("-inf")
    weights, chosen = kernels.route(torch.tensor([[1.0, 3.0, 3.0, 0.0], [low, low, 2.0, low]]), 2)
    assert chosen.tolist() == [[1, 2], [2, 0]] and weights.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert kernels.route(torch.tensor([[nan, 1.0, nan, 0.0]]), 2)[1].tolist() == [[1, 3]]


def test_the_order_is_stable_and_leaves_out_what_is_no_expert():
    order, places, offsets = kernels.sort_by_expert(torch.tensor([[0, 9], [3, -1], [3, 0]], dtype=torch.int32), 4)
    assert order.tolist() == [0, 5, 2, 4, -1, -1]
    assert places.tolist() == [[0, -1], [2, -1], [3, 1]]
    assert offsets.tolist() == [0, 2, 2, 2, 4]
    rows = kernels.dispatch(torch.tensor([[1.0], [2.0], [3.0]]), order, places)
    assert rows.flatten().tolist() == [1, 3, 2, 3, 0, 0]
    weights = torch.full((3, 2), 10.0)
    assert kernels.collect(rows, places, weights, order).flatten().tolist() == [10, 20, 60]


def test_many_entries():
    chosen = torch.randint(0, 6, (1500, 2), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    order, places, offsets = kernels.sort_by_expert(chosen, 6)
    assert torch.equal(order.long(), torch.sort(chosen.flatten(), stable=True)[1])
    assert torch.equal(offsets[1:].long(), torch.bincount(chosen.flatten(), minlength=6).cumsum(0))
    assert torch.equal(order[places.flatten().long()].long(), torch.arange(3000))


def test_groups_without_rows_and_rows_without_groups():
    x, weight = random(70, 20).requires_grad_(), random(4, 20, 9).requires_grad_()
    offsets = torch.tensor([2, 2, 68, 68, 69], dtype=torch.int32)
    y = kernels.grouped_matmul(x, weight, offsets)
    assert not y[:2].any() and not y[69:].any()
    assert_near(y[2:68], x[2:68].double() @ weight[1].double(), terms=32)
    d_x, d_weight = torch.autograd.grad(y, (x, weight), torch.ones_like(y))
    assert not d_x[:2].any() and not d_weight[0].any() and not d_weight[2].any()
    assert_near(d_weight[3], x[68, :, None].double().expand(20, 9), terms=32)


def test_nothing_to_do():
    assert mixture(random(0, 3), random(0, 8), random(3, 8, 5)).shape == (0, 5)


def test_numpy():
    tensors = [random(9, 3), random(9, 20), random(3, 20, 8)]
    out = mixture(*(x.numpy() for x in tensors))
    assert isinstance(out, np.ndarray)
    assert_near(out, reference(*(x.double() for x in tensors)), terms=64)


def test_compiled_in_one_graph():
    tensors = [x.requires_grad_() for x in (random(9, 3), random(9, 20), random(3, 20, 8))]
    found = torch.autograd.grad(torch.compile(mixture, fullgraph=True, backend="aot_eager")(*tensors).sum(), tensors)
    assert all(torch.equal(x, y) for x, y in zip(found, torch.autograd.grad(mixture(*tensors).sum(), tensors)))


@pytest.mark.parametrize("call, text", [
    (lambda: kernels.route(random(3, 4), 5), "k is 5; it must be at least 1 and at most 4"),
    (lambda: kernels.sort_by_expert(torch.zeros(3, 2), 4), "experts has elements of type float32; int32"),
    (lambda: kernels.grouped_matmul(random(3, 4), random(2, 5, 6), torch.zeros(3).int()), r"weight has shape \(2, 5, 6\); \(any, 4, any\)"),
    (lambda: kernels.grouped_matmul(random(3, 4), random(2, 4, 6), torch.zeros(2).int()), r"offsets has shape \(2,\); \(3,\)"),
    (lambda: kernels.dispatch(random(3, 4), torch.zeros(5).int(), torch.zeros(3, 2).int()), r"order has shape \(5,\); \(6,\)"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises((ValueError, TypeError), match=text):
        call()


def test_engines(engine):
    compare(mixture, reference, [random(9, 3), random(9, 20), random(3, 20, 17)], device=engine.device, terms=64)
