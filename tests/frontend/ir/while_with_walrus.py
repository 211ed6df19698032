# signature: *i32,i32
import triton
import triton.language as tl


# The test binds `v`, which is known in the body and after the loop.
# CHECK: %[[LOOP:.*]]:2 = scf.while (%[[N:.*]] = %arg1) : (i32) -> (i32, i32) {
# CHECK:   %[[V:.*]] = tile.load
# CHECK:   scf.condition(%{{.*}}) %[[N]], %[[V]]
# CHECK: } do {
# CHECK:   scf.yield %{{.*}} : i32
# CHECK: tile.store %arg0, %[[LOOP]]#1
@triton.jit
def kernel(x_ptr, n):
    while (v := tl.load(x_ptr + n)) > 0:
        n += v
    tl.store(x_ptr, v)
