# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).to(tl.int64, bitcast=True))

#> bitcast_of_another_width.py:8:21: error: tl.to: cannot bitcast fp32 (32 bits) to int64 (64 bits): the widths differ
#>     tl.store(x_ptr, tl.load(x_ptr).to(tl.int64, bitcast=True))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: leave bitcast=True out to convert the value, or choose a type of 32 bits
