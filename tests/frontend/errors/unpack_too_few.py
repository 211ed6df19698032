# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a, b, c = (1.0, 2.0)
    tl.store(x_ptr, a + b + c)

#> unpack_too_few.py:8:5: error: 2 values cannot be unpacked into 3 names
#>     a, b, c = (1.0, 2.0)
#>     ^~~~~~~
