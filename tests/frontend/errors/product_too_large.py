# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    a: tl.constexpr = 3**20000
    b: tl.constexpr = a * a * a

#> product_too_large.py:9:23: error: the result of a large integer * a large integer is too large
#>     b: tl.constexpr = a * a * a
#>                       ^~~~~~~~~
