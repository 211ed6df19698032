"""Ragged tensors through descriptors: subarrays of different sizes in one tensor, read and written without touching each other."""

import pytest

torch = pytest.importorskip("torch")

import nacre  # noqa: E402
import nacre.language as tl  # noqa: E402
from nacre.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged  # noqa: E402

SIZES = [5, 0, 1, 8, 16, 3]
STARTS = [0, 5, 5, 6, 14, 30]


@pytest.fixture(params=["cpu", "interpreter"], autouse=True)
def engine(request):
    if request.param == "interpreter":
        nacre.runtime.driver.active.set_interpret_mode(True)
    yield request.param
    nacre.runtime.driver.active.set_interpret_mode(False)


@nacre.jit
def copy_kernel(source, target, starts, sizes, ROWS: tl.constexpr, WHAT: tl.constexpr):
    start, size = tl.load(starts + tl.program_id(0)), tl.load(sizes + tl.program_id(0))
    row = tl.program_id(1) * ROWS
    block = load_ragged(source, start, size, (row, 4))
    if WHAT == "store":
        store_ragged(target, start, size, [row, 4], block)
    else:
        atomic_add_ragged(target, start, size, [row, 4], block)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("what", ["store", "add"])
def test_rows_of_subarrays(what, dtype):
    x = torch.arange(40 * 8).reshape(40, 8).to(dtype)
    out = torch.full((40, 8), 1000, dtype=dtype)
    source, target = create_ragged_descriptor(x, [4, 4]), create_ragged_descriptor(out, [4, 4])
    copy_kernel[(len(SIZES), 5)](source, target, torch.tensor(STARTS, dtype=torch.int32), torch.tensor(SIZES, dtype=torch.int32), 4, what)
    expected = torch.full((40, 8), 1000, dtype=dtype)
    expected[:33, 4:] = x[:33, 4:] + (1000 if what == "add" else 0)
    assert torch.equal(out, expected)


def test_rows_past_the_end_read_as_zero():
    @nacre.jit
    def kernel(source, out, start, size, row):
        block = load_ragged(source, start, size, [row, 0])
        tl.store(out + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], block)

    x = torch.arange(1, 41, dtype=torch.float32).reshape(10, 4)
    out = torch.zeros(4, 4)
    kernel[(1,)](create_ragged_descriptor(x, [4, 4]), out, 3, 5, 2)
    expected = torch.zeros(4, 4)
    expected[:3] = x[5:8]
    assert torch.equal(out, expected)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_three_axes(axis):
    @nacre.jit
    def kernel(source, target, start, size, AXIS: tl.constexpr):
        block = load_ragged(source, start, size, [0, 0, 0], ragged_dim=AXIS)
        tl.static_assert(block.shape[0] == 4 and len(block.shape) == 3)
        store_ragged(target, start, size, [0, 0, 0], block * 2, ragged_dim=AXIS)

    x = torch.randn(8, 8, 4)
    out = torch.zeros_like(x)
    source, target = (create_ragged_descriptor(tensor, (4, 4, 4), axis) for tensor in (x, out))
    kernel[(1,)](source, target, 3, 3, axis % 3)
    expected = torch.zeros_like(x)
    place = (slice(3, 6), slice(0, 4)) if axis == 0 else (slice(0, 4), slice(3, 6))
    expected[place] = x[place] * 2
    assert torch.equal(out, expected)


@pytest.mark.parametrize("shape, block, axis, text", [
    ((4, 4), [4, 4], 1, "one of the first 1 axes"), ((4, 4), [4, 4], -1, "one of the first 1 axes"), ((4, 4), [4], 0, "needs 2 extents"),
    ((2, 2, 2, 2), [1, 1, 1, 2], 0, "at most 3 axes"),
])  # fmt: skip
def test_wrong_use(shape, block, axis, text):
    with pytest.raises(ValueError, match=text):
        create_ragged_descriptor(torch.zeros(shape), block, axis)


def test_other_descriptors_are_refused(engine):
    @nacre.jit
    def kernel(source, out):
        tl.store(out, tl.sum(load_ragged(source, 0, 2, [0, 0])))

    x = torch.zeros(4, 4)
    with pytest.raises(nacre.TritonError, match="create_ragged_descriptor"):
        kernel[(1,)](nacre.tools.tensor_descriptor.TensorDescriptor.from_tensor(x, [4, 4]), x)
