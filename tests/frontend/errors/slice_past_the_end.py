# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.arange(0, 16)
    tl.store(x_ptr, tl.sum(x[20:24]))

#> slice_past_the_end.py:9:28: error: the slice of axis 0 of a tensor of shape [16] is empty
#>     tl.store(x_ptr, tl.sum(x[20:24]))
#>                            ^~~~~~~~
