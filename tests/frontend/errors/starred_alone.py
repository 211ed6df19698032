# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a, *b, *c = (1, 2, 3)

#> starred_alone.py:8:12: error: only one target of an assignment can be starred
#>     a, *b, *c = (1, 2, 3)
#>            ^~
