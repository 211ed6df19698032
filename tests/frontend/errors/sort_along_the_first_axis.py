# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.sort(tl.zeros((4, 8), tl.float32), 0)
    tl.store(x_ptr, tl.sum(x))

#> sort_along_the_first_axis.py:8:9: error: tl.sort: static assertion failed: sort works along the last axis only
#>     x = tl.sort(tl.zeros((4, 8), tl.float32), 0)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
