# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.reshape(tl.arange(0, 16), (4, 5))
    tl.store(x_ptr, tl.sum(x))

#> reshape_to_another_size.py:8:9: error: tl.reshape: shape [16] has 16 elements, and [4, 5] has 20
#>     x = tl.reshape(tl.arange(0, 16), (4, 5))
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: a reshape keeps the number of elements
