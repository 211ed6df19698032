"""Microscaling formats on torch tensors: values against their definition, and against Triton's own classes where it is installed."""

import importlib.util

import pytest

torch = pytest.importorskip("torch")

from nacre.tools.mxfp import MXFP4Tensor, MXScaleTensor, fp8e8m0_to_float32  # noqa: E402

VALUES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
ALL_CODES = torch.arange(16, dtype=torch.uint8)


@pytest.fixture(scope="module")
def theirs():
    """Triton's own module, which needs nothing of a GPU."""
    spec = importlib.util.find_spec("triton")
    if spec is None or not spec.origin:
        pytest.skip("Triton is not installed")
    from pathlib import Path

    path = Path(spec.origin).parent / "tools" / "mxfp.py"
    if not path.exists():
        pytest.skip("this Triton has no mxfp")
    spec = importlib.util.spec_from_file_location("their_mxfp", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_element():
    made = MXFP4Tensor(torch.tensor(VALUES + [-value for value in VALUES]))
    assert made.data.dtype == torch.uint8 and torch.equal(made.data, ALL_CODES)
    back = made.to(torch.float32)
    assert back.tolist() == VALUES + [-value for value in VALUES] and back[8].signbit()


@pytest.mark.parametrize("value, expected", [
    (0.25, 0.0), (0.2500001, 0.5), (0.75, 1.0), (1.25, 1.0), (1.75, 2.0), (2.5, 2.0), (3.5, 4.0), (5.0, 4.0), (5.0000005, 6.0),
    (100.0, 6.0), (1e-30, 0.0), (float("inf"), 6.0), (-float("inf"), -6.0), (float("nan"), 6.0),
])  # fmt: skip
def test_rounding(value, expected):
    assert MXFP4Tensor(torch.tensor([value, -value])).to(torch.float32).tolist() == [expected, -expected]


@pytest.mark.parametrize("shape, dim", [((4,), 0), ((5,), 0), ((4, 6), 0), ((3, 6), 0), ((4, 7), 1), ((2, 3, 4), 1)])
def test_packing(shape, dim):
    made = MXFP4Tensor(size=shape).random()
    packed = made.to_packed_tensor(dim)
    assert packed.shape[dim] == (shape[dim] + 1) // 2 and packed.dtype == torch.uint8
    assert torch.equal(made.unpack_packed_tensor(packed, dim, shape), made.data)
    first = made.data.movedim(dim, 0)
    assert torch.equal(packed.movedim(dim, 0)[0], first[0] | first[1] << 4)


def test_random_elements():
    torch.manual_seed(0)
    made = MXFP4Tensor(size=(64, 64), device="cpu").random()
    assert set(made.data.flatten().tolist()) == set(range(16))
    scales = MXScaleTensor(size=1000).random(low=0.25, high=3.0)
    assert set(scales.to(torch.float32).tolist()) == {0.25, 0.5, 1.0, 2.0}
    assert MXScaleTensor(size=100000).random().data.max() == 254
    with pytest.raises(ValueError, match="no power of two"):
        MXScaleTensor(size=4).random(low=5, high=7)


def test_scales():
    values = torch.tensor([1.0, 1.99, 2.0, 0.75, 2.0**-126, 2.0**-127, 2.0**-140, 3e38, 0.0, -1.0, float("inf"), float("nan")])
    made = MXScaleTensor(values)
    assert made.data.tolist() == [127, 127, 128, 126, 1, 0, 0, 254, 255, 255, 255, 255]
    bytes = torch.arange(256, dtype=torch.uint8)
    expected = torch.tensor([2.0 ** (e - 127) for e in range(255)])
    assert torch.equal(fp8e8m0_to_float32(bytes)[:255], expected) and fp8e8m0_to_float32(bytes)[255].isnan()


def test_wrong_use():
    for made in (MXFP4Tensor, MXScaleTensor):
        with pytest.raises(ValueError, match="either data or size"):
            made()
        with pytest.raises(TypeError, match="expected a torch tensor"):
            made([1.0])
        with pytest.raises(TypeError, match="torch.float32"):
            made(torch.ones(2)).to(torch.float16)
    with pytest.raises(ValueError, match="no such axis"):
        MXFP4Tensor(torch.ones(2)).to_packed_tensor(1)


def test_equal_to_tritons(theirs):
    torch.manual_seed(1)
    ties = torch.tensor([(a + b) / 2 for a, b in zip(VALUES, VALUES[1:])])
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), 1000.0, 1e-30])
    # Triton compares distances and adds 1e-6 to decide ties: what is nearer to one, or very large, is left to the tests above.
    values = (torch.randn(64, 32) * 3).flatten()
    values = values[(values.abs()[:, None] - ties).abs().amin(1) > 1e-5]
    values = torch.cat([values, ties, -ties, special, torch.zeros(-(len(values) + 20) % 8)]).reshape(8, -1)
    ours, other = MXFP4Tensor(values.clone()), theirs.MXFP4Tensor(values.clone())
    assert torch.equal(ours.data, other.data) and torch.equal(ours.to(torch.float32), other.to(torch.float32))
    for dim in (0, 1):
        packed = ours.to_packed_tensor(dim)
        assert torch.equal(packed, other.to_packed_tensor(dim))
        assert torch.equal(ours.unpack_packed_tensor(packed, dim, values.shape), other.unpack_packed_tensor(packed, dim, values.shape))
    scales = torch.cat([torch.exp2(torch.randn(200) * 20), torch.tensor([0.0, -1.0, float("nan"), float("inf")])])
    assert torch.equal(MXScaleTensor(scales).data, theirs.MXScaleTensor(scales).data)
    bytes = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(fp8e8m0_to_float32(bytes).nan_to_num(-1), theirs.fp8e8m0_to_float32(bytes).nan_to_num(-1))
    public = {name for name in dir(theirs.MXFP4Tensor) if not name.startswith("_")}
    assert public <= set(dir(MXFP4Tensor)) and {"random", "to"} <= set(dir(MXScaleTensor))
