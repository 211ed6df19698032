# signature: *i32,i32
import triton
import triton.language as tl


# `a` changes in one branch, `b` is bound in both, `c` is the same in both.
# CHECK: %[[ONE:.*]] = arith.constant 1 : i32
# CHECK: %[[IF:.*]]:2 = scf.if %{{.*}} -> (i32, i32) {
# CHECK:   %[[TWO:.*]] = arith.constant 2 : i32
# CHECK:   %[[FIVE:.*]] = arith.constant 5 : i32
# CHECK:   scf.yield %[[TWO]], %[[FIVE]]
# CHECK: } else {
# CHECK:   %[[SEVEN:.*]] = arith.constant 7 : i32
# CHECK:   scf.yield %[[ONE]], %[[SEVEN]]
# CHECK: arith.addi %[[IF]]#0, %[[IF]]#1
@triton.jit
def kernel(x_ptr, n):
    a = 1
    c = n
    if n > 3:
        a = 2
        b = 5
    else:
        b = 7
    tl.store(x_ptr, a + b + c)
