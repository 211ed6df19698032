"""How operators are compared with a reference in float64: on the same values, with bounds that follow from the types.

A result may be wrong by its rounding to the type it has, and by `terms` roundings of the type that sums are kept in, each of the size of
the largest value of the result, or of LEAST where a result is what remains of larger numbers.
"""

import numpy as np
import torch

EPSILON = {name: torch.finfo(getattr(torch, name)).eps for name in ("float64", "float32", "float16", "bfloat16")}
LEAST = 1e-2


def type_name(x):
    return x.dtype.name if isinstance(x, np.ndarray) else str(x.dtype).removeprefix("torch.")


def values(x):
    """As float64, in NumPy."""
    return x.astype(np.float64) if isinstance(x, np.ndarray) else x.detach().double().cpu().numpy()


def assert_near(actual, expected, terms=16, working=None, name="the result"):
    """`working`: the type of intermediate values, where it is not the one that sums have."""
    kind = type_name(actual)
    working = working or ("float64" if kind == "float64" else "float32")
    actual, expected = values(actual), values(expected)
    assert actual.shape == expected.shape, f"{name} has shape {actual.shape} where {expected.shape} is expected"
    finite = np.isfinite(expected)
    with np.errstate(invalid="ignore", over="ignore"):
        is_overflow = np.abs(expected) > (np.finfo(kind).max if kind != "bfloat16" else 3.38e38)
    finite &= ~is_overflow
    beyond = np.where(is_overflow, np.copysign(np.inf, expected), expected)
    same = np.isnan(actual) & np.isnan(expected) | (actual == beyond)
    assert same[~finite].all(), f"{name}: NaN and infinity are at other places"
    largest = np.abs(expected[finite]).max(initial=LEAST)
    bound = EPSILON[kind] * np.abs(expected) + terms * EPSILON[working] * largest + np.finfo("float16" if kind == "float16" else "float32").tiny
    with np.errstate(invalid="ignore"):
        wrong = finite & ~(np.abs(actual - expected) <= bound)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(f"{name}: {wrong.sum()} of {wrong.size} are wrong; at {place} {actual[place]!r} where {expected[place]!r} is expected, "
                             f"within {bound[place]:.3g}")  # fmt: skip


def rounded(tensors, dtype, device="cpu"):
    """Copies of that type; what is no floating point stays as it is."""
    return [None if x is None else x.detach().to(device, dtype if x.is_floating_point() else x.dtype) for x in tensors]


def compare(ours, theirs, tensors, dtype=torch.float32, device="cpu", terms=16, working=None, gradients=True):
    """Runs `ours` on the tensors in that type and `theirs` on the same values in float64; compares results and the gradients of all tensors."""
    tensors = rounded(tensors, dtype, device)
    exact = [None if x is None else x.detach().cpu().to(torch.float64 if x.is_floating_point() else x.dtype) for x in tensors]
    differentiable = [place for place, x in enumerate(tensors) if gradients and x is not None and x.is_floating_point()]
    for place in differentiable:
        tensors[place] = tensors[place].requires_grad_()
        exact[place] = exact[place].requires_grad_()
    outputs, expected = ours(*tensors), theirs(*exact)
    outputs, expected = [x if isinstance(x, (tuple, list)) else (x,) for x in (outputs, expected)]
    assert len(outputs) == len(expected)
    for place, (x, y) in enumerate(zip(outputs, expected)):
        assert_near(x, y, terms, working, f"result {place}")
    if not differentiable:
        return
    generator = torch.Generator().manual_seed(1)
    upstream = [torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.dtype) for x in outputs]
    found = torch.autograd.grad(outputs, [tensors[place] for place in differentiable], [x.to(device) for x in upstream])
    wanted = torch.autograd.grad(expected, [exact[place] for place in differentiable], [x.double() for x in upstream])
    for place, x, y in zip(differentiable, found, wanted):
        assert x.dtype == tensors[place].dtype
        assert_near(x, y, 4 * terms, working, f"the gradient of argument {place}")
