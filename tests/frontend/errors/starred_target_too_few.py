# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a, *b, c = (1.0,)
    tl.store(x_ptr, a + c)

#> starred_target_too_few.py:8:5: error: 1 value cannot be unpacked into at least 2 names
#>     a, *b, c = (1.0,)
#>     ^~~~~~~~
