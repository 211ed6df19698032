# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    pair = (1, 2)
    tl.store(x_ptr, pair[2])

#> tuple_index_out_of_range.py:9:21: error: index 2 is out of range for a tuple of 2
#>     tl.store(x_ptr, pair[2])
#>                     ^~~~~~~
