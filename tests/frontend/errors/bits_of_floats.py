# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x & 1)

#> bits_of_floats.py:9:21: error: invalid operands of type fp32 scalar and the int 1: & needs integers
#>     tl.store(x_ptr, x & 1)
#>                     ^~~~~
#> hint: to work on a float's bits use x.to(tl.int32, bitcast=True)
