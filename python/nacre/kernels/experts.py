"""Mixtures of experts: routing, sorting of tokens by expert, movement of their rows, and products of ragged groups. With gradients.

    weights, chosen = route(logits, 2)                   # of each token
    order, places, offsets = sort_by_expert(chosen, 8)   # entries (token, number), sorted by expert
    rows = dispatch(x, order, places)                    # tokens in that order, once for each of their experts
    y = grouped_matmul(rows, expert_weights, offsets)    # each group with the matrix of its expert
    out = collect(y, places, weights, order)             # back to tokens, weighted

The kernels are in _expert_kernels.py.
"""

from . import _expert_kernels as kernels
from ._arrays import (
    FAR, FLOATING, as_rows, check_array, check_dtype, check_integer, check_same_dtype, check_shape, check_values, contiguous, dtype_name, empty,
    readable, row_stride, size, strides, with_near_rows, zeros,
)  # fmt: skip
from ._blocks import cdiv, power_of_two, runs_on_host
from ._operator import Operator


def route(logits, k, *, normalize=True):
    """The k experts with the largest logits of each token: (weights, experts), best first, of equal ones the first.

    logits: (tokens, experts), any float type. weights: (tokens, k) of that type: the experts' parts of the softmax, and with `normalize` divided
    by their sum. experts: (tokens, k) int32. Gradient: that of the logits, from the weights.

        weights, chosen = nacre.kernels.route(torch.randn(16, 8), 2)
    """
    return _route(logits, k, bool(normalize))


def sort_by_expert(experts, count):
    """Sorts the entries of `experts`, (tokens, k) int32, by expert, keeping their order within each: (order, places, offsets), all int32.

    order: (tokens * k,): the entries, token * k + number, expert after expert. places: (tokens, k): where each entry is in it. offsets: (count + 1,):
    expert e has the places offsets[e] to offsets[e + 1]. Entries that are no expert, below 0 or from `count` on, have the place -1, and the end of
    order is -1 for them. The same entries always give the same order.

        order, places, offsets = nacre.kernels.sort_by_expert(chosen, 8)
    """
    return _sort(experts, count)


def dispatch(x, order, places):
    """The rows of tokens in the order of experts: row r is x[order[r] // k], and 0 where order is -1.

    x: (tokens, size), any float type. order, places: those of `sort_by_expert`. Gives (tokens * k, size). Gradient: that of x.

        rows = nacre.kernels.dispatch(torch.randn(16, 32), order, places)
    """
    return _dispatch(x, order, places, None)


def collect(y, places, weights, order):
    """The sum over each token's entries of weight * y[place]: (tokens, size).

    y: (tokens * k, size). places, order: those of `sort_by_expert`. weights: (tokens, k). y and weights of one float type. Gradients: y, weights.

        out = nacre.kernels.collect(y, places, weights, order)
    """
    return _collect(y, places, weights, order)


def grouped_matmul(x, weight, offsets):
    """Products of groups of rows, each with the matrix of its expert, in one launch: rows offsets[e] to offsets[e + 1] times weight[e].

    x: (rows, K), sorted by expert. weight: (experts, K, N), any strides. offsets: (experts + 1,) int32, on the device of x: nothing waits for it. Gives
    (rows, N); rows before the first and behind the last offset are 0. All of one float type. Gradients: x, weight.

        y = nacre.kernels.grouped_matmul(torch.randn(32, 64), torch.randn(8, 64, 48), offsets)
    """
    return _grouped(x, weight, offsets)


# ---- routing


def _allocate_route(logits, k, normalize):
    check_array("logits", logits)
    check_dtype("logits", logits, FLOATING)
    check_shape("logits", logits, (None, None))
    check_integer("k", k, least=1, most=logits.shape[1])
    return empty(logits, (logits.shape[0], k)), empty(logits, (logits.shape[0], k), "int32")


def _launch_route(outputs, logits, k, normalize):
    weights, experts = outputs
    rows = as_rows(logits)
    kernels.routing_kernel[(rows.shape[0],)](
        rows, weights, experts, row_stride(rows), rows.shape[1], K=k, IS_SHARED=normalize, BLOCK=power_of_two(rows.shape[1]), num_warps=1
    )


def _save_route(ctx, inputs, output):
    logits, _, ctx.normalize = inputs
    ctx.save_for_backward(logits, *output)
    ctx.mark_non_differentiable(output[1])


def _backward_route(ctx, d_weights, _):
    logits, weights, experts = ctx.saved_tensors
    experts = experts.long()
    total = (d_weights * weights).sum(-1, keepdim=True)
    if ctx.normalize:
        return logits.new_zeros(logits.shape).scatter(1, experts, weights * (d_weights - total)), None, None
    spread = -logits.softmax(-1) * total
    return spread.scatter_add(1, experts, weights * d_weights), None, None


def _allocate_sort(experts, count):
    check_array("experts", experts)
    check_dtype("experts", experts, ("int32",))
    check_shape("experts", experts, (None, None))
    check_integer("count", count, least=1)
    tokens, k = experts.shape
    return zeros(experts, (tokens * k,)) - 1, zeros(experts, (tokens, k)) - 1, zeros(experts, (count + 1,))


def _launch_sort(outputs, experts, count):
    kernels.sorting_kernel[(count,)](contiguous(experts), *outputs, size(experts), BLOCK=min(1024, max(16, power_of_two(size(experts)))))


# ---- rows


def _row_block(x):
    return {"BLOCK": min(1024, max(16, power_of_two(x.shape[1])))}


def _check_rows(name, x, places):
    check_array(name, x)
    check_dtype(name, x, FLOATING)
    check_array("places", places, x, name)
    check_dtype("places", places, ("int32",))
    check_shape("places", places, (None, None))


def _check_order(order, places, x, name):
    check_array("order", order, x, name)
    check_dtype("order", order, ("int32",))
    check_shape("order", order, (places.shape[0] * places.shape[1],), "one entry for each of places")


def _allocate_dispatch(x, order, places, weights):
    _check_rows("x", x, places)
    _check_order(order, places, x, "x")
    check_shape("x", x, (places.shape[0], None), "one row for each token of places")
    return empty(x, (order.shape[0], x.shape[1]))


def _launch_dispatch(out, x, order, places, weights):
    check_values("order", order, -1, order.shape[0], "an entry of places, or -1")
    rows = as_rows(x)
    kernels.dispatching_kernel[(out.shape[0],)](
        rows, contiguous(order), contiguous(weights), out, row_stride(rows), rows.shape[1], K=places.shape[1], **_row_block(x)
    )


def _save_dispatch(ctx, inputs, output):
    _, order, places, weights = inputs
    ctx.save_for_backward(order, places)
    if weights is not None:
        raise NotImplementedError("nacre.kernels has no gradient of the gradient of collect: take gradients without create_graph=True")


def _backward_dispatch(ctx, d_rows):
    order, places = ctx.saved_tensors
    return _collect(d_rows, places, None, order), None, None, None


def _allocate_collect(y, places, weights, order):
    _check_rows("y", y, places)
    _check_order(order, places, y, "y")
    check_shape("y", y, (places.shape[0] * places.shape[1], None), "one row for each entry of places")
    if weights is not None:
        check_array("weights", weights, y, "y")
        check_same_dtype("weights", weights, y, "y")
        check_shape("weights", weights, tuple(places.shape), "that of places")
    return empty(y, (places.shape[0], y.shape[1]))


def _launch_collect(out, y, places, weights, order):
    check_values("places", places, -1, y.shape[0], "a row of y, or -1")
    rows = as_rows(y)
    kernels.collecting_kernel[(out.shape[0],)](
        rows, contiguous(places), contiguous(weights), out, row_stride(rows), rows.shape[1], K=places.shape[1], **_row_block(y)
    )


def _save_collect(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward_collect(ctx, d_out):
    y, places, weights, order = ctx.saved_tensors
    if weights is None:
        return _dispatch(d_out, order, places, None), None, None, None
    d_y = _dispatch(d_out.detach(), order, places, weights.detach()) if ctx.needs_input_grad[0] else None
    return d_y, None, _weights_gradient(y, places, d_out) if ctx.needs_input_grad[2] else None, None


def _allocate_weights_gradient(y, places, d_out):
    return empty(y, places.shape)


def _launch_weights_gradient(out, y, places, d_out):
    y, d_out = as_rows(y), as_rows(d_out)
    kernels.weights_gradient_kernel[(size(out),)](
        y, contiguous(places), d_out, out, row_stride(y), row_stride(d_out), y.shape[1], K=places.shape[1], **_row_block(y)
    )


# ---- products


def _tiles(x, columns):
    wide = dtype_name(x) in ("float32", "float64")
    if runs_on_host(x):
        return {"BLOCK_M": 64, "BLOCK_N": min(128, max(16, power_of_two(columns))), "BLOCK_K": 64}
    return {"BLOCK_M": 32, "BLOCK_N": min(64, max(16, power_of_two(columns))), "BLOCK_K": 32 if wide else 64, "num_warps": 4}


def _allocate_grouped(x, weight, offsets):
    check_array("x", x)
    check_dtype("x", x, FLOATING)
    check_shape("x", x, (None, None))
    check_array("weight", weight, x, "x")
    check_same_dtype("weight", weight, x, "x")
    check_shape("weight", weight, (None, x.shape[1], None), f"as x has {x.shape[1]} columns")
    check_array("offsets", offsets, x, "x")
    check_dtype("offsets", offsets, ("int32",))
    check_shape("offsets", offsets, (weight.shape[0] + 1,), "one more than there are experts")
    return zeros(x, (x.shape[0], weight.shape[2]))


def _check_offsets(offsets, rows):
    check_values("offsets", offsets, 0, rows + 1, "a place among the rows of x")
    check_values("the steps between neighbours of offsets", offsets[1:] - offsets[:-1], 0, rows + 1, "so that groups do not overlap")


def _launch_grouped(out, x, weight, offsets):
    _check_offsets(offsets, x.shape[0])
    x, weight = with_near_rows(x, 0), readable(weight)
    if any(stride >= FAR for stride in strides(weight)[1:]):
        weight = contiguous(weight)
    experts, inner, columns = weight.shape
    if size(out) == 0 or experts == 0:
        return
    blocks = _tiles(x, columns)
    most = x.shape[0] // blocks["BLOCK_M"] + experts
    kernels.grouped_kernel[(most * cdiv(columns, blocks["BLOCK_N"]),)](
        x, weight, contiguous(offsets), out, row_stride(x), tuple(strides(weight)), experts, columns, inner, EXPERTS=power_of_two(experts), **blocks
    )


def _save_grouped(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward_grouped(ctx, d_out):
    x, weight, offsets = ctx.saved_tensors
    d_x = _grouped(d_out, weight.transpose(1, 2), offsets) if ctx.needs_input_grad[0] else None
    return d_x, _grouped_weights(x, d_out, offsets) if ctx.needs_input_grad[1] else None, None


def _allocate_grouped_weights(x, d_out, offsets):
    return empty(x, (offsets.shape[0] - 1, x.shape[1], d_out.shape[1]))


def _launch_grouped_weights(out, x, d_out, offsets):
    if size(out) == 0:
        return
    _check_offsets(offsets, x.shape[0])
    x, d_out = with_near_rows(x, 0), with_near_rows(d_out, 0)
    experts, inner, columns = out.shape
    blocks = _tiles(x, columns)
    kernels.grouped_weights_kernel[(experts * cdiv(inner, blocks["BLOCK_K"]) * cdiv(columns, blocks["BLOCK_N"]),)](
        x, d_out, contiguous(offsets), out, row_stride(x), row_stride(d_out), columns, inner, **blocks
    )


_route = Operator("expert_routing", "(Tensor logits, int k, bool normalize) -> (Tensor, Tensor)", _allocate_route, _launch_route, _save_route, _backward_route)
_sort = Operator("expert_sorting", "(Tensor experts, int count) -> (Tensor, Tensor, Tensor)", _allocate_sort, _launch_sort)
_dispatch = Operator(
    "expert_dispatch", "(Tensor x, Tensor order, Tensor places, Tensor? weights) -> Tensor",
    _allocate_dispatch, _launch_dispatch, _save_dispatch, _backward_dispatch,
)  # fmt: skip
_collect = Operator(
    "expert_collection", "(Tensor y, Tensor places, Tensor? weights, Tensor order) -> Tensor",
    _allocate_collect, _launch_collect, _save_collect, _backward_collect,
)  # fmt: skip
_weights_gradient = Operator(
    "expert_weights_gradient", "(Tensor y, Tensor places, Tensor d_out) -> Tensor", _allocate_weights_gradient, _launch_weights_gradient
)
_grouped = Operator(
    "grouped_product", "(Tensor x, Tensor weight, Tensor offsets) -> Tensor", _allocate_grouped, _launch_grouped, _save_grouped, _backward_grouped
)
_grouped_weights = Operator(
    "grouped_product_gradient", "(Tensor x, Tensor d_out, Tensor offsets) -> Tensor", _allocate_grouped_weights, _launch_grouped_weights
)
