"""Rotary position embedding against torch in float64."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nacre.kernels as nk
from comparison import assert_near, compare

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
names = lambda dtype: str(dtype).removeprefix("torch.")  # noqa: E731


def rotary_of_torch(x, cos, sin, positions=None, interleaved=False, heads_first=False):
    if heads_first:
        return rotary_of_torch(x.swapaxes(-3, -2), cos, sin, positions, interleaved).swapaxes(-3, -2)
    positions = torch.arange(x.shape[-3]) if positions is None else positions.long()
    cos, sin = cos[positions].unsqueeze(-2), sin[positions].unsqueeze(-2)
    turned, rest = x[..., : 2 * cos.shape[-1]], x[..., 2 * cos.shape[-1] :]
    a, b = (turned[..., ::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    a, b = a * cos - b * sin, b * cos + a * sin
    turned = torch.stack((a, b), -1).flatten(-2) if interleaved else torch.cat((a, b), -1)
    return torch.cat((turned, rest), -1)


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def check(shape, width, dtype=torch.float32, device="cpu", positions=None, **options):
    cos, sin = (table.to(dtype) for table in nk.rotary_tables(50, width, like=torch.empty(0)))
    on_device = {"positions": None if positions is None else positions.to(device), **options}
    compare(lambda x: nk.rotary(x, cos.to(device), sin.to(device), **on_device),
            lambda x: rotary_of_torch(x, cos.double(), sin.double(), positions, **options), [random(*shape)], dtype, device, terms=4)  # fmt: skip


@pytest.mark.parametrize("interleaved", [False, True])
def test_on_every_engine(engine, interleaved):
    check((2, 3, 5, 12), 8, device=engine.device, interleaved=interleaved)
    check((3, 2, 8), 8, device=engine.device, interleaved=interleaved, positions=torch.tensor([7, 0, 3]))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("shape, width", [((1, 1, 1, 2), 2), ((2, 7, 3, 40), 40), ((1, 5, 40, 128), 64), ((9, 5, 6), 0), ((2, 3, 4, 7), 6)])
def test_shapes(shape, width, interleaved):
    check(shape, width, interleaved=interleaved)
    check(shape, width, interleaved=interleaved, heads_first=True)
    places = torch.randint(0, 50, shape[:-2], generator=torch.Generator().manual_seed(1))
    check(shape, width, interleaved=interleaved, positions=places)
    check(shape, width, interleaved=interleaved, positions=places.reshape(-1, shape[-3])[0].int())


@pytest.mark.parametrize("dtype", DTYPES, ids=names)
def test_dtypes(dtype):
    for interleaved in (False, True):
        check((2, 5, 3, 16), 16, dtype, interleaved=interleaved)


def test_parts_of_arrays():
    cos, sin = nk.rotary_tables(9, 8, like=torch.empty(0))
    x = random(2, 9, 3, 4, 12)  # queries, keys and values of one product
    for part in (lambda x: x[:, :, 0, :, :8], lambda x: x[:, :, 1, ::2, 2:10]):
        compare(lambda x: nk.rotary(part(x), cos, sin), lambda x: rotary_of_torch(part(x), cos.double(), sin.double()), [x])
    cos, sin = nk.rotary_tables(9, 4, like=torch.empty(0))
    turned = lambda x: x.transpose(-1, -2)[:, :, 2]  # noqa: E731  (the elements of a head do not lie side by side)
    compare(lambda x: nk.rotary(turned(x), cos, sin), lambda x: rotary_of_torch(turned(x), cos.double(), sin.double()), [x])


def test_numpy_and_values_that_are_not_numbers():
    cos, sin = nk.rotary_tables(9, 8)
    assert cos.dtype == np.float32
    assert_near(cos, np.cos(np.arange(9)[:, None] * 10000.0 ** (-np.arange(4) / 4)))
    x = random(9, 3, 8).float().numpy()
    x[0, 0, 1] = np.nan
    expected = rotary_of_torch(torch.from_numpy(x).double(), *(torch.from_numpy(t).double() for t in (cos, sin)))
    assert_near(nk.rotary(x, cos, sin), expected.numpy())
    y = nk.rotary(x[1:3], cos, sin, positions=np.array([9, -1]))
    assert np.isnan(y).all()


def test_nothing():
    cos, sin = nk.rotary_tables(9, 8, like=torch.empty(0))
    for shape in ((0, 3, 2, 8), (2, 0, 2, 8), (2, 3, 0, 8)):
        assert nk.rotary(torch.zeros(shape), cos, sin).shape == shape


def test_in_torch():
    cos, sin = (t.double() for t in nk.rotary_tables(9, 6, like=torch.empty(0)))
    x = random(2, 3, 2, 8).requires_grad_()
    for interleaved in (False, True):
        assert torch.autograd.gradcheck(lambda x: nk.rotary(x, cos, sin, interleaved=interleaved), [x])
        assert torch.autograd.gradgradcheck(lambda x: nk.rotary(x, cos, sin, interleaved=interleaved), [x])
    torch.library.opcheck(torch.ops.nacre.rotary.default, (x, cos, sin, torch.tensor([1, 2, 0]), False, False))
    compiled = torch.compile(lambda x: nk.rotary(x * 2, cos, sin, heads_first=True), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), rotary_of_torch(x * 2, cos, sin, heads_first=True))
    with pytest.raises(NotImplementedError, match="no gradients of cos and sin"):
        nk.rotary(x, cos.clone().requires_grad_(), sin).sum().backward()


@pytest.mark.parametrize("call, text", [
    (lambda x, c: nk.rotary(x[0, 0], c, c), r"x has shape \(2, 8\); \(positions, heads, width\)"),
    (lambda x, c: nk.rotary(x, c, c[:3]), r"sin has shape \(3, 4\); \(9, 4\) is expected, the shape of cos"),
    (lambda x, c: nk.rotary(x, c[:2], c[:2]), "cos has 2 rows; x has 3 positions: make longer tables"),
    (lambda x, c: nk.rotary(x[..., :6], c, c), "cos has 4 columns, for 8 elements of a head; heads of x have 6"),
    (lambda x, c: nk.rotary(x, c, c, torch.zeros(4, dtype=torch.int64)), r"positions has shape \(4,\); \(3,\) is expected"),
    (lambda x, c: nk.rotary(x, c, c, torch.zeros(3)), "positions has elements of type float32"),
    (lambda x, c: nk.rotary_tables(4, 3), "width is 3; it must be even"),
])  # fmt: skip
def test_errors_name_the_argument(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(torch.ones(2, 3, 2, 8), torch.ones(9, 4))
