# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.arange(8, 8)
    tl.store(x_ptr, 0.0)

#> empty_arange.py:8:9: error: tl.arange: `end` (8) must be greater than `start` (8)
#>     x = tl.arange(8, 8)
#>         ^~~~~~~~~~~~~~~
