# signature: *i32,i32
import triton
import triton.language as tl


@triton.constexpr_function
def digits(n):
    count = 0
    while n:
        n //= 10
        count += 1
    return count


@triton.language.core._aggregate
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
class Pair:
    interval: Interval
    SCALE: tl.constexpr = 10


# CHECK-LABEL: func.func @kernel
# CHECK-SAME: %[[OUT:.*]]: !tile.ptr<i32>{{.*}}, %[[START:[^ ]*]]: i32
@triton.jit
def kernel(out_ptr, start):
    tl.static_assert(digits(12345) == 5)
    pair = Pair(Interval(start, 4))
    tl.static_assert(pair.SCALE * digits(999) == 30)
    # The fields are scalars: nothing of the aggregate is left.
    # CHECK: %[[INDEX:.*]] = tile.arange
    # CHECK: %[[TILE:.*]] = tile.splat %[[START]]
    # CHECK: arith.addi %[[TILE]], %[[INDEX]]
    # CHECK: tile.store
    tl.store(out_ptr + pair.interval.offsets(), 1)
