"""Examples shown in the language reference, under the function each is named after (tensor_descriptor_load: the method load of tensor
descriptors), with the helpers that they call.

Every kernel takes (x_ptr, out_ptr, N): `x_ptr` and `out_ptr` point to enough fp32 numbers and N is 64. A test runs them all, as they
stand on the page.
"""

import triton
import triton.language as tl


@triton.jit
def program_id(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)  # each program of the grid works on N elements of its own
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def load(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets, mask=offsets < 50, other=-1.0)  # elements from 50 on are not read: they are -1
    tl.store(out_ptr + offsets, x)


@triton.jit
def store(x_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, 4)[:, None], tl.arange(0, 16)[None, :]
    tl.store(out_ptr + rows * 16 + columns, rows * 100 + columns, mask=columns < 10)


@triton.jit
def arange(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), tl.arange(1, N + 1))  # 1, 2, ... N


@triton.jit
def full(x_ptr, out_ptr, N: tl.constexpr):
    lowest = tl.full((N,), float("-inf"), tl.float32)
    tl.store(out_ptr + tl.arange(0, N), lowest)


@triton.jit
def cast(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    whole = tl.cast(x, tl.int32)  # or x.to(tl.int32): truncates
    bits = x.to(tl.int32, bitcast=True)  # the same bits, read as another type
    tl.store(out_ptr + tl.arange(0, N), whole + (bits >> 31))


@triton.jit
def cat(x_ptr, out_ptr, N: tl.constexpr):
    both = tl.cat(tl.arange(0, N), tl.arange(0, N))  # 2N elements
    tl.store(out_ptr + tl.arange(0, 2 * N), both)


@triton.jit
def broadcast_to(x_ptr, out_ptr, N: tl.constexpr):
    row = tl.load(x_ptr + tl.arange(0, 16))
    tile = tl.broadcast_to(row[None, :], (4, 16))  # the same row, four times
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :], tile)


@triton.jit
def reshape(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tile = tl.reshape(x, (4, N // 4))
    tl.store(out_ptr + tl.arange(0, 4), tl.sum(tile, axis=1))


@triton.jit
def permute(x_ptr, out_ptr, N: tl.constexpr):
    tile = tl.reshape(tl.load(x_ptr + tl.arange(0, N)), (4, N // 4))
    turned = tl.permute(tile, (1, 0))  # (N // 4, 4); also tile.T
    tl.store(out_ptr + tl.arange(0, N), turned.ravel())


@triton.jit
def join(x_ptr, out_ptr, N: tl.constexpr):
    pairs = tl.join(tl.arange(0, N), tl.arange(0, N) + 100)  # (N, 2)
    first, second = tl.split(pairs)
    tl.store(out_ptr + tl.arange(0, N), second - first)


@triton.jit
def interleave(x_ptr, out_ptr, N: tl.constexpr):
    mixed = tl.interleave(tl.arange(0, N), tl.arange(0, N) + 100)  # 0, 100, 1, 101, ...
    tl.store(out_ptr + tl.arange(0, 2 * N), mixed)


@triton.jit
def dot(x_ptr, out_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    a = tl.load(x_ptr + rows * 16 + columns)
    accumulator = tl.zeros((16, 16), dtype=tl.float32)
    accumulator = tl.dot(a, a.T, accumulator)  # accumulator + a @ a.T
    tl.store(out_ptr + rows * 16 + columns, accumulator)


@triton.jit
def where(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.where(x > 0, x, 0.1 * x))


@triton.jit
def gather(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    turned = tl.gather(x, N - 1 - tl.arange(0, N), axis=0)  # the last element first
    tl.store(out_ptr + tl.arange(0, N), turned)


@triton.jit
def maximum(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def softmax(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.softmax(x))


@triton.jit
def sum(x_ptr, out_ptr, N: tl.constexpr):
    tile = tl.reshape(tl.load(x_ptr + tl.arange(0, N)), (4, N // 4))
    centred = tile - tl.sum(tile, axis=1, keep_dims=True) / (N // 4)
    tl.store(out_ptr + tl.arange(0, N), tl.ravel(centred))


@triton.jit
def max(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    largest, place = tl.max(x, axis=0, return_indices=True)
    tl.store(out_ptr, largest)
    tl.store(out_ptr + 1, place)


@triton.jit
def _larger_size(a, b):
    return tl.where(tl.abs(a) > tl.abs(b), a, b)


@triton.jit
def reduce(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.reduce(x, 0, _larger_size))


@triton.jit
def cumsum(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), tl.cumsum(tl.arange(0, N), axis=0))


@triton.jit
def sort(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.sort(x, descending=True))


@triton.jit
def histogram(x_ptr, out_ptr, N: tl.constexpr):
    counts = tl.histogram(tl.arange(0, N) % 4, 4)
    tl.store(out_ptr + tl.arange(0, 4), counts)


@triton.jit
def atomic_add(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.atomic_add(out_ptr, tl.sum(x))  # every program adds its part to one number


@triton.jit
def randn(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, tl.randn(42, offsets))  # the same seed and offset give the same number


@triton.jit
def range(x_ptr, out_ptr, N: tl.constexpr):
    total = 0.0
    for i in tl.range(0, N, num_stages=2):
        total += tl.load(x_ptr + i)
    tl.store(out_ptr, total)


@triton.jit
def static_range(x_ptr, out_ptr, N: tl.constexpr):
    for i in tl.static_range(4):
        tl.store(out_ptr + i, tl.load(x_ptr + i) * 2**i)  # i is a constexpr


@triton.jit
def multiple_of(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), 16), 16)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def static_assert(x_ptr, out_ptr, N: tl.constexpr):
    tl.static_assert(N % 16 == 0, "N must be a multiple of 16")
    tl.store(out_ptr, N)


@triton.jit
def device_assert(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(x == x, "NaN in x")  # checked when the launch says debug=True
    tl.store(out_ptr + tl.arange(0, N), x)


@triton.jit
def inline_asm_elementwise(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    root = tl.inline_asm_elementwise("sqrtss $1, $0", "=x,x", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + tl.arange(0, N), root)


@triton.jit
def _clipped(a, b):
    if a > b:
        return b
    return a


@triton.jit
def map_elementwise(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), tl.map_elementwise(_clipped, x, 1.0))  # _clipped sees single elements and may branch


@tl.core.extern
def _tangent(x, _semantic=None):
    table = {(tl.float32,): ("__nv_tanf", tl.float32)}  # with a library of your own: its functions, and "mine.bc" for ""
    return tl.core.extern_elementwise("libdevice", "", [x], table, is_pure=True, _semantic=_semantic)


@triton.jit
def extern_elementwise(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, N), _tangent(x))


@triton.jit
def make_tensor_descriptor(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[16, 64], strides=[64, 1], block_shape=[4, 16])
    out = tl.make_tensor_descriptor(out_ptr, shape=[16, 64], strides=[64, 1], block_shape=[4, 16])
    out.store([8, 32], x.load([8, 32]))  # rows 8 to 11, columns 32 to 47


@triton.jit
def tensor_descriptor_load(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[10, 64], strides=[64, 1], block_shape=[4, 16])
    tile = x.load([8, 0])  # rows 8 to 11, of which the last two are outside and read as 0
    tl.store(out_ptr + tl.arange(0, 4), tl.sum(tile, axis=1))


@triton.jit
def tensor_descriptor_store(x_ptr, out_ptr, N: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, shape=[10, 64], strides=[64, 1], block_shape=[4, 16])
    out.store([8, 0], tl.full((4, 16), 1.0, tl.float32))  # what is outside is not written


@triton.jit
def tensor_descriptor_atomic_add(x_ptr, out_ptr, N: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, shape=[16, 64], strides=[64, 1], block_shape=[4, 16])
    out.atomic_add([0, 0], tl.full((4, 16), 1.0, tl.float32))  # every program adds 1 to one block


@triton.jit
def tensor_descriptor_gather(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[16, 64], strides=[64, 1], block_shape=[1, 16])
    tile = x.gather(tl.arange(0, 8) * 2, 32)  # columns 32 to 47 of every other row
    tl.store(out_ptr + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], tile)


@triton.jit
def tensor_descriptor_scatter(x_ptr, out_ptr, N: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, shape=[16, 64], strides=[64, 1], block_shape=[1, 16])
    out.scatter(tl.full((8, 16), 1.0, tl.float32), tl.arange(0, 8) * 2, 32)
