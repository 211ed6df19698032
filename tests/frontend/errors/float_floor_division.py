# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x // 2.0)

#> float_floor_division.py:9:21: error: invalid operands of type fp32 scalar and the float 2.0: // needs integers
#>     tl.store(x_ptr, x // 2.0)
#>                     ^~~~~~~~
#> hint: use tl.floor(a / b)
