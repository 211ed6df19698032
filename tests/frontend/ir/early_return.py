# signature: *i32,i32
import triton
import triton.language as tl


# What follows the return is the other branch: no exit code is needed.
# CHECK: scf.if %{{.*}} {
# CHECK-NEXT: } else {
# CHECK:   %[[X:.*]] = tile.load
# CHECK:   tile.store %arg0, %{{.*}}
# CHECK: }
# CHECK-NEXT: return
@triton.jit
def kernel(x_ptr, n):
    if n > 3:
        return
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + 1)
