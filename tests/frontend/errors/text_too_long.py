# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    t: tl.constexpr = "a" * 1000
    u: tl.constexpr = t * 1000
    v: tl.constexpr = u + u

#> text_too_long.py:10:23: error: this would be a text or sequence of 2000000 elements; the most is 1048576
#>     v: tl.constexpr = u + u
#>                       ^~~~~
