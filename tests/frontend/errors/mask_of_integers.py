# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    o = tl.arange(0, 16)
    tl.store(x_ptr + o, 0.0, mask=o)

#> mask_of_integers.py:9:5: error: tl.store: `mask` must be int1, not int32 tensor of shape [16]
#>     tl.store(x_ptr + o, 0.0, mask=o)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: write mask != 0
