# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def safe_divide(x, y):
    if y == 0:
        return x
    return x // y


# Both sides run, and a divisor that is not used is one.
# CHECK-LABEL: func.func @kernel
# CHECK-NOT: scf.if
# CHECK: %[[ONES:.*]] = arith.constant dense<1>
# CHECK: %[[DIVISOR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ONES]]
# CHECK: arith.divsi %{{.*}}, %[[DIVISOR]]
# CHECK: arith.select
@triton.jit
def kernel(x_ptr, n):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, tl.map_elementwise(safe_divide, x, offsets - n))
