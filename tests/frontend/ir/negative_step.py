# signature: *i32,i32
import triton
import triton.language as tl


# Counts from the end to the start and mirrors the index.
# CHECK: scf.for %[[I:.*]] = %{{.*}} to %arg1 step %{{.*}} iter_args
# CHECK:   %[[DISTANCE:.*]] = arith.subi %[[I]], %{{.*}}
# CHECK:   %[[INDEX:.*]] = arith.subi %arg1, %[[DISTANCE]]
# CHECK:   arith.addi %{{.*}}, %[[INDEX]]
@triton.jit
def kernel(x_ptr, n):
    total = 0
    for i in range(n, 1, -2):
        total += i
    tl.store(x_ptr, total)
