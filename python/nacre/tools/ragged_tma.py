"""Descriptors of ragged tensors: one tensor whose rows are many subarrays of different sizes, one after another.

    descriptor = create_ragged_descriptor(x, [BLOCK_M, BLOCK_N])        # on the host, for all subarrays

    @triton.jit
    def kernel(descriptor, starts, sizes, ...):
        tile = load_ragged(descriptor, start, size, [row, column])      # rows count from the subarray's start

Rows past the end of the subarray read as zero and are not written, though the tensor goes on there.

How a descriptor with one shape knows the end of every subarray: it is told that the ragged axis has LIMIT rows, and is asked for
row LIMIT - size + row, which is outside just when row >= size. Two axes in front bring the address back. Their strides are
2**34 - s and s, where s is the stride of the ragged axis; the coordinates LIMIT and start + size give, with LIMIT = 2**30 and
addresses of 64 bits, LIMIT * 2**34 = 0 and in all (-LIMIT + start + size + LIMIT - size + row) * s = (start + row) * s.
"""

from .. import language as tl
from ..runtime.jit import jit
from .tensor_descriptor import TensorDescriptor

_LIMIT = 2**30
_UNBOUNDED = 0x7FFF0000  # the length of the two axes in front: no coordinate of theirs is outside


def create_ragged_descriptor(T, block_shape, ragged_dim=0):
    """A descriptor of a tensor of two or three axes whose axis `ragged_dim` (not the last) holds subarrays."""
    shape, rank = list(T.shape), len(T.shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    if not 0 <= axis < rank - 1:
        raise ValueError(f"ragged_dim={ragged_dim}: the ragged axis must be one of the first {rank - 1} axes of this tensor")
    if rank > 3:
        raise ValueError(f"a ragged tensor has at most 3 axes, found {rank}")
    if len(block_shape) != rank:
        raise ValueError(f"block_shape needs {rank} extents, one for each axis of the tensor, found {len(block_shape)}")
    if shape[axis] > _LIMIT:
        raise ValueError(f"the ragged axis may have 2**30 rows, found {shape[axis]}")
    shape[axis] = _LIMIT
    strides = list(T.stride())
    step = strides[axis]
    return TensorDescriptor(T, [_UNBOUNDED, _UNBOUNDED, *shape], [2**34 - step, step, *strides], [1, 1, *block_shape])


@jit
def to_ragged_indices(slice_off, slice_size, row):
    """The coordinates on the two axes in front and on the ragged axis of row `row` of a subarray."""
    limit: tl.constexpr = 0x40000000
    return limit, slice_off + slice_size, limit - slice_size + row


@jit
def _ragged_coordinates(slice_off, slice_size, coords, ragged_dim: tl.constexpr):
    first, second, row = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    return [first, second] + list(coords[:ragged_dim]) + [row] + list(coords[ragged_dim + 1 :])


@jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):
    """Loads the block at `coords` of the subarray of `slice_size` rows that starts at row `slice_off`."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "the descriptor must come from create_ragged_descriptor")
    block = TMA.load(_ragged_coordinates(slice_off, slice_size, coords, ragged_dim))
    return tl.reshape(block, block.shape[2:])


@jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Stores a block at `coords` of the subarray of `slice_size` rows that starts at row `slice_off`."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "the descriptor must come from create_ragged_descriptor")
    TMA.store(_ragged_coordinates(slice_off, slice_size, coords, ragged_dim), tl.expand_dims(data, (0, 1)))


@jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds a block at `coords` of the subarray of `slice_size` rows that starts at row `slice_off`, atomically."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "the descriptor must come from create_ragged_descriptor")
    TMA.atomic_add(_ragged_coordinates(slice_off, slice_size, coords, ragged_dim), tl.expand_dims(data, (0, 1)))
