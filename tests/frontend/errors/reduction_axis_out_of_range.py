# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((4, 8), tl.float32)
    tl.store(x_ptr, tl.sum(tl.sum(x, axis=2)))

#> reduction_axis_out_of_range.py:9:28: error: tl.sum: invalid axis 2 for `axis`: the tensor has 2 axes
#>     tl.store(x_ptr, tl.sum(tl.sum(x, axis=2)))
#>                            ^~~~~~~~~~~~~~~~~
#> hint: axes count from 0, or from -1 backwards
