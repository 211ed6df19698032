"""nacre.kernels.attention and attention_varlen against float64: masks, windows, heads that share keys, sizes, types, gradients."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import attention_reference as reference  # noqa: E402
import nacre.kernels as kernels  # noqa: E402
from comparison import assert_near, compare  # noqa: E402


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def inputs(batch, heads, key_heads, queries, keys, size, value_size=None):
    shapes = ((batch, heads, queries, size), (batch, key_heads, keys, size), (batch, key_heads, keys, value_size or size))
    return [random(*shape, seed=number) for number, shape in enumerate(shapes)]


def check(tensors, dtype=torch.float32, device="cpu", gradients=True, terms=32, **options):
    slopes = options.pop("slopes", None)
    working = {torch.float16: "float16", torch.bfloat16: "bfloat16"}.get(dtype)  # weights are rounded before they meet the values

    def ours(q, k, v, mask=None):
        return kernels.attention(q, k, v, mask=mask, alibi_slopes=None if slopes is None else slopes.to(device), **options)

    def theirs(q, k, v, mask=None):
        return reference.attention(q, k, v, mask, slopes=None if slopes is None else slopes.double(), **options)[0]

    compare(ours, theirs, tensors, dtype, device, terms, working, gradients)


SETTINGS = {
    "plain": {},
    "window": {"window": (7, 3)},
    "window to the right": {"window": (None, 2), "scale": 0.3},
    "causal window": {"causal": True, "window": (9, 40), "softcap": 1.5},
    "slopes": {"slopes": torch.tensor([0.5, 0.25, 0.1, 0.0]), "causal": True},
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    check(inputs(2, 4, 2, 37, 53, 40, 24), **SETTINGS[name])


def test_slopes_of_each_sequence():
    check(inputs(2, 4, 2, 37, 53, 40, 24), gradients=False, slopes=random(2, 4).abs())


@pytest.mark.parametrize("shape", [(4, 50, 1), (2, 1, 1, 70), (70,), (2, 4, 50, 70)], ids=str)
@pytest.mark.parametrize("kind", ["booleans", "floats"])
def test_masks_of_every_shape(shape, kind):
    mask = random(*shape, seed=9)
    # What is added to whole rows changes nothing: its gradient is nothing but rounding.
    check([*inputs(2, 4, 4, 50, 70, 32), mask > -0.3 if kind == "booleans" else mask], gradients=shape == (2, 4, 50, 70))


def test_a_mask_of_the_lowest_finite_numbers_leaves_even_weights():
    q, k, v = inputs(1, 1, 1, 3, 8, 32)
    mask = torch.full((8,), torch.finfo(torch.float32).min)
    assert_near(kernels.attention(q, k, v, mask=mask), v.mean(2, keepdim=True).expand(1, 1, 3, 32))


@pytest.mark.parametrize("size, value_size", [(1, 1), (80, 80), (256, 96), (33, 47)])
def test_sizes_of_heads(size, value_size):
    check(inputs(1, 2, 1, 19, 30, size, value_size), causal=True, gradients=size == 33)


def test_heads_enough_for_one_program_each():
    """Where the kernel of keys and values gives the gradients of queries too."""
    check(inputs(2, 8, 4, 70, 90, 24), causal=True, window=(40, None))
    check(inputs(3, 3, 3, 20, 20, 24), torch.bfloat16)


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 130), (130, 1), (129, 130)])
def test_numbers_of_queries_and_keys(queries, keys):
    check(inputs(1, 2, 2, queries, keys, 32), causal=True, gradients=min(queries, keys) > 1)
    check(inputs(1, 2, 2, queries, keys, 32), window=(70, 0), gradients=False)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_types(dtype):
    check(inputs(2, 4, 1, 33, 70, 64), dtype, causal=True, softcap=3.0)


@pytest.mark.parametrize("shape", [(0, 2, 2, 4, 4), (2, 2, 2, 0, 4), (2, 2, 2, 4, 0)], ids=str)
def test_nothing_to_do(shape):
    q, k, v = (x.requires_grad_() for x in inputs(*shape, 32))
    out, lse = kernels.attention(q, k, v, return_lse=True)
    assert out.shape == (*shape[:2], shape[3], 32) and not out.any() and bool((lse == -math.inf).all())
    gradients = torch.autograd.grad(out, (q, k, v), torch.ones_like(out))
    assert not any(gradient.any() for gradient in gradients)


def test_rows_that_see_nothing_are_zero_and_so_are_their_gradients():
    q, k, v = (x.requires_grad_() for x in inputs(1, 2, 2, 10, 6, 32))
    mask = torch.ones(10, 6, dtype=torch.bool)
    mask[7] = False
    out, lse = kernels.attention(q, k, v, causal=True, mask=mask, return_lse=True)
    hidden = [0, 1, 2, 3, 7]  # ten queries at six keys: the first four stand before the first key
    assert not out[:, :, hidden].any() and bool((lse[:, :, hidden] == -math.inf).all())
    assert bool(torch.isfinite(lse[:, :, [4, 5, 6, 8, 9]]).all())
    d_q, d_k, d_v = torch.autograd.grad(out, (q, k, v), torch.ones_like(out))
    assert not d_q[:, :, hidden].any() and all(bool(torch.isfinite(x).all()) for x in (d_q, d_k, d_v))


def test_nan_reaches_its_rows_alone():
    q, k, v = inputs(1, 1, 1, 5, 9, 32)
    q[0, 0, 2, 3] = math.nan
    out = kernels.attention(q, k, v)
    assert bool(out[0, 0, 2].isnan().all()) and not out[0, 0, [0, 1, 3, 4]].isnan().any()


def test_any_strides():
    q, k, v = inputs(2, 4, 4, 21, 21, 32)
    spread = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k)] + [v.transpose(2, 3).contiguous().transpose(2, 3)]
    assert_near(kernels.attention(*spread, causal=True), reference.attention(q.double(), k.double(), v.double(), causal=True)[0])
    broadcast = k[:1, :1].expand(2, 4, 21, 32)
    assert_near(kernels.attention(q, broadcast, v), reference.attention(q.double(), broadcast.double(), v.double())[0])


@pytest.mark.parametrize("options", [{"causal": True}, {"softcap": 2.0, "window": (2, 1)}], ids=str)
def test_gradients_by_differences(options):
    q, k, v = (x.double().requires_grad_() for x in inputs(1, 2, 1, 4, 5, 3))
    mask = random(4, 5).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda *x: kernels.attention(*x[:3], mask=x[3], return_lse=True, **options), (q, k, v, mask))


STARTS = {"q": [0, 5, 5, 38], "k": [0, 40, 47, 60]}


@pytest.mark.parametrize("options", [{"causal": True}, {"window": (3, 1)}], ids=str)
def test_sequences_of_unequal_lengths(options):
    tensors = [random(38, 4, 40), random(60, 2, 40, seed=1), random(60, 2, 24, seed=2)]
    starts = [torch.tensor(STARTS[name], dtype=torch.int32) for name in "qk"]
    compare(lambda q, k, v: kernels.attention_varlen(q, k, v, *starts, max_queries=33, max_keys=40, **options),
            lambda q, k, v: reference.packed(q, k, v, STARTS["q"], STARTS["k"], **options), tensors, terms=32)  # fmt: skip


def test_rows_behind_the_last_sequence_are_left_alone():
    q, k, v = (random(9, 2, 32, seed=seed).requires_grad_() for seed in range(3))
    starts = torch.tensor([0, 4, 6])
    out, lse = kernels.attention_varlen(q, k, v, starts, max_queries=4, return_lse=True)
    assert not out[6:].any() and bool((lse[:, 6:] == -math.inf).all()) and bool(torch.isfinite(lse[:, :6]).all())
    gradients = torch.autograd.grad(out, (q, k, v), torch.ones_like(out))
    assert all(not gradient[6:].any() for gradient in gradients)
    assert torch.allclose(out[:6], reference.packed(q[:6], k[:6], v[:6], [0, 4, 6], [0, 4, 6]), atol=1e-5)


def test_numpy():
    arrays = [x.numpy() for x in inputs(2, 4, 2, 20, 30, 32)]
    out, lse = kernels.attention(*arrays, causal=True, mask=np.arange(30) % 7 > 0, return_lse=True)
    assert isinstance(out, np.ndarray) and lse.dtype == np.float32
    mask = torch.arange(30) % 7 > 0
    wanted, sums = reference.attention(*(torch.from_numpy(x).double() for x in arrays), mask=mask, causal=True)
    assert_near(out, wanted)
    assert_near(lse, sums)


def test_compiled_in_one_graph():
    q, k, v = (x.requires_grad_() for x in inputs(2, 4, 2, 20, 30, 32))
    compiled = torch.compile(lambda q, k, v: kernels.attention(q * 2, k, v, causal=True).sin(), fullgraph=True, backend="aot_eager")
    found = torch.autograd.grad(compiled(q, k, v).sum(), (q, k, v))
    wanted = torch.autograd.grad(kernels.attention(q * 2, k, v, causal=True).sin().sum(), (q, k, v))
    assert all(torch.equal(x, y) for x, y in zip(found, wanted))


def test_torch_checks_the_operators():
    q, k, v = (x.requires_grad_() for x in inputs(1, 2, 1, 6, 7, 16))
    arguments = (q, k, v, random(6, 7).requires_grad_(), None, None, None, 0, 0, None, 0, 0.25, 0.0, False)
    torch.library.opcheck(torch.ops.nacre.attention.default, arguments)


@pytest.mark.parametrize("arguments, options, text", [
    (lambda q, k, v: (q, k[:, :1].expand(-1, 3, -1, -1), v), {}, "q has 4 heads and k has 3: the heads of keys must divide"),
    (lambda q, k, v: (q, k.half(), v), {}, "k has elements of type float16 and q of float32"),
    (lambda q, k, v: (q, k, v[:, :, :3]), {}, r"v has shape .*as many keys as k has"),
    (lambda q, k, v: (q[..., :8], k, v), {}, "k has heads of 16 elements and q of 8"),
    (lambda q, k, v: (q.int(), k.int(), v.int()), {}, "q has elements of type int32; .* convert it"),
    (lambda q, k, v: (q[0], k, v), {}, r"q has shape \(4, 5, 16\); \(any, any, any, any\) is expected"),
    (lambda q, k, v: (q, k, v), {"mask": torch.ones(3, 6)}, r"mask has shape \(3, 6\), which does not broadcast"),
    (lambda q, k, v: (q, k, v), {"alibi_slopes": torch.ones(3)}, r"alibi_slopes has shape \(3,\); \(4,\) or \(2, 4\)"),
    (lambda q, k, v: (q, k, v), {"alibi_slopes": torch.ones(4, requires_grad=True)}, "alibi_slopes requires a gradient"),
    (lambda q, k, v: (q, k, v), {"window": (-1, None)}, "the left side of window is -1; it must be at least 0"),
    (lambda q, k, v: (q, k, v), {"softcap": -1.0}, "softcap is -1.0; it must be at least 0"),
    (lambda q, k, v: (q.repeat(1, 1, 1, 20), k.repeat(1, 1, 1, 20), v), {}, "q has heads of 320 elements; 1 to 256 are supported"),
])  # fmt: skip
def test_errors(arguments, options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        kernels.attention(*arguments(*inputs(2, 4, 4, 5, 6, 16)), **options)


def test_engines(engine):
    check(inputs(1, 2, 1, 17, 21, 24, 16), device=engine.device, causal=True, window=(12, None), softcap=2.0, slopes=torch.tensor([0.5, 0.1]))
    check([*inputs(1, 1, 1, 9, 40, 40), random(9, 40)], torch.bfloat16, engine.device)


def test_engines_in_float64(engine):
    check(inputs(1, 1, 1, 5, 9, 16), torch.float64, engine.device, causal=True)
