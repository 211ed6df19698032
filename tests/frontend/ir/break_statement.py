# signature: *i32,i32
import triton
import triton.language as tl


# The exit code is carried beside the counter and the names: 1 goes on, 2 is a break.
# CHECK: %[[LOOP:.*]]:3 = scf.while (%[[I:.*]] = %{{.*}}, %[[TOTAL:.*]] = %{{.*}}, %[[EXIT:.*]] = %{{.*}}) : (i32, i32, i32) -> (i32, i32, i32) {
# CHECK:   %[[STAYS:.*]] = arith.cmpi sle, %[[EXIT]], %{{.*}}
# CHECK:   %[[INSIDE:.*]] = arith.cmpi slt, %[[I]], %arg1
# CHECK:   %[[BOTH:.*]] = arith.andi %[[STAYS]], %[[INSIDE]]
# CHECK:   scf.condition(%[[BOTH]])
# CHECK: } do {
# CHECK:   scf.if %{{.*}} -> (i32, i32) {
# CHECK:     %[[BREAK:.*]] = arith.constant 2 : i32
# CHECK:     scf.yield %{{.*}}, %[[BREAK]]
# CHECK: tile.store %arg0, %[[LOOP]]#1
@triton.jit
def kernel(x_ptr, n):
    total = 0
    for i in range(n):
        if i == 7:
            break
        total += i
    tl.store(x_ptr, total)
