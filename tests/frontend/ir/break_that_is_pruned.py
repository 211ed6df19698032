# signature: *i32,i32,False
import triton
import triton.language as tl


# CHECK-NOT: scf.while
# CHECK: scf.for
@triton.jit
def kernel(x_ptr, n, STOP: tl.constexpr):
    total = 0
    for i in range(n):
        if STOP:
            break
        total += i
    tl.store(x_ptr, total)
