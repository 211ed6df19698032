# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.permute(tl.zeros((4, 8), tl.float32), (0, 0))
    tl.store(x_ptr, tl.sum(x))

#> permute_twice_the_same_axis.py:8:9: error: tl.permute: `dims` must name each of the 2 axes once, not [0, 0]
#>     x = tl.permute(tl.zeros((4, 8), tl.float32), (0, 0))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
