# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).to(tl.float64, fp_downcast_rounding='rtz'))

#> rounding_mode_when_widening.py:8:21: error: tl.to: a rounding mode is only for conversions to a narrower float, not from fp32 to fp64
#>     tl.store(x_ptr, tl.load(x_ptr).to(tl.float64, fp_downcast_rounding='rtz'))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
