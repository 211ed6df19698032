# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, missing + 1)

#> undefined_name.py:8:21: error: `missing` is not defined
#>     tl.store(x_ptr, missing + 1)
#>                     ^~~~~~~
