# signature: *fp32
import triton
import triton.language as tl


A = tl.constexpr(B)
B = tl.constexpr(A)


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, A)

#> global_that_defines_itself.py:7:18: error: `A` cannot be used in a kernel: it is a global that is defined by itself
#> B = tl.constexpr(A)
#>                  ^
