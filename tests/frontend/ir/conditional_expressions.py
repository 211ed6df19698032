# signature: *i32,i32
import triton
import triton.language as tl


# Without effects both arms run and one is selected; a load runs only where it is asked for.
# CHECK: arith.select %{{.*}}, %arg1, %{{.*}} : i32
# CHECK: scf.if %{{.*}} -> (i32) {
# CHECK:   tile.load
# CHECK: } else {
@triton.jit
def kernel(x_ptr, n):
    a = n if n > 3 else 3
    b = tl.load(x_ptr) if n > 5 else 2
    tl.store(x_ptr, a + b)
