# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.expand_dims(tl.arange(0, 8), 3)
    tl.store(x_ptr, tl.sum(x))

#> expand_dims_axis_out_of_range.py:8:9: error: tl.expand_dims: invalid axis 3 for `axis`: the tensor has 2 axes
#>     x = tl.expand_dims(tl.arange(0, 8), 3)
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: axes count from 0, or from -1 backwards
