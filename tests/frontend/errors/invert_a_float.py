# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, ~tl.load(x_ptr))

#> invert_a_float.py:8:21: error: ~ needs an integer, not fp32 scalar
#>     tl.store(x_ptr, ~tl.load(x_ptr))
#>                     ^~~~~~~~~~~~~~~
#> hint: to work on a float's bits use x.to(tl.int32, bitcast=True)
