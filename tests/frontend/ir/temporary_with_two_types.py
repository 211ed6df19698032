# signature: *fp32,i32
import triton
import triton.language as tl


# `x` is of another type in the loop than before it, but is assigned there before it is read: nothing is carried.
# CHECK: scf.for %{{.*}} = %{{.*}} to %arg1 step %{{.*}} : i32 {
@triton.jit
def kernel(x_ptr, n):
    x = n
    tl.store(x_ptr + x, 1.0)
    for i in range(n):
        x = tl.load(x_ptr + i)
        tl.store(x_ptr + i, x * 2)
