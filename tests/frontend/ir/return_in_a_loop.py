# signature: *i32,i32
import triton
import triton.language as tl


# CHECK: %[[NOTHING:.*]] = ub.poison : i32
# CHECK: %[[LOOP:.*]]:3 = scf.while ({{.*}}, %{{.*}} = %[[NOTHING]])
# CHECK: %[[FOUND:.*]] = arith.cmpi eq, %[[LOOP]]#1
# CHECK: %[[RESULT:.*]] = scf.if %{{.*}} -> (i32) {
# CHECK:   %[[MISSING:.*]] = arith.constant -1 : i32
# CHECK:   scf.yield %[[MISSING]]
# CHECK: } else {
# CHECK:   scf.yield %[[LOOP]]#2
# CHECK: tile.store %arg0, %[[RESULT]]
@triton.jit
def find(x_ptr, n):
    for i in range(n):
        if tl.load(x_ptr + i) == 7:
            return i
    return -1


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, find(x_ptr, n))
