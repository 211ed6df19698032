# signature: *i32,i32
import triton
import triton.language as tl


# A constexpr that a loop changes becomes a run-time value there; one that it does not change stays.
# CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
# CHECK: scf.for {{.*}} iter_args(%[[K:.*]] = %[[FOUR]]) -> (i32)
# CHECK:   %[[EIGHT:.*]] = arith.constant 8 : i32
# CHECK:   arith.addi %[[K]], %[[EIGHT]]
# CHECK-NOT: scf.for
@triton.jit
def kernel(x_ptr, n):
    k: tl.constexpr = 4
    step: tl.constexpr = 8
    for i in range(n):
        tl.static_assert(step == 8)
        if step == 7:
            step: tl.constexpr = 6
        k = k + step
    tl.store(x_ptr, k)
