# signature: *i64,u32,i64
import triton
import triton.language as tl


# CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %arg1 step %{{.*}} : i32 {
# CHECK: scf.for %[[J:.*]] = %{{.*}} to %arg2 step %{{.*}} : i64 {
# CHECK:   tile.store %arg0, %[[J]] : !tile.ptr<i64>, i64
@triton.jit
def kernel(x_ptr, n, m):
    for i in range(n):
        tl.static_assert(i.dtype == tl.uint32)
        tl.store(x_ptr, i)
    for j in range(n.to(tl.int32), m):
        tl.store(x_ptr, j)
