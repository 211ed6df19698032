# signature: *i32,i32
import triton
import triton.language as tl


# CHECK: scf.if %{{.*}} -> (i32) {
# CHECK:   arith.constant 1 : i32
# CHECK: } else {
# CHECK:   scf.if %{{.*}} -> (i32) {
# CHECK:     arith.constant -1 : i32
# CHECK:   } else {
# CHECK:     arith.constant 0 : i32
# CHECK-NOT: ub.poison
@triton.jit
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, sign(n))
