# signature: *i32,i32
import triton
import triton.language as tl


@triton.aggregate
class Start:
    start: tl.tensor

    @triton.jit
    def first(self):
        return self.start

    @triton.jit
    def shifted(self, by):
        return self.first() + by


@triton.aggregate
class Size(Start):
    SIZE: tl.constexpr = 4

    @triton.jit
    def offsets(self):
        return self.first() + tl.arange(0, self.SIZE)


@triton.aggregate
class Scale(Start):
    SCALE: tl.constexpr = 3

    @triton.jit
    def first(self):
        return self.start * self.SCALE


@triton.aggregate
class Interval(Size, Scale):
    pass


# CHECK-LABEL: func.func @kernel
# CHECK-SAME: %[[OUT:.*]]: !tile.ptr<i32>{{.*}}, %[[START:[^ ]*]]: i32
@triton.jit
def kernel(out_ptr, start):
    # The fields of the bases come first, each once: start, SCALE, SIZE.
    interval = Interval(start, 7, 8)
    tl.static_assert(interval.SCALE == 7 and interval.SIZE == 8)
    tl.static_assert(Interval(start).SCALE == 3 and Interval(start).SIZE == 4)
    tl.static_assert(isinstance(interval, Start) and isinstance(interval, Scale) and not isinstance(Size(start), Scale))
    # `first` is Scale's: it comes before Start in the order in which Python looks.
    # CHECK: %[[SEVEN:.*]] = arith.constant 7 : i32
    # CHECK: %[[FIRST:.*]] = arith.muli %[[START]], %[[SEVEN]]
    # CHECK: tile.arange{{.*}}8
    # CHECK: tile.splat %[[FIRST]]
    tl.store(out_ptr + interval.offsets(), 1)
    # CHECK: arith.addi %[[START]]
    tl.store(out_ptr, Size(start).shifted(5))
