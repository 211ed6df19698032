# signature: *i32,i32
import triton
import triton.language as tl


# CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (i32)
# CHECK:   %[[SKIP:.*]] = arith.cmpi eq
# CHECK:   %[[NEXT:.*]] = scf.if %[[SKIP]] -> (i32) {
# CHECK-NEXT: scf.yield %[[TOTAL]] : i32
# CHECK:   } else {
# CHECK:     tile.load
# CHECK:     scf.yield
# CHECK:   scf.yield %[[NEXT]] : i32
@triton.jit
def kernel(x_ptr, n):
    total = 0
    for i in range(n):
        if i == 3:
            continue
        x = tl.load(x_ptr + i)
        total += x
    tl.store(x_ptr, total)
