# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).to(tl.float16, fp_downcast_rounding='up'))

#> rounding_mode_name.py:8:21: error: tl.to: `fp_downcast_rounding` cannot be "up"
#>     tl.store(x_ptr, tl.load(x_ptr).to(tl.float16, fp_downcast_rounding='up'))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of "rtne", "rtz"
