"""Constexprs, loops, types, random numbers, prints, code from outside, descriptors, aggregates."""

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

SCALE = tl.constexpr(2.5)
NAMES: tl.constexpr = tl.constexpr(("relu", "gelu"))


@triton.constexpr_function
def blocks(size: int, block: int) -> int:
    return (size + block - 1) // block


@triton.jit
def constexprs(
    x_ptr, out_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr = "relu", DTYPE: tl.constexpr = tl.float32, FUNCTION: tl.constexpr = None,
    EVEN: tl.constexpr = True, SIZES: tl.constexpr = (1, 2), EPS: tl.constexpr = 1e-6,
):  # fmt: skip
    HALF: tl.constexpr = BLOCK // 2
    DOUBLE: tl.constexpr = BLOCK * 2 if BLOCK > 2 else 2**BLOCK
    tl.static_assert(HALF >= 1 and DOUBLE % 2 == 0, f"{BLOCK} is too small")
    offsets = tl.arange(0, BLOCK * 2)
    count = blocks(BLOCK, 16) + triton.cdiv(BLOCK, 4) + triton.next_power_of_2(BLOCK) + BLOCK.bit_length()
    total = tl.zeros((DOUBLE,), dtype=DTYPE)
    for i in range(BLOCK):
        total += i
    for i in tl.static_range(0, len(SIZES)):
        total += SIZES[i] + count + EPS
    if KIND == "relu" and not EVEN:
        total = tl.maximum(total, 0)
    elif KIND in NAMES:
        total = total * SCALE
    if FUNCTION is not None:
        total = FUNCTION(total, BLOCK, flag=-BLOCK > -3)
    if DTYPE.is_floating() and DTYPE.primitive_bitwidth == 32:
        total = total.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True)
    mask = None if EVEN else offsets < n
    tl.store(out_ptr + offsets, total + tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def activation(x, KIND: tl.constexpr):
    if KIND == "relu":
        return tl.maximum(x, 0)
    elif KIND == "gelu":
        return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def types_kernel(x_ptr, out_ptr, n: tl.int32, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    y = activation(x, "gelu") + activation(x, KIND="relu")
    z = x.to(tl.pointer_type(tl.int8)) if x.dtype.is_ptr() else x.to(tl.uint64)
    wide = y + tl.cast(y, tl.float64).to(tl.float32) + tl.full([N], 1, tl.float32) + z.to(tl.float32)
    most = tl.core.get_int_dtype(32, True).get_int_max_value() + tl.int8.get_int_min_value() + tl.float16.primitive_bitwidth
    if x.dtype == tl.float16 or x.dtype is tl.bfloat16 or x.dtype.is_fp8():
        wide = wide + most
    acc = 0.0
    steps = 0
    while steps < n:
        acc += tl.sum(wide)
        steps += 1
    largest = max(acc, tl.max(x)) + abs(x) - min(1, n)
    tl.store(out_ptr + offsets, tl.cast(acc, tl.float32) + (-largest) + (~offsets & 3 | 1 ^ offsets) + (offsets << 1 >> 1) + n % 3)


@triton.jit
def random_kernel(out_ptr, seed, N: tl.constexpr, p=0.5):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    keep = tl.rand(seed, offsets) > p
    a, b, c, d = tl.randint4x(seed, offsets, n_rounds=7)
    e, f, g, h = tl.philox(seed, offsets, 0, 0, 0)
    tl.store(out_ptr + offsets, tl.where(keep, tl.randn(seed, offsets), (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h).to(tl.float32)))


@triton.jit
def printing_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x, hex=True)
    tl.device_assert(x > 0, "not above 0", mask=x < 10)
    tl.static_print(N, x.dtype, x.shape, sep=", ")
    print("pid", tl.program_id(0))


@tl.core.extern
def square_root(x, _semantic=None):
    symbols = {(tl.dtype("fp32"),): ("sqrtf", tl.dtype("fp32")), (tl.float64,): ("sqrt", tl.float64)}
    return tl.core.extern_elementwise("m", "/lib/x86_64-linux-gnu/libm.so.6", [x], symbols, is_pure=True, _semantic=_semantic)


@triton.jit
def outside_kernel(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    y = libdevice.asin(x) + tl.extra.libdevice.cbrt(x) + tl.extra.cuda.libdevice.rsqrt(x) + tl.math.fma(x, x, x) + tl.math.rsqrt(x)
    z = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + tl.arange(0, N), y + z + square_root(x) + tl.extra.cuda.globaltimer())


@triton.jit
def descriptor_kernel(in_desc, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    out_desc = tl.make_tensor_descriptor(out_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    row = tl.program_id(0) * BLOCK_M
    for column in tl.range(0, N, BLOCK_N, num_stages=2, flatten=True):
        x = in_desc.load([row, column])
        out_desc.store([row, column], x.to(out_desc.dtype) + out_desc.load([row, column]))
        out_desc.atomic_add([row, column], x)
    block = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (row, 0), (BLOCK_M, BLOCK_N), order=(1, 0))
    tile = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    tl.store(tl.advance(block, (0, BLOCK_N)), tile, boundary_check=(0, 1))


@triton.aggregate
class Interval:
    start: tl.tensor
    SIZE: tl.constexpr

    @triton.constexpr_function
    def __init__(self, start, SIZE):
        self.start = start
        self.SIZE = tl.constexpr(SIZE)

    @triton.jit
    def offsets(self):
        return self.start + tl.arange(0, self.SIZE)


@triton.aggregate
class Moments:
    total: tl.tensor
    squares: tl.tensor

    @triton.jit
    def add(self, x):
        return Moments(self.total + tl.sum(x), self.squares + tl.sum(x * x))

    @property
    @triton.jit
    def norm(self):
        return tl.sqrt(self.squares)


@triton.jit
def mean_of(moments, COUNT: tl.constexpr):
    return moments.total / COUNT


@triton.jit
def aggregate_kernel(x_ptr, out_ptr, N: tl.constexpr):
    interval = Interval(tl.program_id(0) * N, N)
    x = tl.load(x_ptr + interval.offsets())
    moments = Moments(tl.sum(x), tl.sum(x * x))
    for _ in range(3):
        moments = moments.add(x)
    tl.store(out_ptr, mean_of(moments, COUNT=N) + moments.total.to(tl.float32))


def launch(x, out):
    descriptor = TensorDescriptor.from_tensor(x, [16, 16])
    other = TensorDescriptor(x, shape=x.shape, strides=[x.shape[1], 1], block_shape=[16, 16], padding="nan")
    triton.set_allocator(lambda size, alignment, stream: x)
    descriptor_kernel[(4,)](descriptor, out, *x.shape, BLOCK_M=16, BLOCK_N=16)
    descriptor_kernel[(4,)](other, out, *x.shape, BLOCK_M=16, BLOCK_N=16)
    aggregate_kernel[(1,)](x, out, 16)
    constexprs[(1,)](x, out, 3, BLOCK=4, KIND="gelu", DTYPE=tl.float16, FUNCTION=activation, SIZES=(3, 4, 5))
