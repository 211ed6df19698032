# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N: tl.constexpr = 0):
    tl.store(x_ptr, 1 // N)

#> division_of_constants_by_zero.py:8:21: error: division by zero: 1 // 0
#>     tl.store(x_ptr, 1 // N)
#>                     ^~~~~~
