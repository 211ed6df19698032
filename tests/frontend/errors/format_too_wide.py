# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    t: tl.constexpr = f"{1:1000000000000}"

#> format_too_wide.py:8:25: error: this would be a text or sequence of 1000000000000 elements; the most is 1048576
#>     t: tl.constexpr = f"{1:1000000000000}"
#>                         ^~~~~~~~~~~~~~~~~
