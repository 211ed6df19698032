# signature: *fp32,i32
import triton
import triton.language as tl


# What changes is carried; what stays, or is only of the body, is not. The order is that of the names.
# CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
# CHECK: %[[LOOP:.*]] = scf.for %[[I:.*]] = %{{.*}} to %arg1 step %{{.*}} iter_args(%[[TOTAL:.*]] = %[[ZERO]]) -> (f32) : i32 {
# CHECK:   %[[AT:.*]] = tile.addptr %arg0, %[[I]]
# CHECK:   %[[X:.*]] = tile.load %[[AT]]
# CHECK:   %[[NEXT:.*]] = arith.addf %[[TOTAL]], %[[X]]
# CHECK:   scf.yield %[[NEXT]] : f32
# CHECK: } {tile.flatten, tile.num_stages = 3 : i32}
# CHECK: %[[SUM:.*]] = arith.addf %[[LOOP]]
# CHECK: tile.store %arg0, %[[SUM]]
@triton.jit
def kernel(x_ptr, n):
    total = 0.0
    same = 2.5
    for i in tl.range(n, num_stages=3, flatten=True, warp_specialize=False):
        x = tl.load(x_ptr + i)
        other = same
        total += x
    tl.store(x_ptr, total + same)
