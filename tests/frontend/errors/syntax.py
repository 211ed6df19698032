# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0
    x = 3

#> syntax.py:8:13: error: '(' was never closed
#>     tl.store(x_ptr, 1.0
#>             ^
#> hint: add the missing ')'
