# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr, other=0.0))

#> other_without_mask.py:8:21: error: tl.load: `other` is given without `mask`
#>     tl.store(x_ptr, tl.load(x_ptr, other=0.0))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: `other` is what masked-off elements read as
